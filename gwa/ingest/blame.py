"""
Whose fault an error of the engine is: that of the SQL in a definition, or of memory and disk.

Where the SELECT of a definition fails on a value, the row and the column are searched for by halves, so that
who writes the definition sees both.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

import duckdb

from gwa.errors import DefinitionError
from gwa.ingest.source.head import FileHead
from gwa.store.schema import BY_NAME
from gwa.store.store import Store
from gwa.util.filenames import as_text

RESOURCES: Final = (
    duckdb.IOException,
    duckdb.OutOfMemoryException,
    duckdb.InterruptException,
    duckdb.TransactionException,
    duckdb.FatalException,
    duckdb.ConnectionException,
)
"""What the engine raises whatever the SQL is."""

SHOWN_CELL: Final = 60
SHOWN_ROW: Final = 300
"""Characters that are shown of a value, and of a row."""

KIND: Final = re.compile(r"^[A-Z][A-Za-z ]* Error: (?:[A-Z][A-Za-z ]* Error: )?")
"""How the engine begins its messages."""

PLACE: Final = re.compile(r"^LINE \d+: (.*)$", re.MULTILINE)
"""How the engine shows the line of the SQL in which an error is."""

UNKNOWN: Final = re.compile(r"\b[Nn]ame (\w+) does not exist")
"""How the engine names what it does not know."""


class FaultySelectError(DefinitionError):
    """The SQL of a definition fails; *column* is the one of its SELECT that does, where that is known."""

    def __init__(self, message: str, column: str = "") -> None:
        super().__init__(message)
        self.column = column


def is_fault(error: BaseException) -> bool:
    """Whether an *error* of the engine is that of the SQL, or of the values that it meets."""
    return isinstance(error, duckdb.Error) and not isinstance(error, RESOURCES)


def reason(error: BaseException) -> str:
    """Return what the engine says is wrong, in a line."""
    text = str(error).strip() or type(error).__name__
    return KIND.sub("", text.splitlines()[0]).rstrip("!.")


def line_of(text: str, error: BaseException) -> int | None:
    """Return the line of a definition's *text* that an *error* is about; None where it does not tell."""
    column = getattr(error, "column", "")
    shown = PLACE.search(str(error.__cause__ or error))
    excerpt = (
        shown[1].strip().strip(".").strip() if shown else "".join(getattr(error, "__notes__", ())).strip()
    )
    unknown = UNKNOWN.search(str(error))
    patterns = (
        rf'\bas\s+"?{re.escape(column)}"?\b|^\s*"?{re.escape(column)}"?\s*(,|--.*)?$' if column else "",
        re.escape(excerpt),
        rf"\b{re.escape(unknown[1])}\b" if unknown else "",
    )
    for pattern in filter(None, patterns):
        numbers = [number for number, line in enumerate(text.splitlines(), 1) if re.search(pattern, line)]
        if numbers:
            return numbers[-1]
    return None


def blamed(
    store: Store, select: str, yields: Sequence[str], heads: Sequence[FileHead], error: duckdb.Error
) -> FaultySelectError:
    """Return the error that the *select* fails, because of an *error*, with the column and the row."""
    store.connection.execute(
        "create or replace temp table suspect as select row_number() over () as number_of_row, * from source"
    )
    cast = [
        f"cast({name} as double) as {name}" if name in BY_NAME and not BY_NAME[name].is_text else name
        for name in yields
    ]
    queries = (f"select * from ({select})", f"select {', '.join(cast)} from ({select})")
    failing = next((query for query in queries if _failure(store, query, "true")), None)
    if failing is None:
        return FaultySelectError(reason(error))
    condition = _smallest(store, failing)
    found = _failure(store, failing, condition) or error
    columns = [name for name in yields if _failure(store, f"select {name} from ({failing})", condition)]
    column = columns[0] if len(columns) < len(yields) or len(yields) == 1 else ""
    about = f"{column}: " if column else ""
    return FaultySelectError(f"{about}{reason(found)}{_row(store, condition, heads)}", column)


def _failure(store: Store, query: str, condition: str) -> duckdb.Error | None:
    """Return what goes wrong if a *query* sees those rows only; None where it is no fault."""
    store.connection.execute(
        "create or replace temp view source as select * exclude (number_of_row) from suspect"
        f" where {condition}"
    )
    try:
        store.connection.execute(f"create or replace temp table probe as {query}")
    except duckdb.Error as error:
        if not is_fault(error):
            raise
        return error
    return None


def _smallest(store: Store, query: str) -> str:
    """Return the condition for as few rows, beside each other, as make a *query* fail."""
    first, last = store.row("select min(number_of_row), max(number_of_row) from suspect")
    while first is not None and first < last:
        middle = (first + last) // 2
        halves = ((first, middle), (middle + 1, last))
        found = [half for half in halves if _failure(store, query, _between(*half))]
        if not found:  # it takes several rows
            break
        first, last = found[0]
    return _between(first, last) if first is not None else "true"


def _between(first: int, last: int) -> str:
    return f"number_of_row between {first} and {last}"


def _row(store: Store, condition: str, heads: Sequence[FileHead]) -> str:
    """Return in words the row that meets a *condition*; nothing where it takes several."""
    cursor = store.connection.execute(
        f"select * exclude (number_of_row) from suspect where {condition} limit 2"
    )
    names, rows = [column[0] for column in cursor.description or ()], cursor.fetchall()
    if len(rows) != 1:
        return ""
    cells = dict(zip(names, rows[0], strict=True))
    number, line = cells.pop("file_no", None), cells.pop("line", None)
    head = heads[number] if number is not None else heads[0] if len(heads) == 1 else None
    where = f" of {as_text(head.path.name)}" if head else ""
    where += f", line {line}" if line is not None else ""
    return f"; in the row{where}: {', '.join(_shown(cells))}"[:SHOWN_ROW]


def _shown(cells: dict[str, object]) -> Iterator[str]:
    for name, value in cells.items():
        text = "nothing" if value is None else repr(value) if isinstance(value, str) else str(value)
        yield f"{name} {text[:SHOWN_CELL]}{'…' if len(text) > SHOWN_CELL else ''}"
