"""heptad.plan: what a product would do, before it is done."""

from __future__ import annotations

import math
from typing import Any

from . import _core
from ._options import Accuracy, bytes_number, levels_number, whole_number

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def _bytes_text(count: float) -> str:
    unit = 0
    while count >= 1024 and unit + 1 < len(_UNITS):
        count /= 1024
        unit += 1
    return f"{count:.2f} {_UNITS[unit]}" if unit else f"{count:.0f} B"


def _seconds_text(seconds: float) -> str:
    for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds / 1e-9:.3g} ns"


class Plan:
    """What Heptad decided for a product of an m x k by a k x n matrix. str(plan) is one line; Plan.parse reads it."""

    __slots__ = ("_plan",)

    def __init__(self, plan: _core.Plan) -> None:
        self._plan = plan

    @staticmethod
    def parse(text: str) -> Plan:
        """The plan that str(plan) or `heptad plan` printed."""
        return Plan(_core.Plan.parse(text))

    @property
    def m(self) -> int:
        return self._plan.m

    @property
    def k(self) -> int:
        return self._plan.k

    @property
    def n(self) -> int:
        return self._plan.n

    @property
    def type(self) -> str:
        """f64, f32, tf32, bf16, f16, c64, c128, i32, i64, gf2 or bool."""
        return self._plan.type

    @property
    def levels(self) -> int:
        """How many levels are nested; 0 is classical."""
        return self._plan.levels

    @property
    def workspace_bytes(self) -> int:
        """Memory in addition to the matrices."""
        return self._plan.workspace_bytes

    @property
    def predicted_s(self) -> float:
        """Predicted seconds."""
        return self._plan.predicted_s

    @property
    def error_bound(self) -> float:
        """max|AB - computed| / (max|A| max|B|) is at most this; 0 for exact types."""
        return self._plan.error_bound

    @property
    def expected_error_growth(self) -> float:
        """The expected error as a multiple of the classical product's."""
        return self._plan.expected_error_growth

    @property
    def typical_error(self) -> float:
        """The expected largest error over |a_i||b_j| for even data; 0 for exact types."""
        return self._plan.typical_error

    def words(self) -> dict[str, str]:
        """The plan's line as names and values: backend, threads, levels, leaf ..."""
        pairs = (word.split("=", 1) for word in str(self).split() if "=" in word)
        return {name: value for name, value in pairs}

    def facts(self) -> dict[str, str]:
        """The plan in readable words, by name."""
        words = self.words()
        plan = self._plan
        facts = {
            "product": f"{self.m} x {self.k} by {self.k} x {self.n}, {self.type}",
            "on": words.get("backend", "?") + (f", {words['threads']} threads" if words.get("threads", "1") != "1" else ""),
            "levels": _levels_text(words.get("levels", "none"), "none" if "arithmetic" in words else "none (classical)"),
        }
        facts |= {name: words[name] for name in ("arithmetic", "leaf") if name in words}
        facts["workspace"] = _bytes_text(self.workspace_bytes)
        if self.predicted_s > 0:
            rate = 2.0 * self.m * self.k * self.n / self.predicted_s / 1e9
            facts["predicted time"] = f"{_seconds_text(self.predicted_s)} ({rate:.4g} Gop/s effective)"
        if not plan.guaranteed_bound_over:
            facts["error"] = "none (exact)"
        else:
            growth = self.expected_error_growth
            facts["expected error"] = (
                "the classical product's" if growth == 1 else f"{growth:.2g} x the classical product's"
            ) + f" (typical {self.typical_error:.1g} of |a_i||b_j|)"
            facts["error bound"] = (
                f"|AB - computed|_ij <= {plan.guaranteed_bound:.3g} {plan.guaranteed_bound_over}, guaranteed"
                if math.isfinite(plan.guaranteed_bound)
                else "none is known"
            )
        return facts

    def explain(self) -> str:
        """The same as several lines."""
        return "\n".join(f"{name:<15} {value}" for name, value in self.facts().items())

    def __str__(self) -> str:
        return str(self._plan)

    def __repr__(self) -> str:
        words = self.words()
        names = dict.fromkeys(level.split(":")[0] for level in words.get("levels", "none").split(","))
        what = f"{self.levels} level{'s' * (self.levels > 1)} of {' and '.join(names)}" if self.levels else "classical"
        if "arithmetic" in words:
            what = words["arithmetic"] + (f", {what}" if self.levels else "")
        return (
            f"<heptad.Plan {self.m} x {self.k} x {self.n} {self.type}: {what}, "
            f"{_bytes_text(self.workspace_bytes)} of workspace, {_seconds_text(self.predicted_s)}>"
        )

    def _repr_html_(self) -> str:
        import html

        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
            f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
            for name, value in self.facts().items()
        )
        return f"<table>{rows}</table>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Plan.parse, (str(self),))


def _levels_text(levels: str, none: str) -> str:
    if levels == "none":
        return none
    names = [level.replace(":", " (") + ")" if ":" in level else level for level in levels.split(",")]
    return f"{len(names)}: {', '.join(names)}"


def plan(
    m: int,
    k: int,
    n: int,
    dtype: Any = "f32",
    *,
    accuracy: Accuracy = "balanced",
    algorithm: str = "auto",
    levels: int | None = None,
    device: str = "auto",
    workspace_limit: int | None = None,
) -> Plan:
    """What heptad.matmul would do with an m x k and a k x n array.

    dtype: a NumPy type or one of Heptad's names: f64, f32, tf32, bf16, f16, c64, c128, i32, i64, bool; gf2 is what @ of
    BitMatrix would do. Other arguments as for matmul.
    """
    name = dtype if isinstance(dtype, str) and dtype in _NAMES else _name_of(dtype)
    return Plan(
        _core.plan(
            whole_number("a size", m),
            whole_number("a size", k),
            whole_number("a size", n),
            name,
            accuracy,
            algorithm,
            levels_number(levels),
            device,
            bytes_number("a workspace", workspace_limit),
            False,
        )
    )


_NAMES = frozenset(("f64", "f32", "tf32", "bf16", "f16", "c64", "c128", "i32", "i64", "bool", "gf2"))


def _name_of(dtype: Any) -> str:
    from . import _types

    np = _types.load()
    if isinstance(dtype, str) and dtype == "bfloat16":
        return "bf16"
    found = np.dtype(dtype)
    name = _types.name_of(found)
    if name is None:
        raise _types.refusal(found)
    return name
