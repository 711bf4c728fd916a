"""Make one part of a site in a worker process, so that nothing that goes wrong there stops another part."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from errno import EDQUOT, EFBIG, EIO, ENOSPC, EROFS
from pathlib import Path
from typing import Final, Literal, TypeAlias

from gwa.archive.catalogue import Catalogue
from gwa.archive.publish import ONE_THREAD, WithheldTrace
from gwa.errors import GwaError, OutputError
from gwa.formats.open import open_trace
from gwa.report.html import html
from gwa.store.engines.config import Engine
from gwa.store.options import ReadOptions
from gwa.util.processes import Worker, WorkerError

Task: TypeAlias = Callable[[], None]
Said: TypeAlias = tuple[Literal["made", "withheld", "broken", "unwritten"], str]
"""How it went, and what went wrong in one line."""

UNWRITABLE: Final = {ENOSPC, EDQUOT, EFBIG, EIO, EROFS}
"""The errors of a disk that takes no more."""


def apart(worker: Worker[Task, Said], task: Task) -> Said:
    """
    Have *worker* do *task*.

    Raise `OutputError` if the site cannot be written, as on a full disk: no part of it can be trusted then.
    """
    try:
        outcome, message = worker.ask(task)
    except WorkerError:
        return "broken", "its process ended before it was done"
    if outcome == "unwritten":
        raise OutputError(f"the site cannot be written: {message}")
    return outcome, message


def attempt(task: Task) -> Said:
    """Do *task* and say how it went."""
    try:
        task()
    except WithheldTrace as error:
        return "withheld", str(error)
    except OutputError as error:
        return "unwritten", " ".join(str(error).split())
    except GwaError as error:
        return "broken", " ".join(str(error).split())
    except OSError as error:
        return ("unwritten" if error.errno in UNWRITABLE else "broken"), f"{error.filename}: {error.strerror}"
    except Exception as error:  # noqa: BLE001 - the other parts go on
        return "broken", f"{type(error).__name__}: {' '.join(str(error).split())}"
    return "made", ""


def make_pair(catalogue: Catalogue, names: Sequence[str], folder: Path, memory: str | None) -> None:
    """Write the page that compares traces of the site in *folder*."""
    from gwa.analysis.comparison.compare import compare  # only where something is compared: it takes a second

    with ExitStack() as stack:
        stores = []
        for name in names:
            (file,) = (folder / "traces" / name).glob("*.parquet")
            reading = ReadOptions(engine=Engine(memory, ONE_THREAD))
            store = stack.enter_context(open_trace([file], options=reading))
            stores.append((file.stem, store))
        report = compare(stores)
    above = [(catalogue.title, "../index.html"), ("Compare", "../compare.html")]
    above += [(catalogue.entry(name).title, f"../traces/{name}/index.html") for name in names]
    page = html(report, above=above)
    (folder / "compare" / f"{'--'.join(names)}.html").write_text(page, encoding="utf-8")
