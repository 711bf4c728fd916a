"""Published tables whose columns do not decide everything by themselves, and what is known of them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache

from gwa.formats.tables.mapping import MappingStatement, statement
from gwa.formats.tables.vocabulary import kept


@dataclass(frozen=True)
class KnownTable:
    """A published table: the *columns* that tell it, and what is *stated* of it by its *source*."""

    title: str
    columns: frozenset[str]
    stated: MappingStatement
    source: str


@cache
def known_tables() -> Mapping[str, KnownTable]:
    """Return the known tables by name."""
    return {
        name: KnownTable(
            table["title"], frozenset(table["columns"]), statement(table["map"]), table["source"]
        )
        for name, table in kept("known").items()
    }


def known_table(columns: Collection[str]) -> KnownTable | None:
    """Return the known table with the most columns among those of a table that has all of its *columns*."""
    fitting = [table for table in known_tables().values() if table.columns <= set(columns)]
    return max(fitting, key=lambda table: len(table.columns), default=None)
