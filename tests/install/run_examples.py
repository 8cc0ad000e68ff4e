"""Runs the examples and compares what they print with the comment `Output:` at the end of each.

    python3 run_examples.py PREFIX PROGRAMS WORK [--only NAME...] [--python PYTHON] [--update]

PREFIX: an installed copy; PROGRAMS: the folder where examples/CMakeLists.txt was built. An example that prints one line
`skipped: ...`, or lacks what NEEDS names, counts as skipped. --update writes the comments instead of comparing.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
SYSTEM_PYTHON = "/usr/bin/python3"


def system_numpy():
    return pathlib.Path(SYSTEM_PYTHON).exists() and subprocess.run([SYSTEM_PYTHON, "-c", "import numpy"], capture_output=True).returncode == 0


def open_mpi():
    return shutil.which("mpirun") is not None and "Open MPI" in subprocess.run(["mpirun", "--version"], capture_output=True, text=True).stdout


# What an example needs beside an installed copy: (is it there, in words).
NEEDS = {
    "03_cuda_stream": lambda prefix, programs: ((programs / "03_cuda_stream").exists(), "CUDA's headers"),
    "06_cluster": lambda prefix, programs: ((prefix / "bin/heptad-mpi").exists() and open_mpi(), "Open MPI"),
    "08_preload": lambda prefix, programs: (system_numpy(), "NumPy"),
}
MARKS = {".cpp": ("// Output:\n", "// ", ""), ".c": ("/* Output:\n", " * ", " */\n"), ".sh": ("# Output:\n", "# ", ""), ".py": ("# Output:\n", "# ", "")}


def expected_output(path):
    begin, prefix, end = MARKS[path.suffix]
    _, found, comment = path.read_text().partition("\n" + begin)
    if not found:
        sys.exit(f"{path.name} does not end with a comment '{begin.strip()}'")
    return "".join(line.removeprefix(prefix.rstrip()).removeprefix(" ") for line in comment.removesuffix(end).splitlines(keepends=True))


def write_output(path, output):
    begin, prefix, end = MARKS[path.suffix]
    head = re.split(r"\n(?://|#|/\*) Output:", path.read_text())[0]
    path.write_text(head + "\n" + begin + "".join((prefix + line).rstrip() + "\n" for line in output.splitlines()) + end)


def command(path, programs, python):
    return {".sh": ["bash", str(path)], ".py": [python, str(path)]}.get(path.suffix, [str(programs / path.stem)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("prefix", type=pathlib.Path)
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--python", default="")
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    prefix, programs = arguments.prefix.resolve(), arguments.programs.resolve()
    libraries = sorted({path.parent for path in prefix.rglob("libheptad.so")})
    env = {**os.environ, "PATH": f"{prefix / 'bin'}:{os.environ['PATH']}", "PYTHON": SYSTEM_PYTHON,
           "XDG_CACHE_HOME": str(arguments.work.resolve() / "cache")}
    if libraries:
        env["HEPTAD_BLAS"] = str(libraries[0] / "libheptad_blas.so")
    wrong = []
    for path in sorted(path for path in EXAMPLES.iterdir() if path.suffix in MARKS):
        if arguments.only and path.stem not in arguments.only or path.suffix == ".py" and not arguments.python:
            continue
        met, need = NEEDS.get(path.stem, lambda prefix, programs: (True, ""))(prefix, programs)
        if not met:
            print(f"{path.name}: skipped, there is no {need}")
            continue
        folder = arguments.work / path.stem
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        result = subprocess.run(command(path, programs, arguments.python), cwd=folder, env=env, capture_output=True, text=True)
        if result.returncode == 0 and result.stdout.startswith("skipped: "):
            print(f"{path.name}: {result.stdout.strip()}")
        elif result.returncode == 0 and arguments.update:
            write_output(path, result.stdout)
        elif result.returncode != 0 or result.stdout != expected_output(path):
            wrong.append(f"{path.name}: exit code {result.returncode}\n--- printed\n{result.stdout}{result.stderr}")
        else:
            print(f"{path.name}: as expected")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
