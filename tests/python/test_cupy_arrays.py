"""CuPy's arrays on an NVIDIA device. Runs where there are both, without pytest too."""

import unittest

import heptad
import numpy as np

try:
    import cupy
except ImportError:
    raise unittest.SkipTest("CuPy is not installed") from None
try:
    cupy.cuda.runtime.getDeviceCount()
except cupy.cuda.runtime.CUDARuntimeError:
    raise unittest.SkipTest("CuPy sees no NVIDIA device") from None

SHAPES = [
    ((3, 4), (4, 5)),
    ((4,), (4, 5)),
    ((3, 4), (4,)),
    ((4,), (4,)),
    ((2, 3, 4), (4, 5)),
    ((2, 1, 3, 4), (6, 4, 2)),
    ((1, 4), (4, 1)),
    ((0, 4), (4, 5)),
    ((3, 0), (0, 5)),
]


def numbers(shape, dtype=np.float32, seed=1):
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


class CuPyTest(unittest.TestCase):
    def test_shapes_and_types_equal_numpy_on_any_stream(self):
        for dtype in (np.float64, np.float32, np.float16, np.complex64, np.complex128, np.int32):
            for left, right in SHAPES:
                with self.subTest(dtype=dtype, left=left, right=right):
                    a, b = numbers(left, dtype), numbers(right, dtype, 2)
                    with cupy.cuda.Stream():
                        found = heptad.matmul(cupy.asarray(a), cupy.asarray(b))
                        self.assertIsInstance(found, cupy.ndarray)
                        np.testing.assert_array_equal(cupy.asnumpy(found), a @ b)

    def test_views_and_out(self):
        base = numbers((40, 60))
        there = cupy.asarray(base)
        for cut in (lambda x: (x.T, x), lambda x: (x[::2, ::3], x[:20, :7]), lambda x: (x[::-1], x.T[:, ::-1])):
            np.testing.assert_array_equal(cupy.asnumpy(heptad.matmul(*cut(there))), np.matmul(*cut(base)))
        out = cupy.full((40, 40), np.nan, np.float32)
        self.assertIs(heptad.matmul(there, there.T, out), out)
        np.testing.assert_array_equal(cupy.asnumpy(out), base @ base.T)

    def test_large_products_by_levels(self):
        a, b = numbers((1500, 1300)), numbers((1300, 1700), seed=2)
        found = heptad.matmul(cupy.asarray(a), cupy.asarray(b), algorithm="winograd", levels=2)
        np.testing.assert_array_equal(cupy.asnumpy(found), a @ b)


if __name__ == "__main__":
    unittest.main()
