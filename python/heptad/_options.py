"""Words that several functions share."""

from __future__ import annotations

from operator import index
from typing import Literal

Accuracy = Literal["exact", "strict", "balanced", "fast"]
Algebra = Literal["gf2", "bool"]


def levels_number(levels: int | None) -> int:
    if levels is None:
        return -1
    if index(levels) < 0:
        raise ValueError(f"{levels} levels are not possible; use 0 or more, or None for the predicted best")
    return levels


def bytes_number(what: str, count: int | None) -> int:
    if count is None:
        return -1
    if index(count) < 0:
        raise ValueError(f"{what} of {count} bytes is not possible; use 0 or more, or None for no limit")
    return min(index(count), 2**63 - 1)
