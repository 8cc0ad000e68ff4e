"""The measured part of docs/p0.md and its two plots, from a result file of `heptad bench p0 --json`.

Used by scripts/update_readme. Records are those of one machine; `errors` of f32 records has one entry per kind of data.
"""
import math
import sys
from xml.sax.saxutils import escape

BEGIN, END = "<!-- p0:begin -->", "<!-- p0:end -->"
REQUIRED = ["type", "n", "algorithm", "levels", "vendor", "vendor_s", "heptad_s", "ratio", "time_ratio", "arithmetics_ratio",
            "transactions_ratio", "volume_bytes_ratio", "errors"]
COUNTS = [("arithmetics", "arithmetics"), ("transactions", "transactions"), ("volume_bytes", "volume")]
TIME_COLOUR = "#d62728"
COUNT_COLOURS = {"arithmetics": "#1f77b4", "transactions": "#2ca02c", "volume_bytes": "#9467bd"}
DATA_COLOURS = {"uniform": "#1f77b4", "positive": "#2ca02c", "kaporin": "#d62728"}
BALANCED_GROWTH = 10  # PlannerLimits::balanced_growth


def check(content, path):
    for number, record in enumerate(content.get("results", [])):
        lacking = [field for field in REQUIRED if field not in record]
        if lacking:
            sys.exit(f"{path}: record {number} lacks {', '.join(lacking)}")
    if not content.get("results"):
        sys.exit(f"{path}: 'results' is empty")


def table(header, rows):
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, ["---"] * len(header)] + rows)


def seconds(value):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value * 1e9:.0f} ns"


def levels_text(count):
    return "1 level" if count == 1 else f"{count} levels"


def by_level(records, **wanted):
    """{levels: record} of the records with these fields, in the order of the levels."""
    chosen = [r for r in records if all(r[field] == value for field, value in wanted.items())]
    return dict(sorted((r["levels"], r) for r in chosen))


def values(records, field):
    return list(dict.fromkeys(r[field] for r in records))


def time_table(records):
    levels = sorted({r["levels"] for r in records})
    rows = []
    for kind in values(records, "type"):
        for n in sorted(values(records, "n")):
            for algorithm in values(records, "algorithm"):
                line = by_level(records, type=kind, n=n, algorithm=algorithm)
                if line:
                    first = next(iter(line.values()))
                    rows.append([kind, str(n), algorithm, f"{first['vendor']}, {seconds(first['vendor_s'])}"] +
                                [f"{line[level]['ratio']:.3f}" if level in line else "" for level in levels])
    return table(["type", "n", "algorithm", "classical"] + [levels_text(level) for level in levels], rows)


def count_table(records, n):
    rows = []
    for algorithm in values(records, "algorithm"):
        for level, r in by_level(records, type="f32", n=n, algorithm=algorithm).items():
            rows.append([algorithm, str(level), f"{r['time_ratio']:.3f}"] +
                        [f"{r[field + '_ratio']:.3f}" for field, _ in COUNTS])
    return table(["algorithm", "levels", "time"] + [name for _, name in COUNTS], rows)


def trend_table(trends):
    number = lambda x: "" if x is None else f"{x:.3f}"
    rows = [[t["type"], str(t["n"]), t["algorithm"]] + [number(t[f + "_correlation"]) for f, _ in COUNTS] +
            [number(t[f + "_rms_difference"]) for f, _ in COUNTS] for t in trends]
    return table(["type", "n", "algorithm"] + [f"correlation with {name}" for _, name in COUNTS] +
                 [f"difference from {name}" for _, name in COUNTS], rows)


def error_table(records, data):
    """One row per n: the vendor's largest and mean error, then those of every algorithm and level."""
    measured = [r for r in records if data in r["errors"]]
    columns = sorted({(r["algorithm"], r["levels"]) for r in measured})
    rows = []
    for n in sorted(values(measured, "n")):
        here = {(r["algorithm"], r["levels"]): r["errors"][data] for r in measured if r["n"] == n}
        vendor = next(iter(here.values()))
        cell = lambda largest, mean: f"{largest:.1e}, {mean:.1e}"
        rows.append([str(n), cell(vendor["vendor_max_error"], vendor["vendor_mean_error"])] +
                    [cell(here[c]["max_error"], here[c]["mean_error"]) if c in here else "" for c in columns])
    return table(["errors at n", "cuBLAS"] + [f"{algorithm} {level}" for algorithm, level in columns], rows)


def balanced_sentence(records):
    """How many levels stay within what `balanced` allows at every size measured, on uniform data."""
    parts = []
    for algorithm in values(records, "algorithm"):
        growth = {}
        for r in records:
            if r["algorithm"] == algorithm and "uniform" in r["errors"]:
                error = r["errors"]["uniform"]
                growth[r["levels"]] = max(growth.get(r["levels"], 0), error["max_error"] / error["vendor_max_error"])
        within = 0
        for level in sorted(growth):
            if growth[level] > BALANCED_GROWTH:
                break
            within = level
        if growth:
            parts.append(f"{levels_text(within)} of {algorithm} (" +
                         ", ".join(f"{level}: {growth[level]:.1f}" for level in sorted(growth)) + ")")
    if not parts:
        return None
    return (f"`balanced` allows {BALANCED_GROWTH} times the classical product's error on uniform data. Within that at every size above: "
            + "; ".join(parts) + ". In brackets, by level, the largest error over cuBLAS's, the worst of the sizes.")


def measured_part(content, file_name):
    machine, records = content["machine"], content["results"]
    floats = [r for r in records if r["type"] == "f32"]
    parts = [f"{machine.get('device', '?')}, cuBLAS {machine.get('cublas', '?')}; `{file_name}`, commit `{machine.get('commit', '?')}`, "
             f"command `{machine.get('command', '?')}`. The time of the classical product over that of each number of levels:",
             time_table(records)]
    if floats:
        n = max(r["n"] for r in floats)
        parts += [f"Times and counts relative to the classical product, f32, n = {n} (figures 17, 18 and 23):",
                  "![Time, arithmetics, transactions and volume by level](img/p0-time.svg)", count_table(floats, n)]
    if content.get("trends"):
        largest = max(t["n"] for t in content["trends"])
        parts += [f"How the times follow the counts over the levels at n = {largest}: Pearson's correlation of the two ratios, and the root "
                  "mean square of their difference (the count that is nearest foretells the time). At smaller n, levels cost so much that no "
                  "count does:", trend_table([t for t in content["trends"] if t["n"] == largest])]
    kinds = list(dict.fromkeys(data for r in floats for data in r["errors"]))
    if kinds:
        parts += ["Errors by level (figures 19 to 22), each as largest and mean absolute error over all entries:",
                  "![Largest error by level over cuBLAS's](img/p0-error.svg)"]
        for data in kinds:
            parts += [f"{data.capitalize()} matrices:", error_table(floats, data)]
        parts.append(balanced_sentence(floats))
    return "\n\n".join(part for part in parts if part)


class Panel:
    """A box of the plot: levels to the right, values upwards."""

    def __init__(self, left, top, width, height, levels, low, high, logarithmic):
        self.left, self.top, self.width, self.height = left, top, width, height
        self.levels, self.low, self.high, self.logarithmic = levels, low, high, logarithmic

    def x(self, level):
        return self.left + self.width * level / max(self.levels, 1)

    def y(self, value):
        place = (lambda v: math.log(v)) if self.logarithmic else (lambda v: v)
        return self.top + self.height * (place(self.high) - place(value)) / (place(self.high) - place(self.low))

    def axes(self, title, ticks):
        out = [f'<text x="{self.left}" y="{self.top - 8}">{escape(title)}</text>']
        for value in ticks:
            colour = "#444" if value == 1 else "#ddd"
            out.append(f'<line x1="{self.left}" x2="{self.left + self.width}" y1="{self.y(value):.1f}" y2="{self.y(value):.1f}" '
                       f'stroke="{colour}"/>')
            out.append(f'<text x="{self.left - 6}" y="{self.y(value) + 4:.1f}" text-anchor="end">{value:g}</text>')
        for level in range(self.levels + 1):
            out.append(f'<text x="{self.x(level):.1f}" y="{self.top + self.height + 16}" text-anchor="middle">{level}</text>')
        out.append(f'<text x="{self.left + self.width / 2:.1f}" y="{self.top + self.height + 32}" text-anchor="middle">levels</text>')
        return out

    def line(self, points, colour, style="", thick=2):
        path = " ".join(f"{self.x(level):.1f},{self.y(value):.1f}" for level, value in points)
        return [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{thick}"{style}/>'] + [
            f'<circle cx="{self.x(level):.1f}" cy="{self.y(value):.1f}" r="3" fill="{colour}"/>' for level, value in points]


def legend(entries, left, top):
    out = []
    for number, (name, colour, style) in enumerate(entries):
        y = top + 18 * number
        out.append(f'<line x1="{left}" x2="{left + 24}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="2"{style}/>')
        out.append(f'<text x="{left + 30}" y="{y + 4}">{escape(name)}</text>')
    return out


def svg(width, height, parts):
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
                      'font-family="sans-serif" font-size="12">', f'<rect width="{width}" height="{height}" fill="white"/>'] +
                     parts + ["</svg>"]) + "\n"


DASHED = ' stroke-dasharray="6 3"'


def time_plot(content):
    """Per algorithm: time and the three counts relative to no level, over the levels, f32 at the largest n; i32's time dashed."""
    records = content["results"]
    floats = [r for r in records if r["type"] == "f32"]
    if not floats:
        return None
    n = max(r["n"] for r in floats)
    algorithms = values(floats, "algorithm")
    shown = [r for r in records if r["n"] == n]
    heights = [r["time_ratio"] for r in shown] + [r[f + "_ratio"] for r in shown for f, _ in COUNTS] + [1]
    low, high = math.floor(min(heights) * 10) / 10, math.ceil(max(heights) * 10 + 0.5) / 10
    levels = max(r["levels"] for r in shown)
    step = 0.1 if high - low <= 1.2 else 0.5
    ticks = [round(low + step * i, 1) for i in range(int((high - low) / step + 1e-6) + 1)]
    parts = []
    for number, algorithm in enumerate(algorithms):
        panel = Panel(50 + 280 * number, 36, 220, 230, levels, low, high, False)
        parts += panel.axes(f"{algorithm}, n = {n}, over no levels", ticks)
        line = by_level(floats, n=n, algorithm=algorithm)
        for field, _ in COUNTS:
            parts += panel.line([(0, 1)] + [(level, r[field + "_ratio"]) for level, r in line.items() if level], COUNT_COLOURS[field],
                                thick=1.5)
        parts += panel.line([(0, 1)] + [(level, r["time_ratio"]) for level, r in line.items() if level], TIME_COLOUR, thick=2.5)
        integers = by_level(records, type="i32", n=n, algorithm=algorithm)
        if integers:
            parts += panel.line([(0, 1)] + [(level, r["time_ratio"]) for level, r in integers.items() if level], TIME_COLOUR, DASHED)
    entries = [("time, f32", TIME_COLOUR, "")] + [(name, COUNT_COLOURS[field], "") for field, name in COUNTS]
    if any(r["type"] == "i32" for r in shown):
        entries.insert(1, ("time, i32", TIME_COLOUR, DASHED))
    left = 50 + 280 * len(algorithms)
    return svg(left + 130, 310, parts + legend(entries, left, 60))


def error_plot(content):
    """Largest error over the vendor's by level, logarithmic, f32 at the largest n."""
    floats = [r for r in content["results"] if r["type"] == "f32" and r["errors"]]
    if not floats:
        return None
    n = max(r["n"] for r in floats)
    shown = [r for r in floats if r["n"] == n]
    kinds = list(dict.fromkeys(data for r in shown for data in r["errors"]))
    ratio = lambda r, data: r["errors"][data]["max_error"] / r["errors"][data]["vendor_max_error"]
    ratios = [ratio(r, data) for r in shown for data in r["errors"]] + [1, 10]
    low = 10 ** math.floor(math.log10(min(ratios)) + 1e-9)
    high = 10 ** math.ceil(math.log10(max(ratios)) - 1e-9)
    ticks = [10.0 ** power for power in range(round(math.log10(low)), round(math.log10(high)) + 1)]
    panel = Panel(60, 36, 380, 250, max(r["levels"] for r in shown), low, high, True)
    parts = panel.axes(f"largest error over cuBLAS's, f32, n = {n}", ticks)
    entries = []
    for data in kinds:
        for number, algorithm in enumerate(values(shown, "algorithm")):
            style = DASHED if number else ""
            line = by_level(shown, algorithm=algorithm)
            points = [(0, 1)] + [(level, ratio(r, data)) for level, r in line.items() if level and data in r["errors"]]
            parts += panel.line(points, DATA_COLOURS.get(data, "#444"), style)
            entries.append((f"{data}, {algorithm}", DATA_COLOURS.get(data, "#444"), style))
    return svg(620, 330, parts + legend(entries, 460, 60))
