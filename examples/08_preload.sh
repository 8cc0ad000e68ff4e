#!/usr/bin/env bash
# NumPy unchanged, with its large products computed by Heptad: no line of the program changes.
# Set HEPTAD_BLAS to the drop-in if it is not in /usr/local/lib. Needs Python with NumPy.
set -euo pipefail
library=${HEPTAD_BLAS:-/usr/local/lib/libheptad_blas.so}

cat >mine.py <<'END'
import numpy as np

a = np.arange(600 * 600, dtype=float).reshape(600, 600) % 7
print("corner of a @ a:", (a @ a)[0, 0])
END

"${PYTHON:-python3}" mine.py

# The default takes over large products only. This is a small one, so ask for it by name.
LD_PRELOAD=$library HEPTAD_MIN_SIZE=500 HEPTAD_LEVELS=1 HEPTAD_LOG=log.txt "${PYTHON:-python3}" mine.py
grep -o '[sd]gemm.* 600x600x600: 1 call' log.txt

# Switched off by a variable.
LD_PRELOAD=$library HEPTAD_OFF=1 "${PYTHON:-python3}" mine.py

# Output:
# corner of a @ a: 5988.0
# corner of a @ a: 5988.0
# dgemm 600x600x600: 1 call
# corner of a @ a: 5988.0
