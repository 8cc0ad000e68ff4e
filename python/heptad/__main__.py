"""The command line, as the wheel carries it: `heptad ...` or `python -m heptad ...`."""

import os
import sys
from typing import NoReturn

from ._program import PROGRAM


def main() -> NoReturn:
    os.environ.setdefault("HEPTAD_PYTHON", sys.executable)  # in which `bench torch` finds what is installed here
    os.execv(PROGRAM, ["heptad", *sys.argv[1:]])


if __name__ == "__main__":
    main()
