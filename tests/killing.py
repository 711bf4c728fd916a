"""
Programs that are killed or interrupted at a step of their work, never by a clock: the same on a busy machine.

The steps are the events of Python's audit: a file that is opened, renamed, removed, and many more.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.conftest import HOME


def kill_when(
    is_due: Callable[[str, tuple[Any, ...]], bool], number: signal.Signals = signal.SIGKILL
) -> None:
    """Send this process a signal before each event that *is_due*; what that asks for does not count."""
    asking = False

    def look(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal asking
        if not asking:
            asking = True
            if is_due(event, arguments):
                asking = False
                signal.raise_signal(number)
            asking = False

    sys.addaudithook(look)


def kill_at(number: int, folder: Path, by: signal.Signals = signal.SIGKILL) -> Callable[[], int]:
    """
    Kill this process, or send it a signal, before one of its events that name something in *folder*.

    It is the one of this *number*, from one. Return a function that counts them.
    """
    count = 0

    def is_due(_event: str, arguments: tuple[Any, ...]) -> bool:
        nonlocal count
        named = (str(one) for one in arguments if isinstance(one, str | Path))
        counts = any(one.startswith(str(folder)) for one in named)
        count += counts
        return counts and count == number

    kill_when(is_due, by)
    return lambda: count


def is_running(process: int) -> bool:
    """Whether there is a *process* of this number on this host, of any user."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def run(code: str, *words: object, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run Python *code*, which may import from the tests, with *words* as its arguments."""
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        env={**os.environ, "PYTHONPATH": str(HOME)},
        check=False,
        capture_output=True,
        **options,
    )
