"""Converter specifications: how the tables of a source are read and mapped to jobs."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

MISSING: Final = ("-1", "-1.0", "-1.00", "-1.000000")
"""How text formats write a missing value."""

ALWAYS: Final = "select true"
"""The query of what is always needed."""


@dataclass(frozen=True)
class TableSpec:
    """
    How a reader turns a source into a table.

    *columns* maps names to SQL types; *delimiter*, *comment* and *missing* apply to text in columns;
    *options* are specific to the reader. *ranges* is the column in which 12_[3-7] stands for the tasks of an
    array: a row for each is made of it. A *numbered* table has two more columns, ``file_no`` and
    ``line``, which say where each row comes from.
    """

    columns: Mapping[str, str]
    delimiter: str = " "
    comment: str = ""
    missing: tuple[str, ...] = MISSING
    options: Mapping[str, Any] = field(default_factory=dict)
    ranges: str = ""
    numbered: bool = False


@dataclass(frozen=True)
class RepairStep:
    """
    A repair of the finished jobs, or a fold of several rows into one.

    *sql* changes ``recorded``, and its row count is reported with *meaning*; it runs only if the query
    *when* yields true.
    """

    name: str
    meaning: str
    sql: str
    when: str = ALWAYS
    folds: bool = False


@dataclass(frozen=True)
class Preparation:
    """
    What a reader yields where it is not yet what is mapped: the table ``record``.

    *select* makes rows of the source table of it, by the names of its columns and ``line``; it sees the
    records of a whole file if it *needs_file*, else some at a time.
    """

    record_table: TableSpec
    select: str
    needs_file: bool = False


@dataclass(frozen=True)
class MadeTable:
    """
    A table with *columns* that *select* makes of the source before it is mapped.

    It stays empty unless the query *when* yields true: what has nothing of the kind does not pay for it.
    """

    columns: Mapping[str, str]
    select: str
    when: str = ALWAYS


@dataclass(frozen=True)
class LogFact:
    """
    What is true of a whole log by some of its rows, and tells of jobs that have no such rows.

    It is so where any row meets the condition *rows*. Where it is so of some kinds of jobs only, *of* is an
    aggregate over the rows of a job: its kind. Where all that is not enough, the query *holds* yields a list
    of the kinds of which it is so, of such rows among others, after tables were made beforehand.
    """

    rows: str
    of: str = "''"
    holds: str = ""


@dataclass(frozen=True)
class ConverterSpec:
    """
    How a format becomes jobs: its *reader* fills the *source_table*, and *select* maps that to jobs.

    The SELECT may use *functions*, whose SQL is by their name and parameters, such as ``hours(x)``.
    In the scope ``row`` each batch of rows is mapped on its own. In the scope ``trace`` the SELECT
    sees all rows of all files, with ``file_no`` and ``line``; it may fold several into one job
    (``rows`` counts them) and refuse some (``reject`` gives the reason). Rows for which the expression
    *joined_by* differs are never of one job: where there is one, a long log is mapped in parts, and a log is
    appended without those of other jobs; *log_facts* say what they tell of these. Tables are made
    *beforehand* of these rows, in their order, so that each may use those before it.
    *explaining_tables* hold the rows of files that only explain others. *header* states what is known of the
    system for every file. *needs* says how to get a log with times, where there may be logs without. With a
    *preparation* the rows of the source table are made of what the reader yields.
    """

    title: str
    source_table: TableSpec
    select: str
    functions: Mapping[str, str] = field(default_factory=dict)
    reader: str = "columns"
    scope: str = "row"
    joined_by: str = ""
    log_facts: tuple[LogFact, ...] = ()
    beforehand: Mapping[str, MadeTable] = field(default_factory=dict)
    explaining_tables: Mapping[str, TableSpec] = field(default_factory=dict)
    relative: bool = False
    constants: Mapping[str, str] = field(default_factory=dict)
    from_header: Mapping[str, str] = field(default_factory=dict)
    header: Mapping[str, str] = field(default_factory=dict)
    steps: tuple[RepairStep, ...] = ()
    needs: str = ""
    preparation: Preparation | None = None

    @property
    def sql(self) -> str:
        """The SELECT, and the functions and tables that it uses, as one text."""
        made = (f"{table.when}\n{table.select}" for table in self.beforehand.values())
        return "\n".join((self.select, *self.functions.values(), *made))

    @property
    def table_read(self) -> TableSpec:
        """The table that the reader fills: ``source``, or what its rows are made of."""
        return self.preparation.record_table if self.preparation else self.source_table

    @property
    def tables(self) -> dict[str, TableSpec]:
        """All tables by name: ``source`` and those of the explaining files."""
        return {"source": self.source_table, **self.explaining_tables}


def with_extra_columns(table_spec: TableSpec, width: int) -> TableSpec:
    """Add text columns ``extra1``, ``extra2``… to *table_spec* until it has *width* columns."""
    extra = {f"extra{number}": "varchar" for number in range(1, width - len(table_spec.columns) + 1)}
    return replace(table_spec, columns={**table_spec.columns, **extra})
