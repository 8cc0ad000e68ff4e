"""Arrays of CuPy and PyTorch, and through them those of others on an NVIDIA device, multiplied where they lie.

The library that owns the arrays is asked for their address, for its current stream and for the result's memory, so that
its own allocator knows when that may be used again. Nothing is waited for.
"""

from __future__ import annotations

import sys
from typing import Any

from . import _core

_NAMES = {
    "float64": "f64",
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "complex64": "c64",
    "complex128": "c128",
    "int32": "i32",
    "int64": "i64",
    "bool": "bool",
}

_HOST, _CUDA = (1, 3, 11), (2, 13)
"""Kinds of devices as DLPack numbers them: host memory, also locked pages of CUDA and ROCm; CUDA, also managed memory."""
_OTHER_KINDS = {4: "OpenCL", 7: "Vulkan", 8: "Metal", 10: "ROCm", 14: "oneAPI", 15: "WebGPU", 16: "Hexagon", 17: "MAIA"}


class _Torch:
    def __init__(self) -> None:
        import torch  # type: ignore[import-not-found,unused-ignore]

        from . import _torch_products

        self._torch: Any = torch
        self._products = _torch_products
        plain_product[torch.Tensor] = _torch_products.plain_products.multiply

    def name(self, array: Any) -> str | None:
        return self._products.NAMES.get(array.dtype)

    def index(self, array: Any) -> int:
        return int(array.get_device())

    def compact(self, array: Any) -> Any:
        return self._products.regular(array)

    def expanded(self, array: Any, shape: tuple[int, ...]) -> Any:
        return array.expand(shape)

    def empty(self, shape: tuple[int, ...], like: Any) -> Any:
        return like.new_empty(shape)

    def multiply(self, name: str, a: Any, b: Any, c: Any, words: tuple[Any, ...]) -> bool:
        return self._products.multiply(name, a, b, c, 1.0, 0.0, words)

    def overlap(self, a: Any, b: Any) -> bool:
        return bool(a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr())

    def copy(self, to: Any, source: Any) -> None:
        to.copy_(source)

    def check(self, *arrays: Any) -> None:
        if self._torch.is_grad_enabled() and any(array.requires_grad for array in arrays):
            raise RuntimeError(
                "heptad.matmul knows no gradients; heptad.torch.matmul does, or call it inside torch.no_grad()"
            )
        for array in arrays:
            if array.layout is not self._torch.strided:
                raise TypeError("heptad multiplies dense tensors; convert others with .to_dense()")

    def borrowed(self, array: Any) -> Any:
        if hasattr(array, "__dlpack__"):
            return self._torch.from_dlpack(array)
        return self._torch.as_tensor(array, device="cuda")


class _CuPy:
    @property
    def _cupy(self) -> Any:
        import cupy  # type: ignore[import-not-found,unused-ignore]

        return cupy

    def name(self, array: Any) -> str | None:
        return _NAMES.get(str(array.dtype))

    def index(self, array: Any) -> int:
        return int(array.device.id)

    def compact(self, array: Any) -> Any:
        strides = zip(array.shape[-2:], array.strides[-2:])
        if all(size <= 1 or (stride > 0 and stride % array.itemsize == 0) for size, stride in strides):
            return array
        return self._cupy.ascontiguousarray(array)

    def expanded(self, array: Any, shape: tuple[int, ...]) -> Any:
        return self._cupy.broadcast_to(array, shape)

    def empty(self, shape: tuple[int, ...], like: Any) -> Any:
        with like.device:
            return self._cupy.empty(shape, like.dtype)

    def multiply(self, name: str, a: Any, b: Any, c: Any, words: tuple[Any, ...]) -> bool:
        accuracy, algorithm, levels, device, limit = words
        place = f"cuda:{self.index(c)}" if device == "auto" else device
        with c.device:
            stream = int(self._cupy.cuda.get_current_stream().ptr)
        told = []
        for array in (a, b, c):
            unit = array.itemsize
            if any(stride % unit for stride in array.strides):
                return False
            told.append((int(array.data.ptr), array.shape, tuple(stride // unit for stride in array.strides)))
        return _core.multiply_at(
            name, told[0], told[1], name, told[2], 1.0, 0.0, stream, 0, -1, 0, accuracy, algorithm, levels, place, limit
        )

    def overlap(self, a: Any, b: Any) -> bool:
        return bool(self._cupy.may_share_memory(a, b))

    def copy(self, to: Any, source: Any) -> None:
        self._cupy.copyto(to, source)

    def check(self, *arrays: Any) -> None:
        pass

    def borrowed(self, array: Any) -> Any:
        return self._cupy.from_dlpack(array) if hasattr(array, "__dlpack__") else self._cupy.asarray(array)


class Foreign:
    """Arrays that tell by DLPack or __cuda_array_interface__ where they lie."""


_libraries: dict[type, _Torch | _CuPy | Foreign | None] = {}

plain_product: dict[type, Any] = {}
"""By type: the product of matrices that need no second look, in as few steps as possible; or None."""


def library_of(kind: type) -> _Torch | _CuPy | Foreign | None:
    """Whose arrays these are; None for host arrays that NumPy understands."""
    try:
        return _libraries[kind]
    except KeyError:
        pass
    torch = sys.modules.get("torch")
    root = kind.__module__.partition(".")[0]
    library: _Torch | _CuPy | Foreign | None = None
    if torch is not None and issubclass(kind, torch.Tensor):
        library = _Torch()
    elif root == "cupy":
        library = _CuPy()
    elif root != "numpy" and (hasattr(kind, "__dlpack_device__") or hasattr(kind, "__cuda_array_interface__")):
        library = Foreign()
    _libraries[kind] = library
    return library


def _lies_on_device(array: Any) -> bool:
    """In CUDA's memory, of arrays of any library. Raises TypeError where neither host nor CUDA can reach it."""
    tell = getattr(array, "__dlpack_device__", None)
    if tell is None:
        return hasattr(array, "__cuda_array_interface__")
    kind = int(tell()[0])
    if kind not in _HOST and kind not in _CUDA:
        name = _OTHER_KINDS.get(kind, f"kind {kind} of DLPack")
        raise TypeError(
            f"the array is on a device of {name}; heptad multiplies in host memory and on NVIDIA devices: copy it there"
        )
    return kind in _CUDA


def matmul_of_others(
    library: _Torch | _CuPy | Foreign | None, a: Any, b: Any, out: Any, words: tuple[Any, ...]
) -> Any:
    """The product, or NotImplemented where all arrays lie in host memory and NumPy can look at them. library: of a."""
    arrays = (a, b) if out is None else (a, b, out)
    if isinstance(library, _Torch) and all(isinstance(library_of(type(array)), _Torch) for array in arrays):
        return _matmul(library, a, b, out, words)
    if not any([_lies_on_device(array) for array in arrays]):
        return NotImplemented
    roots = [type(array).__module__.partition(".")[0] for array in arrays]
    if any(root != roots[0] for root in roots):
        raise TypeError("the arrays belong to different libraries or are on host and device; give all of one kind")
    if isinstance(library, _CuPy):
        return _matmul(library, a, b, out, words)
    return _matmul_borrowed(a, b, out, roots[0], words)


def _matmul_borrowed(a: Any, b: Any, out: Any, owner: str, words: tuple[Any, ...]) -> Any:
    """By CuPy or PyTorch, which take the arrays without a copy and wait for their stream. The result goes back to the
    caller's library where that says how, and is CuPy's or PyTorch's otherwise."""
    if out is not None:
        raise TypeError(f"an out of {owner} may not be written by others; leave it out, or give one of CuPy or PyTorch")
    refusal: Exception | None = None
    kinds: list[tuple[str, type[_CuPy] | type[_Torch]]] = [("cupy", _CuPy), ("torch", _Torch)]
    for _, kind in sorted(kinds, key=lambda one: one[0] not in sys.modules):
        try:
            library = kind()
            left, right = library.borrowed(a), library.borrowed(b)
        except (ImportError, AttributeError, BufferError, RuntimeError, TypeError, ValueError) as reason:
            refusal = refusal or reason
            continue
        result = _matmul(library, left, right, None, words)
        namespace = getattr(a, "__array_namespace__", None)
        back = getattr(namespace(), "from_dlpack", None) if namespace is not None else None
        return result if back is None else back(result)
    raise TypeError(
        f"heptad multiplies arrays of CuPy and PyTorch on a device, not those of {owner}; convert them by DLPack, such "
        "as with cupy.from_dlpack or torch.from_dlpack"
    ) from refusal


def _matmul(library: _Torch | _CuPy, a: Any, b: Any, out: Any, words: tuple[Any, ...]) -> Any:
    others = (b,) if out is None else (b, out)
    library.check(a, *others)
    name = library.name(a)
    if name is None or library.name(b) != name:
        raise TypeError(
            "heptad multiplies two arrays of one type, float64, float32, float16, bfloat16, complex64, complex128, "
            f"int32, int64 or bool, not {a.dtype} and {b.dtype}; convert one"
        )
    if any(library.index(other) != library.index(a) for other in others):
        raise ValueError("the arrays are on different devices; move them to one")
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

    if out is not None and (tuple(out.shape) != shape or library.name(out) != name):
        raise ValueError(f"out is {out.dtype} of {tuple(out.shape)}, the product {a.dtype} of {shape}")
    left = library.expanded(left, stack + tuple(left.shape[-2:]))
    right = library.expanded(right, stack + tuple(right.shape[-2:]))
    if out is not None and out.ndim == len(full) and not (library.overlap(a, out) or library.overlap(b, out)):
        if library.multiply(name, left, right, out, words):
            return out
    c = library.empty(full, a)
    if 0 not in full and not library.multiply(name, left, right, c, words):
        if not library.multiply(name, library.compact(left), library.compact(right), c, words):
            raise ValueError("an array is at an address that is not a multiple of its elements' size; copy it first")
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
