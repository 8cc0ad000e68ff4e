"""The picture of how-it-works.md: the products of one level of an algorithm, drawn from its .alg file."""
import re

CELL, GAP = 18, 26
STYLE = """<style>
.page { fill: #ffffff }
text { font: 13px sans-serif; fill: #24292f }
.small { font-size: 11px; fill: #57606a }
.cell { fill: none; stroke: #8c959f }
.plus { fill: #0969da } .minus { fill: #bc4c00 }
@media (prefers-color-scheme: dark) {
  .page { fill: #0d1117 } text { fill: #e6edf3 } .small { fill: #9198a1 } .cell { stroke: #656c76 } .plus { fill: #4493f8 } .minus { fill: #f0883e }
}
</style>"""


def products_of(path):
    """[(A, B, C)] with the coefficients of the blocks, row by row."""
    lines = re.sub(r"#.*", "", path.read_text()).split("products\n")[1].split("\n")
    return [tuple([int(word) for word in part.split()] for part in line.split(";")) for line in lines if line.count(";") == 2]


def blocks(x, y, coefficients):
    out = []
    for place, value in enumerate(coefficients):
        left, top = x + CELL * (place % 2), y + CELL * (place // 2)
        if value:
            out.append(f'<rect class="{"plus" if value > 0 else "minus"}" x="{left}" y="{top}" width="{CELL}" height="{CELL}"/>')
        out.append(f'<rect class="cell" x="{left}" y="{top}" width="{CELL}" height="{CELL}"/>')
    return out


def picture(path):
    products = products_of(path)
    step = 2 * CELL + GAP * 2
    width, height = 70 + step * len(products), 250
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">', STYLE,
           f'<rect class="page" width="{width}" height="{height}" rx="6"/>']
    rows = {"A": 36, "B": 106, "C": 176}
    for name, y in rows.items():
        out.append(f'<text x="16" y="{y + CELL + 5}">{name}</text>')
    for number, parts in enumerate(products):
        x = 60 + step * number
        out.append(f'<text x="{x + CELL}" y="22" text-anchor="middle">{number + 1}</text>')
        for (name, y), coefficients in zip(rows.items(), parts):
            out += blocks(x, y, coefficients)
            sign = {"A": "times", "B": "goes to"}.get(name)
            if sign:
                out.append(f'<text class="small" x="{x + CELL}" y="{y + 2 * CELL + 20}" text-anchor="middle">{sign}</text>')
    out.append(f'<rect class="plus" x="60" y="{height - 24}" width="11" height="11"/><text class="small" x="76" y="{height - 14}">added</text>')
    out.append(f'<rect class="minus" x="126" y="{height - 24}" width="11" height="11"/><text class="small" x="142" y="{height - 14}">subtracted</text>')
    return "\n".join(out + ["</svg>"]) + "\n"
