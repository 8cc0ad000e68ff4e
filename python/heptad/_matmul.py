"""heptad.matmul: numpy.matmul by faster algorithms."""

from __future__ import annotations

from typing import Any

from . import _core, _types
from ._device import library_of, matmul_of_others, plain_product
from ._options import Accuracy, bytes_number, levels_number


def matmul(
    a: Any,
    b: Any,
    out: Any = None,
    *,
    accuracy: Accuracy = "balanced",
    algorithm: str = "auto",
    levels: int | None = None,
    device: str = "auto",
    workspace_limit: int | None = None,
) -> Any:
    """The product of two arrays, like numpy.matmul: one-dimensional arrays are vectors, arrays of more than two
    dimensions are stacks of matrices that are broadcast, and `out` takes the result.

    Types: float64, float32, float16, bfloat16 (of ml_dtypes), complex64, complex128, int32 (modulo 2**32), int64
    (modulo 2**64) and bool (OR of ANDs), in any layout. Only arrays with negative or zero strides, or strides that are
    no multiple of an element, are copied. Arrays of CuPy and PyTorch, and others on an NVIDIA device that support
    DLPack, are multiplied in place, on the caller's stream.

    accuracy: exact, strict, balanced or fast: how far errors may exceed the classical product's (docs/accuracy.md).
    algorithm, levels: a name and a number instead of the predicted best; levels=0 is classical.
    device: auto, cpu, cuda, cuda:1, cuda:0,1 ...
    workspace_limit: maximum bytes of scratch memory; 0 for none.

    Ctrl-C ends a product at once. With `out` it waits until nothing writes there any more, which can take seconds in the
    middle of a large product of a vendor's library; `out` is undefined then.
    """
    np = _types.numpy or _types.load()
    levels = -1 if levels is None else levels_number(levels)
    workspace_limit = -1 if workspace_limit is None else bytes_number("a workspace", workspace_limit)

    # Two plain matrices: as few steps as possible.
    if type(a) is np.ndarray and type(b) is np.ndarray and out is None and a.ndim == 2 and b.ndim == 2:
        dtype = a.dtype
        name = _types.NAMES.get(dtype)
        if name is not None and b.dtype == dtype and a.shape[1] == b.shape[0]:
            c = np.empty((a.shape[0], b.shape[1]), dtype)
            if _core.multiply(name, a, b, name, c, True, accuracy, algorithm, levels, device, workspace_limit):
                return c
    elif (product := plain_product.get(type(a))) is not None and (
        c := product(a, b, out, accuracy, algorithm, levels, device, workspace_limit)
    ) is not None:
        return c
    elif (library := library_of(type(a))) is not None or library_of(type(b)) is not None:
        result = matmul_of_others(library, a, b, out, (accuracy, algorithm, levels, device, workspace_limit))
        if result is not NotImplemented:
            return result
    return _matmul_of_any(a, b, out, (accuracy, algorithm, levels, device, workspace_limit))


def _matmul_of_any(a: Any, b: Any, out: Any, words: tuple[Any, ...]) -> Any:
    np = _types.numpy
    a, b = _types.as_array(a), _types.as_array(b)
    dtype, name = _types.common_type(a, b)
    for which, array in enumerate((a, b)):
        if array.ndim == 0:
            raise ValueError(f"matmul: operand {which} is a scalar; multiply by scalars with *")
    left, right = a, b
    if a.ndim == 1:
        left = a[None, :]
    if b.ndim == 1:
        right = b[:, None]
    if left.shape[-1] != right.shape[-2]:
        raise ValueError(
            f"matmul: shapes {a.shape} and {b.shape} do not match: the inner sizes {left.shape[-1]} and "
            f"{right.shape[-2]} differ"
        )
    try:
        stack = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    except ValueError:
        raise ValueError(
            f"matmul: stacks of shapes {left.shape[:-2]} and {right.shape[:-2]} cannot be broadcast together"
        ) from None
    shape = stack + left.shape[-2:-1] * (a.ndim > 1) + right.shape[-1:] * (b.ndim > 1)

    def as_matrices(result: Any) -> Any:
        if b.ndim == 1:
            result = result[..., None]
        return result[..., None, :] if a.ndim == 1 else result

    c_dtype, c_name = dtype, name
    if isinstance(out, tuple) and len(out) == 1:  # as ufuncs take it
        (out,) = out
    if out is not None:
        out = _checked_out(out, shape, dtype)
        if name in ("f16", "bf16") and out.dtype == np.float32:
            c_dtype, c_name = out.dtype, "f32"  # what the sums are made in
    left, right = _operand(left, dtype, name, stack), _operand(right, dtype, name, stack)

    def multiply_into(c: Any, is_new: bool) -> bool:
        return _core.multiply(name, left, right, c_name, _types.buffer_of(as_matrices(c), c_name), is_new, *words)

    apart = out is not None and not (np.may_share_memory(a, out) or np.may_share_memory(b, out))
    if apart and out.dtype == c_dtype and multiply_into(out, False):
        return out
    c = np.empty(shape, c_dtype)
    multiply_into(c, True)
    if out is None:
        return c if shape else c[()]
    np.copyto(out, c, casting="same_kind")
    return out


def _checked_out(out: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    np = _types.numpy
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out is a {type(out).__name__}; give a NumPy array")
    if not out.flags.writeable:
        raise ValueError("out is read-only; give an array that may be written")
    if out.shape != shape:
        raise ValueError(f"out has the shape {out.shape} and the product has {shape}")
    if not np.can_cast(dtype, out.dtype, casting="same_kind"):
        raise TypeError(f"a product of {dtype} cannot be stored in an out of {out.dtype}; give one of {dtype}")
    return out


def _operand(array: Any, dtype: Any, name: str, stack: tuple[int, ...]) -> Any:
    """The array as the library takes it: of this type, with strides that its views have, one matrix for each product."""
    np = _types.numpy
    if array.dtype != dtype:
        array = array.astype(dtype)
    array = _types.buffer_of(array, name)
    if not _core.is_representable(name, array):
        array = np.array(array, order="C")
    if array.shape[:-2] != stack:
        array = np.broadcast_to(array, stack + array.shape[-2:])
    return array
