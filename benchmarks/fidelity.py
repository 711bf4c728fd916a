"""
Compare our numbers with those that papers print: ``python -m benchmarks.fidelity [LOG...]``.

Logs for which nothing is printed are passed over; without an argument they are those that stand
beside the checkout.
"""

import sys
from itertools import groupby
from pathlib import Path

import gwa
from gwa.metrics.papers.published import PrintedNumber, cells

LOGS = Path(__file__).parent.parent.parent / "shared" / "traces" / "swf"


def table(found: list[PrintedNumber]) -> str:
    """Return the cells as lines, table by table, with how many of each agree."""
    lines = []
    for source, group in groupby(found, key=lambda cell: cell.source):
        members = list(group)
        agreeing = sum(cell.agrees for cell in members)
        lines.append(f"  {source}: {agreeing} of {len(members)} to the printed digit")
        lines += [
            f"    {cell.what:58} {cell.printed:>9} {cell.ours:14.4f} {cell.difference:+12.4f}"
            f"  {'' if cell.agrees else '*'}".rstrip()
            for cell in members
        ]
    return "\n".join(lines)


def main() -> None:
    """Print published, ours and the difference for every log about which something is printed."""
    logs = [Path(word) for word in sys.argv[1:]] or sorted(LOGS.glob("*.swf.gz"))
    if not logs:
        sys.exit("there are no logs beside the checkout; name some")
    every: list[PrintedNumber] = []
    for path in logs:
        with gwa.open(path) as trace:
            found = list(cells(trace.store))
        if found:
            print(f"{trace.name}{'':>3}(published, ours, difference; * differs)", table(found), sep="\n")
        every += found
    print(f"{sum(cell.agrees for cell in every)} of {len(every)} numbers to the printed digit")


if __name__ == "__main__":
    main()
