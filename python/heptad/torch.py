"""Heptad in PyTorch: an operator, and PyTorch's own products through it.

>>> import torch, heptad.torch
>>> c = heptad.torch.matmul(a, b)              # as torch.matmul, with gradients, vmap, autocast and torch.compile
>>> heptad.torch.enable()                      # torch.mm, addmm, bmm, matmul, nn.Linear: large ones from now on
>>> with heptad.torch.enable(accuracy="fast"): ...
"""

from __future__ import annotations

from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

from . import _torch_products as _products
from ._options import Accuracy, levels_number
from ._torch_routing import Routing, _new_library, disable, enable

__all__ = ["Routing", "addmm", "disable", "enable", "external_matmul", "matmul"]

_Tensor = torch.Tensor
_broadcast_shapes: Any = torch.broadcast_shapes


def matmul(
    a: _Tensor,
    b: _Tensor,
    *,
    accuracy: Accuracy = "balanced",
    algorithm: str = "auto",
    levels: int | None = None,
) -> _Tensor:
    """The product like torch.matmul: vectors, matrices, and stacks of them that are broadcast.

    float64, float32, bfloat16, float16, complex64 or complex128, both of one type, on one NVIDIA device (on its current
    stream) or in host memory. Keywords as for heptad.matmul. If no algorithm is faster, the vendor's library multiplies.
    """
    if a.dim() == 0 or b.dim() == 0:
        raise ValueError("matmul: an operand is a scalar; multiply by scalars with *")
    left = a.unsqueeze(0) if a.dim() == 1 else a
    right = b.unsqueeze(1) if b.dim() == 1 else b
    if left.shape[-1] != right.shape[-2]:
        raise ValueError(
            f"matmul: shapes {tuple(a.shape)} and {tuple(b.shape)} do not match: the inner sizes {left.shape[-1]} and "
            f"{right.shape[-2]} differ"
        )
    words = (accuracy, algorithm, levels_number(levels))
    if right.dim() == 2 and left.dim() > 2:  # one product instead of many
        flat = _product(left.reshape(-1, left.shape[-1]), right, *words)
        result = flat.reshape(*left.shape[:-1], right.shape[-1])
    else:
        stack = _broadcast_shapes(left.shape[:-2], right.shape[:-2])
        result = _product(left.expand(stack + left.shape[-2:]), right.expand(stack + right.shape[-2:]), *words)
    if b.dim() == 1:
        result = result.squeeze(-1)
    whole: _Tensor = result.squeeze(-1 if b.dim() == 1 else -2) if a.dim() == 1 else result
    return whole


def addmm(
    input: _Tensor,
    a: _Tensor,
    b: _Tensor,
    *,
    beta: float = 1,
    alpha: float = 1,
    accuracy: Accuracy = "balanced",
    algorithm: str = "auto",
    levels: int | None = None,
) -> _Tensor:
    """beta * input + alpha * a @ b, like torch.addmm; with beta = 0, input is not read."""
    words = (accuracy, algorithm, levels_number(levels))
    result: _Tensor = _sum_product(input, a, b, float(beta), float(alpha), *words)
    return result


def external_matmul(a: _Tensor, b: _Tensor, *, out: _Tensor) -> None:
    """For Inductor, which times it beside its own products.

    torch._inductor.config.external_matmul.append(heptad.torch.external_matmul)
    torch.compile(model, mode="max-autotune")
    """
    name = _products.NAMES.get(a.dtype)
    if name is None or not _products.multiply(name, a, b, out, 1.0, 0.0, _ORDINARY):
        torch.mm(a, b, out=out)


external_matmul.__name__ = "heptad_external_matmul"  # by which Inductor's code calls it
_ORDINARY = ("balanced", "auto", -1, "auto", -1)


def _checked(a: _Tensor, b: _Tensor) -> None:
    if a.dim() < 2 or a.dim() != b.dim() or a.shape[:-2] != b.shape[:-2] or a.shape[-1] != b.shape[-2]:
        raise ValueError(f"heptad::product: shapes {tuple(a.shape)} and {tuple(b.shape)} do not match")
    if a.dtype != b.dtype or not (a.is_floating_point() or a.is_complex()) or a.dtype not in _products.NAMES:
        raise TypeError(
            "heptad multiplies two tensors of one type, float64, float32, bfloat16, float16, complex64 or complex128, "
            f"not {a.dtype} and {b.dtype}; convert one"
        )
    if a.device != b.device:
        raise ValueError(f"the tensors are on {a.device} and {b.device}; move them to one device")


def _multiply(a: _Tensor, b: _Tensor, c: _Tensor, alpha: float, beta: float, words: tuple[str, str, int]) -> None:
    name = _products.NAMES[a.dtype]
    if 0 in c.shape:
        return
    a, b = _products.regular(a), _products.regular(b)
    if not _products.multiply(name, a, b, c, alpha, beta, (*words, "auto", -1)):
        raise ValueError("a tensor is at an address that is not a multiple of its elements' size; clone it first")


@torch.library.custom_op("heptad::product", mutates_args=(), device_types=("cpu", "cuda"))
def _product(a: _Tensor, b: _Tensor, accuracy: str, algorithm: str, levels: int) -> _Tensor:
    _checked(a, b)
    c = a.new_empty(a.shape[:-1] + b.shape[-1:])
    _multiply(a, b, c, 1.0, 0.0, (accuracy, algorithm, levels))
    return c


@_product.register_fake
def _(a: _Tensor, b: _Tensor, accuracy: str, algorithm: str, levels: int) -> _Tensor:
    _checked(a, b)
    return a.new_empty(a.shape[:-1] + b.shape[-1:])


@torch.library.custom_op("heptad::addmm", mutates_args=(), device_types=("cpu", "cuda"))
def _sum_product(
    input: _Tensor, a: _Tensor, b: _Tensor, beta: float, alpha: float, accuracy: str, algorithm: str, levels: int
) -> _Tensor:
    _checked(a, b)
    shape = a.shape[:-1] + b.shape[-1:]
    c = a.new_empty(shape)
    if beta != 0:
        c.copy_(input.expand(shape))
    _multiply(a, b, c, alpha, beta, (accuracy, algorithm, levels))
    return c


@_sum_product.register_fake
def _(
    input: _Tensor, a: _Tensor, b: _Tensor, beta: float, alpha: float, accuracy: str, algorithm: str, levels: int
) -> _Tensor:
    _checked(a, b)
    shape = a.shape[:-1] + b.shape[-1:]
    if beta != 0:
        input.expand(shape)
    return a.new_empty(shape)


def _keep_factors(ctx: Any, inputs: tuple[Any, ...], output: _Tensor) -> None:
    a, b, *ctx.words = inputs
    ctx.save_for_backward(a if ctx.needs_input_grad[1] else None, b if ctx.needs_input_grad[0] else None)


def _factor_gradients(ctx: Any, grad: _Tensor) -> tuple[Any, ...]:
    a, b = ctx.saved_tensors
    grad_a = _product(grad, b.mH, *ctx.words) if ctx.needs_input_grad[0] else None
    grad_b = _product(a.mH, grad, *ctx.words) if ctx.needs_input_grad[1] else None
    return grad_a, grad_b, None, None, None


_product.register_autograd(_factor_gradients, setup_context=_keep_factors)


def _keep_summands(ctx: Any, inputs: tuple[Any, ...], output: _Tensor) -> None:
    added, a, b, ctx.beta, ctx.alpha, *ctx.words = inputs
    ctx.shape = added.shape
    ctx.save_for_backward(a if ctx.needs_input_grad[2] else None, b if ctx.needs_input_grad[1] else None)


def _summand_gradients(ctx: Any, grad: _Tensor) -> tuple[Any, ...]:
    a, b = ctx.saved_tensors
    of_input, of_a, of_b = ctx.needs_input_grad[:3]
    grad_input = (grad * ctx.beta).sum_to_size(ctx.shape) if of_input else None
    grad_a = _product(grad, b.mH, *ctx.words) * ctx.alpha if of_a else None
    grad_b = _product(a.mH, grad, *ctx.words) * ctx.alpha if of_b else None
    return grad_input, grad_a, grad_b, None, None, None, None, None


_sum_product.register_autograd(_summand_gradients, setup_context=_keep_summands)


def _stacked(tensor: _Tensor, dimension: int | None, count: int) -> _Tensor:
    return tensor.expand(count, *tensor.shape) if dimension is None else tensor.movedim(dimension, 0)


@_product.register_vmap
def _(info: Any, in_dims: Any, a: _Tensor, b: _Tensor, *words: Any) -> tuple[_Tensor, int]:
    left, right = (_stacked(tensor, at, info.batch_size) for tensor, at in zip((a, b), in_dims))
    return _product(left, right, *words), 0


@_sum_product.register_vmap
def _(
    info: Any, in_dims: Any, input: _Tensor, a: _Tensor, b: _Tensor, beta: float, alpha: float, *words: Any
) -> tuple[_Tensor, int]:
    added, left, right = (_stacked(tensor, at, info.batch_size) for tensor, at in zip((input, a, b), in_dims))
    product = _product(left, right, *words)
    if added.dim() == 2:  # a row for each product
        added = added.unsqueeze(1)
    return (product * alpha if beta == 0 else added * beta + product * alpha), 0


def _lower_precision(key: str, device: str, operator: Any) -> Any:
    """The operator as autocast wants it: in the type of the region, whatever the types of float32 and below are."""
    excluded = torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, key))

    def autocast(*arguments: Any) -> Any:
        dtype = torch.get_autocast_dtype(device)
        cast = [
            each.to(dtype) if isinstance(each, _Tensor) and each.is_floating_point() and each.dtype != torch.float64 else each
            for each in arguments
        ]
        with torch._C._ExcludeDispatchKeyGuard(excluded):
            return operator(*cast)

    return autocast


_autocast: Any = _new_library("heptad", "FRAGMENT")
for _key, _device in (("AutocastCUDA", "cuda"), ("AutocastCPU", "cpu")):
    _autocast.impl("product", _lower_precision(_key, _device, torch.ops.heptad.product.default), _key)
    _autocast.impl("addmm", _lower_precision(_key, _device, torch.ops.heptad.addmm.default), _key)
