"""Words that several functions share."""

from __future__ import annotations

from operator import index
from typing import Literal

Accuracy = Literal["exact", "strict", "balanced", "fast"]
Algebra = Literal["gf2", "bool"]


def levels_number(levels: int | None) -> int:
    if levels is None:
        return -1
    if not 0 <= index(levels) < 2**31:  # the library knows how many it takes
        raise ValueError(f"{levels} levels are not possible; use 0 to 20, or None for the predicted best")
    return index(levels)


def whole_number(what: str, number: int, bits: int = 63) -> int:
    """The number, if it is one that the library's integers of so many bits hold."""
    if not 0 <= index(number) < 2**bits:
        raise ValueError(f"{what} of {number} is not possible; use 0 to 2**{bits} - 1")
    return index(number)


def bytes_number(what: str, count: int | None) -> int:
    if count is None:
        return -1
    if index(count) < 0:
        raise ValueError(f"{what} of {count} bytes is not possible; use 0 or more, or None for no limit")
    return min(index(count), 2**63 - 1)
