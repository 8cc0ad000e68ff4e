# Installs this build into a fresh prefix and builds and runs examples/ from that copy alone.
find_package(Python3 QUIET COMPONENTS Interpreter)
if(TARGET heptad_shared AND TARGET heptad_cli AND Python3_FOUND AND NOT HEPTAD_SANITIZE)
  add_test(NAME install.examples_build_and_run_from_an_installed_copy
    COMMAND ${CMAKE_COMMAND}
      -DBUILD=${PROJECT_BINARY_DIR}
      -DEXAMPLES=${PROJECT_SOURCE_DIR}/examples
      -DREADME=${PROJECT_SOURCE_DIR}/README.md
      -DGUIDE=${PROJECT_SOURCE_DIR}/docs/guide/install.md
      -DWORK=${CMAKE_CURRENT_BINARY_DIR}/install_test
      -DCC=${CMAKE_C_COMPILER}
      -DCXX=${CMAKE_CXX_COMPILER}
      -DGENERATOR=${CMAKE_GENERATOR}
      -DVERSION=${PROJECT_VERSION}
      -DPYTHON=${Python3_EXECUTABLE}
      -P ${CMAKE_CURRENT_LIST_DIR}/install_test.cmake)
  set_tests_properties(install.examples_build_and_run_from_an_installed_copy PROPERTIES TIMEOUT 600)
endif()

# `make build` builds all that the README names.
if(NOT HEPTAD_SANITIZE AND CMAKE_GENERATOR STREQUAL "Ninja")
  set(programs heptad libheptad.so libheptad_blas.so libheptad_blas_prefixed.so libheptad_cublas.so)
  if(TARGET heptad_blas_alternative)
    list(APPEND programs alternative/libblas.so.3)
  endif()
  if(HEPTAD_HAS_MPI)
    list(APPEND programs heptad-mpi libheptad_scalapack.so)
  endif()
  add_test(NAME install.make_build_builds_every_program
    COMMAND ${CMAKE_COMMAND}
      -DBUILD=${PROJECT_BINARY_DIR}
      -DSOURCE=${PROJECT_SOURCE_DIR}
      -DNINJA=${CMAKE_MAKE_PROGRAM}
      "-DPROGRAMS=${programs}"
      -P ${CMAKE_CURRENT_LIST_DIR}/programs_test.cmake)
endif()

# The Debian packages of this build, unpacked and used.
if(TARGET heptad_blas_alternative AND TARGET heptad_cli AND NOT HEPTAD_SANITIZE)
  add_test(NAME install.debian_packages_hold_what_users_need
    COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/packages_test.sh ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR}
      ${CMAKE_CURRENT_BINARY_DIR}/packages_test ${PROJECT_VERSION} ${CMAKE_CXX_COMPILER})
  set_tests_properties(install.debian_packages_hold_what_users_need PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77
    ENVIRONMENT "XDG_CACHE_HOME=${CMAKE_CURRENT_BINARY_DIR}/cache")
endif()
