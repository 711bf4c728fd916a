"""
A server that has imported gwa, and forks a process for each program that `tests.fork_client` asks for.

Each is a process of its own, with its words, environment, folder and streams, and ends as Python ends. It
shares with the others what was imported, and the seed of hashes. The server has one thread, and ends with the
process that started it.
"""

import atexit
import gc
import os
import random
import runpy
import select
import signal
import socket
import sys
import threading
import time
import traceback
from contextlib import ExitStack, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NoReturn

HOME: Final = Path(__file__).parent.parent
LENGTH: Final = 16
MAXIMUM_BYTES: Final = 1 << 20

WARM: Final = (
    "gwa.functions", "gwa.trace", "gwa.analysis.build", "gwa.formats.convert", "gwa.report.html",
    "babel.dates", "jinja2", "lxml.etree", "markdown_it", "numpy.random", "scipy.optimize", "scipy.special",
    "zstandard",
)  # fmt: skip
"""What most programs import."""


def warm() -> None:
    """Import what programs use; raise `RuntimeError` where that starts threads, which no fork has."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as gwa does
    import click

    from gwa.analysis.base import analyses
    from gwa.cli import gwa
    from gwa.formats.registry import all_formats

    analyses()
    all_formats()
    context = click.Context(gwa)
    for name in gwa.list_commands(context):
        gwa.get_command(context, name)
    for name in WARM:
        import_module(name)
    if len(os.listdir("/proc/self/task")) > 1:  # noqa: PTH208 - of the system
        raise RuntimeError("a process with threads is not forked")
    gc.collect()
    gc.freeze()  # the pages of what is here stay shared


class Server:
    """Waits for programs on a socket in *folder*."""

    def __init__(self, folder: Path, listener: socket.socket) -> None:
        self.folder, self.listener = folder, listener
        self.used = 0.0
        self.running: dict[int, tuple[int, socket.socket]] = {}

    def serve(self) -> "list[str]":
        """Fork until the process that started this one has ended; in each fork return what was asked for."""
        while True:
            waited: list[Any] = [0, self.listener, *self.running]
            for one in select.select(waited, [], [])[0]:
                if one == 0:  # the other end of standard input is closed
                    os._exit(0)
                elif one is self.listener:
                    call = self.listener.accept()[0]
                    if (request := self._accept(call)) is not None:
                        return request
                else:
                    self._end(one)

    def _accept(self, call: socket.socket) -> "list[str] | None":
        data, streams, *_ = socket.recv_fds(call, MAXIMUM_BYTES, 3)
        if not streams:
            call.send(f"{self.used:.3f}".encode())
            call.close()
            return None
        if number := os.fork():
            call.send(str(number).encode().ljust(LENGTH))
            self.running[os.pidfd_open(number)] = number, call
            for stream in streams:
                os.close(stream)
            return None
        self.listener.close()
        call.close()
        for known, (_, other) in self.running.items():
            os.close(known)
            other.close()
        for own, stream in enumerate(streams):
            os.dup2(stream, own)
            os.close(stream)
        return data.decode(errors="surrogateescape").split("\0")

    def _end(self, known: int) -> None:
        """Tell who asked for it how a program has ended."""
        number, call = self.running.pop(known)
        os.close(known)
        _, status, times = os.wait4(number, 0)
        self.used += times.ru_utime + times.ru_stime
        with suppress(OSError):
            call.send(str(status).encode().ljust(LENGTH))
        call.close()


def become(request: "list[str]", path: "list[str]") -> None:
    """Make this process what a new one would be."""
    deaf, group, folder, count, *texts = request
    words, variables = texts[: int(count)], texts[int(count) :]
    signal.signal(signal.SIGINT, signal.SIG_IGN if deaf else signal.default_int_handler)
    os.environ.clear()
    os.environ.update(dict(text.split("=", 1) for text in variables))
    time.tzset()
    with suppress(OSError):  # another session
        os.setpgid(0, int(group))
    os.chdir(folder)
    random.seed()
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        as_python = getattr(sys, f"__{name}__")
        stream = open(  # noqa: SIM115 - for the life of the process
            number, mode, encoding=as_python.encoding, errors=as_python.errors,
            buffering=1 if name == "stderr" or os.isatty(number) else -1, closefd=False,
        )  # fmt: skip
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.argv[:] = ["-m", *words]
    sys.path[:] = [folder, *path]


def run() -> int:
    """Run ``python -m gwa``; return its exit status."""
    try:
        runpy.run_module("gwa", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        sys.stderr.write(f"{end.code}\n")
        return 1
    except BaseException:  # noqa: BLE001 - as Python does
        traceback.print_exc()
        return 1
    return 0


def end(status: int) -> NoReturn:
    """End as Python does, but without taking apart each object."""
    threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001
    atexit._run_exitfuncs()  # noqa: SLF001
    for stream in (sys.stdout, sys.stderr):
        with suppress(ValueError, OSError):
            stream.flush()
    os._exit(status)


def main(folder: Path) -> NoReturn:
    """Serve; in each fork, run a program and leave a file that says what it entered."""
    path = sys.path[1:]
    sys.path[0] = str(HOME)
    from tests.reach.recorder import RECORDER, is_recording, remember_caches, told

    records = is_recording()
    with ExitStack() as stack:
        if records:
            remember_caches()
            stack.enter_context(RECORDER.recording())
        warm()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(str(folder / "part"))
    listener.listen(64)
    (folder / "part").rename(folder / "socket")  # from here on it is ready
    request = Server(folder, listener).serve()
    mark = folder / f"seen-{os.getpid()}"
    if not records:
        become(request, path)
        end(run())
    mark.touch()  # without what it entered, if it is killed
    with RECORDER.recording() as seen:
        become(request, path)
        status = run()
    mark.with_suffix(".part").write_text("\n".join(sorted(told(seen))))
    mark.with_suffix(".part").rename(mark)
    end(status)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
