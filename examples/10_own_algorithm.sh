#!/usr/bin/env bash
# An algorithm is a text file: one line per product, with its coefficients of A ; of B ; of C, blocks row by row.
# Heptad proves it, computes its facts, and multiplies with it. No C++ is needed.
set -euo pipefail

cat >mine.alg <<'END'
name mine
size 2 2 2
rank 7
ring Z
source V. Strassen, Gaussian elimination is not optimal, 1969
products
1 0 0 1 ; 1 0 0 1 ; 1 0 0 1
0 0 1 1 ; 1 0 0 0 ; 0 0 1 -1
1 0 0 0 ; 0 1 0 -1 ; 0 1 0 1
0 0 0 1 ; -1 0 1 0 ; 1 0 1 0
1 1 0 0 ; 0 0 0 1 ; -1 1 0 0
-1 0 1 0 ; 1 1 0 0 ; 0 0 0 1
0 1 0 -1 ; 0 0 1 1 ; 1 0 0 0
END
heptad algorithms mine.alg | grep -E '^(size:rank|additions|exponent) '

# A wrong sign is answered with the equation that fails.
sed 's/0 0 1 -1$/0 0 1 1/' mine.alg >wrong.alg
heptad algorithms wrong.alg 2>&1 || echo "exit code $?"

# Two levels of it, on integers, where every digit must be right.
heptad gen integer --shape 300x300 --type i32 --seed 1 -o A.npy
heptad mul A.npy A.npy -o C.npy --algorithm mine.alg --levels 2 --verify >product.txt
heptad mul A.npy A.npy -o D.npy --levels 0 >classical.txt
cmp C.npy D.npy && echo "two levels of mine give the classical product"

# Output:
# size:rank           <2,2,2>:7, proven over Z
# additions           5 + 5 + 8 = 18 with shared sums, 18 without
# exponent            2.8074
# heptad: mine <2,2,2>:7 is wrong over Z: the coefficient of A2,1 * B1,1 in C2,2 is not 0 (blocks from 1)
# exit code 3
# A.npy: 300 x 300 i32, integer, seed 1
# two levels of mine give the classical product
