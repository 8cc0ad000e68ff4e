"""numpy_on_device.py [N [HEPTAD]]: times numpy.matmul of f32 and f64 with libheptad_blas.so preloaded.

    LD_PRELOAD=build/libheptad_blas.so HEPTAD_DEVICE=cuda HEPTAD_LOG=1 \\
        python3 tests/api/blas/numpy_on_device.py 16384 build/heptad

A measurement, no test. Prints the median of five, the rate of the product, that of the transfers (A and B there, C
back), and the largest difference from the exact product on some rows, over the largest entry. With the program, also
how that compares with the transfers alone and with the product alone, which it times after NumPy (`heptad bench
devices`): the share of the slower one's rate that is reached.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 16384
heptad = sys.argv[2] if len(sys.argv) > 2 else None
rng = np.random.default_rng(1)


def alone(name):
    """Seconds of A and B to the device, of C back, of both at a time, and of the product on the device."""
    with tempfile.TemporaryDirectory() as folder:
        result = os.path.join(folder, "alone.json")
        environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD" and not k.startswith("HEPTAD_")}
        command = [heptad, "bench", "devices", "--types", name, "--sizes", str(n), "--device", "cuda", "--json", result]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        with open(result, encoding="utf-8") as file:
            record = json.load(file)["results"][0]
    shares = record["shares"]
    return shares["there_s"], shares["back_s"], shares["both_ways_s"], record["vendor_s"]


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
    rows = rng.integers(0, n, 2)
    wide = np.float64 if dtype is np.float32 else np.longdouble
    exact = a[rows].astype(wide) @ b.astype(wide)
    error = np.abs(c[rows] - exact).max() / np.abs(exact).max()
    print(
        f"{np.dtype(dtype).name} n={n}: {median:.4f} s, {2 * n**3 / median / 1e12:.1f} TFLOP/s,"
        f" {3 * a.nbytes / median / 1e9:.1f} GB/s over the bus, error {error:.1e}"
    )
    if heptad:
        there, back, transfers, product = alone("f32" if dtype is np.float32 else "f64")
        print(
            f"  transfers alone {transfers:.4f} s (A and B there {there:.4f}, C back {back:.4f}), product alone"
            f" {product:.4f} s: {max(transfers, product) / median:.3f} of the slower one's rate"
        )
