"""Words that several functions share."""

from __future__ import annotations

from typing import Literal

Accuracy = Literal["exact", "strict", "balanced", "fast"]
Algebra = Literal["gf2", "bool"]


def levels_number(levels: int | None) -> int:
    if levels is not None and levels < 0:
        raise ValueError(f"{levels} levels are not possible; say 0 or more, or None for as many as pay")
    return -1 if levels is None else levels


def bytes_number(what: str, count: int | None) -> int:
    if count is not None and count < 0:
        raise ValueError(f"{what} of {count} bytes is not possible; say 0 or more, or None for no limit")
    return -1 if count is None else count
