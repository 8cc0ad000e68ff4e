"""Which arrays heptad multiplies, and by what name it knows their types.

NumPy is imported when the first array is looked at, so that `import heptad` and the command line start at once.
"""

from __future__ import annotations

from typing import Any

numpy: Any = None
"""The module, once `load` was called."""

NAMES: dict[Any, str] = {}
"""From dtype to name, of those types that the buffer protocol knows."""

_BFLOAT16 = "bfloat16"


def load() -> Any:
    global numpy
    if numpy is None:
        import numpy as module

        for dtype, name in (
            (module.float64, "f64"),
            (module.float32, "f32"),
            (module.float16, "f16"),
            (module.int32, "i32"),
            (module.int64, "i64"),
            (module.complex64, "c64"),
            (module.complex128, "c128"),
            (module.bool_, "bool"),
        ):
            NAMES[module.dtype(dtype)] = name
        numpy = module
    return numpy


def name_of(dtype: Any) -> str | None:
    """None for types that heptad does not multiply. Bytes in another order count as the same type."""
    name = NAMES.get(dtype if dtype.isnative else dtype.newbyteorder("="))
    if name is None and dtype.name == _BFLOAT16:  # of ml_dtypes
        return "bf16"
    return name


def refusal(dtype: Any) -> TypeError:
    kind = dtype.kind
    if kind == "c":
        way_out = "convert it with .astype(numpy.complex128)"
    elif kind in "iu":
        way_out = "convert it with .astype(numpy.int64), arithmetic modulo 2**64, or .astype(numpy.float64)"
    elif kind == "f":
        way_out = "convert it with .astype(numpy.float64)"
    elif kind == "O":
        way_out = "convert it to a type of numbers with .astype(numpy.float64), or use numpy.matmul"
    else:
        way_out = "convert it to numbers first"
    return TypeError(
        "heptad multiplies arrays of float64, float32, float16, bfloat16, complex64, complex128, int32, int64 and bool, "
        f"not of {dtype}; {way_out}"
    )


def as_array(given: Any) -> Any:
    np = load()
    if getattr(type(given), "__array_ufunc__", load) is None:  # BitMatrix, File
        raise TypeError(f"{type(given).__name__} has a product of its own: use @")
    if isinstance(given, np.ma.MaskedArray):
        raise TypeError("heptad does not support masks; give the array without one, such as a.filled(0)")
    known = ("__array__", "__array_interface__", "__array_struct__", "__buffer__")
    if hasattr(given, "__dlpack__") and not any(hasattr(given, name) for name in known):
        return np.from_dlpack(given)
    return np.asarray(given)


def common_type(a: Any, b: Any) -> tuple[Any, str]:
    """The dtype that a product of both has, as in NumPy, and its name."""
    for array in (a, b):
        if name_of(array.dtype) is None:
            raise refusal(array.dtype)
    if a.dtype == b.dtype and a.dtype.isnative:
        dtype = a.dtype
    else:
        dtype = load().result_type(a.dtype, b.dtype)
    name = name_of(dtype)
    if name is None:
        raise refusal(dtype)
    return dtype, name


def buffer_of(array: Any, name: str) -> Any:
    """Of the same elements, one that the buffer protocol knows."""
    return array.view(load().uint16) if name == "bf16" else array
