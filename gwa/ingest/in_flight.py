"""
Batches of a log in flight: each is loaded over a connection of its own, and they are settled in order.

One thread reads the log and cuts it into batches, and does nothing else. Each of some workers loads a batch
on a thread of its own, and what it found and made is settled in the order of the log. So jobs, rejects and
repairs are those of a single worker, and so is their order: each query has one thread meanwhile, since what
several make of a join comes in any order.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import duckdb

from gwa.ingest.pieces import TablePieces
from gwa.ingest.source.head import FileHead
from gwa.store.engines.config import LARGE_BLOCK, Engine
from gwa.store.store import Store

DEFERRING: Final = frozenset({"columns"})
"""The readers whose batches are made by who loads them; those of others wait for the thread that reads."""

MAXIMUM_WORKERS: Final = 8
"""More wait for the thread that reads, and for Python's lock."""

MINIMUM_BYTES: Final = 12_000_000
"""Bytes of a file for each worker: for less, to prepare one takes longer than it saves."""

BLOCKS_EACH: Final = 4
"""Blocks of a file for each worker, if they have a group of rows: the last ones are waited for."""

ROWS_OF_GROUP: Final = 122_880
"""The rows that the engine compresses at once."""

LINES_BEYOND: Final = 512
"""
Lines of a block beyond whole groups, as many of which may be no rows.

A group is compressed by its worker when the next one begins, else while it is settled, which is serial.
"""

Item = TypeVar("Item")
Worker = TypeVar("Worker")


def possible_workers(
    store: Store, heads: Sequence[FileHead], engine: Engine | None, *, by_file: bool = False
) -> int:
    """
    Return how many workers may load the files behind *heads* into *store*, as *engine* limits them.

    They share the blocks of one file after the other or, *by_file*, the files.
    """
    (threads,) = store.row("select current_setting('threads')")
    sizes = [head.path.stat().st_size for head in heads] or [0]
    affordable = (engine or Engine()).affordable_threads or threads
    worth = min(len(sizes), sum(sizes) // MINIMUM_BYTES) if by_file else max(sizes) // MINIMUM_BYTES
    return int(max(1, min(threads, affordable, MAXIMUM_WORKERS, worth)))


def possible_processes(store: Store, engine: Engine | None) -> int:
    """Return how many processes may work for what reads a log into *store*, as *engine* limits them, or 0."""
    (threads,) = store.row("select current_setting('threads')")
    affordable = (engine or Engine()).affordable_threads
    # This process has work, and blocks in its memory, too; a single other one would gain nothing.
    count = min(threads, MAXIMUM_WORKERS, affordable - 1 if affordable else threads)
    return int(count) if count > 1 else 0


def block_limits(head: FileHead, workers: int, engine: Engine) -> tuple[int, int]:
    """
    Return the bytes and the lines that a block of the file behind *head* has at most; 0 for any lines.

    Where there are several workers, it is of whole groups of rows, even where memory is short.
    """
    if workers == 1:
        return engine.block_size, 0
    bytes_of_group = ROWS_OF_GROUP * max(1, len(head.data) // max(1, head.data.count(b"\n")))
    wanted = min(engine.block_size, head.path.stat().st_size // (BLOCKS_EACH * workers))
    lines = max(1, wanted // bytes_of_group) * ROWS_OF_GROUP + LINES_BEYOND
    return LARGE_BLOCK, lines


@dataclass(frozen=True)
class Member:
    """A *store* over whose connection batches are loaded, and the *pieces* for its rows, by their table."""

    store: Store
    pieces: Mapping[str, TablePieces]
    folder: Path


class Crew:
    """
    The stores over whose connections batches are loaded: that of the trace, and others of the same tables.

    There are at most *size* of them, for the blocks of a file or, *by_file*, for a file each. The others are
    made when there is work for them; *prepare* defines on each what a SELECT needs, and returns the pieces
    for its rows.
    """

    def __init__(
        self,
        store: Store,
        pieces: Mapping[str, TablePieces],
        size: int,
        prepare: Callable[[Store], Mapping[str, TablePieces]],
        *,
        by_file: bool = False,
    ) -> None:
        """Begin with the *store* of the trace, and the *pieces* for its rows."""
        self.size, self.by_file, self._prepare = size, by_file, prepare
        self._members = [Member(store, pieces, store.scratch)]

    def member(self, number: int) -> Member:
        """Return the member with that *number*, from 0, that of the trace."""
        while len(self._members) <= number:
            store = self._members[0].store.beside()
            folder = store.scratch / f"worker{len(self._members)}"
            folder.mkdir()
            self._members.append(Member(store, self._prepare(store), folder))
        return self._members[number]

    @property
    def files(self) -> int:
        """How many files are read at once."""
        return self.size if self.by_file else 1

    def at_file(self, member: Member) -> tuple[int, Callable[[int], Member]]:
        """Return how many are at the file that *member* reads, and what returns them by their numbers."""
        return (1, lambda _: member) if self.by_file else (self.size, self.member)

    def at_work(self) -> AbstractContextManager[None]:
        """Let each query have one thread in a ``with``, if there are several members."""
        return single_threaded(self._members[0].store) if self.size > 1 else nullcontext()

    def leave(self) -> None:
        """Close the other stores, and undo what none has committed."""
        first, *others = self._members
        for member in others:
            member.store.close()
        with suppress(duckdb.TransactionException):  # it has committed all
            first.store.connection.rollback()


@contextmanager
def single_threaded(store: Store) -> Iterator[None]:
    """Let each query have one thread, and write rows as soon as there is a group of them, in a ``with``."""
    (threads,) = store.row("select current_setting('threads')")
    store.connection.execute("set threads = 1")
    # By default as many groups as a batch has stay uncompressed until they are settled.
    store.connection.execute("set write_buffer_row_group_count = 1")
    try:
        yield
    finally:
        store.connection.execute("reset write_buffer_row_group_count")
        store.connection.execute(f"set threads = {threads}")


def in_order(
    items: Iterator[Item],
    size: int,
    hire: Callable[[int], Worker],
    work: Callable[[Worker, Item], None],
    settle: Callable[[Worker, Item], None],
) -> None:
    """
    Let up to *size* workers *work* on an item each, and *settle* what they did in the order of the *items*.

    The next item is made by a thread of its own meanwhile. A worker is *hired* by its number when all others
    are busy; a single one works on the calling thread, as does what settles. If anything fails, the first
    failure in the order of the items is raised, after all work has ended.
    """
    free: list[Worker] = []
    busy: deque[tuple[Worker, Item, Callable[[], None]]] = deque()
    hired = 0

    def settle_first() -> None:
        worker, item, finish = busy.popleft()
        finish()
        settle(worker, item)
        free.append(worker)

    with ThreadPoolExecutor(1) as reader, ThreadPoolExecutor(size) as pool:
        following = reader.submit(next, items, None)
        while (item := following.result()) is not None:
            following = reader.submit(next, items, None)
            if not free:
                free.append(hire(hired))
                hired += 1
            worker = free.pop()
            finish = pool.submit(work, worker, item).result if size > 1 else partial(work, worker, item)
            busy.append((worker, item, finish))
            if len(busy) == size:
                settle_first()
        while busy:
            settle_first()
