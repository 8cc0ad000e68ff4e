"""The command line, as the wheel carries it: `heptad ...` or `python -m heptad ...`."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "heptad")


def main() -> NoReturn:
    os.execv(PROGRAM, ["heptad", *sys.argv[1:]])


if __name__ == "__main__":
    main()
