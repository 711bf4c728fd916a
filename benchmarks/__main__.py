"""
Compare gwa with its peers and with its performance targets: ``python -m benchmarks``.

Everything is measured in one run on one machine, in turn with what stands beside it. Ratios hold
elsewhere, too; seconds only on a machine like this one with nothing else to do.
"""

import argparse
import json
import sys
from pathlib import Path

from benchmarks.page import PAGE, as_data, machine, ratios, replaced, troubles
from benchmarks.session import Session
from benchmarks.works import WORKS

FOLDER = Path(__file__).parent.parent / "build" / "bench"


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--only",
        action="append",
        type=_begun,
        metavar="NAME",
        help="only this work, or those whose names begin so: --only fit",
    )
    parser.add_argument("--list", action="store_true", help="list the names of all works")
    parser.add_argument("--rows", type=int, default=1_000_000, help="jobs and values in the data")
    parser.add_argument(
        "--runs", type=int, default=3, help="runs of each program, after one to warm up; 0 is a single run"
    )
    parser.add_argument("--big", action="store_true", help="also what takes ten times the rows: minutes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures of every run to a file")
    parser.add_argument(
        "--page",
        action="store_true",
        help="put the table into docs/explanation/benchmarks.md",
    )
    return parser.parse_args(words)


def _begun(text: str) -> str:
    """Return *text* with which the name of some work begins."""
    if not any(work.name.startswith(text) for work in WORKS):
        raise argparse.ArgumentTypeError(f"no work's name begins with {text!r}; see --list")
    return text


def main() -> None:
    """Measure what is asked for and print one table."""
    asked = arguments()
    if asked.list:
        print("\n".join(f"{work.name:20} {work.title}" for work in WORKS))
        return
    wanted = [
        work
        for work in WORKS
        if (work.name.startswith(tuple(asked.only)) if asked.only else asked.big or not work.big)
    ]
    session = Session(FOLDER, asked.rows, asked.runs)
    outcomes = []
    for work in wanted:
        print(f"{work.name} ...", file=sys.stderr, flush=True)
        outcomes.append(session.outcome(work))
        if asked.json:
            asked.json.write_text(json.dumps(as_data(outcomes), indent=1) + "\n")
    head = machine(asked.rows, asked.runs)
    print(head, ratios(outcomes), troubles(outcomes), sep="\n\n")
    if asked.page:
        PAGE.write_text(replaced(PAGE.read_text(), ratios(outcomes), head))


if __name__ == "__main__":
    main()
