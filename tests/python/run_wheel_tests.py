"""Builds the wheel around a finished build, installs it in a clean virtual environment and runs the tests there.

    python3 tests/python/run_wheel_tests.py BUILD WORK

Exit code 77, with a reason, where this machine cannot: no venv, no headers of Python, or no PyPI.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

SKIPPED = 77
TESTS = pathlib.Path(__file__).parent.resolve()
ROOT = TESTS.parent.parent


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def main():
    build, work = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    try:
        import ensurepip  # noqa: F401
    except ImportError:
        skip("this Python has no venv; on Debian, install python3-venv")
    if not (pathlib.Path(sysconfig.get_paths()["include"]) / "Python.h").exists():
        skip("this Python has no headers; on Debian, install python3-dev")
    shutil.rmtree(work, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", work / "clean"], check=True)
    python = work / "clean/bin/python"
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    for name in ("PYTHONPATH", "LD_PRELOAD", "LD_LIBRARY_PATH"):
        environment.pop(name, None)
    needs = [python, "-m", "pip", "install", "--quiet", "--retries", "1", "-r", TESTS / "requirements.txt"]
    if subprocess.run(needs, env=environment, check=False).returncode != 0:
        skip("PyPI cannot be reached, or does not have what tests/python/requirements.txt names")

    wheels = work / "wheels"
    subprocess.run(
        [ROOT / "scripts/wheel", wheels],
        env={**environment, "HEPTAD_PREBUILT": str(build), "PYTHON": sys.executable},
        check=True,
    )
    (wheel,) = wheels.glob("heptad-*.whl")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", wheel], env=environment, check=True)
    # The Python of the documents: the blocks of README and guide, and the example.
    blocks = [sys.executable, ROOT / "tests/documents/run_commands.py", "python", build, work / "blocks", "--python", python]
    subprocess.run(blocks, env=environment, check=True)
    example = [sys.executable, ROOT / "tests/install/run_examples.py", work, work, work / "example", "--only", "07_python", "--python", python]
    subprocess.run(example, env=environment, check=True)
    tests = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", ROOT / "pyproject.toml", TESTS]
    sys.exit(subprocess.run(tests, env=environment, cwd=work, check=False).returncode)


if __name__ == "__main__":
    main()
