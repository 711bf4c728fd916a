"""
Make one part of a site in a process of its own, so that nothing that goes wrong there stops another part.

Processes are forked from one that has imported already what all of them need, which takes longer than a
small trace does.
"""

import os
import sys
import threading
from collections.abc import Callable, Sequence
from multiprocessing import get_all_start_methods, get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext, SpawnContext
from pathlib import Path
from typing import Final, Literal, TypeAlias

from gwa.analysis.comparison.compare import compare
from gwa.archive.catalogue import Catalogue
from gwa.archive.publish import ONE_THREAD, Withheld, drawn
from gwa.errors import GwaError
from gwa.formats.open import open_trace
from gwa.report.html import html
from gwa.store.engines.config import Engine
from gwa.store.options import ReadOptions

AnyContext: TypeAlias = ForkServerContext | SpawnContext
Said: TypeAlias = tuple[Literal["made", "withheld", "broken"], str]
"""How it went, and what went wrong in one line."""

FORKS: Final = "forkserver" in get_all_start_methods()


def apart(task: Callable[[], None]) -> Said:
    """Do *task* in a process of its own, which ends with this one."""
    context: AnyContext = get_context("forkserver") if FORKS else get_context("spawn")
    context.set_forkserver_preload([__name__, "gwa.report.figures._svg", "pandas"])
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_do, args=(theirs, task))
    process.start()
    theirs.close()
    try:
        said: Said = ours.recv()
    except EOFError:
        said = "broken", "its process ended before it was done"
    finally:
        ours.close()
        process.join()
    return said


def _do(pipe: Connection, task: Callable[[], None]) -> None:
    """Do *task* and say how it went; what libraries have to say is for nobody."""
    threading.Thread(target=_follow, daemon=True).start()
    with Path(os.devnull).open("wb") as nothing:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nothing.fileno(), stream.fileno())
    try:
        task()
        pipe.send(("made", ""))
    except Withheld as error:
        pipe.send(("withheld", str(error)))
    except GwaError as error:
        pipe.send(("broken", " ".join(str(error).split())))
    except Exception as error:  # noqa: BLE001 - the other parts go on
        pipe.send(("broken", f"{type(error).__name__}: {' '.join(str(error).split())}"))


def _follow() -> None:
    """End with the process that started this one."""
    parent = parent_process()
    if parent:
        wait([parent.sentinel])
        os._exit(1)


def make_pair(catalogue: Catalogue, names: Sequence[str], folder: Path, memory: str | None) -> None:
    """Write the page that compares traces of the site in *folder*."""
    from contextlib import ExitStack

    with ExitStack() as stack:
        stores = []
        for name in names:
            (file,) = (folder / "traces" / name).glob("*.duckdb")
            reading = ReadOptions(engine=Engine(memory, ONE_THREAD))
            store = stack.enter_context(open_trace([file], options=reading))
            stores.append((file.stem, store))
        report = compare(stores)
    above = [(catalogue.title, "../index.html"), ("Compare", "../compare.html")]
    above += [(catalogue.entry(name).title, f"../traces/{name}/index.html") for name in names]
    page = html(report, drawings=drawn(report), above=above)
    (folder / "compare" / f"{'--'.join(names)}.html").write_text(page, encoding="utf-8")
