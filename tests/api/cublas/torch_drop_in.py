#!/usr/bin/env python3
"""PyTorch and CuPy with libheptad_cublas.so preloaded, switched on and off in turns in one process.

    LD_PRELOAD=build/libheptad_cublas.so python3 tests/api/cublas/torch_drop_in.py [--quick] [--json FILE]

Checks that results agree, that what should be taken over is, that graphs and gradients work and that workspace is given
back; prints the times of both, their ratio and both errors. With HEPTAD_ACCURACY=fast only what that is for. Exits with
1 where a check failed.
"""

import argparse
import ctypes
import gc
import json
import os
import statistics
import sys

import numpy as np
import torch

LIBRARY = ctypes.CDLL(None)
LIBRARY.heptad_cublas_taken_over.restype = ctypes.c_longlong
failures = []
records = []


def enable(on):
    LIBRARY.heptad_cublas_enable(1 if on else 0)


def check(condition, what):
    print(f"{'ok    ' if condition else 'FAILED'} {what}", flush=True)
    if not condition:
        failures.append(what)


def taken_by(call):
    """The result, and how many calls of cuBLAS were taken over meanwhile."""
    before = LIBRARY.heptad_cublas_taken_over()
    result = call()
    torch.cuda.synchronize()
    return result, LIBRARY.heptad_cublas_taken_over() - before


def seconds(call):
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    call()
    stop.record()
    stop.synchronize()
    return start.elapsed_time(stop) * 1e-3


def in_turns(call, rounds):
    """Medians with the drop-in and without it."""
    times = {True: [], False: []}
    for on in (True, False):
        enable(on)
        seconds(call)  # plans, workspace, kernels are loaded
    for _ in range(rounds):
        for on in (False, True):
            enable(on)
            times[on].append(seconds(call))
    enable(True)
    return statistics.median(times[True]), statistics.median(times[False])


def error(c, a, b):
    """Largest error of some entries over |a_i||b_j|, by wider arithmetic of the host."""
    rows = np.linspace(0, c.shape[0] - 1, 8, dtype=int)
    cols = np.linspace(0, c.shape[1] - 1, 64, dtype=int)
    x, y, z = (part.to(torch.float64).cpu().numpy().astype(np.longdouble)
               for part in (a[rows], b[:, cols], c[rows][:, cols]))
    scale = np.linalg.norm(x.astype(float), axis=1)[:, None] * np.linalg.norm(y.astype(float), axis=0)[None, :]
    return float(np.max(np.abs(z - x @ y) / scale))


def measure(dtype, n, rounds, expected, most_growth=10):
    a, b = (torch.randn(n, n, device="cuda", dtype=dtype) for _ in range(2))
    c = torch.empty(n, n, device="cuda", dtype=dtype)
    with_s, without_s = in_turns(lambda: torch.mm(a, b, out=c), rounds)
    _, taken = taken_by(lambda: torch.mm(a, b, out=c))
    error_with = error(c, a, b)
    enable(False)
    torch.mm(a, b, out=c)
    error_without = error(c, a, b)
    enable(True)
    name = f"torch.mm {str(dtype)[6:]} n = {n}"
    print(f"       {name}: ratio {without_s / with_s:.3f}, {with_s * 1e3:.3f} ms instead of {without_s * 1e3:.3f} ms, "
          f"{2 * n**3 / with_s * 1e-12:.1f} TFLOP/s, error {error_with:.2e} beside {error_without:.2e}", flush=True)
    records.append({"suite": "torch", "type": str(dtype)[6:], "m": n, "k": n, "n": n, "heptad_s": with_s,
                    "vendor_s": without_s, "ratio": without_s / with_s, "error": error_with,
                    "vendor_error": error_without, "taken_over": bool(taken)})
    check(taken == (1 if expected else 0), f"{name} is {'taken over' if expected else 'passed on'}")
    check(np.isfinite(error_with) and error_with <= most_growth * max(error_without, torch.finfo(dtype).eps / 2),
          f"{name} has an error that its word allows")
    check(taken > 0 or with_s < 1.1 * without_s, f"{name} is not slower")


def agree(name, call, expected, tolerance):
    """The same with and without, to a tolerance of the largest entry."""
    enable(False)
    without, _ = taken_by(call)
    enable(True)
    with_it, taken = taken_by(call)
    worst = max(((x - y).abs().max() / y.abs().max()).item() for x, y in zip(with_it, without))
    check(worst <= tolerance and taken == expected, f"{name}: {taken} calls taken over, difference {worst:.1e}")


def forms(dtype, n, tolerance):
    a, b, c = (torch.randn(n, n + 128, device="cuda", dtype=dtype) for _ in range(3))
    bias = torch.randn(n, device="cuda", dtype=dtype)
    agree(f"{dtype} transposed", lambda: [a @ b.t(), a.t() @ b], 2, tolerance)
    agree(f"{dtype} addmm", lambda: [torch.addmm(c[:, :n], a, b.t(), beta=0.5, alpha=2)], 1, tolerance)
    agree(f"{dtype} addmm with a vector", lambda: [torch.addmm(bias, a, b.t())], 1, tolerance)
    batch = torch.stack([a, b, c])
    agree(f"{dtype} bmm", lambda: [torch.bmm(batch, batch.transpose(1, 2))], 1, tolerance)
    for has_bias in (True, False):
        layer = torch.nn.Linear(n + 128, n, bias=has_bias, device="cuda", dtype=dtype)

        def step():
            layer.zero_grad()
            x = a.clone().requires_grad_()
            out = layer(x)
            out.square().sum().backward()
            return [out.detach(), x.grad, layer.weight.grad.clone()]

        agree(f"{dtype} nn.Linear, forward and backward, {'with' if has_bias else 'without'} bias", step, 3, tolerance)


def block(dtype, tolerance):
    """Forward and backward through a block of a transformer, 4096 wide."""
    # GELU: where a ReLU's argument is nearly zero, one rounding switches a whole unit on or off.
    layer = torch.nn.TransformerEncoderLayer(4096, 32, 16384, dropout=0, activation="gelu", batch_first=True,
                                             device="cuda", dtype=dtype)
    x = torch.randn(4, 1024, 4096, device="cuda", dtype=dtype, requires_grad=True)
    # Not the squares of the result: those of a normalized one are constant, and their gradient nothing but rounding.
    weights = torch.randn(4, 1024, 4096, device="cuda", dtype=dtype)

    def step():
        layer.zero_grad()
        x.grad = None
        out = layer(x)
        (out * weights).sum().backward()
        return [out.detach(), x.grad]

    results = {}
    for on in (False, True):
        enable(on)
        results[on], taken = taken_by(step)
    worst = max(((p - q).abs().max() / q.abs().max()).item() for p, q in zip(results[True], results[False]))
    with_s, without_s = in_turns(step, 7)
    name = f"transformer block {str(dtype)[6:]}"
    print(f"       {name}: ratio {without_s / with_s:.3f}, {with_s * 1e3:.2f} ms instead of {without_s * 1e3:.2f} ms, "
          f"{taken} calls taken over", flush=True)
    records.append({"suite": "torch-block", "type": str(dtype)[6:], "heptad_s": with_s, "vendor_s": without_s,
                    "ratio": without_s / with_s, "difference": worst})
    check(worst <= tolerance, f"{name}: difference {worst:.1e}")
    check(without_s / with_s >= 0.99, f"{name} is not slower")


def graph(n):
    a, b = (torch.randn(n, n, device="cuda") for _ in range(2))
    c = torch.empty_like(a)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        torch.mm(a, b, out=c)
    side.synchronize()
    captured = torch.cuda.CUDAGraph()
    before = LIBRARY.heptad_cublas_taken_over()
    with torch.cuda.graph(captured, stream=side):
        torch.mm(a, b, out=c)
    taken = LIBRARY.heptad_cublas_taken_over() - before
    worst = 0
    for _ in range(3):
        a.normal_()
        captured.replay()
        replayed = c.clone()
        enable(False)
        wanted = torch.mm(a, b)
        enable(True)
        worst = max(worst, ((replayed - wanted).abs().max() / wanted.abs().max()).item())
    check(taken == 1 and worst < 1e-5, f"graphs: {taken} call captured, difference {worst:.1e}")


def memory(n):
    """After a product with a large workspace, the program can have nearly all memory of the device."""
    a, b = (torch.randn(n, n, device="cuda") for _ in range(2))
    c = torch.mm(a, b)
    torch.cuda.synchronize()
    del a, b, c
    gc.collect()
    torch.cuda.empty_cache()
    free, total = torch.cuda.mem_get_info()
    try:
        held = torch.empty(int(0.97 * total) // 4 - (600 << 18), device="cuda")
        del held
        fits = True
    except torch.cuda.OutOfMemoryError as problem:
        print(problem)
        fits = False
    torch.cuda.empty_cache()
    check(fits, f"workspace is given back ({free / 2**30:.1f} of {total / 2**30:.1f} GiB were free before that)")


def cupy_products(n):
    try:
        import cupy
    except ImportError:
        print("       CuPy is not installed")
        return
    for dtype, tolerance in (("float32", 1e-5), ("float64", 1e-13)):
        a, b = (cupy.random.standard_normal((n, n)).astype(dtype) for _ in range(2))
        enable(False)
        without = a @ b
        cupy.cuda.Device().synchronize()
        enable(True)
        with_it, taken = taken_by(lambda: a @ b)
        cupy.cuda.Device().synchronize()
        worst = float(abs(with_it - without).max() / abs(without).max())
        check(worst <= tolerance and taken == 1, f"CuPy {dtype}: {taken} call taken over, difference {worst:.1e}")


def finish(asked):
    if asked.json:
        with open(asked.json, "w", encoding="utf-8") as file:
            json.dump({"machine": {"device": torch.cuda.get_device_name(), "torch": torch.__version__,
                                   "cuda": torch.version.cuda, "command": " ".join(sys.argv)},
                       "results": records}, file, indent=1)
    print(f"{len(failures)} checks failed" if failures else "all checks passed")
    sys.exit(1 if failures else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument("--json", help="a file for the records")
    asked = parser.parse_args()
    torch.manual_seed(1)
    print(f"       PyTorch {torch.__version__}, CUDA {torch.version.cuda}, {torch.cuda.get_device_name()}")
    if os.environ.get("HEPTAD_ACCURACY") == "fast":
        measure(torch.float32, 8192, 11, True, most_growth=1000)
        measure(torch.bfloat16, 16384 if asked.quick else 32768, 5, True, most_growth=1000)
        finish(asked)
    for n, rounds in ((512, 50), (1024, 50), (4096, 15)) + (() if asked.quick else ((8192, 11), (16384, 5))):
        measure(torch.float32, n, rounds, n > 1024)
    for n, rounds in ((1024, 50), (6144, 9)) + (() if asked.quick else ((8192, 7), (16384, 5))):
        measure(torch.float64, n, rounds, n > 1024)
    for n, rounds in ((1024, 50), (4096, 15)) + (() if asked.quick else ((16384, 5),)):
        measure(torch.bfloat16, n, rounds, False)
    torch.backends.cuda.matmul.allow_tf32 = True
    measure(torch.float32, 4096, 15, False)
    torch.backends.cuda.matmul.allow_tf32 = False
    forms(torch.float32, 3072, 2e-5)
    forms(torch.float64, 6144, 1e-12)
    graph(4096)
    block(torch.float32, 1e-3)
    block(torch.bfloat16, 1e-1)
    cupy_products(6144)
    memory(8192 if asked.quick else 16384)
    finish(asked)


main()
