"""
Traces that are asked: opened once, filtered on demand, and what each answer has to say of them.

Several questions about the same part of a trace share what was computed for it. A condition that an
assistant writes is not run here: a process of its own finds the jobs that meet it, and their numbers are
what is filtered by.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from pathlib import Path
from secrets import token_bytes
from threading import Event, Lock, Thread
from typing import Any, Final, Self

import duckdb

from gwa.analysis.base import analyses
from gwa.analysis.conditions import FactsOnDemand
from gwa.assistant.sql import ask, chosen
from gwa.errors import ArgumentError, GwaError
from gwa.formats.convert import convert_anonymized
from gwa.formats.open import recognise
from gwa.ingest.inputs import expand
from gwa.ingest.source.head import FileHead
from gwa.metrics.quality import problems
from gwa.report.document import Fact
from gwa.store.confined import Confined
from gwa.store.engines.config import Engine
from gwa.store.options import ReadOptions
from gwa.store.schema import BY_NAME
from gwa.trace import Trace, title
from gwa.trace import open as open_trace
from gwa.util.once import Once
from gwa.util.progress import SILENT, Progress
from gwa.util.scratch import ScratchFolder

MAXIMUM_ANSWERS: Final = 100
"""The number of answers that are kept."""

MAXIMUM_PARTS: Final = 8
"""The number of parts of traces that are kept: the most recently used ones."""

MAXIMUM_AHEAD: Final = 4
"""The number of traces of which facts are computed before they are asked for."""

MAXIMUM_CONDITIONS: Final = 4 * MAXIMUM_PARTS
"""The number of conditions whose jobs are kept: those of all parts that are, and of questions that wait."""

ANONYMOUS: Final = "trace"
"""What a trace is called whose names are pseudonyms: its file may be called after its owner."""

CONTEXT: Final = "the context of answers"

UNSAFE: Final = ("error", "warning")
"""The levels of problems that make conclusions unsafe: an answer names them."""

WINDOW: Final = ("window.first", "window.last", "window.cut")


@dataclass(frozen=True)
class TracePart:
    """A trace, or a part of it, with what was computed of it."""

    trace: Trace
    once: Once = field(default_factory=Once)
    """What was computed, which a part with the same jobs may share."""

    @cached_property
    def facts(self) -> FactsOnDemand:
        """Its facts."""
        return FactsOnDemand(self.trace.store, self.once)

    @property
    def context(self) -> Mapping[str, Any]:
        """What each answer says of the jobs that it is about."""
        return self.once(CONTEXT, self._context)

    @property
    def is_described(self) -> bool:
        """Whether the context is there already: to make it, the trace is asked."""
        return CONTEXT in self.once

    def _context(self) -> dict[str, Any]:
        store, levels = self.trace.store, self.facts.on_levels()
        return {
            "trace": self.trace.name,
            "part": [str(subset) for subset in self.trace.filters] or "the whole trace",
            "jobs": levels.get("trace.jobs"),
            "times_are": "seconds from an unknown start" if store.system.relative else "Unix times",
            "zone": None if store.system.relative else store.system.timezone.key,
            "processors": {"number": store.system.cpus, "is_a_guess": store.system.cpus_inferred},
            "window": {name.removeprefix("window."): levels.get(name) for name in WINDOW},
            "caveats": [
                " ".join((f"{one.level}:", *([] if one.count is None else [f"{one.count:,}"]), one.meaning))
                + (f" (affects {one.affects})" if one.affects else "")
                for one in problems(store, levels)
                if one.level in UNSAFE
            ],
            "not_recorded": [name for name in BY_NAME if not store.has(name)],
        }

    def answer(self, found: Mapping[str, Any], facts: Iterable[Fact] = ()) -> dict[str, Any]:
        """Return what was *found*, and *facts* with what is unknown of them, in the context."""
        values = {fact.id: fact.value for fact in facts}
        unknown = [name for name, value in values.items() if value is None]
        told = {"facts": values, "unknown": unknown} if values else {}
        return {**found, **told, "about": self.context}


class Ahead(Thread):
    """
    Computes what is asked of whole traces before it is asked: facts, and the usual answers.

    It asks twins of the stores, so that a question waits for nothing but what it needs itself.
    """

    def __init__(self, parts: Iterable[TracePart], usual: Sequence[Callable[[TracePart], object]]) -> None:
        """Take parts that are whole traces, and what makes the *usual* answers."""
        super().__init__(name="gwa-ahead")
        self._twins = [TracePart(Trace(one.trace.store.twin(), one.trace.name), one.once) for one in parts]
        self._connections = [one.trace.store.connection for one in self._twins]
        self._usual = usual
        self._ending = Event()

    def run(self) -> None:
        """Compute until all is there, or `stop` is called."""
        for part in self._twins:
            for make in self._steps(part):
                if self._ending.is_set():
                    return
                with suppress(Exception):  # who asks is told
                    make()
            with suppress(duckdb.Error):  # `stop` interrupts it meanwhile, and closes it
                part.trace.close()

    def _steps(self, part: TracePart) -> Iterator[Callable[[], object]]:
        """Yield what is to be made of a part: what each answer needs first, and what takes long last."""
        yield lambda: part.context
        for make in self._usual:
            yield partial(make, part)
        store = part.trace.store
        for analysis in sorted(analyses(), key=lambda one: one.view == "modeller"):
            if analysis.is_wanted(store):
                yield partial(part.facts.of_section, analysis)

    def stop(self) -> None:
        """End the work, and wait until it has ended."""
        self._ending.set()
        for connection in self._connections:
            with suppress(duckdb.Error):  # closed, since all is made
                connection.interrupt()
        if self.is_alive():
            self.join()
        for part in self._twins:
            part.trace.close()


class Desk:
    """The *traces* that can be asked, by name."""

    def __init__(self, traces: Mapping[str, Trace], stack: ExitStack | None = None) -> None:
        """Take open *traces*; the *stack* is closed with them."""
        self.traces = dict(traces)
        self._stack = stack or ExitStack()
        self._whole = {name: TracePart(trace) for name, trace in self.traces.items()}
        self._filtered = lru_cache(MAXIMUM_PARTS)(self._filter)
        self._answers: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._confined = {name: Confined(trace.store) for name, trace in self.traces.items()}
        self._chosen: OrderedDict[tuple[str, str], Path] = OrderedDict()
        self._choosing = Lock()
        self.lock = Lock()
        """Held by who asks a trace in this process: one at a time."""
        for name, trace in self.traces.items():
            trace.store.resolve = partial(self.choose, name)
            self._stack.callback(self._confined[name].close)
        self.progress: Progress = SILENT
        """Receives the progress of an answer that takes long."""

    @classmethod
    def open(cls, paths: Sequence[Path], memory: str | None = None, *, is_anonymous: bool = False) -> Self:
        """
        Open the trace of each of *paths*, of a folder all that it holds.

        With *is_anonymous*, names are pseudonyms of a key that is not kept.
        """
        stack, traces = ExitStack(), dict[str, Trace]()
        with ExitStack() as failing:
            failing.push(stack)
            for path in _files(paths):
                source = _anonymous(path, memory, stack) if is_anonymous else path
                trace = stack.enter_context(open_trace(source, memory=memory))
                trace.name = _distinct(ANONYMOUS if is_anonymous else title([path]), traces)
                traces[trace.name] = trace
            failing.pop_all()
        return cls(traces, stack)

    def part(
        self, trace: str | None = None, period: str | None = None, where: str | None = None
    ) -> TracePart:
        """
        Return the part of a trace that is asked about; the only trace needs no name.

        Raise `GwaError` for a trace that there is not, a period or a condition that cannot be.
        """
        name = self._name(trace)
        return self._filtered(name, period or None, where or None) if period or where else self._whole[name]

    def _filter(self, name: str, period: str | None, where: str | None) -> TracePart:
        return TracePart(self.traces[name].filter(period=period, where=where))

    def sql(self, query: str, trace: str | None = None) -> dict[str, Any]:
        """
        Return what a *query* of a trace yields, in its context; it waits for no other question.

        Raise `QueryError` as `gwa.assistant.sql.ask` does.
        """
        part = self._whole[self._name(trace)]
        found = ask(self._confined[part.trace.name], query)
        if not part.is_described:
            with self.lock:
                return part.answer(found)
        return part.answer(found)

    def choose(self, trace: str | None, condition: str) -> Path:
        """
        Return a file with the numbers of the jobs that meet a *condition*, which its own process finds.

        It waits for no other question. Raise `QueryError` for anything but a condition, one that fails, and
        one that takes too long.
        """
        name = self._name(trace)
        key = (name, condition)
        with self._choosing:
            if key in self._chosen:
                self._chosen.move_to_end(key)
                return self._chosen[key]
        path = chosen(self._confined[name], condition)
        with self._choosing:
            while len(self._chosen) >= MAXIMUM_CONDITIONS:
                self._chosen.popitem(last=False)[1].unlink(missing_ok=True)
            self._chosen[key] = path
        return path

    def prepare(self, usual: Sequence[Callable[[TracePart], object]]) -> None:
        """Compute the facts of the first traces, and the *usual* answers, while nothing is asked."""
        for confined in list(self._confined.values())[:MAXIMUM_AHEAD]:
            confined.start()
        ahead = Ahead(list(self._whole.values())[:MAXIMUM_AHEAD], usual)
        self._stack.callback(ahead.stop)
        ahead.start()

    def once(self, question: str, answer: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return the *answer* to a *question*, which is found once: traces do not change."""
        if question not in self._answers:
            while len(self._answers) >= MAXIMUM_ANSWERS:
                self._answers.popitem(last=False)
            self._answers[question] = answer()
        self._answers.move_to_end(question)
        return self._answers[question]

    def _name(self, trace: str | None) -> str:
        if trace in self.traces:
            return trace
        names = ", ".join(self.traces)
        if trace:
            raise ArgumentError(f"there is no trace '{trace}', expected one of {names}")
        if len(self.traces) > 1:
            raise ArgumentError(f"there are several traces, expected the name of one: {names}")
        return next(iter(self.traces))

    def close(self) -> None:
        """Close all traces, and remove what was made for them."""
        self._stack.close()

    def __enter__(self) -> Self:
        """Return the desk itself, to be closed at the end of a ``with``."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close all traces."""
        self.close()


def _files(paths: Sequence[Path]) -> list[Path]:
    """Return the traces to open: of a folder, each file that a format claims."""
    found = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        known = [file for file in expand([path]) if _is_trace(file)]
        if not known:
            raise ArgumentError(f"{path}: none of its files is a trace")
        found += known
    return found


def _is_trace(path: Path) -> bool:
    try:
        return bool(recognise(FileHead.of(path)))
    except GwaError:
        return False


def _anonymous(path: Path, memory: str | None, stack: ExitStack) -> Path:
    """Return a store of the trace in *path* with pseudonyms, which is there until the *stack* is closed."""
    folder = stack.enter_context(ScratchFolder())
    out = folder / "trace.duckdb"
    convert_anonymized([path], out, token_bytes(32), options=ReadOptions(engine=Engine(memory)))
    return out


def _distinct(name: str, taken: Mapping[str, object]) -> str:
    """Return a name that is not *taken*: the second of two is called a-2."""
    number = 1
    while (found := name if number == 1 else f"{name}-{number}") in taken:
        number += 1
    return found
