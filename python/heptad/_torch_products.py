"""Products of PyTorch's tensors, in host memory or on an NVIDIA device: on the caller's stream, with scratch memory of
PyTorch's allocator, so that graphs can be captured and neither side keeps memory from the other."""

from __future__ import annotations

from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

from . import _core

NAMES = {
    torch.float64: "f64",
    torch.float32: "f32",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.complex64: "c64",
    torch.complex128: "c128",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.bool: "bool",
}

_SMALL = 1 << 27
"""Products of fewer multiplications leave their scratch memory to the library: it keeps that little."""
_LITTLE_BYTES = 64 << 20
_NO_LIMIT = 1 << 62
"""As large as any, but said: the library then does not look at what is free beside PyTorch's allocator."""

_DEVICES = tuple(f"cuda:{index}" for index in range(64))
_scratch_bytes: dict[tuple[Any, ...], int] = {}

_raw_stream: Any = getattr(torch._C, "_cuda_getCurrentRawStream", None)
_is_capturing: Any = getattr(torch._C, "_cuda_isCurrentStreamCapturing", None)

try:  # what compiled code allocates by, for DLPack's kinds of devices
    from torch._C._dynamo import guards as _compiled  # type: ignore[import-not-found,unused-ignore]

    _allocators: dict[int, Any] = {1: _compiled._empty_strided_cpu, 2: _compiled._empty_strided_cuda}
except (ImportError, AttributeError):
    _allocators = {}

plain_products = _core.TensorProducts(torch.Tensor, NAMES, _allocators, torch.get_num_threads, _SMALL)


def place_of(tensor: Any, device: str = "auto") -> str:
    """The device by the library's name. Raises TypeError for one that it has no products on."""
    if tensor.is_cuda:
        return _DEVICES[tensor.get_device()] if device == "auto" else device
    if tensor.is_cpu:
        return device
    raise TypeError(
        f"the tensor is on {tensor.device}; heptad multiplies in host memory and on NVIDIA devices: move it there"
    )


def multiply(
    name: str, a: Any, b: Any, c: Any, alpha: float, beta: float, words: tuple[str, str, int, str, int]
) -> bool:
    """C = alpha * A * B + beta * C of tensors with the same stack before their last two dimensions. False, and nothing
    was done: one of them has strides that the library does not take, and has to be copied first."""
    accuracy, algorithm, levels, device, limit = words
    if c.is_conj() or c.is_neg():
        return False
    a, b = a.resolve_neg(), b.resolve_neg()  # copies, where they are
    place = place_of(c, device)
    stream, address, count, threads = 0, 0, -1, 0
    if c.is_cuda:
        stream = _raw_stream(c.get_device())
        # It may go back when the product is enqueued: the next to use that memory comes later on the stream.
        scratch = _scratch(name, a, b, c, beta != 0, place, words)
        if scratch is not None:
            address, count = scratch.data_ptr(), scratch.numel()
    else:
        threads = torch.get_num_threads()
    return _core.multiply_at(
        name,
        _told(a),
        _told(b),
        name,
        (c.data_ptr(), c.shape, c.stride()),
        alpha,
        beta,
        stream,
        address,
        count,
        threads,
        accuracy,
        algorithm,
        levels,
        place,
        limit,
    )


def _told(tensor: Any) -> tuple[int, tuple[int, ...], tuple[int, ...], bool]:
    """Address, shape, strides, and whether the memory holds the conjugates."""
    return tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.is_conj()


def regular(tensor: Any) -> Any:
    """The tensor, or a copy where elements of one of its matrices lie in one place, as `expand` leaves them."""
    strides = zip(tensor.shape[-2:], tensor.stride()[-2:])
    return tensor if all(size <= 1 or stride > 0 for size, stride in strides) else tensor.contiguous()


def plan(name: str, m: int, k: int, n: int, accumulate: bool, words: tuple[str, str, int, str, int]) -> _core.Plan:
    accuracy, algorithm, levels, place, limit = words
    return _core.plan(
        m, k, n, name, accuracy, algorithm, levels, place, limit if limit >= 0 else _NO_LIMIT, accumulate
    )


def _scratch(
    name: str, a: Any, b: Any, c: Any, accumulate: bool, place: str, words: tuple[str, str, int, str, int]
) -> Any:
    """Memory for the product, or None: then the library takes its own."""
    m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
    capturing = _is_capturing()
    if (m * k * n < _SMALL and not capturing) or "," in place:
        return None
    accuracy, algorithm, levels, _, limit = words
    key = (name, m, k, n, accumulate, accuracy, algorithm, levels, place, limit)
    count = _scratch_bytes.get(key)
    if count is None:
        chosen = plan(name, m, k, n, accumulate, (accuracy, algorithm, levels, place, limit))
        count = _scratch_bytes[key] = chosen.workspace_bytes
    if count == 0 or (count <= _LITTLE_BYTES and not capturing):
        return None
    try:
        return torch.empty(count, dtype=torch.uint8, device=c.device)
    except torch.cuda.OutOfMemoryError:
        return None  # the library then finds a plan for what is left
