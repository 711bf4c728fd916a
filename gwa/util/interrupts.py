"""
Ctrl-C for what Python cannot interrupt by itself.

Python notices Ctrl-C between two of its own instructions: not while an engine works on a query, and in the
main thread only. While Ctrl-C is `watched`, a thread notices it at once and interrupts all work that was
registered; other threads end when they call `check`.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from select import select
from threading import Event, Lock, Thread, main_thread
from types import CodeType
from typing import TYPE_CHECKING, Final, Protocol
from weakref import WeakSet

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

INTERVAL: Final = 0.1
"""Seconds after which work is interrupted again: another query may have begun meanwhile."""


class Interruptible(Protocol):
    """Work that another thread can end."""

    def interrupt(self) -> None:
        """End what is being done; nothing if that is nothing."""


_registered: "WeakSet[Interruptible]" = WeakSet()
_lock = Lock()
_requested = Event()
_lost = Event()


def register(work: Interruptible) -> None:
    """Let Ctrl-C interrupt *work* for as long as it exists."""
    with _lock:
        _registered.add(work)


def check() -> None:
    """Raise `KeyboardInterrupt` in any thread after Ctrl-C."""
    if _requested.is_set():
        raise KeyboardInterrupt


def requested() -> bool:
    """Whether Ctrl-C was pressed while it was watched."""
    return _requested.is_set()


@contextmanager
def watched() -> Iterator[None]:
    """Notice Ctrl-C at once until the end of a ``with``; only the main thread can do so."""
    _requested.clear()
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    watcher = Thread(target=_watch, args=(reading,), daemon=True)
    watcher.start()
    hook, sys.unraisablehook = sys.unraisablehook, _not_lost
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        sys.unraisablehook = hook
        os.close(writing)
        watcher.join()
        os.close(reading)


def _watch(reading: int) -> None:
    """Interrupt all work, again and again, once Ctrl-C writes to the pipe *reading*, until that is closed."""
    while not _requested.is_set():
        numbers = os.read(reading, 1)
        if not numbers:
            return
        if numbers[0] == signal.SIGINT:
            _requested.set()
    while True:
        with _lock:
            works = list(_registered)
        for work in works:
            work.interrupt()
        del works
        if _lost.is_set() and not _is_running(_not_lost.__code__):
            _lost.clear()
            # A signal, since that ends what the main thread waits for, too.
            signal.pthread_kill(main_thread().ident or 0, signal.SIGINT)
        if select([reading], [], [], INTERVAL)[0] and not os.read(reading, 1):
            return


def _is_running(code: CodeType) -> bool:
    """Whether the main thread is within a call of a function with this *code*."""
    frame = sys._current_frames().get(main_thread().ident or 0)  # noqa: SLF001 - as documented
    while frame and frame.f_code is not code:
        frame = frame.f_back
    return frame is not None


def _not_lost(unraisable: "UnraisableHookArgs") -> None:
    """
    Let Ctrl-C that came in the middle of a finalizer, where nothing can be raised, come again.

    After Ctrl-C finalizers find closed what they would tidy up, which nobody needs to know.
    """
    if unraisable.exc_type is KeyboardInterrupt:
        # Not here: it would be raised before this function ends, and be lost once more.
        _lost.set()
    elif not requested():
        sys.__unraisablehook__(unraisable)
