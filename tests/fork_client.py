"""
``gwa`` as tests start it: a fork server becomes the program, and this process ends as that ends.

``python -I -S fork_client.py FOLDER WORDS...``: FOLDER is that of a `tests.fork_server`. Signals are handed
on. Where the server cannot be the program, as another variable for Python is set, or is gone, a Python is
started.
"""

import os
import signal
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress

AT_START = ("PYTHON", "LC_", "LANG", "OPENBLAS_", "OMP_", "MKL_", "MALLOC_", "LD_", "TZDIR")
"""Beginnings of names of variables that an interpreter or its libraries read once."""

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
LENGTH = 16
"""The number of bytes of an answer."""


def read_at_start(env: Mapping[str, str]) -> bytes:
    """Return the variables that count when Python starts, but where it looks for modules of others."""
    kept = sorted(f"{name}={env[name]}" for name in env if name.startswith(AT_START) and name != "PYTHONPATH")
    return "\0".join(kept).encode(errors="surrogateescape")


def main(folder: str, words: list[str]) -> int:
    """Let the server run gwa; return its exit status."""
    try:
        with open(f"{folder}/environment", "rb") as file:  # noqa: PTH123 - pathlib takes longer to import
            is_alike = file.read() == read_at_start(os.environ)
        call = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        if is_alike:
            call.connect(f"{folder}/socket")
    except OSError:
        is_alike = False
    if not is_alike:
        start_cold(folder, words)
    is_deaf = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    group = os.getpgrp()
    folder_now = os.getcwd()  # noqa: PTH109 - pathlib takes longer to import than all else here
    texts = ["deaf" if is_deaf else "", str(group), folder_now, str(len(words)), *words]
    texts += [f"{name}={value}" for name, value in os.environ.items()]
    socket.send_fds(call, ["\0".join(texts).encode(errors="surrogateescape")], [0, 1, 2])
    number = int(call.recv(LENGTH))
    for one in FORWARDED:
        if signal.getsignal(one) is not signal.SIG_IGN:
            signal.signal(one, lambda sent, _: os.kill(number, sent))
    for stream in (0, 1, 2):  # the program has them: who reads of it sees their end when it ends
        os.close(stream)
    status = int(call.recv(LENGTH) or 9)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    return os.waitstatus_to_exitcode(status)


def start_cold(folder: str, words: list[str]) -> None:
    """Become a Python that runs gwa, and leave a mark that it does not say what it enters."""
    with suppress(OSError):
        os.close(os.open(f"{folder}/seen-{os.getpid()}", os.O_CREAT | os.O_WRONLY))
    os.execv(sys.executable, [sys.executable, "-m", "gwa", *words])  # noqa: S606 - as a shell would


if __name__ == "__main__":
    os._exit(main(sys.argv[1], sys.argv[2:]))
