"""Run a campaign: ``python -m tests.campaign 20000 -o build/campaign``."""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests import interruptions
from tests.campaign import ctrl_c, functions, mutations, table
from tests.campaign.table import Row

ATTACKS = ("mutations", *interruptions.INTERRUPTIONS, "ctrl-c", "functions")
CASES_OF_A_FILE = 0.6
"""A folder is one case, and holds some files: on the average a file is this part of a case."""


def rows(attack: str, number: int, seed: int, folder: Path) -> Iterator[Row]:
    """
    Yield the rows of an attack in a campaign of a *number* of mutated files.

    For 20,000 of them there are 1,000 kills over all commands, half of them while an engine writes, 100
    faults of each kind, 50 interruptions of each command, and 10,000 expressions beside all functions.
    """
    if attack == "mutations":
        yield from mutations.campaign(max(5, int(number * CASES_OF_A_FILE)), seed, os.cpu_count() or 1)
    elif attack == "functions":
        yield from functions.campaign(number // 2, seed)
    elif attack == "ctrl-c":
        yield from ctrl_c.campaign(folder, max(1, number // 400))
    else:
        commands = list(interruptions.COMMANDS)
        kills = max(1, number // ((40 if attack.startswith("kill") else 200) * len(commands)))
        for found in interruptions.campaign(folder, kills, commands, attack):
            yield kills_row(attack, found)


def kills_row(attack: str, found: dict[str, object]) -> Row:
    """Return the row of a command that was killed, or whose disk failed."""
    number = {name: int(str(value)) for name, value in found.items() if name not in {"command", "wrong"}}
    wrongs = found["wrong"]
    assert isinstance(wrongs, list)
    row = Row(attack, str(found["command"]), number["kills"], figures={"steps": number["events"]})
    for example in wrongs:
        row.fail(str(example))
    return row


def main() -> None:
    """Run attacks, print the table and write it after each of them; fail if anything is wrong."""
    parser = argparse.ArgumentParser(prog="tests.campaign")
    parser.add_argument(
        "number", type=int, nargs="?", default=20_000, help="mutated files; the other attacks grow with them"
    )
    parser.add_argument("-o", "--output", type=Path, default=Path("build/campaign"))
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", choices=ATTACKS, action="append", help="this attack alone (repeatable)")
    given = parser.parse_args()
    found: list[Row] = []
    for attack in given.only or ATTACKS:
        folder = Path(tempfile.mkdtemp(prefix="campaign-"))
        found += rows(attack, given.number, given.seed, folder)
        shutil.rmtree(folder, ignore_errors=True)
        table.write(found, given.output)
        sys.stderr.write(f"{attack}: done\n")
    sys.stdout.write(f"{table.markdown(found)}\nseed {given.seed}\n")
    sys.exit(any(row.wrong for row in found))


if __name__ == "__main__":
    main()
