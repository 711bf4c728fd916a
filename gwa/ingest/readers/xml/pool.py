"""
Other processes that parse: started as plain commands, fed with blocks, asked for what they hold.

There is no `multiprocessing` pool, so that a script without a ``__main__`` guard is not run twice.
"""

import gc
import json
import os
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import IO, Any, Final, cast

from gwa.ingest.readers.xml.records import ParsedBlock, Parser
from gwa.ingest.readers.xml.split import Block
from gwa.ingest.source.lines import Reject

MOST: Final = 2
"""With more processes than this the engine cannot keep up."""

_ONE: Final = Lock()
"""A parser serves one thread at a time."""


def shared(blocks: Iterator[Block | Reject], parser: Parser) -> Iterator[ParsedBlock]:
    """Yield what *blocks* hold, in order, parsed by up to MOST processes or, if there is one, by this one."""
    first = next(blocks, None)
    if first is None:
        return
    with ExitStack() as stack:
        helpers = _started(parser, stack)
        todo = chain([first], blocks)
        if not helpers:
            yield from map(parser.parse, todo)
            return
        pool = stack.enter_context(ThreadPoolExecutor(len(helpers)))
        pending: deque[Future[ParsedBlock]] = deque()
        for number, block in enumerate(todo):
            helper = helpers[number % len(helpers)]
            pending.append(pool.submit(helper.found, block))
            if len(pending) > len(helpers):
                yield pending.popleft().result()
        for one in pending:
            yield one.result()


def _started(parser: Parser, stack: ExitStack) -> list["Helper"]:
    """Return helpers that end with *stack*; none where there is one processor, or they cannot be started."""
    count = min(MOST, os.cpu_count() or 1)
    if not sys.executable or count < MOST:
        return []
    with suppress(OSError):
        return [stack.enter_context(closing(Helper(parser))) for _ in range(count)]
    return []


class Helper:
    """A Python, with the import path of this one, that parses blocks; what it fails at is done here."""

    def __init__(self, parser: Parser) -> None:
        path = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)
        self.parser = parser
        self.lock = Lock()
        self.process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        )
        self._is_told = False

    def found(self, block: Block | Reject) -> ParsedBlock:
        """Return what *block* holds."""
        with self.lock:
            try:
                return self.parser.parse(block) if isinstance(block, Reject) else self._answer(block)
            except (OSError, ValueError):
                with _ONE:
                    return self.parser.parse(block)

    def _answer(self, block: Block) -> ParsedBlock:
        """Return what the process finds in *block*; raise `OSError` or `ValueError` when it is gone."""
        orders = cast("IO[bytes]", self.process.stdin)
        answers = cast("IO[bytes]", self.process.stdout)
        if not self._is_told:
            send(orders, [self.parser.columns, self.parser.options], b"")
            self._is_told = True
        send(orders, [block.line], block.data)
        (total, remarks, rejects), rows = receive(answers)
        return ParsedBlock(total, remarks, [Reject(*reject) for reject in rejects], [rows.decode()])

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        with suppress(OSError), self.process:
            pass


def send(file: IO[bytes], head: Sequence[object], data: bytes) -> None:
    """Write a message to a pipe: a line of JSON, and bytes."""
    file.write(json.dumps([head, len(data)]).encode() + b"\n")
    file.write(data)
    file.flush()


def receive(file: IO[bytes]) -> tuple[list[Any], bytes]:
    """Return the next message from a pipe; raise `ValueError` where there is none."""
    head, size = json.loads(file.readline())
    data = file.read(size)
    if len(data) < size:
        message = "a message broke off"
        raise ValueError(message)
    return head, data


def main() -> None:
    """Parse what comes on standard input until it ends."""
    # What is made here lives as long as its block: nothing for the collector to look for.
    gc.disable()
    (columns, options), _ = receive(sys.stdin.buffer)
    parser = Parser(columns, options)
    while True:
        try:
            (line,), data = receive(sys.stdin.buffer)
        except ValueError:
            return
        found = parser.parse(Block(line, data))
        rejects = [(reject.line, reject.reason, reject.text) for reject in found.rejects]
        send(sys.stdout.buffer, [found.total, found.comments, rejects], found.data)


if __name__ == "__main__":
    main()
