"""Arrays of CuPy and PyTorch on an NVIDIA device, multiplied there on the caller's stream.

The library that owns the arrays is asked for their address, for its current stream and for the result's memory, so that
its own allocator knows when that may be used again. Nothing is waited for.
"""

from __future__ import annotations

from typing import Any

from . import _core

_NAMES = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "int32": "i32", "bool": "bool"}


class _Torch:
    def __init__(self) -> None:
        import torch  # type: ignore[import-not-found,unused-ignore]

        self._torch = torch

    def type_name(self, array: Any) -> str:
        return str(array.dtype).removeprefix("torch.")

    def index(self, array: Any) -> int:
        return array.device.index or 0

    def strides(self, array: Any) -> tuple[int, ...]:
        return tuple(array.stride())

    def address(self, array: Any) -> int:
        return int(array.data_ptr())

    def compact(self, array: Any) -> Any:
        return array.contiguous()

    def expanded(self, array: Any, shape: tuple[int, ...]) -> Any:
        return array.expand(shape)

    def empty(self, shape: tuple[int, ...], like: Any) -> Any:
        return self._torch.empty(shape, dtype=like.dtype, device=like.device)

    def stream(self, array: Any) -> int:
        return int(self._torch.cuda.current_stream(array.device).cuda_stream)

    def overlap(self, a: Any, b: Any) -> bool:
        return bool(a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr())

    def copy(self, to: Any, source: Any) -> None:
        to.copy_(source)

    def require_no_gradient(self, *arrays: Any) -> None:
        if self._torch.is_grad_enabled() and any(array.requires_grad for array in arrays):
            raise RuntimeError("heptad.matmul knows no gradients; call it inside torch.no_grad(), or on .detach()")


class _CuPy:
    def __init__(self) -> None:
        import cupy  # type: ignore[import-not-found,unused-ignore]

        self._cupy = cupy

    def type_name(self, array: Any) -> str:
        return str(array.dtype)

    def index(self, array: Any) -> int:
        return int(array.device.id)

    def strides(self, array: Any) -> tuple[int, ...]:
        return tuple(stride // array.itemsize for stride in array.strides)

    def address(self, array: Any) -> int:
        return int(array.data.ptr)

    def compact(self, array: Any) -> Any:
        return self._cupy.ascontiguousarray(array)

    def expanded(self, array: Any, shape: tuple[int, ...]) -> Any:
        return self._cupy.broadcast_to(array, shape)

    def empty(self, shape: tuple[int, ...], like: Any) -> Any:
        with like.device:
            return self._cupy.empty(shape, like.dtype)

    def stream(self, array: Any) -> int:
        with array.device:
            return int(self._cupy.cuda.get_current_stream().ptr)

    def overlap(self, a: Any, b: Any) -> bool:
        return bool(self._cupy.may_share_memory(a, b))

    def copy(self, to: Any, source: Any) -> None:
        self._cupy.copyto(to, source)

    def require_no_gradient(self, *arrays: Any) -> None:
        pass


def _library_of(array: Any) -> _Torch | _CuPy:
    name = type(array).__module__.partition(".")[0]
    if name == "torch":
        return _Torch()
    if name == "cupy":
        return _CuPy()
    raise TypeError(
        f"heptad multiplies arrays of CuPy and PyTorch on a device, not those of {name}; convert them by DLPack, such "
        "as with cupy.from_dlpack or torch.from_dlpack"
    )


def matmul_on_device(
    a: Any, b: Any, out: Any, accuracy: str, algorithm: str, levels: int, device: str, workspace_limit: int
) -> Any:
    library = _library_of(a)
    others = (b,) if out is None else (b, out)
    if any(type(other).__module__.partition(".")[0] != type(a).__module__.partition(".")[0] for other in others):
        raise TypeError("the arrays belong to different libraries or lie on host and device; give all of one kind")
    library.require_no_gradient(a, b)
    type_name = library.type_name(a)
    if type_name not in _NAMES or library.type_name(b) != type_name:
        raise TypeError(
            f"heptad multiplies two arrays of one type, float64, float32, float16, bfloat16, int32 or bool, not "
            f"{type_name} and {library.type_name(b)}; convert one"
        )
    if any(library.index(other) != library.index(a) for other in others):
        raise ValueError("the arrays lie on different devices; move them to one")
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("matmul: an operand is a scalar; multiply by scalars with *")
    left = a[None, :] if a.ndim == 1 else a
    right = b[:, None] if b.ndim == 1 else b
    if left.shape[-1] != right.shape[-2]:
        raise ValueError(
            f"matmul: shapes {tuple(a.shape)} and {tuple(b.shape)} do not match: the inner sizes {left.shape[-1]} and "
            f"{right.shape[-2]} differ"
        )
    stack = _broadcast(tuple(left.shape[:-2]), tuple(right.shape[:-2]))
    full = stack + (left.shape[-2], right.shape[-1])
    shape = stack + full[-2:-1] * (a.ndim > 1) + full[-1:] * (b.ndim > 1)

    if out is not None and (tuple(out.shape) != shape or library.type_name(out) != type_name):
        raise ValueError(f"out is {library.type_name(out)} of {tuple(out.shape)}, the product {type_name} of {shape}")
    direct = (
        out is not None
        and out.ndim == len(full)
        and _is_representable(library, out)
        and not (library.overlap(a, out) or library.overlap(b, out))
    )
    c = out if direct else library.empty(full, a)
    if 0 not in full:
        count = 1
        for size in stack:
            count *= size
        name = _NAMES[type_name]
        where = f"cuda:{library.index(a)}" if device == "auto" else device
        # Copies live until the product is enqueued; later users of their memory come after it on the stream.
        left, right = _operand(library, left, stack), _operand(library, right, stack)
        _core.multiply_on_device(
            name,
            _matrix(library, left),
            _matrix(library, right),
            name,
            _matrix(library, c),
            count,
            library.stream(a),
            accuracy,
            algorithm,
            levels,
            where,
            workspace_limit,
        )
    if direct:
        return out
    result = c.reshape(shape)
    if out is None:
        return result
    library.copy(out, result)
    return out


def _broadcast(x: tuple[int, ...], y: tuple[int, ...]) -> tuple[int, ...]:
    count = max(len(x), len(y))
    x, y = (1,) * (count - len(x)) + x, (1,) * (count - len(y)) + y
    for i, j in zip(x, y):
        if i != j and 1 not in (i, j):
            raise ValueError(f"matmul: stacks of shapes {x} and {y} cannot be broadcast together")
    return tuple(j if i == 1 else i for i, j in zip(x, y))


def _is_representable(library: _Torch | _CuPy, array: Any) -> bool:
    """Matrices with upward strides, at regular distances."""
    strides = library.strides(array)
    if any(size > 1 and stride <= 0 for size, stride in zip(array.shape[-2:], strides[-2:])):
        return False
    walk = [(size, stride) for size, stride in zip(array.shape[:-2], strides[:-2]) if size > 1]
    return all(outer[1] == inner[0] * inner[1] for outer, inner in zip(walk, walk[1:]))


def _operand(library: _Torch | _CuPy, array: Any, stack: tuple[int, ...]) -> Any:
    """One matrix for each product, with strides that the library's views have."""
    shape = stack + tuple(array.shape[-2:])
    spread = library.expanded(array, shape)
    return spread if _is_representable(library, spread) else library.compact(spread)


def _matrix(library: _Torch | _CuPy, array: Any) -> _core.DeviceMatrix:
    strides = library.strides(array)
    rows, cols = array.shape[-2:]
    row_stride, col_stride = strides[-2:]
    if cols <= 1:
        col_stride = 1
    if rows <= 1:
        row_stride = max(int(cols), 1) if col_stride == 1 else 1
    walk = [stride for size, stride in zip(array.shape[:-2], strides[:-2]) if size > 1]
    return _core.DeviceMatrix(
        library.address(array), int(rows), int(cols), row_stride, col_stride, walk[-1] if walk else 0
    )
