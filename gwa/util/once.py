"""What is found out once, also where several threads ask for it."""

from collections.abc import Callable, Hashable
from threading import Lock, RLock
from typing import Any, TypeVar

T = TypeVar("T")


class Once:
    """
    What was made for each key; a thread that asks for what another one makes waits for it.

    >>> once = Once()
    >>> once("answer", lambda: 42), once("answer", lambda: 0)
    (42, 42)
    """

    def __init__(self) -> None:
        self._made: dict[Hashable, Any] = {}
        self._locks: dict[Hashable, RLock] = {}
        self._lock = Lock()

    def __call__(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what *make* returned when *key* was first asked for; an error is not kept."""
        if key not in self._made:
            with self._lock:
                lock = self._locks.setdefault(key, RLock())
            with lock:
                if key not in self._made:
                    self._made[key] = make()
        found: T = self._made[key]
        return found

    def __contains__(self, key: Hashable) -> bool:
        """Whether it was made already."""
        return key in self._made
