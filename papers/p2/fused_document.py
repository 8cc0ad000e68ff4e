"""The measured part of docs/fused-kernels.md and its plots, from the result file of `heptad bench model`."""
import bits_document

BEGIN, END = "<!-- fused:begin -->", "<!-- fused:end -->"
ORDERS = ["serial", "two-streams", "batched", "persistent", "atomic"]
LEVELS = ["fused-1 persistent", "fused-2 direct", "fused-2x2x3 persistent", "hybrid-2 persistent", "hybrid-3 persistent",
          "parallel-1", "parallel-2", "parallel-3"]
PLOTTED = {"cublas": "cuBLAS", "fused-1 persistent": "1 level", "hybrid-2 persistent": "hybrid 2", "hybrid-3 persistent": "hybrid 3",
           "fused-2 direct": "2 direct"}
CLOSE, GOOD, LARGE = 0.15, 0.03, 2048


def shape(record):
    return record["m"], record["k"], record["n"]


def shape_text(size):
    return str(size[0]) if len(set(size)) == 1 else " x ".join(map(str, size))


def by_shape(records):
    """{(m, k, n): {variant: record}}, squares first, in order of size."""
    found = {}
    for record in records:
        found.setdefault(shape(record), {})[record["variant"]] = record
    return dict(sorted(found.items(), key=lambda item: (len(set(item[0])) > 1, item[0])))


def ratio_table(shapes, variants, names, seconds, table):
    rows = []
    for size, found in shapes.items():
        ratios = [f"{found[v]['ratio']:.3f}" if v in found else "" for v in variants]
        best = max((r for r in ratios if r), default="")
        errors = [f" ({found[v]['error'] / found[v]['vendor_error']:.1f})" if v in found else "" for v in variants]
        rows.append([shape_text(size), seconds(found["cublas"]["vendor_s"])] +
                    [(f"**{r}**" if r and r == best else r) + error for r, error in zip(ratios, errors)])
    return table(["n or m x k x n", "cuBLAS"] + names, rows)


def break_even(shapes, variant):
    """The smallest square from which on the variant never loses again; None if it loses at the largest."""
    squares = [(size[0], found[variant]["ratio"]) for size, found in shapes.items() if len(set(size)) == 1 and variant in found]
    answer = None
    for n, ratio in sorted(squares, reverse=True):
        if ratio < 1:
            break
        answer = n
    return answer


def largest_squares(shapes, variants, element_bytes, memory_bytes):
    """{variant: n}: what fits the device with its workspace, which grows like the matrices."""
    found = {}
    for size, records in shapes.items():
        for variant in variants:
            if variant in records and len(set(size)) == 1:
                needed = 3 * element_bytes + records[variant]["workspace_bytes"] / size[0] ** 2
                found[variant] = int((memory_bytes / needed) ** 0.5)  # of the largest size measured
    return found


def model_sentence(records):
    large = [r for r in records if min(shape(r)) >= LARGE]
    close = [r for r in large if abs(r["predicted_s"] / r["heptad_s"] - 1) <= CLOSE]
    good = total = 0
    for found in by_shape(records).values():
        candidates = [r for v, r in found.items() if "atomic" not in v]
        chosen = min(candidates, key=lambda r: r["predicted_s"])
        total += 1
        good += chosen["heptad_s"] <= min(r["heptad_s"] for r in candidates) * (1 + GOOD)
    return (f"{len(close)} of {len(large)} predictions for sides from {LARGE} up are within {CLOSE:.0%} of the time measured; on {good} of "
            f"{total} shapes the way that is predicted to be the fastest is within {GOOD:.0%} of the fastest one measured.")


def measured_part(content, path, seconds, table):
    machine, all_records = content["machine"], content["results"]
    parts = [f"{machine['device']}, CUDA {machine['cuda']}; `{path}`, command `{machine['command']}`. Ratio of cuBLAS's time to ours, "
             "same run, interleaved; above 1 ours is faster. In parentheses the largest error over cuBLAS's."]
    for kind in sorted({r["type"] for r in all_records}):
        records = [r for r in all_records if r["type"] == kind]
        shapes = by_shape(records)
        orders = [o for o in ORDERS if any(f"fused-1 {o}" in found for found in shapes.values())]
        levels = [v for v in LEVELS if any(v in found for found in shapes.values())]
        if orders:
            parts.append(f"### {kind}, one level of Strassen without workspace, by order of launches")
            parts.append(ratio_table(shapes, [f"fused-1 {o}" for o in orders], orders, seconds, table))
            parts.append("Break-even of squares: " + ", ".join(
                f"{o} {break_even(shapes, f'fused-1 {o}') or 'not reached'}" for o in orders) + ".")
        parts.append(f"### {kind}, more levels")
        parts.append(ratio_table(shapes, levels, levels, seconds, table))
        largest = largest_squares(shapes, levels, {"f32": 4, "f64": 8}[kind], machine["device_memory_bytes"])
        parts.append(f"Largest n whose matrices and workspace fit the {machine['device_memory_bytes'] / 2**30:.0f} GiB of the device: " +
                     ", ".join(f"{v} {n}" for v, n in largest.items()) + ".")
        parts.append(f"### {kind}, predicted and measured")
        parts.append(f"![Rates over n](img/fused-{kind}.svg)")
        parts.append(model_sentence(records))
    return "\n\n".join(parts)


def plots(content):
    """{file name: SVG}: effective Tflop/s of squares, dashed as predicted, like figure 10 of Huang, Yu and van de Geijn."""
    made = {}
    for kind in sorted({r["type"] for r in content["results"]}):
        squares = [r for r in content["results"] if r["type"] == kind and r["m"] == r["k"] == r["n"]]
        lines = []
        for (variant, name), colour in zip(PLOTTED.items(), bits_document.COLOURS):
            records = sorted((r for r in squares if r["variant"] == variant), key=lambda r: r["n"])
            for dashed, key in ((False, "heptad_s"), (True, "predicted_s")):
                points = [(r["n"], 2e-12 * r["n"] ** 3 / r[key]) for r in records]
                if points:
                    lines.append((name if not dashed else "predicted", colour, dashed, points))
        made[f"fused-{kind}.svg"] = bits_document.rate_plot(lines, f"{kind}: Tflop/s, 2 n^3 / time (dashed: predicted)")
    return made
