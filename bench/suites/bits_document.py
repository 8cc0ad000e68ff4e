"""The measured part of docs/bits.md and its plot, from the records of `heptad bench bits` in bench/results."""
import math
from xml.sax.saxutils import escape

BEGIN, END = "<!-- bits:begin -->", "<!-- bits:end -->"
COLOURS = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b"]


def bit_runs(runs):
    """[(file name, machine, records)] of products of packed bits on CPUs."""
    found = [(name, machine, [r for r in records if r.get("suite") == "bits" and r.get("device", "cpu") == "cpu"])
             for name, machine, records in runs]
    return [run for run in found if run[2]]


def kind(record):
    """What a line is about: gf2, bool with its density, or the power."""
    plan = record.get("plan", "")
    if plan.startswith("power"):
        return "A^8"
    return record["type"] + (f", density {plan.split('density ')[1]}" if "density " in plan else "")


def rate(record):
    """Tbit-op/s: 2 m k n over the time, of all three products where the record is a power."""
    return record.get("effective_tops") or 2e-12 * record["m"] * record["k"] * record["n"] / record["heptad_s"]


def measured_part(runs, machine_sentence, seconds, table):
    parts = ["![Rates over n](img/bits.svg)"]
    for number, (name, machine, records) in enumerate(runs, 1):
        threads = sorted({r.get("threads", 1) for r in records})
        parts.append(f"({number}) {machine_sentence(machine)}; {', '.join(map(str, threads))} thread(s) used; `{name}`, command "
                     f"`{machine.get('command', '?')}`. Compared with `m4ri`, with a plain loop over words (bool), or with three "
                     "separate products (`A^8`).")
        rows = []
        for r in records:
            compared = bool(r["ratio"])  # null, or 0 in older files: there was nothing to compare with
            rows.append([kind(r), f"{r['m']} x {r['k']} x {r['n']}", r["vendor"] if compared else "",
                         seconds(r["vendor_s"]) if compared else "", seconds(r["heptad_s"]),
                         f"**{r['ratio']:.2f}**" if compared else "", f"{rate(r):.3g}"])
        parts.append(table(["product", "m x k x n", "compared with", "its time", "Heptad", "ratio", "Tbit-op/s"], rows))
    return "\n\n".join(parts)


def lines_of(runs):
    """[(label, colour, dashed, [(n, Tbit-op/s)])]: GF(2), Heptad and M4RI, one colour per run."""
    lines = []
    for number, (_, _, records) in enumerate(runs, 1):
        colour = COLOURS[(number - 1) % len(COLOURS)]
        squares = [r for r in records if kind(r) == "gf2" and r["m"] == r["k"] == r["n"]]
        ours = sorted((r["n"], rate(r)) for r in squares)
        theirs = sorted((r["n"], 2e-12 * r["n"] ** 3 / r["vendor_s"]) for r in squares if r["vendor"] == "m4ri")
        lines += [(f"Heptad ({number})", colour, False, ours)] if ours else []
        lines += [(f"M4RI ({number})", colour, True, theirs)] if theirs else []
    return lines


def rate_plot(lines, title):
    """Effective rate over n, both logarithmic, as SVG text; `lines` as lines_of gives them."""
    points = [point for line in lines for point in line[3]]
    if not points:
        return None
    width, height, left, right, top, bottom = 640, 340, 56, 100, 26, 44
    n_low, n_high = min(p[0] for p in points), max(p[0] for p in points)
    low = 2.0 ** math.floor(math.log2(min(p[1] for p in points)))
    high = 2.0 ** math.ceil(math.log2(max(p[1] for p in points)) + 1e-9)
    n_span, span = math.log(n_high / n_low) or 1, math.log(high / low) or 1

    def x(n):
        return left + (width - left - right) * math.log(n / n_low) / n_span

    def y(value):
        return top + (height - top - bottom) * math.log(high / value) / span

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
           'font-family="sans-serif" font-size="12">', f'<rect width="{width}" height="{height}" fill="white"/>']
    tick = low
    while tick <= high * 1.001:
        out.append(f'<line x1="{left}" x2="{width - right}" y1="{y(tick):.1f}" y2="{y(tick):.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{left - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
        tick *= 2
    for n in sorted({p[0] for p in points}):
        out.append(f'<text x="{x(n):.1f}" y="{height - bottom + 18}" text-anchor="middle">{n}</text>')
    out.append(f'<text x="{(left + width - right) / 2}" y="{height - 8}" text-anchor="middle">n (square products)</text>')
    out.append(f'<text x="{left}" y="14">{escape(title)}</text>')
    label_y = -math.inf
    for label, colour, dashed, line in sorted(lines, key=lambda entry: -entry[3][-1][1]):
        dashes = ' stroke-dasharray="6 3"' if dashed else ""
        path = " ".join(f"{x(n):.1f},{y(value):.1f}" for n, value in line)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>')
        out += [f'<circle cx="{x(n):.1f}" cy="{y(value):.1f}" r="3" fill="{colour}"/>' for n, value in line]
        label_y = max(label_y + 14, y(line[-1][1]) + 4)
        out.append(f'<text x="{width - right + 8}" y="{label_y:.1f}" fill="{colour}">{escape(label)}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"
