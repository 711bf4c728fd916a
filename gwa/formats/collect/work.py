"""What a collection works with beside the store: a folder of its own, and what the store has already."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gwa.errors import OutputError
from gwa.formats.registry import writer
from gwa.store.store import Store
from gwa.util.atomic import unwritable, writable
from gwa.util.owned import OwnedFolder, owner, sweep


def stored_sources(out: Path) -> list[tuple[str, int, str]]:
    """Return the name, bytes and SHA-256 of each source of the store *out*; none where it is not there."""
    if not out.exists():
        return []
    with Store.open(out) as store:
        return [
            (str(name), int(size), str(digest))
            for name, size, digest in store.rows(
                "select file, bytes, sha256 from sources where skipped is null order by all"
            )
        ]


@contextmanager
def working_folder(out: Path) -> Iterator[OwnedFolder]:
    """
    Own the folder ``OUT.collected`` beside the store *out* during the ``with`` block; it remains afterwards.

    Raise `OutputError` if another process owns it, or if *out* can be no store.
    """
    if writer(out).name != "duckdb":
        raise OutputError(f"{out}: only a store can be appended to, expected a name such as trace.duckdb")
    writable(out)
    path = out.with_name(f"{out.name}.collected").resolve()
    sweep(path.parent)
    try:
        folder = OwnedFolder.claim(path)
    except OSError as error:
        raise unwritable(path, error) from error
    if folder is None:
        raise OutputError(f"{path}: another collection is at work on it ({owner(path)})")
    sweep(path)
    try:
        yield folder
    finally:
        folder.release()
