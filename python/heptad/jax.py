"""Heptad in JAX: a product that works with jit, grad and vmap, through XLA's interface for foreign functions.

>>> import jax, heptad.jax
>>> c = jax.jit(heptad.jax.matmul)(a, b)
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax  # type: ignore[import-not-found,unused-ignore]
import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]
import numpy as np

from . import _core
from ._options import Accuracy, levels_number

__all__ = ["matmul"]

_NAME = "heptad_product"

jax.ffi.register_ffi_target(_NAME, _core.xla_handler(device=False), platform="cpu")
jax.ffi.register_ffi_target(_NAME, _core.xla_handler(device=True), platform="CUDA")


def matmul(
    a: Any,
    b: Any,
    *,
    accuracy: Accuracy = "balanced",
    algorithm: str = "auto",
    levels: int | None = None,
) -> Any:
    """The product like jax.numpy.matmul: vectors, matrices, and stacks of them that are broadcast.

    float64, float32, bfloat16, float16 or int32, both of one type. Keywords as for heptad.matmul. float32 is multiplied as
    float32, whatever jax_default_matmul_precision says. Gradients (jax.grad) have the same accuracy.
    """
    a, b = jnp.asarray(a), jnp.asarray(b)
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("matmul: an operand is a scalar; multiply by scalars with *")
    if a.dtype != b.dtype:
        raise TypeError(f"heptad multiplies two arrays of one type, not {a.dtype} and {b.dtype}; convert one")
    if str(a.dtype) not in ("float64", "float32", "bfloat16", "float16", "int32"):
        raise TypeError(f"heptad multiplies arrays of float64, float32, bfloat16, float16 and int32, not of {a.dtype}")
    left = a[None, :] if a.ndim == 1 else a
    right = b[:, None] if b.ndim == 1 else b
    if left.shape[-1] != right.shape[-2]:
        raise ValueError(
            f"matmul: shapes {a.shape} and {b.shape} do not match: the inner sizes {left.shape[-1]} and "
            f"{right.shape[-2]} differ"
        )
    words = (accuracy, algorithm, levels_number(levels))
    stack = jnp.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    shape = stack + left.shape[-2:-1] * (a.ndim > 1) + right.shape[-1:] * (b.ndim > 1)
    if right.ndim == 2 and left.ndim > 2:  # one product instead of many
        return _product(left.reshape(-1, left.shape[-1]), right, words).reshape(shape)
    return _product(
        jnp.broadcast_to(left, stack + left.shape[-2:]), jnp.broadcast_to(right, stack + right.shape[-2:]), words
    ).reshape(shape)


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def _product(a: Any, b: Any, words: tuple[str, str, int]) -> Any:
    """Of arrays with the same stack."""
    accuracy, algorithm, levels = words
    result = jax.ShapeDtypeStruct(a.shape[:-1] + b.shape[-1:], a.dtype)
    call = jax.ffi.ffi_call(_NAME, result, vmap_method="broadcast_all")
    return call(a, b, accuracy=accuracy, algorithm=algorithm, levels=np.int32(levels))


def _forward(a: Any, b: Any, words: tuple[str, str, int]) -> tuple[Any, tuple[Any, Any]]:
    return _product(a, b, words), (a, b)


def _backward(words: tuple[str, str, int], factors: tuple[Any, Any], grad: Any) -> tuple[Any, Any]:
    a, b = factors
    return _product(grad, jnp.matrix_transpose(b), words), _product(jnp.matrix_transpose(a), grad, words)


_product.defvjp(_forward, _backward)
