"""
Programs of gwa for tests, forked from a server that has imported gwa: a start costs hundredths of a second.

``subprocess.run([*forked.gwa(), "facts", path])`` is ``python -m gwa facts path``: a process of its own. It
shares with those of other tests what is imported, and the seed of hashes. What tests a start itself starts
`COLD`: what it imports and executes, its first instants, signals to its group, that two runs give the same
bytes. So does everything where there is no such server: it needs Linux.
"""

import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from tests.fork_client import LENGTH, read_at_start
from tests.reach.digests import EVERYTHING
from tests.reach.recorder import RECORDER

HOME: Final = Path(__file__).parent.parent
CLIENT: Final = str(HOME / "tests" / "fork_client.py")
COLD: Final = (sys.executable, "-m", "gwa")
ENVIRONMENT: Final = dict(os.environ)
"""The environment before any test changed it."""

IS_POSSIBLE: Final = (
    sys.platform == "linux"
    and hasattr(os, "pidfd_open")
    and hasattr(socket, "send_fds")
    and "coverage" not in sys.modules
)
"""Whether there can be a server here; coverage measures processes that are started only."""

START: Final = 60.0
"""Seconds after which a server that is not ready will not be."""


class Server:
    """The server of this process: a process, and its folder with its socket."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gwa-fork-"))
        (self.folder / "environment").write_bytes(read_at_start(ENVIRONMENT))
        self.process = subprocess.Popen(
            [sys.executable, HOME / "tests" / "fork_server.py", self.folder], cwd=HOME, env=ENVIRONMENT,
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        last = time.monotonic() + START
        while not (self.folder / "socket").exists():
            if self.process.poll() is not None or time.monotonic() > last:
                self.close()
                raise ChildProcessError("the fork server did not start")
            time.sleep(0.01)

    def used(self) -> float:
        """Return the CPU seconds of all programs that have ended."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as call:
            call.connect(str(self.folder / "socket"))
            call.send(b"used")
            return float(call.recv(LENGTH))

    def close(self) -> None:
        """End it."""
        self.process.kill()
        self.process.communicate()
        shutil.rmtree(self.folder, ignore_errors=True)


_servers: list[Server] = []
_broken: list[str] = []


def gwa() -> list[str]:
    """Return the words that start gwa, and start the server where it is not running."""
    if not _servers and IS_POSSIBLE and not _broken:
        try:
            with RECORDER.paused():
                _servers.append(Server())
        except OSError as error:
            _broken.append(str(error))
    return [sys.executable, "-I", "-S", CLIENT, str(_servers[0].folder)] if _servers else [*COLD]


def write_command(path: Path) -> None:
    """Write the command ``gwa`` of scripts to *path*."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\nexec {shlex.join(gwa())} "$@"\n')
    path.chmod(0o755)


@contextmanager
def telling() -> Iterator[None]:
    """Trust that what is started meanwhile runs no Python but gwa, which tells what it enters."""
    with RECORDER.trusting(bool(_servers)):
        yield


def used() -> float:
    """Return the CPU seconds of all programs until now."""
    with suppress(OSError):
        return _servers[0].used() if _servers else 0.0
    return 0.0


def entered() -> set[str]:
    """Return what the programs entered that have ended since the last call."""
    pieces: set[str] = set()
    for mark in sorted(_servers[0].folder.glob("seen-*")) if _servers else ():
        pieces |= set(mark.read_text().split("\n")) if mark.stat().st_size else {EVERYTHING}
        mark.unlink()
    return pieces


def close() -> None:
    """End the server, if there is one."""
    while _servers:
        _servers.pop().close()
