"""How a format becomes jobs: what a definition says, ready to be carried out."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

MISSING: Final = ("-1", "-1.0", "-1.00", "-1.000000")
"""How text formats write a missing value."""


@dataclass(frozen=True)
class TableSpec:
    """
    How a reader is to read a source.

    *columns* are names and SQL types; *delimiter*, *comment* and *missing* are for text in columns,
    *options* are for the reader alone. With *numbered* two columns more, ``file_no`` and ``line``,
    say where a row stands.
    """

    columns: Mapping[str, str]
    delimiter: str = " "
    comment: str = ""
    missing: tuple[str, ...] = MISSING
    options: Mapping[str, Any] = field(default_factory=dict)
    numbered: bool = False


@dataclass(frozen=True)
class RepairStep:
    """
    A repair of the finished jobs, or a fold of several rows into one.

    *sql* changes ``recorded`` and its row count is reported with *meaning*; it runs only where
    the query *when* says true.
    """

    name: str
    meaning: str
    sql: str
    when: str = "select true"
    folds: bool = False


@dataclass(frozen=True)
class ConverterSpec:
    """
    How a format becomes jobs: what its *reader* makes of a source, and the *select* over it.

    In the scope ``row`` each part of a source is mapped on its own. In the scope ``trace`` the SELECT
    sees all rows of all files, with ``file_no`` and ``line``; it may fold several into one job
    (``rows`` says how many) and refuse some (``reject`` says why). *sides* are tables of files that
    only explain others. *header* is what is known of the system whatever the file.
    """

    title: str
    shape: TableSpec
    select: str
    reader: str = "columns"
    scope: str = "row"
    sides: Mapping[str, TableSpec] = field(default_factory=dict)
    relative: bool = False
    constants: Mapping[str, str] = field(default_factory=dict)
    from_header: Mapping[str, str] = field(default_factory=dict)
    header: Mapping[str, str] = field(default_factory=dict)
    steps: tuple[RepairStep, ...] = ()


def widened(shape: TableSpec, width: int) -> TableSpec:
    """Return *shape* for lines that have more columns than it names; the others are read as text."""
    extra = {f"extra{number}": "varchar" for number in range(1, width - len(shape.columns) + 1)}
    return replace(shape, columns={**shape.columns, **extra})
