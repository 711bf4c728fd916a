"""
Make one part of a site in a process of its own: ``trace FOLDER ID`` or ``pair FOLDER ONE OTHER``.

The process that started this one holds its standard input; when that ends, so does this. What goes
wrong is one line on standard error, and the exit status tells whether it was the gate.
"""

import argparse
import os
import sys
import threading
from pathlib import Path

from gwa.archive.catalogue import read_catalogue
from gwa.archive.holding import Withheld, hold
from gwa.errors import GwaError

WITHHELD = 3

SAYS = "gwa: "
"""How the line begins that says what went wrong; libraries may say more."""


def main() -> int:
    """Do what the command line says; return the exit status."""
    threading.Thread(target=_follow, daemon=True).start()
    parser = argparse.ArgumentParser()
    parser.add_argument("site", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--publish-names", action="store_true")
    parser.add_argument("--memory")
    said = parser.parse_args()
    catalogue = read_catalogue(said.site)
    try:
        if len(said.names) == 1:
            entry = catalogue.entry(said.names[0])
            hold(catalogue, entry, said.folder, publish_names=said.publish_names, memory=said.memory)
        else:
            _compare(said.folder, said.names, said.memory)
    except Withheld as error:
        sys.stderr.write(f"{SAYS}{error}\n")
        return WITHHELD
    except GwaError as error:
        sys.stderr.write(f"{SAYS}{' '.join(str(error).split())}\n")
        return 1
    return 0


def _compare(folder: Path, names: list[str], memory: str | None) -> None:
    """Write the page that compares traces of the site in *folder*."""
    from contextlib import ExitStack

    from gwa.archive.holding import ONE_THREAD
    from gwa.comparison import compare
    from gwa.convert import read
    from gwa.engine import Engine
    from gwa.reading import Reading
    from gwa.report.html import html

    with ExitStack() as stack:
        stores = []
        for name in names:
            (file,) = (folder / "traces" / name).glob("*.duckdb")
            reading = Reading(engine=Engine(memory, ONE_THREAD))
            store = stack.enter_context(read([file], reading=reading))
            stores.append((file.stem, store))
        page = html(compare(stores))
    (folder / "compare" / f"{'--'.join(names)}.html").write_text(page, encoding="utf-8")


def _follow() -> None:
    """End with the process that started this one."""
    while os.read(0, 1):
        pass
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
