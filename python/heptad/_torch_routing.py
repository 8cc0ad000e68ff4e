"""PyTorch's own products by Heptad: large ones of mm, addmm, bmm and baddbmm, and so of matmul, einsum and nn.Linear,
forward and backward.

The kernels that PyTorch's dispatcher holds for the processor and for CUDA are overridden, below autograd, autocast and
vmap, which stay as they are; backward passes, Inductor's code and other callers in C++ come here too. Only products pay
for that, 1 to 2 us each before the old kernel is called. A TorchFunctionMode costs as much at every call of every
function, questions for a shape included, and does not see the backward pass; a TorchDispatchMode costs ten times that at
every operator.
"""

from __future__ import annotations

import inspect
import warnings
from typing import Any, Callable

import torch  # type: ignore[import-not-found,unused-ignore]

from . import _torch_products as _products
from ._options import Accuracy
from ._torch_products import NAMES

_KEYS = ("CPU", "CUDA")
_KINDS = {torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.complex64, torch.complex128}

_new_library: Any = torch.library.Library
_tf32_setting: Any = getattr(torch._C, "_get_fp32_precision_getter", None)


def _tf32_is_allowed() -> bool:
    """Whether PyTorch itself would multiply float32 on CUDA in tf32 now."""
    if _tf32_setting is not None:
        return bool(_tf32_setting("cuda", "matmul") == "tf32")
    return bool(torch._C._get_cublas_allow_tf32())


class Routing:
    """What `enable` set up. It ends with `disable()`, or with its `with` block."""

    def __init__(self, min_size: int, accuracy: str) -> None:
        self.min_size = min_size
        self.accuracy = accuracy
        self.taken = 0
        """How many calls Heptad has carried out."""
        self._least_elements = min_size * min_size
        self._decisions: dict[tuple[Any, ...], bool] = {}
        self._refused: set[str] = set()
        self._before: Routing | None = None
        self._overrides: Any = None

    def __enter__(self) -> Routing:
        return self

    def __exit__(self, *_: object) -> None:
        if _current is self:
            _install(self._before)

    def __repr__(self) -> str:
        return f"<heptad.torch.Routing min_size={self.min_size} accuracy={self.accuracy!r}: {self.taken} calls taken>"

    def product(
        self, a: Any, b: Any, out: Any = None, added: Any = None, beta: float = 0, alpha: float = 1
    ) -> Any:
        """alpha * a @ b + beta * added, or None if PyTorch should compute it."""
        if a.dim() != b.dim() or a.dtype != b.dtype or a.dtype not in _KINDS or a.device != b.device:
            return None
        m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
        least = self.min_size
        if m < least or k < least or n < least or b.shape[-2] != k or a.shape[:-2] != b.shape[:-2]:
            return None
        place = "cpu" if not a.is_cuda else _products.place_of(a)
        name = NAMES[a.dtype]
        if name == "f32" and a.is_cuda and _tf32_is_allowed():
            name = "tf32"
        beta = 0 if added is None else beta
        if isinstance(alpha, complex) or isinstance(beta, complex):
            if alpha.imag != 0 or beta.imag != 0:
                return None
            alpha, beta = alpha.real, beta.real
        words = (self.accuracy, "auto", -1, place, -1)
        if place in self._refused or not self._pays(name, m, k, n, beta != 0, words):
            return None
        shape = a.shape[:-1] + b.shape[-1:]
        if out is None:
            c = a.new_empty(shape)
        elif self._fits(out, shape, a, b, added):
            c = out
        else:
            return None
        if beta != 0:
            if added.dtype != a.dtype or added.device != a.device:
                return None
            c.copy_(added.expand(shape))
        try:
            if not _products.multiply(name, a, b, c, float(alpha), float(beta), words):
                return None
        except MemoryError:
            return None
        except RuntimeError as reason:
            self._refused.add(place)
            warnings.warn(f"heptad multiplies nothing on {place}, PyTorch does: {reason}", RuntimeWarning, stacklevel=2)
            return None
        self.taken += 1
        return c

    def _pays(self, name: str, m: int, k: int, n: int, accumulate: bool, words: tuple[str, str, int, str, int]) -> bool:
        key = (name, m, k, n, accumulate, words[3])
        known = self._decisions.get(key)
        if known is None:
            plan = _products.plan(name, m, k, n, accumulate, words)
            text = str(plan)
            known = plan.levels > 0 or " arithmetic=" in text or " complex=three-products" in text
            self._decisions[key] = known
        return known

    @staticmethod
    def _fits(out: Any, shape: Any, *inputs: Any) -> bool:
        storage = out.untyped_storage().data_ptr()
        return (
            out.shape == shape
            and out.dtype == inputs[0].dtype
            and out.device == inputs[0].device
            and all(each is None or each.untyped_storage().data_ptr() != storage for each in inputs)
        )


_current: Routing | None = None


def enable(min_size: int = 1024, accuracy: Accuracy = "balanced") -> Routing:
    """From now on, in all threads, Heptad computes PyTorch's products whose m, k and n are at least min_size, if it is
    predicted to be faster. PyTorch computes all others. Also as `with heptad.torch.enable(): ...`.

    float32, float64, bfloat16, float16, complex64 and complex128, on NVIDIA devices and in host memory. Where PyTorch
    may use TF32, so may Heptad. accuracy: as for heptad.matmul.
    """
    if min_size < 1:
        raise ValueError(f"a min_size of {min_size} is not possible; use 1 or more")
    _products.plan("f32", 1, 1, 1, False, (accuracy, "auto", 0, "cpu", -1))  # or ValueError that lists the words
    routing = Routing(min_size, accuracy)
    routing._before = _current
    _install(routing)
    return routing


def disable() -> None:
    """PyTorch computes all of its products itself again."""
    _install(None)


def _install(routing: Routing | None) -> None:
    global _current
    if _current is not None and _current._overrides is not None:
        _current._overrides._destroy()
        _current._overrides = None
    _current = routing
    if routing is None:
        return
    overrides: Any = _new_library("aten", "IMPL")
    takes_word = "allow_override" in inspect.signature(overrides.impl).parameters
    word = {"allow_override": True} if takes_word else {}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?s).*overriding a previously registered kernel.*")
        for key in _KEYS:
            for name, make in _ROUTED.items():
                original = _original(name, key)
                if original is not None:
                    overrides.impl(name, make(routing, original), key, with_keyset=True, **word)
    routing._overrides = overrides


def _original(name: str, key: str) -> Callable[..., Any] | None:
    """The kernel that is there now, which takes the dispatcher's keys first; none for CUDA where PyTorch was built
    without it. A PyTorch that is too old to hand it out has products into new memory done by the kernels for given
    memory, and these are not overridden."""
    get_kernel = getattr(torch.library, "get_kernel", None)
    if get_kernel is not None:
        try:
            return get_kernel(f"aten::{name}", key).call_boxed  # type: ignore[no-any-return]
        except RuntimeError:
            return None
    if name.endswith(".out"):
        return None
    into = getattr(torch.ops.aten, name).out

    def through_out(_keys: Any, *arguments: Any, **words: Any) -> Any:
        return into(*arguments, **words, out=arguments[-1].new_empty(0))

    return through_out


def _mm(routing: Routing, original: Callable[..., Any]) -> Callable[..., Any]:
    least, product = routing._least_elements, routing.product

    def mm(keys: Any, a: Any, b: Any) -> Any:
        if a.numel() >= least and (c := product(a, b)) is not None:
            return c
        return original(keys, a, b)

    return mm


def _mm_out(routing: Routing, original: Callable[..., Any]) -> Callable[..., Any]:
    least, product = routing._least_elements, routing.product

    def mm_out(keys: Any, a: Any, b: Any, *, out: Any) -> Any:
        if a.numel() >= least and (c := product(a, b, out)) is not None:
            return c
        return original(keys, a, b, out=out)

    return mm_out


def _addmm(routing: Routing, original: Callable[..., Any]) -> Callable[..., Any]:
    least, product = routing._least_elements, routing.product

    def addmm(keys: Any, added: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
        if a.numel() >= least and (c := product(a, b, None, added, beta, alpha)) is not None:
            return c
        return original(keys, added, a, b, beta=beta, alpha=alpha)

    return addmm


def _addmm_out(routing: Routing, original: Callable[..., Any]) -> Callable[..., Any]:
    least, product = routing._least_elements, routing.product

    def addmm_out(keys: Any, added: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1, out: Any) -> Any:
        if a.numel() >= least and (c := product(a, b, out, added, beta, alpha)) is not None:
            return c
        return original(keys, added, a, b, beta=beta, alpha=alpha, out=out)

    return addmm_out


_ROUTED = {
    "mm": _mm,
    "mm.out": _mm_out,
    "bmm": _mm,
    "bmm.out": _mm_out,
    "addmm": _addmm,
    "addmm.out": _addmm_out,
    "baddbmm": _addmm,
    "baddbmm.out": _addmm_out,
}
