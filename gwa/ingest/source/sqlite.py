"""SQLite files of strangers: opened so that they are not changed, and nothing in them is executed."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

from gwa.ingest.source.head import FileHead
from gwa.util.filenames import is_text

MAGIC: Final = b"SQLite format 3\x00"


def unreadable(head: FileHead) -> str | None:
    """Return the reason why *head* is not that of a SQLite file that can be read, or None."""
    if not head.data.startswith(MAGIC):
        return "is not an SQLite file"
    if not is_text(str(head.path)):
        return "its name is not UTF-8, which databases cannot open: rename it"
    with head.path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            return "is a compressed SQLite file: unpack it first"
    for suffix in ("-wal", "-journal"):
        journal = Path(f"{head.path}{suffix}")
        if journal.exists() and journal.stat().st_size:
            return f"another program is writing to it: there is a {journal.name}"
    return None


@contextmanager
def read_only(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a file so that it is not changed and cannot execute anything; texts are bytes."""
    address = f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as database:
        database.text_factory = bytes
        for setting in ("trusted_schema = off", "cell_size_check = on", "query_only = on"):
            database.execute(f"pragma {setting}")
        yield database


def has_table(database: sqlite3.Connection, table: str) -> bool:
    """Whether there is a plain *table*; raise `ValueError` for a view or a virtual table of that name."""
    definitions = database.execute(
        "select type, sql from sqlite_master where lower(name) = ? and type in ('table', 'view')",
        [table.lower()],
    ).fetchall()
    if any(
        kind != b"table" or not (sql or b"").upper().startswith(b"CREATE TABLE") for kind, sql in definitions
    ):
        raise ValueError(f"its {table} is not a plain table")
    return bool(definitions)


def reason_against(head: FileHead, look: Callable[[sqlite3.Connection], object]) -> str | None:
    """
    Return why *head* is not that of a SQLite file that can be read as wanted, or None.

    *look* raises `ValueError`, with the reason, where the file is another one.
    """
    if reason := unreadable(head):
        return reason
    try:
        with read_only(head.path) as database:
            look(database)
    except sqlite3.Error as error:
        return f"cannot be read: {error}"
    except ValueError as error:
        return str(error)
    return None
