"""Where Heptad was slower than the library: a table for docs/speed.md, from the runs of that page and of the BLAS drop-in."""
LEAST_SIZE, SLOWER = 1024, 0.97  # below: what a call costs; above: noise


def slower_part(runs, is_library, table):
    """Products whose sizes are all at least LEAST_SIZE and whose ratio is below SLOWER; nothing while there are none."""
    rows = []
    for name, _, records in runs:
        for r in records:
            if min(r["m"], r["k"], r["n"]) >= LEAST_SIZE and is_library(r) and r["ratio"] < SLOWER:
                sizes = [r["m"], r["k"], r["n"]]
                shape = str(r["n"]) if len(set(sizes)) == 1 else " x ".join(map(str, sizes))
                rows.append([f"`{name}`", r.get("variant") or r.get("accuracy") or "", r["type"], shape, f"{r['ratio']:.3f}",
                             str(r["vendor"])])
    if not rows:
        return ""
    return "\n\n".join(
        ["## Where Heptad was slower",
         f"All ratios below {SLOWER} of products with m, k and n of at least {LEAST_SIZE}, in the files of this page and in those of the "
         "BLAS drop-in (`studies/*-blas*.json`). Among smaller products there are more of them, because each call of Heptad takes some "
         "time: see every record.",
         table(["file", "accuracy or routine", "type", "n or m x k x n", "ratio", "vendor"], rows),
         "The Cascade Lake has AVX-512, but neither bf16 nor AMX. After that run, the sizes from which the drop-in takes over calls on "
         "such processors were raised, so that these calls of `gemm` now go to the BLAS ([the table](drop-in.md#settings)). `syrk` of "
         "f64 went there already: its 0.668 is the noise of that machine."])
