"""The part of docs/gpu.md about bit matrices beside table 13 of Karppa and Kaski, and its plot, from the result file of `heptad bench p3`."""
import bits_document

BEGIN, END = "<!-- p3:begin -->", "<!-- p3:end -->"
NAMES = {"gf2": "GF(2)", "bool": "Boolean"}


def rate(record, seconds):
    """Effective Pbit-op/s."""
    return 2e-15 * record["m"] * record["k"] * record["n"] / seconds


def main_records(records):
    """The products with everything computed, operands on the device."""
    return [r for r in records if not r.get("variant")]


def picojoules(record):
    """Energy of a bit operation; nothing where the run was shorter than what the counter of the device tells apart."""
    if "joules" not in record or record["heptad_s"] * record["rounds"] < 0.5:
        return "-"
    return f"{record['joules'] / (2.0 * record['m'] * record['k'] * record['n']) * 1e12:.3f}"


def published(record, seconds):
    """Karppa and Kaski's time; nothing for a size that it has none of."""
    return seconds(record["vendor_s"]) if record["vendor_s"] else ""


def main_table(records, seconds, table):
    rows = []
    for n in sorted({r["n"] for r in records}):
        row = [str(n)]
        for kind in NAMES:
            found = [r for r in main_records(records) if r["n"] == n and r["type"] == kind]
            row += ["", "", "", "", ""] if not found else [
                seconds(found[0]["heptad_s"]), f"**{rate(found[0], found[0]['heptad_s']):.2f}**", picojoules(found[0]),
                f"{found[0]['workspace_bytes'] / 2**30:.2f} GiB", published(found[0], seconds)]
        rows.append(row)
    head = ["n"] + [f"{name}: {what}" for name in NAMES.values()
                    for what in ("time", "Pbit-op/s", "pJ per bit operation", "workspace", "Karppa and Kaski")]
    return table(head, rows)


def beside_table(records, seconds, table):
    """The other ways that some of the products were made: densities, from host memory."""
    rows = [[str(r["n"]), NAMES[r["type"]], r["variant"], seconds(r["heptad_s"]), f"**{rate(r, r['heptad_s']):.2f}**",
             published(r, seconds)]
            for r in sorted((r for r in records if r.get("variant")), key=lambda r: (r["n"], r["type"] != "gf2"))
            if r["n"] >= 65536]
    return table(["n", "type", "", "time", "effective Pbit-op/s", "Karppa and Kaski"], rows) if rows else None


def measured_part(content, path, seconds, table):
    machine, records = content["machine"], content["results"]
    parts = [
        "![Effective rate over n](img/bits-gpu.svg)",
        f"{machine['device']}, CUDA {machine['cuda']}; `{path}`, command `{machine['command']}`. The published times of Karppa and Kaski are for up "
        "to eight V100 with operands in host memory, without permutations and changes of basis; ours are for one device with the "
        "operands in its memory, and include everything else. Half of the bits are ones, and everything is computed.",
        main_table(records, seconds, table)]
    beside = beside_table(records, seconds, table)
    if beside:
        parts += ["The same sizes, computed in other ways, from the same file:", beside]
    return "\n\n".join(parts)


def rate_plot(content):
    lines = []
    for (kind, name), colour in zip(NAMES.items(), bits_document.COLOURS):
        records = sorted((r for r in main_records(content["results"]) if r["type"] == kind), key=lambda r: r["n"])
        lines.append((f"{name}", colour, False, [(r["n"], rate(r, r["heptad_s"])) for r in records]))
        lines.append((f"Karppa and Kaski, {name}", colour, True, [(r["n"], rate(r, r["vendor_s"])) for r in records if r["vendor_s"]]))
    return bits_document.rate_plot(lines, "Pbit-op/s, 2 n^3 / time: one H200 (dashed: Karppa and Kaski, up to eight V100)")
