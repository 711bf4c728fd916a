"""``python -m gwa`` is ``gwa``."""

from gwa.cli import main

main()
