"""The picture and the table of the README, from result files: ratio over n with the error beside it, one panel per machine.

A machine is its device, or else its processor. Only products of the default accuracy count: docs/speed.md has the others.
"""
import math
from xml.sax.saxutils import escape

BEGIN, END = "<!-- speed:begin -->", "<!-- speed:end -->"
ACCURACY_BEGIN, ACCURACY_END = "<!-- accuracy:begin -->", "<!-- accuracy:end -->"
TYPES = ["f32", "f64"]
TABLE_SIZES = [2048, 4096, 8192, 16384]
DEFAULT_ACCURACY = "balanced"
# What docs/guide/accuracy.md shows: products of one size by default, and what `fast` costs on a processor.
GUIDE_FILES = ["h200-residues.json", "xeon-amx-2-cores-f32-balanced.json", "xeon-avx512-2-cores-balanced.json",
               "neoverse-v1-2-cores-balanced.json",
               "neoverse-v1-2-cores-8192-12288-f32.json", "neoverse-v1-2-cores-8192-f64.json"]
GUIDE_SIZE = 8192
KINDS = {"xeon-amx": "Xeon (AMX)", "xeon-avx512": "Xeon (AVX-512)"}

STYLE = """<style>
.page { fill: #ffffff }
text { font: 12px sans-serif; fill: #24292f }
.small { font-size: 11px; fill: #57606a }
.title { font-weight: bold; font-size: 13px }
.grid { stroke: #d0d7de }
.one { stroke: #57606a; stroke-dasharray: 4 3 }
.f32 { stroke: #0969da; fill: #0969da }
.f64 { stroke: #bc4c00; fill: #bc4c00 }
polyline { fill: none !important; stroke-width: 2 }
text.f32, text.f64 { stroke: none }
.best { font-size: 11px; font-weight: bold }
@media (prefers-color-scheme: dark) {
  .page { fill: #0d1117 }
  text { fill: #e6edf3 }
  .small { fill: #9198a1 }
  .grid { stroke: #3d444d }
  .one { stroke: #9198a1 }
  .f32 { stroke: #4493f8; fill: #4493f8 }
  .f64 { stroke: #f0883e; fill: #f0883e }
}
</style>"""


def error_ratio(record):
    return record["error"] / record["vendor_error"]


def machine_name(file, machine, records):
    """A card, or a processor and its cores. Virtual Xeons do not say what they are, so the file's name says which instructions counted."""
    device = next((r["device"] for r in records if r.get("suite") == "gpu" and r.get("device")), None)
    if device:
        return device
    cpu = next((kind for start, kind in KINDS.items() if file.startswith(start)), machine.get("cpu", "unknown CPU"))
    return f"{cpu}, {machine.get('cores', '?')} cores"


def machines(runs, is_library):
    """[{name, cells}], GPUs first; cells: {(type, n): record}, of several runs the lowest ratio."""
    found = {}
    for file, machine, records in runs:
        for r in records:
            if not (r["m"] == r["k"] == r["n"] >= 1024 and r["type"] in TYPES and is_library(r)):
                continue
            if not (r.get("error") and r.get("vendor_error")) or r.get("accuracy") != DEFAULT_ACCURACY:
                continue
            if r.get("suite") == "gpu" and r["n"] % 16:
                continue  # odd sizes on a GPU are another story: docs/speed.md has them
            name = machine_name(file, machine, records)
            cells = found.setdefault((r.get("suite") != "gpu", name), {})
            key = (r["type"], r["n"])
            if key not in cells or r["ratio"] < cells[key]["ratio"]:
                cells[key] = r
    return [{"name": name, "cells": cells} for (_, name), cells in sorted(found.items())]


def error_text(record):
    ratio = error_ratio(record)
    return f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:.0f}"


def readme_part(runs, is_library):
    shown = machines(runs, is_library)
    rows = []
    for kind in TYPES:
        for n in TABLE_SIZES:
            cells = [m["cells"].get((kind, n)) for m in shown]
            if any(cells):
                rows.append([kind, str(n)] + [f"**{r['ratio']:.2f}** ({error_text(r)})" if r else "" for r in cells])
    header = ["type", "n"] + [m["name"] for m in shown]
    lines = ["| " + " | ".join(row) + " |" for row in [header, ["---"] * len(header)] + rows]
    note = (f"Bold: the library's time over Heptad's, at the default accuracy, `{DEFAULT_ACCURACY}`. In brackets: Heptad's largest error over the "
            "library's. The library is cuBLAS, or the faster of OpenBLAS and BLIS; MKL was not measured. Machines, commands, "
            "results, and where Heptad was slower: [docs/speed.md](docs/speed.md).")
    return "\n\n".join(["![Ratio and error over n](docs/img/readme-speed.svg)", "\n".join(lines), note])


def accuracy_part(runs, is_library):
    """One row for each product of GUIDE_SIZE in GUIDE_FILES: what it gains, and what it costs."""
    header = ["machine", "accuracy", "type", "ratio to the library", "error over the library's", "file in `bench/results`"]
    found = {name: (machine, records) for name, machine, records in runs}
    rows = [[machine_name(name, machine, records), f"`{r['accuracy']}`", r["type"], f"{r['ratio']:.2f}", error_text(r), f"`{name}`"]
            for name in GUIDE_FILES for machine, records in [found[name]] for r in records
            if r["m"] == r["k"] == r["n"] == GUIDE_SIZE and r["type"] in TYPES and is_library(r) and r.get("error") and r.get("vendor_error")]
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, ["---"] * len(header)] + rows)


def picture(runs, is_library):
    return drawn([m for m in machines(runs, is_library) if len(m["cells"]) >= 3],
                 "time of the fastest library measured / time of Heptad (above 1: Heptad is faster)", {kind: kind for kind in TYPES})


def last_ratios(cells, x, y):
    """How many times as fast, behind the last point of each line; the higher one above the lower one."""
    ends = sorted((max((n, r["ratio"]) for (t, n), r in cells.items() if t == kind) + (kind,)
                   for kind in TYPES if any(t == kind for t, _ in cells)), key=lambda end: -end[1])
    out, below = [], math.inf
    for n, ratio, kind in reversed(ends):
        at = min(y(ratio) + 3, below - 12)
        out.append(f'<text class="best {kind}" x="{x(n) + 6:.1f}" y="{at:.1f}">{ratio:.{1 if ratio >= 2 else 2}f}x</text>')
        below = at
    return out


def drawn(shown, caption, labels):
    """A panel for each of [{name, cells}], cells: {(type, n): record}; None where there are none. labels: what to call a type."""
    if not shown:
        return None
    panel, left, top, ratio_h, gap, error_h = 270, 52, 46, 150, 34, 90
    width, height = left + panel * len(shown), top + ratio_h + gap + error_h + 44
    ratios = [r["ratio"] for m in shown for r in m["cells"].values()]
    errors = [error_ratio(r) for m in shown for r in m["cells"].values()]
    ratio_low, ratio_high = min(0.8, min(ratios)), max(1.5, math.ceil(max(ratios) * 2) / 2)
    error_low, error_high = min(0.05, min(errors)), max(100.0, max(errors))
    sizes = sorted({n for m in shown for _, n in m["cells"]})

    def x(column, n):
        span = math.log(sizes[-1] / sizes[0]) or 1
        return left + panel * column + 14 + (panel - 62) * math.log(n / sizes[0]) / span

    def y_ratio(value):
        return top + ratio_h * (ratio_high - value) / (ratio_high - ratio_low)

    def y_error(value):
        return top + ratio_h + gap + error_h * math.log(error_high / value) / math.log(error_high / error_low)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">', STYLE,
           f'<rect class="page" width="{width}" height="{height}" rx="6"/>',  # a page's own scheme may differ from the reader's
           f'<text class="small" x="8" y="14">{escape(caption)}</text>',
           f'<text class="small" x="8" y="{top + ratio_h + gap - 10}">largest error / the library\'s (below 1: Heptad is more accurate)</text>']
    marks = [value for value in ((1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0) if ratio_high > 3 else (1.0, 1.5, 2.0, 2.5, 3.0)) if value <= ratio_high]
    for column, machine in enumerate(shown):
        begin, end = left + panel * column + 4, left + panel * (column + 1) - 20
        out.append(f'<text class="title" x="{begin}" y="{top - 14}">{escape(machine["name"])}</text>')
        for value in marks:
            out.append(f'<line class="{"one" if value == 1 else "grid"}" x1="{begin}" x2="{end}" y1="{y_ratio(value):.1f}" y2="{y_ratio(value):.1f}"/>')
            if column == 0:
                out.append(f'<text class="small" x="{left - 6}" y="{y_ratio(value) + 4:.1f}" text-anchor="end">{value:g}</text>')
        for value in [value for value in (0.01, 0.1, 1, 10, 100) if value >= error_low]:
            out.append(f'<line class="{"one" if value == 1 else "grid"}" x1="{begin}" x2="{end}" y1="{y_error(value):.1f}" y2="{y_error(value):.1f}"/>')
            if column == 0:
                out.append(f'<text class="small" x="{left - 6}" y="{y_error(value) + 4:.1f}" text-anchor="end">{value:g}</text>')
        last = -math.inf
        for n in [n for n in sizes if any(key[1] == n for key in machine["cells"])]:
            if x(column, n) - last > 40:
                out.append(f'<text class="small" x="{x(column, n):.1f}" y="{height - 24}" text-anchor="middle">{n}</text>')
                last = x(column, n)
        for kind in TYPES:
            line = sorted((n, r) for (t, n), r in machine["cells"].items() if t == kind)
            for y, value in ((y_ratio, lambda r: r["ratio"]), (y_error, error_ratio)):
                points = [(x(column, n), y(value(r))) for n, r in line]
                out.append(f'<polyline class="{kind}" points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in points)}"/>')
                out += [f'<circle class="{kind}" cx="{a:.1f}" cy="{b:.1f}" r="2.5"/>' for a, b in points]
        out += last_ratios(machine["cells"], lambda n, column=column: x(column, n), y_ratio)
    out.append(f'<text class="small" x="{left + 4}" y="{height - 6}">n, square products:</text>')
    at = left + 120
    for kind in TYPES:
        out.append(f'<text class="{kind}" x="{at}" y="{height - 6}">{escape(labels[kind])}</text>')
        at += 8 * len(labels[kind]) + 8
    return "\n".join(out + ["</svg>"]) + "\n"
