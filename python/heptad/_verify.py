"""heptad.verify: is c the product of a and b? Much faster than multiplying again."""

from __future__ import annotations

from typing import Any

from . import _core, _types
from ._bits import BitMatrix
from ._options import Accuracy, whole_number


def verify(
    a: Any,
    b: Any,
    c: Any,
    *,
    accuracy: Accuracy = "balanced",
    all_rows: bool = False,
    seed: int | None = None,
) -> _core.Verification:
    """Checks c = a @ b by a random test, without multiplying again. The result is true if c is right.

    accuracy: the accuracy that c was computed with. all_rows: for bool, recompute every row, not a sample. seed: repeats
    a random test.
    """
    matrices = (a, b, c)
    all_rows, seed = bool(all_rows), None if seed is None else whole_number("a seed", seed, 64)
    if all(isinstance(x, BitMatrix) for x in matrices):
        if not a.algebra == b.algebra == c.algebra:
            raise ValueError(f"the matrices are of {a.algebra}, {b.algebra} and {c.algebra}; give one algebra")
        return _core.verify_bits(a.algebra, a._bits, b._bits, c._bits, all_rows, seed)
    if any(isinstance(x, BitMatrix) for x in matrices):
        raise TypeError("BitMatrix and arrays are mixed; give three of one kind, such as by to_numpy()")
    np = _types.load()
    arrays = [_types.as_array(x) for x in matrices]
    for array in arrays:
        if array.ndim != 2:
            raise ValueError(f"verify takes matrices, not an array of shape {array.shape}; check stacks one by one")
        if array.dtype != arrays[0].dtype:
            raise TypeError(f"a is of {arrays[0].dtype}, and another of {array.dtype}; convert them to one type")
    name = _types.name_of(arrays[0].dtype)
    if name is None:
        raise _types.refusal(arrays[0].dtype)
    views = []
    for array in arrays:
        view = _types.buffer_of(array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("=")), name)
        views.append(view if _core.is_representable(name, view) else np.array(view, order="C"))
    return _core.verify(name, views[0], views[1], views[2], accuracy, all_rows, seed)
