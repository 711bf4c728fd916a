"""``python -m gwa`` is ``gwa``."""

import os
import sys

# Python would import from the current folder first. Only a gwa that stands there itself may.
if not sys.flags.safe_path and __file__ != f"{sys.path[0]}{os.sep}gwa{os.sep}__main__.py":
    del sys.path[0]

from gwa.cli import main

main()
