"""Run what a client of the assistant's tools does, in a thread of its own."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Answer = TypeVar("Answer")


def talked(talk: Coroutine[Any, Any, Answer]) -> Answer:
    """Return the answer of *talk*; the thread of the tests may have the loop of a browser, which runs on."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, talk).result()
