"""
From source files to the jobs of a store: read, map, clean, count.

A `Recipe` says how the lines of a format become a table ``source`` and which SELECT turns that into
jobs. Rows flow through in parts, so memory does not grow with the files, and every row is
accounted for: job, fold, reject or comment.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, TypeVar

import duckdb

from gwa.account import Account
from gwa.cleaning import Step, finish, insert
from gwa.errors import DefinitionError, StrictError, TraceError
from gwa.progress import SILENT, Progress
from gwa.readers.columns import MISSING, Columns, load
from gwa.readers.compressed import Source
from gwa.readers.head import Head, entries
from gwa.readers.lines import Layout, Part, Reject, parts
from gwa.schema import NAMES
from gwa.store import Store
from gwa.system import ABSOLUTE, Header, from_header, overridden

SIDE: Final = ("source_id", "preceding_job", "think_time")
"""What a SELECT may yield beside the 29 fields: it goes to tables beside ``jobs``."""

UNIX: Final = 5e8
"""Submit times from here on (1985) are Unix times: no log is sixteen years long."""

SHOWN: Final = 10_000
"""How many rejects are kept with their text; all are counted."""

T = TypeVar("T")


@dataclass(frozen=True)
class Recipe:
    """How to read a format: see `gwa.convert.Converter`, which makes recipes from definitions."""

    title: str
    columns: Mapping[str, str]
    select: str
    delimiter: str = " "
    comment: str = ""
    missing: tuple[str, ...] = MISSING
    relative: bool = False
    constants: Mapping[str, str] = field(default_factory=dict)
    from_header: Mapping[str, str] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()


@dataclass
class Count:
    """The running account of the file in hand, or of all files."""

    rows: int = 0
    comments: int = 0
    rejected: int = 0

    def add(self, other: "Count") -> None:
        """Add the account of one more file."""
        self.rows += other.rows
        self.comments += other.comments
        self.rejected += other.rejected


def ingest(
    store: Store,
    heads: Sequence[Head],
    recipe: Recipe,
    *,
    system: Mapping[str, object] | None = None,
    strict: bool = False,
    progress: Progress = SILENT,
) -> None:
    """
    Fill an empty *store* with the jobs of the files behind *heads*.

    Raise `StrictError` at the first bad row when *strict*, `TraceError` when no job is left.
    """
    heads = _distinct(store, heads)
    headers = [entries(head.comments(recipe.comment)) if recipe.comment else () for head in heads]
    merged = overridden(_merged(headers), system or {})
    store.set_header(merged)
    starts = _starts(heads, headers, merged) if recipe.relative else [0.0] * len(heads)
    _prepare(store, recipe, merged)
    total = Count()
    for head, start in zip(heads, starts, strict=True):
        store.connection.execute(f"set variable start = cast({start!r} as double)")
        count = _file(store, head, recipe, strict=strict, progress=progress)
        total.add(count)
    settle(store, heads, recipe.title, total, recipe.steps)


def settle(
    store: Store, heads: Sequence[Head], expected: str, total: Count, steps: Sequence[Step] = ()
) -> None:
    """Finish the jobs of a store after all rows were read; raise `TraceError` when there are none."""
    _refuse_empty(store, heads, expected, total)
    folded = finish(store, steps)
    _date(store)
    jobs = int(store.row("select count(*) as n from recorded")[0])
    store.set_account(Account(total.rows, jobs, folded, total.rejected, total.comments))


def _merged(headers: Sequence[Header]) -> Header:
    """Return the lines of the first header and what later ones add to it."""
    lines = dict.fromkeys(line for header in headers for line in header)
    return tuple(lines)


def _starts(heads: Sequence[Head], headers: Sequence[Header], merged: Header) -> list[float]:
    """Return each file's time zero; a file that does not say shares the one that others agree on."""
    stated = [from_header(header).start for header in headers]
    known = {start for start in stated if start is not None}
    if len(known) > 1 and None in stated:
        silent = heads[stated.index(None)].path
        message = f"{silent}: its header has no UnixStartTime, and the other files disagree on theirs"
        raise TraceError(message)
    shared = from_header(merged).start or 0.0
    return [shared if start is None or len(known) == 1 else start for start in stated]


def _distinct(store: Store, heads: Sequence[Head]) -> list[Head]:
    """Leave out files that are given twice, and say so."""
    kept: list[Head] = []
    for head in heads:
        twin = next((one for one in kept if _is_same(one, head)), None)
        if twin:
            same = f"{head.path.name} is the same file as {twin.path.name}; read once"
            store.repaired("duplicate file", same, 1)
        else:
            kept.append(head)
    return kept


def _is_same(one: Head, other: Head) -> bool:
    sizes = {head.path.stat().st_size for head in (one, other)}
    return one.data == other.data and len(sizes) == 1 and _digest(one) == _digest(other)


def _digest(head: Head) -> str:
    source = Source(head.path)
    try:
        return source.sha256()
    finally:
        source.close()


def _prepare(store: Store, recipe: Recipe, header: Header) -> None:
    """Make the table of the source and, from what the SELECT yields, the table of jobs."""
    columns = ", ".join(f"{name} {sql}" for name, sql in recipe.columns.items())
    store.connection.execute(f"create temp table source ({columns})")
    try:
        store.connection.execute("set variable start = cast(0 as double)")
        yielded = [row[0] for row in store.rows(f"describe {recipe.select}")]
    except duckdb.Error as error:
        raise DefinitionError(f"{recipe.title}: {error}") from error
    unknown = set(yielded) - set(NAMES) - set(SIDE)
    if unknown:
        message = f"{recipe.title}: its SELECT yields '{min(unknown)}', which is no field of GWF"
        raise DefinitionError(message)
    said = dict(reversed(header))
    constants = {name: said[key] for name, key in recipe.from_header.items() if said.get(key)}
    store.begin(["job_id", *yielded], {**recipe.constants, **constants})


def _file(store: Store, head: Head, recipe: Recipe, *, strict: bool, progress: Progress) -> Count:
    """Read one file into the store and return its account."""
    layout = Layout(recipe.delimiter, recipe.comment, width=len(recipe.columns))
    shape = Columns(recipe.columns, recipe.delimiter, recipe.missing)
    source, count, seen = Source(head.path), Count(), 0
    try:
        with progress.step(head.path.name, source.size) as bar:
            for part in ahead(parts(source, layout)):
                part.rejects += load(store.connection, "source", part, shape, store.scratch)
                tally(store, head.path, part, count, strict=strict)
                insert(store, recipe.select)
                store.connection.execute("truncate source")
                bar.advance(source.position - seen)
                seen = source.position
        _broken_off(store, source, count, strict=strict)
        store.insert(
            "sources",
            [(head.path.name, source.size, source.sha256(), count.rows, count.comments, count.rejected)],
        )
    finally:
        source.close()
    return count


def _broken_off(store: Store, source: Source, count: Count, *, strict: bool) -> None:
    """Count compressed data that breaks off as one rejected row."""
    if source.broken:
        lost = Part(count.rows + 1, total=1, rejects=[Reject(count.rows + 1, source.broken, "")])
        tally(store, source.path, lost, count, strict=strict)


def tally(store: Store, path: Path, part: Part, count: Count, *, strict: bool) -> None:
    """Add a part to the account and keep its rejects, or stop at the first when *strict*."""
    count.rows += part.total
    count.comments += len(part.comments) + part.blank
    rejects = sorted(part.rejects, key=lambda reject: reject.line)
    if strict and rejects:
        message = f"{path}:{rejects[0].line}: {rejects[0].reason}"
        raise StrictError(message)
    room = max(0, SHOWN - count.rejected)
    count.rejected += len(rejects)
    store.insert("rejects", [(path.name, bad.line, bad.reason, bad.text) for bad in rejects[:room]])


def _refuse_empty(store: Store, heads: Sequence[Head], expected: str, count: Count) -> None:
    """Raise `TraceError` when nothing was a job, saying what was met instead."""
    if store.row("select count(*) as n from recorded")[0]:
        return
    first = store.rows("select line, reason from rejects order by file, line limit 1")
    met = (
        f"{count.rejected} of {count.rows} lines were refused" if count.rejected else "it has no line of data"
    )
    why = f", the first at line {first[0][0]}: {first[0][1]}" if first else ""
    message = f"{heads[0].path}: no job in it: {met}{why}; expected {expected}"
    raise TraceError(message)


def _date(store: Store) -> None:
    """Say in the header that times are Unix times, where they can be nothing else."""
    earliest = store.row("select min(submit_time) as earliest from jobs")[0]
    if earliest is not None and earliest >= UNIX and store.system.relative:
        store.set_header((("Times", ABSOLUTE), *(line for line in store.header if line[0] != "Times")))


def ahead(items: Iterator[T]) -> Iterator[T]:
    """Yield *items*, making the next one in a thread while the current one is used."""
    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(next, items, None)
        while (item := following.result()) is not None:
            following = pool.submit(next, items, None)
            yield item


def widened(recipe: Recipe, width: int) -> Recipe:
    """Return *recipe* for lines that have more columns than it names; the others are read as text."""
    extra = {f"extra{number}": "varchar" for number in range(1, width - len(recipe.columns) + 1)}
    return replace(recipe, columns={**recipe.columns, **extra})
