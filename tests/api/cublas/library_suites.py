#!/usr/bin/env python3
"""PyTorch's own samples of its products and CuPy's own tests of them, with and without libheptad_cublas.so preloaded.

    python3 tests/api/cublas/library_suites.py BUILD SOURCES [PATTERN]

PyTorch's package brings its samples (torch_operator_suite.py). CuPy's does not bring its tests: they are taken from
SOURCES/cupy/v14.0.0 or whichever version is installed (linalg_tests/test_product.py and math_tests/test_matmul.py of its
repository), pytest and expecttest from SOURCES/site where this Python has none. A level is forced on calls of every
size, since those of tests are small. Tests that fail without the drop-in, too, are counted and left out. Those of
LAST_BIT_OF_F16 run without forced levels as well, which counts for them. Exit code 1 where a test fails only with the
drop-in, or where nothing was taken over.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

HERE = pathlib.Path(__file__).parent.resolve()
# CuPy compares f16 here within less than the last bit, which a level may change (docs/accuracy.md).
LAST_BIT_OF_F16 = ("TestMatmulFp16ComputeTypes", "TestProduct.test_tensordot")
FORCED = {"HEPTAD_MIN_SIZE": "2", "HEPTAD_ALGORITHM": "winograd", "HEPTAD_LEVELS": "1"}


def outcomes(suite, words, environment, folder):
    """By test: passed, failed or skipped; and the end of what was printed."""
    told = folder / "told.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=line", f"--junitxml={told}", suite]
    result = subprocess.run(
        [*command, "-k", words],
        env=environment, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )
    found = {}
    for case in xml.parse(told).iter("testcase") if told.exists() else []:
        kinds = {child.tag for child in case}
        outcome = "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"
        found[f"{case.get('classname')}.{case.get('name')}"] = outcome
    told.unlink(missing_ok=True)
    return found, result.stdout[-3000:]


def taken_over(log):
    """Calls in the lines that the drop-in leaves at exit."""
    return sum(int(count) for count in re.findall(r": (\d+) calls?,", log.read_text() if log.exists() else ""))


def compare(suite, words, environment, library, folder):
    before, printed = outcomes(suite, words, environment, folder)
    log = folder / "log"
    log.unlink(missing_ok=True)
    preloaded = {**environment, "LD_PRELOAD": str(library), "HEPTAD_LOG": str(log)}
    after, printed_after = outcomes(suite, words, {**preloaded, **FORCED}, folder)
    calls = taken_over(log)
    doubtful = [
        name for name, outcome in after.items()
        if outcome == "failed" and any(known in name for known in LAST_BIT_OF_F16)
    ]
    if doubtful:
        unforced, _ = outcomes(suite, words, preloaded, folder)
        after.update({name: unforced.get(name) for name in doubtful})
    good = {name for name, outcome in before.items() if outcome == "passed"}
    worse = sorted(name for name in good if after.get(name) != "passed")
    counts = [sum(outcome == kind for outcome in before.values()) for kind in ("passed", "failed", "skipped")]
    print(f"{suite.name}: without the drop-in {counts[0]} passed, {counts[1]} failed, {counts[2]} skipped; with it "
          f"{len(good) - len(worse)} of the {len(good)} pass ({len(doubtful)} of them run again without forced levels), "
          f"{calls} calls taken over", flush=True)
    for name in worse:
        print(f"  only with the drop-in: {name}: {after.get(name, 'did not run')}")
    if worse or not good:
        print(printed_after if good else printed)
    return bool(good) and not worse and calls > 0


def suites(sources):
    """Files, and which of their tests."""
    yield HERE / "torch_operator_suite.py", "cuda"
    try:
        import cupy
    except ImportError:
        print("CuPy is not installed")
        return
    folder = sources / "cupy" / f"v{cupy.__version__}"
    yield folder / "test_matmul.py", "not Integral"
    yield folder / "test_product.py", "(dot or inner or Power or Matmul) and not cross"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    library, sources = pathlib.Path(sys.argv[1], "libheptad_cublas.so").resolve(), pathlib.Path(sys.argv[2]).resolve()
    pattern = sys.argv[3] if len(sys.argv) > 3 else ""
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(sources / "site")]))
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for suite, words in suites(sources):
            if pattern in suite.name:
                good = compare(suite, words, environment, library, pathlib.Path(folder)) and good
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
