"""numpy_by_alternative.py LIBRARY: NumPy's products and LAPACK are right with LIBRARY in the place of libblas.so.3."""
import os
import sys

import numpy as np

with open("/proc/self/maps", encoding="ascii") as maps:
    loaded = {line.split()[-1] for line in maps if "libblas.so" in line}
assert loaded == {os.path.realpath(sys.argv[1])}, f"libblas.so.3 is {loaded}"

rng = np.random.default_rng(1)
integers = rng.integers(-8, 9, (256, 256)).astype(float)
others = rng.integers(-8, 9, (256, 256)).astype(float)
exact = integers.astype(int) @ others.astype(int)
for kind in (np.float32, np.float64, np.complex64, np.complex128):
    assert np.array_equal(integers.astype(kind) @ others.astype(kind), exact), kind
assert np.array_equal(integers @ integers.T, integers.astype(int) @ integers.T.astype(int))  # syrk
assert np.array_equal(integers @ others[:, 0], exact[:, 0])  # gemv
assert np.dot(integers[0], others[:, 1]) == exact[0, 1]  # dot
right = rng.standard_normal((256, 3))
square = rng.standard_normal((256, 256)) + 16 * np.eye(256)
assert np.allclose(square @ np.linalg.solve(square, right), right)
q, r = np.linalg.qr(square)
assert np.allclose(q @ r, square)
u, s, v = np.linalg.svd(square)
assert np.allclose((u * s) @ v, square)
