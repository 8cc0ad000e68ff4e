"""The tests of arrays on an NVIDIA device and of PyTorch, CuPy and JAX, where there is perhaps no pytest:

    PYTHONPATH=DIR python3 tests/python/run_device_tests.py [PATTERN ...]

DIR holds the package heptad; a pattern is one of file names, such as 'test_torch*.py'. Says what it found and skipped;
the exit code is 0 where nothing failed.
"""

import pathlib
import sys
import time
import unittest

PATTERNS = ("test_torch*.py", "test_cupy*.py", "test_jax.py")


class TimedResult(unittest.TextTestResult):
    began = time.perf_counter()  # tests that are skipped do not always begin

    def startTest(self, test):
        self.began = time.perf_counter()
        super().startTest(test)

    def stopTest(self, test):
        super().stopTest(test)
        self.stream.writeln(f"    {time.perf_counter() - self.began:.1f} s")


def main():
    folder = str(pathlib.Path(__file__).parent)
    suite = unittest.TestSuite()
    for pattern in sys.argv[1:] or PATTERNS:
        suite.addTests(unittest.TestLoader().discover(folder, pattern))
    for name in ("heptad", "numpy", "torch", "cupy", "jax"):
        try:
            print(name, __import__(name).__version__)
        except ImportError:
            print(name, "is not installed")
    told = unittest.TextTestRunner(verbosity=2, resultclass=TimedResult).run(suite)
    sys.exit(0 if told.wasSuccessful() and told.testsRun > 0 else 1)


if __name__ == "__main__":
    main()
