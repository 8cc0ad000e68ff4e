"""The wheel: what it carries, how it starts, and that its types are those it has."""

import ast
import importlib.metadata
import os
import pathlib
import subprocess
import sys

import heptad
import heptad._core as core
import numpy as np
import pytest

FOLDER = pathlib.Path(heptad.__file__).parent


def test_it_is_the_wheel_and_carries_the_library_the_program_and_the_licence():
    assert "site-packages" in str(FOLDER) or "dist-packages" in str(FOLDER), "tests run from an installed wheel"
    names = {path.name for path in FOLDER.iterdir()}
    assert {"libheptad.so.0", "py.typed", "_core.pyi", "bin"} <= names
    files = [str(file) for file in importlib.metadata.files("heptad")]
    assert any(file.endswith("LICENSE") for file in files)
    for vendor in ("cuda", "cublas", "nvidia", "nvrtc"):
        assert not any(vendor in file.lower() for file in files)
    assert importlib.metadata.version("heptad") == heptad.__version__


def test_command_line_comes_along():
    for command in ([sys.executable, "-m", "heptad"], [str(pathlib.Path(sys.executable).parent / "heptad")]):
        told = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
        assert heptad.__version__ in told.stdout and not told.stderr
    told = subprocess.run([sys.executable, "-m", "heptad", "mul", "none.npy"], capture_output=True, text=True, check=False)
    assert told.returncode == 2


def test_module_uses_its_own_library():
    script = "import heptad; print([line for line in open('/proc/self/maps') if 'libheptad' in line][0])"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert str(FOLDER) in told.stdout


def test_import_loads_little_and_leaves_numpy_alone():
    script = (
        "import sys; before = set(sys.modules); import heptad; loaded = set(sys.modules) - before;"
        "print(*(name for name in loaded if '.' not in name))"
    )
    loaded = set(subprocess.check_output([sys.executable, "-c", script], text=True).split())
    heavy = {"numpy", "torch", "jax", "cupy", "ml_dtypes", "ctypes", "asyncio", "inspect", "subprocess", "json"}
    assert "heptad" in loaded and not loaded & heavy, loaded & heavy


@pytest.mark.skipif(not os.environ.get("HEPTAD_TEST_OVERHEAD"), reason="compares times: set HEPTAD_TEST_OVERHEAD=1")
def test_import_takes_less_than_a_tenth_of_a_second():
    script = (
        "import time; begin = time.perf_counter(); import heptad; end = time.perf_counter(); print(end - begin)"
    )
    times = [float(subprocess.check_output([sys.executable, "-c", script])) for _ in range(5)]
    assert min(times) < 0.1


def test_stub_names_what_the_module_has():
    tree = ast.parse((FOLDER / "_core.pyi").read_text())
    stub = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            stub[node.name] = None
        elif isinstance(node, ast.ClassDef):
            stub[node.name] = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
        elif isinstance(node, ast.AnnAssign):
            stub[node.target.id] = None
    assert set(stub) == {name for name in dir(core) if not name.startswith("_")}
    for name, members in stub.items():
        if members is not None:
            real = {member for member in dir(getattr(core, name)) if not member.startswith("_")}
            assert {member for member in members if not member.startswith("_")} == real, name


@pytest.mark.skipif(not os.environ.get("HEPTAD_TEST_OVERHEAD"), reason="compares times: set HEPTAD_TEST_OVERHEAD=1")
def test_small_products_cost_few_microseconds():
    import timeit

    a = np.ones((8, 8), np.float32)
    seconds = min(timeit.repeat(lambda: heptad.matmul(a, a), number=10000, repeat=5)) / 10000
    assert seconds < 5e-6
