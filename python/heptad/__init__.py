"""Matrix products with fewer multiplications.

>>> import heptad, numpy as np
>>> a, b = np.random.rand(2000, 2000), np.random.rand(2000, 2000)
>>> c = heptad.matmul(a, b)                    # as numpy.matmul, at the speed of the better algorithm
>>> print(heptad.plan(2000, 2000, 2000, "f64").explain())
>>> assert heptad.verify(a, b, c)
"""

from ._bits import BitMatrix
from ._core import FileReport, Verification
from ._core import version as __version__
from ._files import File, FileProduct, open
from ._matmul import matmul
from ._plan import Plan, plan
from ._verify import verify

__all__ = [
    "BitMatrix",
    "File",
    "FileProduct",
    "FileReport",
    "Plan",
    "Verification",
    "__version__",
    "matmul",
    "open",
    "plan",
    "verify",
]
