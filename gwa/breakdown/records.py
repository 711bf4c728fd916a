"""Records: rows that are both a fact and a table, so that neither says what the other does not."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gwa.report.document import Block, Column, Fact, Facts, Table
from gwa.words.unit import Value


@dataclass(frozen=True)
class Records:
    """
    Rows under *columns*, each a mapping from the keys of columns; *id* is that of their fact.

    A table has the *columns*; a row may have keys beside them, which the fact alone shows.
    """

    id: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Mapping[str, Value]]
    note: str = ""

    @property
    def fact(self) -> Facts:
        """The rows as a fact that no page lists: the table shows it."""
        return Facts((Fact(self.id, [dict(row) for row in self.rows], self.title),), listed=False)

    def blocks(self, table: str) -> Iterator[Block]:
        """Yield the rows as a fact, and as a *table* of that id."""
        yield self.fact
        yield self.table(table)

    def acted_on(self, table: str) -> Iterator[Block]:
        """Yield the same with a table that is seen at once, since one acts on it."""
        yield self.fact
        yield replace(self.table(table), is_acted_on=True)

    def table(self, id: str, title: str = "") -> Table:  # noqa: A002 - as blocks call it
        """Return the rows as the table *id*, without columns that are empty in all of them."""
        kept = [
            column
            for place, column in enumerate(self.columns)
            if not place or not self.rows or any(row.get(column.key) is not None for row in self.rows)
        ]
        cells = tuple(tuple(row.get(column.key) for column in kept) for row in self.rows)
        return Table(id, title or self.title, tuple(kept), cells, note=self.note)
