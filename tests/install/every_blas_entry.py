"""every_blas_entry.py LIBRARY: all that Debian's OpenBLAS exports as libblas.so.3 is found through LIBRARY."""
import ctypes
import glob
import subprocess
import sys

library = ctypes.CDLL(sys.argv[1])
references = glob.glob("/usr/lib/*/openblas-*/libblas.so.3")
if not references:
    print("Debian's OpenBLAS is not installed: its entries are not compared")
    sys.exit(0)
symbols = subprocess.run(["nm", "-D", "--defined-only", references[0]], check=True, capture_output=True, text=True).stdout
names = [words[2] for words in (line.split() for line in symbols.splitlines()) if words[1] == "T"]
assert "dgemm_" in names and "cblas_daxpy" in names, f"{references[0]} is not a BLAS"
missing = [name for name in names if not hasattr(library, name)]
assert not missing, f"{sys.argv[1]} has no {', '.join(missing)}"
