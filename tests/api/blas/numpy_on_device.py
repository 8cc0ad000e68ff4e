"""numpy_on_device.py [N]: times numpy.matmul of f32 and f64 with libheptad_blas.so preloaded and HEPTAD_DEVICE=cuda.

    LD_PRELOAD=build/libheptad_blas.so HEPTAD_DEVICE=cuda HEPTAD_LOG=1 python3 tests/api/blas/numpy_on_device.py 16384

A measurement, no test. Prints the median of five, the rate of the product, that of the transfers (A and B there, C
back), and the largest difference from the exact product on some rows, over the largest entry.
"""

import statistics
import sys
import time

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 16384
rng = np.random.default_rng(1)
for dtype in (np.float32, np.float64):
    a = rng.random((n, n), dtype) - dtype(0.5)
    b = rng.random((n, n), dtype) - dtype(0.5)
    c = np.empty((n, n), dtype)
    np.matmul(a, b, out=c)  # starts the device
    seconds = []
    for _ in range(5):
        c.fill(np.nan)
        start = time.perf_counter()
        np.matmul(a, b, out=c)
        seconds.append(time.perf_counter() - start)
    median = statistics.median(seconds)
    rows = rng.integers(0, n, 4)
    exact = a[rows].astype(np.longdouble) @ b.astype(np.longdouble)
    error = np.abs(c[rows] - exact).max() / np.abs(exact).max()
    print(
        f"{np.dtype(dtype).name} n={n}: {median:.3f} s, {2 * n**3 / median / 1e12:.1f} TFLOP/s,"
        f" {3 * a.nbytes / median / 1e9:.1f} GB/s over the bus, error {error:.1e}"
    )
