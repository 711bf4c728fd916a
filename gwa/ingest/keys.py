"""
Which rows of a log belong together: an index of the keys by which a format joins rows to jobs.

Beside the rows of each file in a checkpoint stands a file `INDEX` of the hashes of its keys, and of the piece
that has each. What a new log adds to is found by a pass over these numbers, not over the texts of all rows.
"""

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Final

from gwa.ingest.spec import ConverterSpec, LogFact
from gwa.store.engines.duckdb import literal
from gwa.store.store import Store

INDEX: Final = "keys"
"""The name of the file with the keys of the rows beside it; it is of Parquet, but holds no rows."""

WITNESSES: Final = 3
"""The number of keys kept of each file, for each kind of job, whose rows show what is true of a whole log."""

Witness = tuple[str, int]
"""The kind of a job by whose rows something is true of a whole log, and its key."""

KEYS: Final = "wanted_keys"
"""The table of the keys whose rows are wanted."""


def key_of(joined_by: str) -> str:
    """Return the SQL of the key of a row: rows of which it differs are never of one job."""
    return f"hash({joined_by})"


def write_index(
    store: Store, rows: str, piece: str, spec: ConverterSpec, folder: Path
) -> list[list[Witness]]:
    """
    Write the index of *rows*, a relation in whose column *piece* is the number of each row's piece.

    Return kinds and keys of rows that tell of the whole log, for each of the facts of *spec*.
    """
    key = key_of(spec.joined_by)
    store.connection.execute(
        f"copy (select distinct {key} as key, {piece} as piece from {rows} order by piece, key)"
        f" to {literal(str(folder / INDEX))} (format parquet)"
    )
    return [_telling(store, rows, key, fact) for fact in spec.log_facts]


def _telling(store: Store, rows: str, key: str, fact: LogFact) -> list[Witness]:
    """Return some of the keys of *rows* that tell a *fact* of each kind of jobs."""
    telling = f"select {key} as key from {rows} where {fact.rows}"
    if fact.of == LogFact.of:
        return [("", found) for (found,) in store.rows(f"{telling} limit {WITNESSES}")]
    return store.rows(
        f"select kind, key from (select {key} as key, {fact.of} as kind from {rows}"
        f" where {key} in ({telling}) group by {key}) as told"
        f" qualify row_number() over (partition by kind order by key) <= {WITNESSES} order by kind, key"
    )


def pieces_with_keys(store: Store, folder: Path, files: int) -> list[Path]:
    """Return the pieces of the first *files* in the checkpoint *folder* with rows of the wanted `KEYS`."""
    indexes = [folder / f"{number:06}" / INDEX for number in range(files)]
    if not indexes:
        return []
    found = store.rows(
        "select distinct parse_path(filename)[-2] as file, piece"
        f" from read_parquet([{', '.join(literal(str(path)) for path in indexes)}], filename = true)"
        f" semi join {KEYS} using (key) order by all"
    )
    return [
        folder / file / f"{piece:06}.parquet"
        for file, pieces in groupby(found, itemgetter(0))
        for _, piece in pieces
    ]


def want(store: Store, rows: str, joined_by: str, witnesses: Sequence[int]) -> None:
    """Make the table `KEYS` of the keys of *rows*, a relation, and of *witnesses*."""
    store.connection.execute(
        f"create or replace temp table {KEYS} as select distinct {key_of(joined_by)} as key from {rows}"
        " union select unnest(?::ubigint[])",
        [list(witnesses)],
    )
