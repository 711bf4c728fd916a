"""
All traces that an archive tells of, in one form: its own, and the public ones that ``gwa fetch`` knows.

A figure that was neither read in a source nor computed is None, which pages write as unknown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal
from zoneinfo import ZoneInfo

from gwa.archive.public_traces import PublicTrace, citation
from gwa.archive.published import PublishedTrace
from gwa.util.units import HOUR
from gwa.words.formatting import compact, fraction

RECORDED_FIELDS: Final = {
    "WaitTime": "waits",
    "UserID": "users",
    "ReqTime": "requests",
    "Status": "outcomes",
    "UsedMemory": "memory",
    "NGPUs": "GPUs",
    "ExecutableID": "programs",
}
"""The fields for which the front page has marks, where most jobs of a trace record them."""

MAXIMUM_OF_JOBS: Final = 0.5

FIGURES: Final = {"processors": "cpus"}
"""The figures that the list of public traces calls by another name."""

Kind = Literal["here", "fetch", "synthetic"]
"""A real trace of the archive, one that others publish, or one that a model made."""


@dataclass(frozen=True)
class TracePurpose:
    """What readers want traces for; those that record the *needed* suit it, or those *measured* alike."""

    title: str
    about: str
    needed: str = ""
    is_measured: bool = False


PURPOSES: Final = {
    "gpus": TracePurpose("Study GPUs", "traces whose jobs record GPUs", "GPUs"),
    "scheduler": TracePurpose(
        "Test a scheduler", "traces whose jobs record the time they asked for", "requests"
    ),
    "users": TracePurpose("Model users", "traces whose jobs record their users", "users"),
    "compare": TracePurpose(
        "Compare my cluster", "traces of real systems with known processors and use", is_measured=True
    ),
}
"""The purposes by which the front page filters, by the name that stands in its address."""


NO_LEAD: Final[Mapping[str, Any]] = {"sentence": "", "segments": (), "captions": ()}
"""The lead of a trace of which it is not known what became of the hours."""


@dataclass(frozen=True)
class TraceLine:
    """
    A trace as it stands in a line of the front page.

    *begin* and *end* are years with fractions; *at_least* says that *busy* is a lower bound, and *rounded*
    names the figures that their source rounds. *records* are pairs of what most jobs record and of the share
    of jobs that do, where it is known. *terms* is the licence as a column has it. *lead* is what its report
    says first: what became of the hours, and the bar of it.
    """

    id: str
    title: str
    kind: Kind
    page: str
    licence: str
    cite: str
    begin: float | None = None
    end: float | None = None
    jobs: float | None = None
    cpus: float | None = None
    core_hours: float | None = None
    busy: float | None = None
    at_least: bool = False
    strip: str = ""
    rounded: Sequence[str] = ()
    records: Sequence[tuple[str, float | None]] = ()
    command: str = ""
    source: Sequence[str] = ()
    failure: str = ""
    about: str = ""
    label: str = ""
    terms: str = ""
    lead: Mapping[str, Any] = field(default_factory=lambda: NO_LEAD)

    @property
    def place(self) -> str:
        """The name of the line on the front page; a public trace may have the id of one of the archive."""
        return f"fetch.{self.id}" if self.kind == "fetch" else self.id

    @property
    def years(self) -> str:
        """The years that the trace is of, such as 1996–1997, or unknown."""
        if self.begin is None:
            return "unknown"
        first, last = int(self.begin), int(self.begin if self.end is None else self.end - 1e-9)
        return str(first) if first == last else f"{first}–{last}"

    @property
    def purposes(self) -> list[str]:
        """The names of the purposes that the trace suits."""
        recorded = {name for name, _ in self.records}
        measured = self.kind != "synthetic" and None not in (self.cpus, self.busy)
        return [
            name
            for name, one in PURPOSES.items()
            if (measured if one.is_measured else one.needed in recorded)
        ]

    def count(self, name: str) -> str:
        """Return a figure as it is written: with its thousands set apart, approximate, or unknown."""
        value: float | None = getattr(self, name)
        if value is None:
            return "unknown"
        text = f"{value:,.0f}" if name != "core_hours" else compact(value, "count")
        return f"≈ {text}" if name in self.rounded else text

    @property
    def busy_words(self) -> str:
        """The mean share of busy processors as it is written."""
        if self.busy is None:
            return "unknown"
        if "busy" in self.rounded:
            return f"≈ {self.busy:.0%}".replace("%", " %")
        return f"{'≥ ' if self.at_least else ''}{fraction(self.busy)}"

    @property
    def words(self) -> str:
        """A sentence on the trace, for who points at its dot or has it read aloud."""
        title = f"{self.title} (synthetic)" if self.kind == "synthetic" else self.title
        busy = "how busy is unknown" if self.busy is None else f"{self.busy_words} busy"
        hours = f", {self.count('core_hours')} core-hours" if self.core_hours else ""
        when = "no date" if self.begin is None else self.years
        return f"{title}: {when}, {self.count('cpus')} processors, {self.count('jobs')} jobs{hours}, {busy}"


def lines(
    traces: Sequence[PublishedTrace], public: Sequence[PublicTrace], featured: Sequence[str] = ()
) -> list[TraceLine]:
    """Return the lines of real traces, those to fetch, those that models made; *featured* ones first."""
    own = sorted(map(of_archive, traces), key=lambda line: line.id not in featured)
    others = [of_public(trace) for trace in public]
    order: tuple[Kind, ...] = ("here", "fetch", "synthetic")
    return sorted([*own, *others], key=lambda line: order.index(line.kind))


def counted(all_lines: Sequence[TraceLine]) -> str:
    """
    Return which traces can be read here, of real systems and of models, and how many others are listed.

    >>> counted([TraceLine("a", "A", "here", "", "", "", begin=1993.5, end=1994.2)])
    '1 trace of a real system (1993–1994), to read, query and download'
    """
    here, elsewhere, made = (
        [line for line in all_lines if line.kind == kind and not line.failure]
        for kind in ("here", "fetch", "synthetic")
    )
    parts = []
    if here:
        systems = "1 trace of a real system" if len(here) == 1 else f"{len(here)} traces of real systems"
        parts.append(f"{systems}{_dated(here)}")
    if made:
        parts.append(f"{len(made)} synthetic {'one' if here else 'trace'}{'s' if len(made) != 1 else ''}")
    sentences = [f"{' and '.join(parts)}, to read, query and download"] if parts else []
    if elsewhere:
        others = f"{len(elsewhere)} {'more' if here else 'of real systems'}{_dated(elsewhere)}"
        sentences.append(f"Listed, with where to get {'it' if len(elsewhere) == 1 else 'them'}: {others}")
    return ". ".join(sentences) or "No trace yet"


def _dated(some: Sequence[TraceLine]) -> str:
    """Return the years of *some* traces in brackets; nothing where none has a date."""
    years = [year for line in some if line.begin is not None for year in line.years.split("–")]
    if not years:
        return ""
    span = "–".join(sorted({min(years), max(years)}))
    return f" ({span})" if all(line.begin is not None for line in some) else f" ({span}, where dated)"


def of_archive(trace: PublishedTrace) -> TraceLine:
    """Return the line of a trace of the archive."""
    entry, (busy, at_least) = trace.entry, trace.busy
    first, last = (_year(trace, name) for name in ("trace.first_submit", "trace.last_end"))
    return TraceLine(
        id=entry.id,
        title=entry.title,
        kind="synthetic" if entry.synthetic else "here",
        page=f"traces/{entry.id}/index.html",
        licence=entry.licence,
        terms=entry.licence,
        cite=entry.citation,
        begin=first,
        end=last,
        jobs=trace.number("trace.jobs"),
        cpus=trace.number("trace.cpus"),
        core_hours=_core_hours(trace),
        busy=busy,
        at_least=at_least and busy is not None,
        strip=str(trace.about.get("strip", "")),
        records=marks(trace),
        source=("computed by gwa from the trace itself",),
        failure=trace.failure,
        about=entry.system,
        label=entry.title,
        lead={**NO_LEAD, **(trace.about.get("lead") or {})},
    )


def _core_hours(trace: PublishedTrace) -> float | None:
    """Return what the report says that jobs held: in its window, else in all, with jobs that still ran."""
    held = trace.number("usage.cpu_seconds")
    if held is None:
        parts = [trace.number(f"trace.{name}") for name in ("cpu_seconds", "running_cpu_seconds")]
        known = [part for part in parts if part is not None]
        held = sum(known) if known else None
    return None if held is None else held / HOUR


def of_public(trace: PublicTrace) -> TraceLine:
    """Return the line of a trace that others publish."""
    facts = trace.facts
    year = None if trace.year is None else str(trace.year)
    begin = _months(facts.begin if facts and facts.begin else year, at_end=False)
    end = _months(facts.end if facts and facts.end else facts.begin if facts else None, at_end=True)
    return TraceLine(
        id=trace.key,
        title=trace.title,
        kind="fetch",
        page=f"public/{trace.key}.html",
        licence=trace.licence,
        terms=trace.terms,
        cite=citation(trace),
        begin=begin,
        end=None if end is None or begin is None or end < begin else end,
        jobs=trace.known_jobs,
        cpus=facts.processors if facts else None,
        core_hours=facts.core_hours if facts else None,
        busy=facts.busy if facts else None,
        strip=(facts.strip or "") if facts else "",
        rounded=tuple(FIGURES.get(name, name) for name in facts.rounded) if facts else (),
        records=tuple((name, None) for name in facts.records) if facts else (),
        command=trace.command,
        source=facts.source if facts else (),
        about=trace.note,
        label=trace.key,
    )


def marks(trace: PublishedTrace) -> list[tuple[str, float | None]]:
    """Return what most jobs of a trace record, each with the share of jobs that do."""
    shares = ((name, trace.shares.get(name_of) or 0.0) for name_of, name in RECORDED_FIELDS.items())
    return [(name, share) for name, share in shares if share >= MAXIMUM_OF_JOBS]


def _year(trace: PublishedTrace, name: str) -> float | None:
    """Return a time of a trace as a year, None for one that only counts from its start."""
    seconds, zone = trace.number(name), trace.about.get("zone")
    if seconds is None or not zone:
        return None
    try:
        moment = datetime.fromtimestamp(seconds, UTC).astimezone(ZoneInfo(str(zone)))
    except (ValueError, OverflowError, OSError):
        return None
    return moment.year + (moment.timetuple().tm_yday - 1) / 366


def _months(text: str | None, *, at_end: bool) -> float | None:
    """Return the begin, or the end, of a month or a year as a year with a fraction."""
    if text is None:
        return None
    year, _, month = text.partition("-")
    if not month:
        return float(int(year) + at_end)
    return int(year) + (int(month) - (not at_end)) / 12
