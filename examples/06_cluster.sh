#!/usr/bin/env bash
# Four processes multiply two files into one. Needs heptad-mpi and Open MPI's mpirun in PATH.
# On a real cluster: mpirun --host node1,node2 --map-by ppr:1:node --bind-to none heptad-mpi mul ...
set -euo pipefail

heptad gen integer --shape 700x600 --type f64 --seed 1 -o A.npy
heptad gen integer --shape 600x500 --type f64 --seed 2 -o B.npy

# Four ranks on one machine: more than its cores perhaps, and root in a container.
mpirun --oversubscribe --allow-run-as-root --bind-to none --mca mpi_yield_when_idle 1 -n 4 \
    heptad-mpi mul A.npy B.npy -o C.npy --verify >job.txt
heptad mul A.npy B.npy -o D.npy >alone.txt
cmp C.npy D.npy && echo "four ranks and one process give the same bytes"

# What a larger cluster would need, without having one.
heptad plan 65536 65536 65536 --nodes 16 --network 100G --disk 2G --compute 5T >plan.txt
grep -c . plan.txt >/dev/null && echo "a plan for 16 nodes is in plan.txt"

# Output:
# A.npy: 700 x 600 f64, integer, seed 1
# B.npy: 600 x 500 f64, integer, seed 2
# four ranks and one process give the same bytes
# a plan for 16 nodes is in plan.txt
