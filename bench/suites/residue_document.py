"""The picture and the table of docs/residues.md, from result files of one GPU: products by residues beside the vendor's."""
import json
import re

import speed_picture

BEGIN, END = "<!-- residues:begin -->", "<!-- residues:end -->"
NAMES = ("h200-residues", "studies/h200-strict", "studies/h200-residues-fast", "studies/h200-exact", "studies/h200-complex",
         "studies/h200-i64")
COMPLEX = {"c64": "f32", "c128": "f64"}  # drawn like their parts
SHAPE = re.compile(r"arithmetic=residues:(\d+)")


def read(results):
    """[(name, records)] of the files that are there."""
    return [(name, json.loads((results / f"{name}.json").read_text())["results"])
            for name in NAMES if (results / f"{name}.json").exists()]


def shape(record):
    sides = [record["m"], record["k"], record["n"]]
    return str(sides[0]) if len(set(sides)) == 1 else "x".join(map(str, sides))


def shown(record):
    sides = [record["m"], record["k"], record["n"]]
    return len(set(sides)) > 1 or sides[0] % 16 == 0  # odd sizes on a GPU are another story


def cell(record):
    if record is None:
        return ""
    if not SHAPE.search(record["plan"]):
        return "the vendor's own"
    error = f", {record['error'] / record['vendor_error']:.2f}" if record["vendor_error"] else ""
    return f"{record['ratio']:.2f}{error}"


def measured_part(files, table):
    """One row for each file and type, one column for each shape."""
    records = [r for _, all_of in files for r in all_of if shown(r)]
    squares = sorted({r["n"] for r in records if r["m"] == r["k"] == r["n"]})
    columns = [str(n) for n in squares] + sorted({shape(r) for r in records if "x" in shape(r)}, key=lambda s: int(s.split("x")[0]))
    rows = []
    for name, all_of in files:
        for kind in dict.fromkeys(r["type"] for r in all_of):
            mine = {shape(r): r for r in all_of if r["type"] == kind and shown(r)}
            moduli = sorted({SHAPE.search(r["plan"])[1] for r in mine.values() if SHAPE.search(r["plan"])}, key=int)
            first = next(iter(mine.values()))
            word = "" if first["error_bound"] == 0 else f" `{first['accuracy']}`"
            vendor = "" if first["vendor"] == "cublas" else f" over {first['vendor']}"
            most = "up to " if first["accuracy"] == "exact" else ""
            rows.append([f"{kind}{word}{vendor}, {most}{' and '.join(moduli)} moduli (`{name}.json`)"]
                        + [cell(mine.get(column)) for column in columns])
    return "\n\n".join(["![Ratio and error of products by residues over n](img/residues.svg)",
                        table(["ratio of the vendor's time to Heptad's, largest error over the vendor's"] + columns, rows)])


def picture(files):
    """A panel for each file whose errors can be compared."""
    panels = []
    for name, all_of in files:
        cells = {(COMPLEX.get(r["type"], r["type"]), r["n"]): r for r in all_of
                 if r["m"] == r["k"] == r["n"] and shown(r) and r["error"] and r["vendor_error"]}
        if cells:
            kinds = ", ".join(dict.fromkeys(r["type"] for r in all_of))
            panels.append({"name": f"{kinds}, {all_of[0]['accuracy']}", "cells": cells})
    return speed_picture.drawn(panels, "time of cuBLAS / time of Heptad by residues, one GPU (above 1: Heptad is faster)",
                               {"f32": "f32, c64", "f64": "f64, c128"})
