"""Draw the figures that stand as JSON on standard input: the second process of `draw_all`."""

import json
import sys

from gwa.report.document import Figure
from gwa.report.drawing import draw


def main() -> None:
    """Read a list of figures, write a mapping of their ids to SVG text."""
    figures = [Figure(**fields) for fields in json.load(sys.stdin.buffer)]
    sys.stdout.write(json.dumps({figure.id: draw(figure) for figure in figures}))


if __name__ == "__main__":
    main()
