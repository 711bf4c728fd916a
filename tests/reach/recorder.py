"""
What code enters and which files of the checkout it reads, told as the pieces of `tests.reach.digests`.

What is kept in a cache was made by whoever asked first; after `remember_caches` whoever asks later has
entered it as well. Functions are noticed by a profile of calls, on Python 3.12 and later by its monitoring,
which costs next to nothing.
"""

import functools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

from tests.reach.digests import CODE, DATA, EVERYTHING, GENERATED, REST

HOME: Final = Path(__file__).parents[2]
ROOT: Final = f"{HOME}{os.sep}"
MODULE: Final = "<module>"

READS: Final = "gwa/formats/converter.py", "_read"
"""The function that reads a log by a definition: its arguments say by which."""

OF_ALL_FILES: Final = ("gwa/util/fingerprint.py",)
"""What reads all of gwa for a number that only says whether anything is different."""

LOADERS: Final = ("<frozen importlib", "importlib/", "linecache.py", "tokenize.py", "_pytest/", "zipimport")
"""What opens files to import modules or to show their lines; what modules do is told by what is entered."""

CLIENT: Final = str(HOME / "tests" / "fork_client.py")
"""What starts programs that tell what they enter."""

READS_OF_FILES: Final = frozenset({"open", "os.listdir", "os.scandir"})
STARTS: Final = frozenset({"subprocess.Popen", "os.posix_spawn", "os.system", "os.exec"})
"""Events of Python: files and folders are read, programs started."""

SUITE: Final = "GWA_SUITE"
"""The variable that names the suite which runs."""

HAS_MONITORING: Final = sys.version_info >= (3, 12)


CODES: Final[dict[int, CodeType]] = {}
"""The code objects that were entered, by their numbers; they are kept, so that no other gets one of these."""

READERS: Final[set[int]] = set()
"""The number of the function `READS`."""


def piece_of(code: CodeType) -> str | None:
    """Return the function that a code object is of, as a piece; None for a module and what is not ours."""
    file = code.co_filename
    if not file.startswith(ROOT) or code.co_name == MODULE:
        return None
    path = file[len(ROOT) :].replace(os.sep, "/")
    if path.partition("/")[0] not in CODE:
        return None
    name = code.co_qualname.partition(".<")[0]
    return f"{path}:{REST if name.startswith('<') else name}"


class Recorder:
    """What is entered and read while it runs; `seen` are numbers of code objects, and pieces."""

    def __init__(self) -> None:
        self.is_on = False
        self.seen: set[int | str] = set()
        self._is_listening = False
        self._trusts = False

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Record nothing of what the block starts and reads."""
        was_on, self.is_on = self.is_on, False
        try:
            yield
        finally:
            self.is_on = was_on

    @contextmanager
    def trusting(self, does: bool) -> Iterator[None]:  # noqa: FBT001
        """Take the programs that the block starts for ones that tell what they enter, if it *does*."""
        before, self._trusts = self._trusts, does
        try:
            yield
        finally:
            self._trusts = before

    @contextmanager
    def recording(self) -> Iterator[set[int | str]]:
        """Record until the end of the block, and give what is seen, which grows meanwhile."""
        outer, self.seen = self.seen, set()
        was_on, self.is_on = self.is_on, True
        self._start()
        try:
            yield self.seen
        finally:
            seen, self.seen, self.is_on = self.seen, outer, was_on
            if was_on:
                outer |= seen
                self._start()
            else:
                self._stop()

    def _start(self) -> None:
        if not self._is_listening:
            sys.addaudithook(self._audit)
            self._is_listening = True
        if HAS_MONITORING:
            self._monitor()
        else:
            sys.setprofile(self._call)
            threading.setprofile(self._call)

    def _stop(self) -> None:
        if not HAS_MONITORING:
            sys.setprofile(None)
            threading.setprofile(None)

    def _call(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            number = id(frame.f_code)
            if number not in self.seen:
                self._meet(frame.f_code)
            if number in READERS:
                self.seen.update(definitions(frame.f_locals))

    def _meet(self, code: CodeType) -> None:
        """Note a code object by its number: equal ones may stand in several files."""
        CODES[id(code)] = code
        self.seen.add(id(code))
        if code.co_name == READS[1] and code.co_filename == f"{HOME}/{READS[0]}":
            READERS.add(id(code))

    def _monitor(self) -> None:
        """Let Python 3.12 and later tell of each function once; from now on of all again."""
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
        tool = monitoring.PROFILER_ID
        if not monitoring.get_tool(tool):
            monitoring.use_tool_id(tool, "reach")
            monitoring.register_callback(tool, monitoring.events.PY_START, self._begin)
            monitoring.set_events(tool, monitoring.events.PY_START)
        monitoring.restart_events()

    def _begin(self, code: CodeType, _: int) -> object:
        self._meet(code)
        if id(code) in READERS:
            self.seen.update(definitions(sys._getframe(1).f_locals))  # noqa: SLF001 - of who called us
            return None
        return sys.monitoring.DISABLE  # type: ignore[attr-defined,unused-ignore]

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.is_on:
            return
        if event in READS_OF_FILES:
            path, of = arguments[0], sys._getframe(1)  # noqa: SLF001
            if isinstance(path, str | bytes | os.PathLike) and not _is_of_loader(of):
                self._note_path(os.fsdecode(path), is_folder=event != "open")
        elif event in STARTS and not self._trusts and not _is_client(event, arguments):
            self.seen.add(EVERYTHING)

    def _note_path(self, path: str, *, is_folder: bool) -> None:
        full = os.path.abspath(path)  # noqa: PTH100 - a string is quicker, and links stay
        if not full.startswith(ROOT):
            return
        name = full[len(ROOT) :].replace(os.sep, "/")
        parts = name.split("/")
        if GENERATED & {*parts}:
            return
        # Which of these are used says `READS`: all are read at once.
        is_definition = parts[0] == "converters" and name.endswith(".sql")
        if not is_definition and (parts[0] in DATA or len(parts) == 1):
            self.seen.add(f"{name}/" if is_folder else name)


def definitions(arguments: dict[str, Any]) -> Iterator[str]:
    """Yield the definitions by which a log is read, from the arguments of what reads it."""
    for name in (arguments["name"], arguments["header"].select and f"{arguments['header'].select}.sql"):
        for folder in ("converters", "converters/requests"):
            if name and (HOME / folder / name).is_file():
                yield f"{folder}/{name}"


def _is_client(event: str, arguments: tuple[Any, ...]) -> bool:
    """Whether a program is started that tells what it enters."""
    return event == "subprocess.Popen" and isinstance(arguments[1], list) and CLIENT in arguments[1]


def _is_of_loader(frame: FrameType | None) -> bool:
    """Whether a file is opened by what imports modules or shows lines, or to take a fingerprint of all."""
    while frame is not None:
        file = frame.f_code.co_filename
        if any(part in file for part in LOADERS):
            return True
        if file.startswith(ROOT) and file[len(ROOT) :].partition(os.sep)[0] in CODE:
            return file.endswith(OF_ALL_FILES)
        frame = frame.f_back
    return False


RECORDER: Final = Recorder()
"""The one of this process: Python has one profile."""


def told(seen: set[int | str]) -> set[str]:
    """Return what was seen as pieces."""
    pieces = {one if isinstance(one, str) else _piece_of_number(one) for one in seen}
    return {piece for piece in pieces if piece}


@functools.cache
def _piece_of_number(number: int) -> str | None:
    return piece_of(CODES[number])


def is_recording() -> bool:
    """Whether this process runs a suite that is recorded; on continuous integration there is no next run."""
    return bool(os.environ.get(SUITE)) and not os.environ.get("CI")


# --- Caches ---


def remember_caches() -> None:
    """Let the caches of functions of the checkout that are made from now on tell again what filled them."""
    functools.lru_cache = remembering_cache
    functools.cache = remembering_cache(maxsize=None)


_ORIGINAL: Final = functools.lru_cache


def remembering_cache(maxsize: Any = 128, typed: Any = False) -> Any:  # noqa: FBT002 - as that of Python
    """Do what `functools.lru_cache` does, and tell of each value what was entered when it was made."""
    if callable(maxsize):
        return _remembering(_ORIGINAL(maxsize), maxsize)
    return lambda function: _remembering(_ORIGINAL(maxsize, typed)(function), function)


def _remembering(cached: Any, function: Callable[..., Any]) -> Any:
    """Return a cache that tells of each value what was entered when it was made."""
    code = getattr(function, "__code__", None)
    if code is None or not code.co_filename.startswith(ROOT):
        return cached
    filled: dict[Any, set[int | str]] = {}

    @functools.wraps(function)
    def call(*values: Any, **named: Any) -> Any:
        if not RECORDER.is_on:
            return cached(*values, **named)
        key = (values, tuple(named.items()))
        before = cached.cache_info().misses
        with RECORDER.recording() as seen:
            found = cached(*values, **named)
        if cached.cache_info().misses != before:
            filled[key] = seen
        else:
            RECORDER.seen |= filled.get(key, set())
        return found

    for name in ("cache_info", "cache_clear", "cache_parameters"):
        setattr(call, name, getattr(cached, name))
    call.__wrapped__ = function
    return call
