# The whole interface for a person in a hurry; CMakePresets.json is the one for everybody else.
# Size of the product of `make run`.
N ?= 4096

.DEFAULT_GOAL := help
.PHONY: help bootstrap build wheel package run test soak bench docs lint format clean

help:
	@echo 'make run      install what is missing, build, and compare a product with the vendor library (N=4096)'
	@echo 'make test     build and run all tests, then a reduced set under ASan + UBSan and under TSan'
	@echo 'make soak     the tests of tests/citizen with their full counts: forks, exits, limits, failures (hours)'
	@echo 'make bench    measure against every BLAS of this machine; the result file goes to run/'
	@echo 'make build    build/heptad, build/libheptad.so and build/libheptad_blas.so; build/heptad-mpi and build/libheptad_scalapack.so where MPI is'
	@echo 'make wheel    the Python package as a wheel, in run/ (docs/python.md)'
	@echo 'make package  Debian packages and the wheel, in run/packages (docs/guide/install.md)'
	@echo 'make docs     the guide as a web site, in run/site'
	@echo 'make lint     clang-format, clang-tidy, shellcheck and the spelling of the documents; make format repairs the first'
	@echo 'make clean    remove the build folders and run/'

bootstrap:
	@scripts/bootstrap

build: bootstrap
	@scripts/build release heptad_programs

wheel: build
	@HEPTAD_PREBUILT=build scripts/wheel run

package:
	@scripts/bootstrap package
	@scripts/package

run: bootstrap
	@scripts/demo $(N)

test:
	@scripts/bootstrap test
	@scripts/test

soak: bootstrap
	@scripts/soak

bench: build
	@mkdir -p run
	build/heptad bench cpu --json run/bench-cpu.json

docs:
	@scripts/docs run/site

lint:
	@scripts/bootstrap lint
	@scripts/lint

format:
	@scripts/bootstrap lint
	@scripts/format

clean:
	rm -rf build build-debug build-clang build-asan build-tsan build-docs build-lint build-package build-python run
