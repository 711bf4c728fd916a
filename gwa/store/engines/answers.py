"""
What a query of the user's own yields, as Python holds it: no moment is moved to one that Python has.

DuckDB has moments that Python lacks: in the year 290000, before Christ, at infinity. They stay the texts that
DuckDB writes, and so do intervals, since a month has no number of days.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any, Final

import duckdb

MOMENTS: Final[Mapping[str, Callable[[str], object]]] = {
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    **dict.fromkeys(
        ("timestamp", "timestamp_s", "timestamp_ms", "timestamp with time zone"), datetime.fromisoformat
    ),
    # Python has no nanoseconds, and DuckDB needs a package for zones of times of day.
    **dict.fromkeys(("interval", "timestamp_ns", "time_ns", "time with time zone"), str),
}
"""Types whose values pass as texts, and what makes those of Python of these texts, where there are any."""


@dataclass(frozen=True)
class Rows:
    """The names of columns, and rows."""

    columns: Sequence[str]
    rows: Sequence[tuple[Any, ...]]


def answered(database: duckdb.DuckDBPyConnection, sql: str, maximum: int | None = None) -> Rows:
    """
    Return what the last statement in *sql* yields, at most *maximum* rows; the others run before it.

    No result stays open, whatever fails. Raise `duckdb.Error` as the engine does.
    """
    try:
        return _answered(database, sql, maximum)
    finally:
        database.abort()


def _answered(database: duckdb.DuckDBPyConnection, sql: str, maximum: int | None) -> Rows:
    *before, last = database.extract_statements(sql)
    for statement in before:
        database.execute(statement)
    relation = _relation(database, last)
    if relation is None or not any(map(_has_moments, relation.types)):
        result = database.execute(last)
        rows = result.fetchall() if maximum is None else result.fetchmany(maximum)
        return Rows([name for name, *_ in result.description or []], rows)
    kinds = relation.types
    texts = ", ".join(f"cast(c{place} as {_passed(kind)})" for place, kind in enumerate(kinds))
    columns = ", ".join(f"c{place}" for place in range(len(kinds)))
    query = f"select {texts} from answer as answer({columns})"
    limit = "" if maximum is None else f" limit {maximum}"
    rows = relation.query("answer", query + limit).fetchall()
    return Rows([name for name, *_ in relation.description], [tuple(map(_value, row, kinds)) for row in rows])


def _relation(database: duckdb.DuckDBPyConnection, statement: duckdb.Statement) -> Any:  # noqa: ANN401 - a relation
    """Return a query before it runs, None for another statement and for one in error: running says where."""
    if statement.type == duckdb.StatementType.SELECT:
        with suppress(duckdb.Error):
            return database.sql(_without_end(statement.query))
    return None


def _without_end(sql: str) -> str:
    """Return a statement without the semicolons and comments behind it."""
    text, end = sql.encode(), len(sql.encode())
    for offset, kind in reversed(duckdb.tokenize(sql)):
        if kind != duckdb.token_type.comment and text[offset : offset + 1] != b";":
            break
        end = offset
    return text[:end].decode()


def _has_moments(kind: Any) -> bool:  # noqa: ANN401 - a type of DuckDB
    return kind.id in MOMENTS or any(map(_has_moments, _parts(kind).values()))


def _parts(kind: Any) -> dict[str, Any]:  # noqa: ANN401 - a type of DuckDB
    """Return the types within a nested type, by name."""
    if kind.id not in {"list", "array", "struct", "map"}:
        return {}
    return {name: part for name, part in kind.children if name != "size" or kind.id != "array"}


def _passed(kind: Any) -> str:  # noqa: ANN401 - a type of DuckDB
    """Return the type that values of *kind* are cast to, so that they pass unchanged."""
    if kind.id in MOMENTS:
        return "varchar"
    parts = {name: _passed(part) for name, part in _parts(kind).items()}
    match kind.id:
        case "list":
            return f"{parts['child']}[]"
        case "array":
            return f"{parts['child']}[{dict(kind.children)['size']}]"
        case "map":
            return f"map({parts['key']}, {parts['value']})"
        case "struct":
            fields = (f'"{name.replace(chr(34), chr(34) * 2)}" {part}' for name, part in parts.items())
            return f"struct({', '.join(fields)})"
    return str(kind)


def _value(passed: Any, kind: Any) -> Any:  # noqa: ANN401 - any value
    """Return the value of Python for one that was *passed*, or its text where Python has none."""
    if passed is None:
        return None
    if kind.id in MOMENTS:
        try:
            return MOMENTS[kind.id](passed)
        except ValueError:
            return passed
    return _nested(passed, kind.id, _parts(kind))


def _nested(passed: Any, name: str, parts: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any value
    """Return the value of a nested type with the *name*, or one that passed unchanged."""
    match name:
        case "list" | "array":
            return [_value(one, parts["child"]) for one in passed]
        case "map":
            return {_value(key, parts["key"]): _value(one, parts["value"]) for key, one in passed.items()}
        case "struct":
            return {field: _value(one, parts[field]) for field, one in passed.items()}
    return passed
