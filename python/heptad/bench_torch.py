"""PyTorch's products with and without Heptad, in one process and in turns: `heptad bench torch`, or without the program
`python3 -m heptad.bench_torch`.

Products (mm, addmm, linear, bmm), a transformer block forward and backward, and what a call costs. Times are medians;
errors are those of sampled entries, against sums in extended precision, over max|A| max|B|; those of a block are
against the same block in float64, over its largest value.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import statistics
import sys
import time
from typing import Any, Callable

USAGE, RESOURCE = 2, 4
CASES = ("mm", "addmm", "linear", "bmm", "block", "call")
TYPES = {"f64": "float64", "f32": "float32", "bf16": "bfloat16", "f16": "float16"}
SAMPLE = 24  # rows and columns whose entries are checked
LEAST_S = 0.02  # of one sample

try:
    import torch  # type: ignore[import-not-found,unused-ignore]
except ImportError as reason:
    print(f"heptad: PyTorch cannot be imported ({reason}); install it for {sys.executable}", file=sys.stderr)
    sys.exit(RESOURCE)

import heptad
import heptad.torch

from . import _core
from ._options import Accuracy


class Case:
    """Something to time, and how wrong its result is."""

    def __init__(self, name: str, type_name: str, size: tuple[int, int, int], run: Callable[[], Any]) -> None:
        self.name, self.type_name, self.size, self.run = name, type_name, size, run
        self.operations = 2.0 * size[0] * size[1] * size[2]
        self.error: Callable[[Any], float] = lambda result: 0.0


def product_case(name: str, type_name: str, n: int, device: Any) -> Case:
    dtype = getattr(torch, TYPES[type_name])
    count = 4 if name == "bmm" else 1
    side = n // 2 if name == "bmm" else n

    def made(*shape: int) -> Any:
        return torch.randn(shape, device=device, dtype=torch.float32 if dtype != torch.float64 else dtype).to(dtype)

    a = made(count, side, side)
    b = made(count, side, side)
    bias = made(side)
    weight = b[0].T
    calls = {
        "mm": lambda: torch.mm(a[0], b[0]),
        "addmm": lambda: torch.addmm(bias, a[0], b[0], beta=0.5, alpha=2),
        "linear": lambda: torch.nn.functional.linear(a[0], weight, bias),
        "bmm": lambda: torch.bmm(a, b),
    }
    with_bias = {"mm": (1, 0), "addmm": (2, 0.5), "linear": (1, 1), "bmm": (1, 0)}[name]
    case = Case(name, type_name, (side, side, side), calls[name])
    case.operations *= count
    case.error = lambda c: sampled_error(a[-1], b[-1], c[-1] if name == "bmm" else c, bias, *with_bias)
    return case


def sampled_error(a: Any, b: Any, c: Any, bias: Any, alpha: float, beta: float) -> float:
    import numpy as np

    rows, cols = (torch.linspace(0, side - 1, min(side, SAMPLE)).long().to(a.device) for side in (a.shape[0], b.shape[1]))

    def wide(tensor: Any) -> Any:
        return tensor.double().cpu().numpy().astype(np.longdouble)

    exact = alpha * (wide(a[rows]) @ wide(b[:, cols])) + beta * wide(bias[cols])
    error = np.abs(wide(c[rows][:, cols]) - exact).max() / (wide(a.abs().max()) * wide(b.abs().max()))
    return float(error)


class Block(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    """One block of a transformer: attention, and a perceptron four times as wide."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.first, self.second = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.mixed = torch.nn.Linear(width, 3 * width)
        self.out = torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x: Any) -> Any:
        stack, length, width = x.shape
        parts = self.mixed(self.first(x)).view(stack, length, 3, self.heads, width // self.heads).unbind(2)
        q, k, v = (part.transpose(1, 2) for part in parts)
        mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(stack, length, width))
        return x + self.down(torch.nn.functional.gelu(self.up(self.second(x))))


def block_case(type_name: str, width: int, tokens: int, device: Any) -> Case:
    dtype = getattr(torch, TYPES[type_name])
    block = Block(width, max(1, width // 128)).to(device)
    stack = 4 if tokens % 4 == 0 else 1
    x = torch.randn(stack, tokens // stack, width, device=device)
    slope = torch.randn_like(x)

    def both(module: Any, given: Any) -> tuple[Any, Any]:
        for parameter in module.parameters():
            parameter.grad = None
        result = module(given)
        (result * slope.to(result.dtype)).sum().backward()
        return result.detach(), module.up.weight.grad

    wide = Block(width, block.heads).to(device).double()
    wide.load_state_dict({name: value.to(dtype).double() for name, value in block.state_dict().items()})
    exact = both(wide, x.to(dtype).double())
    del wide
    block = block.to(dtype)
    given = x.to(dtype)
    case = Case("block", type_name, (tokens, width, width), lambda: both(block, given))
    case.operations = 3 * 24.0 * tokens * width * width  # of the large products
    case.error = lambda found: max(
        ((one.double() - other).abs().max() / other.abs().max()).item() for one, other in zip(found, exact)
    )
    return case


def measure(case: Case, device: Any, accuracy: Accuracy, rounds: int) -> dict[str, Any]:
    def wait() -> None:
        if device.type == "cuda":
            torch.cuda.synchronize(device)

    def seconds(calls: int) -> float:
        wait()
        begin = time.perf_counter()
        for _ in range(calls):
            case.run()
        wait()
        return (time.perf_counter() - begin) / calls

    vendor_error = case.error(case.run())
    with heptad.torch.enable(accuracy=accuracy) as routing:
        error = case.error(case.run())
        taken = routing.taken
        seconds(1)
    calls = max(1, min(1000, int(LEAST_S / seconds(2))))
    times: dict[str, list[float]] = {"vendor": [], "heptad": []}
    for turn in range(rounds):
        for name in ("vendor", "heptad") if turn % 2 == 0 else ("heptad", "vendor"):
            if name == "vendor":
                times[name].append(seconds(calls))
            else:
                with heptad.torch.enable(accuracy=accuracy):
                    case.run()  # decides and plans
                    times[name].append(seconds(calls))
    m, k, n = case.size
    plan = heptad.plan(m, k, n, case.type_name, accuracy=accuracy, device=str(device))
    middle = {name: statistics.median(all_of) for name, all_of in times.items()}
    return {
        "suite": "torch",
        "type": case.type_name,
        "m": m,
        "k": k,
        "n": n,
        "device": device_name(device),
        "vendor": "torch",
        "vendor_s": middle["vendor"],
        "vendor_min_s": min(times["vendor"]),
        "vendor_max_s": max(times["vendor"]),
        "heptad_s": middle["heptad"],
        "heptad_min_s": min(times["heptad"]),
        "heptad_max_s": max(times["heptad"]),
        "ratio": middle["vendor"] / middle["heptad"],
        "effective_tops": case.operations / middle["heptad"] / 1e12,
        "error": error,
        "vendor_error": vendor_error,
        "error_ratio": error / vendor_error if vendor_error > 0 else None,
        "workspace_bytes": plan.workspace_bytes,
        "predicted_s": plan.predicted_s,
        "levels": plan.levels,
        "threads": torch.get_num_threads() if device.type == "cpu" else 1,
        "rounds": rounds,
        "accuracy": accuracy,
        "libraries_s": {"torch": middle["vendor"]},
        "plan": str(plan),
        "variant": case.name,
        "taken": taken,
    }


def call_costs(device: Any) -> dict[str, float]:
    """Seconds of the calling thread for a product of 64 x 64: nothing is waited for. The C++ call is heptad::multiply
    into memory that is there, one after another without Python between them; heptad.matmul with `out` does the same
    work, and without it PyTorch's allocator gives and takes back the result's memory, too."""
    a, b = torch.randn(64, 64, device=device), torch.randn(64, 64, device=device)
    out = torch.empty_like(a)
    told = [(tensor.data_ptr(), tensor.shape, tensor.stride()) for tensor in (a, b, out)]
    on_device = device.type == "cuda"
    stream = torch.cuda.current_stream(device).cuda_stream if on_device else 0
    place = f"cuda:{a.get_device()}" if on_device else "auto"
    calls = 100

    def in_cpp() -> float:
        return _core.seconds_of_multiply_at(
            "f32", told[0], told[1], told[2], stream, torch.get_num_threads(), place, calls
        )

    def in_python(call: Callable[[], Any]) -> Callable[[], float]:
        def seconds() -> float:
            begin = time.perf_counter()
            for _ in range(calls):
                call()
            return (time.perf_counter() - begin) / calls

        return seconds

    def enabled() -> float:
        with heptad.torch.enable():
            torch.mm(a, b)  # decides and plans
            return in_python(lambda: torch.mm(a, b))()

    measures: dict[str, Callable[[], float]] = {
        "cpp_call_s": in_cpp,
        "heptad_matmul_out_s": in_python(lambda: heptad.matmul(a, b, out)),
        "heptad_matmul_s": in_python(lambda: heptad.matmul(a, b)),
        "result_memory_s": in_python(lambda: a.new_empty((64, 64))),
        "operator_s": in_python(lambda: heptad.torch.matmul(a, b)),
        "torch_mm_s": in_python(lambda: torch.mm(a, b)),
        "torch_mm_enabled_s": enabled,
    }
    costs = dict.fromkeys(measures, float("inf"))
    for _ in range(30):  # in turns, the least of each: clocks rise and fall
        for name, seconds in measures.items():
            if on_device:
                torch.cuda.synchronize(device)
            costs[name] = min(costs[name], seconds())
    for name in ("heptad_matmul_out", "heptad_matmul"):
        costs[f"{name}_over_cpp_s"] = costs[f"{name}_s"] - costs["cpp_call_s"]
    costs["torch_mm_passed_on_s"] = costs["torch_mm_enabled_s"] - costs["torch_mm_s"]
    return costs


def device_name(device: Any) -> str:
    return str(torch.cuda.get_device_name(device)) if device.type == "cuda" else "cpu"


def machine(device: Any) -> dict[str, Any]:
    return {
        "cpu": platform.processor() or platform.machine(),
        "architecture": platform.machine().replace("x86_64", "x86-64"),
        "device": device_name(device),
        "libraries": [{"name": "torch", "version": torch.__version__, "cuda": torch.version.cuda}],
        "heptad": heptad.__version__,
        "python": platform.python_version(),
        "float32_matmul_precision": torch.get_float32_matmul_precision(),
        "command": " ".join(["python3 -m heptad.bench_torch", *sys.argv[1:]]),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def words(choices: tuple[str, ...] | dict[str, str]) -> Callable[[str], list[str]]:
    def parse(text: str) -> list[str]:
        for word in text.split(","):
            if word not in choices:
                raise argparse.ArgumentTypeError(f"'{word}' is none of {', '.join(choices)}")
        return text.split(",")

    return parse


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="heptad bench torch", description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--cases", type=words(CASES), default=list(CASES), help=f"of {', '.join(CASES)} (default: all)")
    parser.add_argument("--types", type=words(TYPES), help=f"of {', '.join(TYPES)} (default: f32,f64,bf16; blocks: f32,bf16)")
    parser.add_argument("--sizes", type=lambda text: [int(word) for word in text.split(",")], help="sides of products")
    parser.add_argument("--width", type=int, help="of the block (default 4096; on a processor 512)")
    parser.add_argument("--device", help="cuda, cuda:N or cpu (default: cuda where PyTorch sees one)")
    parser.add_argument("--accuracy", default="balanced", choices=("exact", "strict", "balanced", "fast"))
    parser.add_argument("--rounds", type=int, help="samples of each (default 7)")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions and fewer sizes")
    parser.add_argument("--json", help="write the result file")
    return parser.parse_args()


def main() -> None:
    options = parse_options()
    device = torch.device(options.device or ("cuda" if torch.cuda.is_available() else "cpu"))
    if device.type not in ("cuda", "cpu"):
        sys.exit(refuse(USAGE, f"--device takes cuda, cuda:N or cpu, not '{options.device}'"))
    if device.type == "cuda":
        if not torch.cuda.is_available():
            sys.exit(refuse(RESOURCE, "PyTorch sees no NVIDIA device; use --device cpu"))
        device = torch.device("cuda", device.index or 0)
    on_device = device.type == "cuda"
    sizes = options.sizes or ([4096, 8192, 16384] if on_device else [1024, 2048])
    sizes = sizes[:1] if options.quick and options.sizes is None else sizes
    rounds = options.rounds or (3 if options.quick else 7)
    width = options.width or (4096 if on_device else 512)
    torch.manual_seed(42)

    print(f"{device_name(device)}; PyTorch {torch.__version__}, float32 products: {torch.get_float32_matmul_precision()}")
    print(f"{'case':<8}{'type':<6}{'m':>7}{'k':>7}{'n':>7}{'ratio':>8}{'torch':>12}{'heptad':>12}{'error':>10}{'torch':>10}{'taken':>7}")
    results = []

    def told(case: Case) -> None:
        record = measure(case, device, options.accuracy, rounds)
        results.append(record)
        print(
            f"{case.name:<8}{case.type_name:<6}{record['m']:>7}{record['k']:>7}{record['n']:>7}{record['ratio']:>8.3f}"
            f"{record['vendor_s'] * 1e3:>9.3f} ms{record['heptad_s'] * 1e3:>9.3f} ms{record['error']:>10.1e}"
            f"{record['vendor_error']:>10.1e}{record['taken']:>7}",
            flush=True,
        )
        if options.json:
            write(options.json, device, results, costs)

    costs: dict[str, float] = {}
    if "call" in options.cases:
        costs = call_costs(device)
        for name, seconds in costs.items():
            print(f"{name.removesuffix('_s').replace('_', ' '):<34}{seconds * 1e6:>8.2f} us", flush=True)
    for type_name in options.types or ["f32", "f64", "bf16"]:
        for name in ("mm", "addmm", "linear", "bmm"):
            for n in sizes if name in options.cases else []:
                told(product_case(name, type_name, n, device))
    for type_name in options.types or ["f32", "bf16"]:
        if "block" in options.cases and type_name != "f64":
            told(block_case(type_name, width, width, device))
    if options.json:
        write(options.json, device, results, costs)


def write(path: str, device: Any, results: list[dict[str, Any]], costs: dict[str, float]) -> None:
    """After every line: a run that is cut off leaves what it has."""
    content: dict[str, Any] = {"machine": machine(device), "results": results}
    if costs:
        content["call_costs"] = costs
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=2)
        file.write("\n")


def refuse(code: int, sentence: str) -> int:
    print(f"heptad: {sentence}", file=sys.stderr)
    return code


if __name__ == "__main__":
    main()
