"""Worker processes that parse blocks."""

import gc
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain

from gwa.ingest.readers.xml.records import ParsedBlock, Parser
from gwa.ingest.readers.xml.split import Block
from gwa.ingest.source.lines import Reject
from gwa.util.processes import Pool, WorkerError


def shared(blocks: Iterator[Block | Reject], parser: Parser, workers: int) -> Iterator[ParsedBlock]:
    """
    Yield what *blocks* hold, in order; that many *workers* parse them.

    This process parses where there are none, and what is left when one dies.
    """
    pending: deque[tuple[Block | Reject, Future[ParsedBlock]]] = deque()
    if workers:
        with Pool(partial(_parsed, parser), workers) as pool, suppress(WorkerError):
            for block in blocks:
                pending.append((block, pool.ask(block)))
                if len(pending) > workers:
                    yield pending[0][1].result()
                    pending.popleft()
            while pending:
                yield pending[0][1].result()
                pending.popleft()
    yield from map(parser.parse, chain([block for block, _ in pending], blocks))


def _parsed(parser: Parser, block: Block | Reject) -> ParsedBlock:
    # What is made here lives as long as its block: nothing for the collector to look for.
    gc.disable()
    parsed = parser.parse(block)
    return replace(parsed, rows=["".join(parsed.rows)])
