"""The Python module: NumPy arrays, plans, checks, packed bits and files."""
import heptad
import numpy as np

rng = np.random.default_rng(1)
a, b = rng.standard_normal((700, 600)), rng.standard_normal((600, 500))

c = heptad.matmul(a, b)
print("close to NumPy:", np.allclose(c, a @ b, rtol=0, atol=1e-11))
print("verified:", bool(heptad.verify(a, b, c)))

c[3, 4] += 1
wrong = heptad.verify(a, b, c)
print("a wrong entry is found:", not wrong, "in row", wrong.bad_row)

plan = heptad.plan(4096, 4096, 4096, "f32", levels=2)
print("levels:", plan.levels, "- parses back:", heptad.Plan.parse(str(plan)) == plan)

g = heptad.BitMatrix.random(300, 300, seed=1, algebra="bool", density=0.01)
print("edges:", g.count(), "- reachable pairs:", g.closure().count())

np.save("A.npy", a.astype(np.float32))
np.save("B.npy", b.astype(np.float32))
file = heptad.open("A.npy").matmul(heptad.open("B.npy"), "C.npy", memory_bytes=1 << 21, verify=True)
print("from file to file:", file.shape, file.type)

try:
    heptad.matmul(a, a)
except ValueError as error:
    print("ValueError:", error)

# Output:
# close to NumPy: True
# verified: True
# a wrong entry is found: True in row 3
# levels: 2 - parses back: True
# edges: 919 - reachable pairs: 82371
# from file to file: (700, 500) f32
# ValueError: matmul: shapes (700, 600) and (700, 600) do not match: the inner sizes 600 and 700 differ
