"""
Ctrl-C for what Python cannot interrupt by itself, and SIGTERM, by which systems end programs, like it.

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
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING, Final, Protocol
from weakref import WeakSet

from gwa.errors import SIGNALLED

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

NUDGE: Final = signal.SIGURG
"""A signal that ends what the main thread waits for; without a handler it does nothing."""

ENDING: Final = (signal.SIGINT, signal.SIGTERM)
"""Ctrl-C, and what `kill`, `timeout`, systemd, containers and batch systems send."""

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
_received: list[int] = []


def end_by_signals() -> None:
    """Let both signals raise `KeyboardInterrupt` in the main thread, but one that the parent ignores."""
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _raise)


def _raise(number: int, _: FrameType | None) -> None:
    _received.append(number)
    raise KeyboardInterrupt


def ignore_signals() -> None:
    """Ignore both signals from here on."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


def status() -> int:
    """Return the exit status after such a signal, as shells expect: 130 after Ctrl-C, 143 after SIGTERM."""
    return SIGNALLED + (_received[0] if _received else signal.SIGINT)


def register(work: Interruptible) -> None:
    """Let Ctrl-C interrupt *work* for as long as it exists."""
    with _lock:
        _registered.add(work)


def check() -> None:
    """Raise `KeyboardInterrupt` in any thread after Ctrl-C."""
    if requested():
        raise KeyboardInterrupt


def requested() -> bool:
    """Whether Ctrl-C was pressed while it was watched."""
    return _requested.is_set() or bool(_received)


@contextmanager
def watched() -> Iterator[None]:
    """Notice Ctrl-C at once until the end of a ``with``; only the main thread can do so."""
    _requested.clear()
    _lost.clear()
    _received.clear()
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    watcher = Thread(target=_watch, args=(reading,), daemon=True)
    watcher.start()
    hook, sys.unraisablehook = sys.unraisablehook, _not_lost
    nudged = signal.signal(NUDGE, _nudged)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        signal.signal(NUDGE, nudged)
        sys.unraisablehook = hook
        os.close(writing)
        watcher.join()
        os.close(reading)


def _watch(reading: int) -> None:
    """Interrupt all work, again and again, once a signal writes to *reading*, until that is closed."""
    while not _requested.is_set():
        numbers = os.read(reading, 1)
        if not numbers:
            return
        if numbers[0] in ENDING:
            _requested.set()
    while True:
        with _lock:
            works = list(_registered)
        for work in works:
            work.interrupt()
        del works
        # The signal may have come just before the main thread began to wait for something.
        signal.pthread_kill(main_thread().ident or 0, NUDGE)
        if _is_closed(reading):
            return


def _is_closed(reading: int) -> bool:
    """Wait for an interval; return whether the pipe was closed meanwhile."""
    end = monotonic() + INTERVAL
    while (rest := end - monotonic()) > 0:
        if select([reading], [], [], rest)[0] and not os.read(reading, 64):
            return True
    return False


def _nudged(_: int, frame: FrameType | None) -> None:
    """Raise Ctrl-C again if it was lost, but not where it would be lost once more."""
    while frame and frame.f_code is not _not_lost.__code__:
        frame = frame.f_back
    if _lost.is_set() and not frame:
        _lost.clear()
        raise KeyboardInterrupt


def _not_lost(unraisable: "UnraisableHookArgs") -> None:
    """
    Let Ctrl-C that came in the middle of a finalizer, where nothing can be raised, come again.

    After Ctrl-C finalizers find closed what they would tidy up, which is of no interest.
    """
    if unraisable.exc_type is KeyboardInterrupt:
        _lost.set()
    elif not requested():
        sys.__unraisablehook__(unraisable)
