"""
Worker processes: a `Pool` of them calls one function, and ends them all whatever happens.

A worker is a Python started as a plain command, not by `multiprocessing`, so that a script without a
``__main__`` guard is not run twice. It imports the gwa that its parent imported. All else it looks for where
its parent does, except in the current folder: what lies beside a trace is not executed. It ignores Ctrl-C
and SIGTERM, which its parent handles, and exits when its standard input ends, as it does when the parent is
killed.
"""

import gc
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Lock, Thread, Timer
from typing import IO, Any, Concatenate, Final, Generic, Self, TypeVar, cast

from gwa.util import scratch
from gwa.util.interrupts import ignore_signals

Request = TypeVar("Request")
Answer = TypeVar("Answer")
Result = TypeVar("Result")

HOME: Final = str(Path(__file__).absolute().parents[2])
"""The folder that holds the package gwa."""

OBJECTS_PER_SEARCH: Final = 50_000
"""New objects after which a worker looks for cycles of them, as the command does."""

LENGTH: Final = 8
"""The number of bytes at the start of a message that hold its length."""

START: Final = """
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
sys.path[:] = {path!r}
spec = PathFinder.find_spec("gwa", [{home!r}])
sys.modules["gwa"] = module_from_spec(spec)
spec.loader.exec_module(sys.modules["gwa"])
from gwa.util.processes import serve
serve()
"""
"""The program of a worker; gwa comes from *home*, even where a folder of *path* holds another one."""


class WorkerError(Exception):
    """A worker could not be started, or ended before it answered."""


class WorkerTimeout(WorkerError):  # noqa: N818 - the message reads "it took longer"
    """A worker was ended since it did not answer in time."""


class Worker(Generic[Request, Answer]):
    """A process that calls *function*; it is started when it is needed, and again after it has died."""

    def __init__(self, function: Callable[[Request], Answer]) -> None:
        self._function = pickle.dumps(function)
        self._lock = Lock()
        self._is_closed = False
        self.process: subprocess.Popen[bytes] | None = None

    def ask(self, request: Request, seconds: float | None = None) -> Answer:
        """
        Return what the function returns for *request*; both are pickled.

        Raise `WorkerTimeout` where it takes longer than *seconds*, after which the process is killed: a
        function of compiled code may heed nothing else. Raise `WorkerError` where the process cannot be
        started or ends first, as it does when the function raises an exception.
        """
        message = pickle.dumps(request)
        is_late = Event()
        try:
            process = self.process or self._start()
            with _limit(process, seconds, is_late):
                _send(cast("IO[bytes]", process.stdin), message)
                answer: Answer = _loaded(_receive(cast("IO[bytes]", process.stdout)))
        except (OSError, EOFError) as error:
            self.close()
            if is_late.is_set():
                raise WorkerTimeout(f"no answer within {seconds:g} s") from error
            raise WorkerError(str(error)) from error
        if is_late.is_set():  # it answered just in time, and was killed all the same
            self.close()
        return answer

    def _start(self) -> "subprocess.Popen[bytes]":
        path = [str(entry) for entry in sys.path if Path(entry).is_absolute()]
        program = START.format(path=path, home=HOME)
        with self._lock:
            if self._is_closed:
                raise EOFError("the pool is closed")
            self.process = subprocess.Popen(  # noqa: S603 - our own interpreter and program
                [sys.executable or "", "-I" if sys.flags.isolated else "-P", "-c", program],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        _send(cast("IO[bytes]", self.process.stdin), self._function)
        return self.process

    def kill(self) -> None:
        """End the process, for good; what waits for its answer gets a `WorkerError`."""
        with self._lock:
            self._is_closed = True
            if self.process:
                self.process.kill()

    def close(self) -> None:
        """End the process, release its pipes, and remove its scratch folders: it could not do so itself."""
        with self._lock, suppress(OSError):
            process, self.process = self.process, None
            if process:
                process.kill()
                with process:
                    pass
                scratch.tidy()


class Pool(Generic[Request, Answer]):
    """Up to *count* workers for *function*, which other threads ask; all end with the ``with`` block."""

    def __init__(self, function: Callable[[Request], Answer], count: int) -> None:
        self.workers = [Worker(function) for _ in range(count)]
        self._idle = list(self.workers)
        self._threads = ThreadPoolExecutor(count)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in self.workers:
            worker.kill()
        self._threads.shutdown()
        for worker in self.workers:
            worker.close()

    def ask(self, request: Request) -> Future[Answer]:
        """Ask a worker when one is idle; the result is as that of `Worker.ask`."""
        return self.submit(Worker.ask, request)

    def submit(
        self, task: Callable[Concatenate[Worker[Request, Answer], ...], Result], *arguments: object
    ) -> Future[Result]:
        """Call *task* in a thread, when there is an idle worker, with that as its first argument."""
        return self._threads.submit(self._lend, task, *arguments)

    def _lend(
        self, task: Callable[Concatenate[Worker[Request, Answer], ...], Result], *arguments: object
    ) -> Result:
        worker = self._idle.pop()
        try:
            return task(worker, *arguments)
        finally:
            self._idle.append(worker)


@contextmanager
def _limit(process: "subprocess.Popen[bytes]", seconds: float | None, is_late: Event) -> Iterator[None]:
    """Kill *process* and set *is_late* where a ``with`` takes longer than *seconds*; None is no limit."""

    def end() -> None:
        is_late.set()
        process.kill()

    timer = Timer(seconds, end) if seconds is not None else None
    try:
        if timer:
            timer.daemon = True
            timer.start()
        yield
    finally:
        if timer:
            timer.cancel()


def serve() -> None:
    """Answer on standard output what comes on standard input, until it ends: a function, then requests."""
    ignore_signals()
    gc.set_threshold(OBJECTS_PER_SEARCH)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # What libraries print is no answer.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    messages: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_listen, args=(messages,), daemon=True).start()
    try:
        function: Callable[[Any], object] = _loaded(messages.get())
        while True:
            _send(answers, pickle.dumps(function(_loaded(messages.get()))))
    finally:
        os._exit(1)


def _listen(messages: "SimpleQueue[bytes]") -> None:
    """Pass on *messages* from standard input; exit at once where it ends, whatever else is being done."""
    try:
        while True:
            messages.put(_receive(sys.stdin.buffer))
    finally:
        os._exit(0)


def _send(file: IO[bytes], message: bytes) -> None:
    file.write(len(message).to_bytes(LENGTH))
    file.write(message)
    file.flush()


def _receive(file: IO[bytes]) -> bytes:
    """Return the next message; raise `EOFError` where there is none."""
    head = file.read(LENGTH)
    message = file.read(int.from_bytes(head))
    if len(head) < LENGTH or len(message) < int.from_bytes(head):
        raise EOFError("the process ended")
    return message


def _loaded(message: bytes) -> Any:  # noqa: ANN401 - any value
    return pickle.loads(message)  # noqa: S301 - it comes from a process of ours
