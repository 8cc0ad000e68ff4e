"""Where the command line lies that the wheel carries."""

import os

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "heptad")
