"""Runs the code blocks of README.md and docs/guide: python3 run_commands.py KIND BUILD WORK [--cxx COMPILER] [--python PYTHON]

KIND sh: each ```sh block by bash, those of one page one after another in one fresh folder, with the programs of BUILD in
PATH. KIND cpp: each ```cpp block is compiled against include/ and BUILD and run. KIND python: each ```python block of a
page, one after another in one process, by the Python that is named.

A block with a title, as in ```sh title="needs a GPU", runs only where that need is met (NEEDS). What would install packages
is rehearsed: its lines of make are asked what they would do (REHEARSED). Other titles are an error, so that no block is
forgotten, but those of the examples, which tests/install runs, and those of ELSEWHERE.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SYSTEM_PYTHON = "/usr/bin/python3"


def has_numpy():
    return pathlib.Path(SYSTEM_PYTHON).exists() and subprocess.run([SYSTEM_PYTHON, "-c", "import numpy"], capture_output=True).returncode == 0


def has_mpi(build):
    return shutil.which("mpirun") is not None and (build / "heptad-mpi").exists()


def has_gpu(build):
    told = subprocess.run([build / "heptad", "info", "--json"], capture_output=True, text=True, check=True).stdout
    return json.loads(told)["cuda"]["available"]


def has_torch_on_gpu(python):
    script = "import torch, sys; sys.exit(not torch.cuda.is_available())"
    return subprocess.run([python, "-c", script], capture_output=True).returncode == 0


def cuda_include():
    """The folder of CUDA's headers, which is enough to compile what calls Heptad with a stream."""
    folders = [pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "include", pathlib.Path("/usr/include")]
    return next((folder for folder in folders if (folder / "cuda_runtime_api.h").exists()), None)


NEEDS = {"needs NumPy": lambda build: has_numpy(), "needs MPI": has_mpi, "needs a GPU": has_gpu,
         "after make build": lambda build: has_numpy() and (build / "libheptad_blas.so").exists()}
REHEARSED = {"needs root: installs packages", "in the source folder"}
ELSEWHERE = {"after cmake --install": "tests/install/install_test.cmake", "needs podman or docker": "tests/install/packages_test.sh"}
EXAMPLES = {path.name for path in (ROOT / "examples").iterdir()}
# What the reader is supposed to have: the build folder, and a program of his own.
MINE = "import numpy as np\na = np.random.rand(300, 300)\nassert np.allclose(a @ np.eye(300), a)\n"


def blocks(page, kind):
    """(line, title, text) of every block of this kind."""
    text = page.read_text()
    for found in re.finditer(rf'^```{kind}(?: title="([^"]*)")?\n(.*?)^```$', text, re.M | re.S):
        yield text[:found.start()].count("\n") + 1, found[1] or "", found[2]


def environment(build, work):
    own = {**os.environ, "PATH": f"{work / 'bin'}:{build}:{os.environ['PATH']}", "LD_LIBRARY_PATH": str(build), "XDG_CACHE_HOME": str(work / "cache"),
           "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
           "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}
    return {name: value for name, value in own.items() if name not in ("LD_PRELOAD", "PYTHONPATH")}


def rehearse(where, text, env):
    """make -n: every target is there, and so is what it needs."""
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if words[:1] == ["make"]:
            run(where, ["make", "-n", *words[1:]], ROOT, env)


def run(where, command, folder, env):
    result = subprocess.run(command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        sys.exit(f"{where}: exit code {result.returncode}\n{result.stdout}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["sh", "cpp", "python"])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--python", default=sys.executable)
    arguments = parser.parse_args()
    build, work = arguments.build.resolve(), arguments.work.resolve()
    shutil.rmtree(work, ignore_errors=True)
    (work / "bin").mkdir(parents=True)
    (work / "bin" / "python3").symlink_to(SYSTEM_PYTHON)  # the one that Debian's NumPy is for
    env, count = environment(build, work), 0
    for page in [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]:
        folder = work / page.stem
        folder.mkdir(parents=True)
        script = []
        for line, title, text in blocks(page, arguments.kind):
            where = f"{page.relative_to(ROOT)}:{line}"
            if title in EXAMPLES or title in ELSEWHERE:
                continue
            if title in REHEARSED:
                rehearse(where, text, env)
                continue
            if title and title not in NEEDS:
                sys.exit(f"{where}: a block with the title '{title}' is run by nobody; see NEEDS in {pathlib.Path(__file__).name}")
            if arguments.kind == "cpp" and title == "needs a GPU" and cuda_include():
                (folder / "block.cpp").write_text(text)
                run(where, [*arguments.cxx.split(), "-std=c++20", "-Wall", "-Werror", f"-I{ROOT / 'include'}", "-isystem", str(cuda_include()),
                            "-c", "block.cpp", "-o", "block.o"], folder, env)
                count += 1
                continue
            met = has_torch_on_gpu(arguments.python) if arguments.kind == "python" and title == "needs a GPU" else not title or NEEDS[title](build)
            if not met:
                print(f"{where}: not run ({title})")
                continue
            count += 1
            if title == "after make build":
                (folder / "build").symlink_to(build)
                (folder / "mine.py").write_text(MINE)
            if arguments.kind == "sh":
                run(where, ["bash", "-euo", "pipefail", "-c", text], folder, env)
            elif arguments.kind == "cpp":
                (folder / "block.cpp").write_text(text)
                run(where, [*arguments.cxx.split(), "-std=c++20", "-O1", f"-I{ROOT / 'include'}", "block.cpp", "-o", "block", f"-L{build}", "-lheptad"],
                    folder, env)
                run(where, ["./block"], folder, env)
            else:
                script.append(f"# {where}\n{text}")
        if script:
            (folder / "blocks.py").write_text("\n".join(script))
            clean = {name: value for name, value in env.items() if name != "LD_LIBRARY_PATH"}
            run(page.name, [arguments.python, "blocks.py"], folder, clean)
    if count == 0:
        sys.exit(f"no {arguments.kind} block ran")
    print(f"{count} blocks ran")


if __name__ == "__main__":
    main()
