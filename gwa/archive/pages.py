"""The pages of an archive: the variables of each; templates in ``templates/site`` only place them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from urllib.parse import urlsplit

import jinja2
from markupsafe import Markup

from gwa.archive.catalogue import Catalogue, CatalogueChange, CatalogueEntry
from gwa.archive.deposit import missing
from gwa.archive.explore import DATED, FILE, QUERIES, QUESTIONS, tables
from gwa.archive.feeds import as_script, columns_of, dataset
from gwa.archive.leaderboard import Board
from gwa.archive.markdown_pages import MarkdownPage
from gwa.archive.overview import PURPOSES, TraceLine, counted, lines, of_archive, of_public
from gwa.archive.public_traces import PublicTrace, bibliography, public_traces
from gwa.archive.published import PublishedTrace
from gwa.archive.ranking import MEASURES, Rank, ranking, reasons, share
from gwa.archive.strips import HEIGHT, WIDTH, outline
from gwa.archive.trace_map import trace_maps
from gwa.formats.registry import all_formats
from gwa.models.base import models, presets
from gwa.models.files import indented
from gwa.report.html import exact, printable, prose
from gwa.store.schema import FIELDS, Field
from gwa.util.assets import asset
from gwa.util.units import HOUR
from gwa.words.formatting import brief, compact, show, significant
from gwa.words.unit import Unit

COMPARED: Final = (
    "trace.jobs", "trace.users", "trace.groups", "trace.sites", "trace.cpus", "trace.span_seconds",
    "trace.cpu_seconds", "utilization.mean", "utilization.max", "arrivals.hour.mean", "arrivals.hour.max",
    "jobs.runtime.median", "jobs.runtime.mean", "jobs.runtime.max", "jobs.procs.mean", "jobs.procs.max",
    "jobs.wait.median", "jobs.wait.p95", "jobs.memory.median", "jobs.memory.max", "slowdown.bounded.median",
    "users.gini_jobs", "users.gini_cpu", "bags.text.count", "bags.text.jobs_in_bags_fraction",
    "bags.text.size.mean",
)  # fmt: skip
"""The facts that the page for comparing traces shows."""

SAME: Final = "the same"
"""What is written for values that are not apart."""

FURTHEST: Final = 3
"""Facts that the page for comparing names first: those whose values are furthest apart."""

LATEST: Final = 5
"""Changes that the front page lists."""

PUBLIC: Final = "public"
"""The folder with the pages of traces that ``gwa fetch`` knows."""

MILLION_HOURS: Final = 1e6 * HOUR
"""CPU time from which on a comparison needs no single hours."""

PLAIN: Final = {"", "count", "per day", "per hour"}
"""The units of numbers that are written without one."""

SENTENCE_END: Final = re.compile(r"(?<=[^A-Z][a-z\d%)]\.) (?=[^a-z])")
"""Where a sentence ends: not after an initial, nor after a short form such as St."""

BEFORE_UNIT: Final = re.compile(r"(?<=\d) (?=%|(?:s|min|h)\b)|(?<=\d h) (?=\d+ min)|(?<=\d min) (?=\d+ s\b)")
"""The space between a number and its unit, and between both units of a duration."""

KINDS: Final = (
    ("here", "Real, here"),
    ("fetch", "Real, one command away"),
    ("synthetic", "Synthetic: a model made them, and no system ran their jobs"),
)
"""The kinds of traces, in the order of the front page, and what it calls them."""

NOT_FOUND: Final = "404"
"""The page that servers show under any address, so its links start at the root of the server."""


@dataclass(frozen=True)
class Site:
    """
    What the pages are made of.

    *engine* is the version of DuckDB for browsers, None without one; *compared* names the pairs of traces
    that have a page, such as ``one--other``. *cells_bytes* is the size of the file that Explore asks, 0
    without one.
    """

    catalogue: Catalogue
    traces: Sequence[PublishedTrace]
    written: Sequence[MarkdownPage] = ()
    engine: str | None = None
    compared: Sequence[str] = ()
    board: Board | None = None
    cells_bytes: int = 0

    @cached_property
    def ranks(self) -> dict[str, list[Rank]]:
        """The ranking by each measure."""
        return {measure.id: ranking(measure, self.traces) for measure in MEASURES}

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of traces that have a page of their own."""
        return [pair for pair in self.catalogue.pairs if "--".join(pair) in self.compared]

    @cached_property
    def lines(self) -> list[TraceLine]:
        """All traces that the archive tells of: its own, and the public ones."""
        return lines(self.traces, self.public, self.catalogue.featured)

    @cached_property
    def public(self) -> list[PublicTrace]:
        """The traces that ``gwa fetch`` knows, if the archive has pages of them."""
        return list(public_traces().values()) if self.catalogue.public else []

    @cached_property
    def available(self) -> list[PublishedTrace]:
        """The traces without a failure."""
        return [trace for trace in self.traces if not trace.failure]


@dataclass(frozen=True)
class ComparedFact:
    """A fact of all traces: of each the value, and its share of the largest in percent, if it has one."""

    id: str
    label: str
    unit: Unit
    values: list[tuple[PublishedTrace, float | None, float | None]]

    @property
    def known(self) -> list[float]:
        """The values of the traces that have one."""
        return [value for _, value, _ in self.values if value is not None]

    @property
    def apart(self) -> str:
        """How far the values are apart."""
        words = apart(self.known, self.unit)
        return f"{words} where known" if words == SAME and len(self.known) < len(self.values) else words

    @property
    def ratio(self) -> float:
        """How many times the smallest value the largest is, 0 where its words are others."""
        return max(self.known) / min(self.known) if self.apart.startswith("×") else 0.0


def pages(site: Site) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of every page."""
    jinja = _environment()
    shared = {
        "site": site,
        "catalogue": site.catalogue,
        "nav": [(f"{page.name}.html", page.title) for page in site.written],
    }
    for name, variables in _page_variables(site).items():
        root = urlsplit(site.catalogue.url).path if name == NOT_FOUND else ""
        template = jinja.get_template(f"{name}.html")
        yield f"{name}.html", template.render(root=root, here=name, **shared, **variables)
    template = jinja.get_template("written.html")
    for page in site.written:
        yield f"{page.name}.html", template.render(root="", here=page.name, page=page, **shared)
    template = jinja.get_template("public_trace.html")
    for public in site.public:
        variables = {"trace": public, "line": of_public(public), "bibtex": bibliography(public)}
        text = template.render(root="../", here="", strip=(WIDTH, HEIGHT), **variables, **shared)
        yield f"{PUBLIC}/{public.key}.html", text
    yield from _trace_pages(site, jinja, shared)


def _trace_pages(
    site: Site, jinja: jinja2.Environment, shared: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Yield the pages of each trace of the archive."""
    for trace in site.traces:
        place = f"traces/{trace.entry.id}"
        variables = {"root": "../../", "here": "", "trace": trace, **shared}
        if trace.failure:
            yield f"{place}/index.html", jinja.get_template("broken.html").render(**variables)
            continue
        template = jinja.get_template("trace.html")
        yield f"{place}/index.html", template.render(**variables, **_trace_variables(site, trace))
        fields = [field for field in FIELDS if trace.shares.get(field.title)]
        columns = [field.name for field in columns_of(trace)]
        asked = {
            "examples": list(QUERIES["console"].items()),
            "fields": fields,
            "tables": _tables(fields),
            "columns": columns,
        }
        yield f"{place}/console.html", jinja.get_template("console.html").render(**variables, **asked)


def _tables(fields: Sequence[Field]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the tables that a query can use: columns of each, and what they mean."""
    jobs = [(field.name, field.meaning + (f", {field.unit}" if field.unit else "")) for field in fields]
    header = [("key", "what a line of the header is called"), ("value", "what it says")]
    return [("jobs", jobs), ("header", header)]


def _page_variables(site: Site) -> dict[str, dict[str, Any]]:
    """Return the variables of each page on all traces, by the name of the page."""
    labels = {name: label for trace in site.available for name, label in trace.about["labels"].items()}
    facts = [_compared(site.available, name, *labels[name]) for name in COMPARED if name in labels]
    facts = [fact for fact in facts if any(value is not None for _, value, _ in fact.values)]
    can_ask = site.engine and site.cells_bytes
    has_dates = any(line.begin is not None for line in site.lines if line.kind != "fetch")
    asked = [(title, query) for title, query in QUESTIONS if has_dates or DATED not in query]
    cells = {"file": FILE, "bytes": site.cells_bytes} if site.cells_bytes else None
    board = {"leaderboard": {"board": site.board}} if site.board else {}
    return {
        "index": {
            "groups": [(title, [line for line in site.lines if line.kind == kind]) for kind, title in KINDS],
            "counted": counted(site.lines),
            "purposes": PURPOSES,
            "maps": trace_maps(site.lines),
            "strip": (WIDTH, HEIGHT),
            "questions": asked if can_ask else [],
            "latest": _latest(site),
        },
        "ranking": {"measures": MEASURES, "share": share, "reasons": reasons},
        "compare": {"facts": facts, "furthest": furthest(facts)},
        "models": {"models": models(), "presets": presets(), "made": _made(site)},
        "formats": {"formats": all_formats(), "fields": FIELDS},
        "explore": {"questions": asked, "tables": tables(), "cells": cells},
        "search": {},
        NOT_FOUND: {},
        **board,
        **({PUBLIC: {}} if site.public else {}),
    }


def _compared(traces: Sequence[PublishedTrace], name: str, label: str, unit: Unit) -> ComparedFact:
    numbers = [trace.number(name) for trace in traces]
    most = max((number for number in numbers if number is not None), default=0.0)
    shares = [
        None if number is None or most <= 0 else round(max(number, 0.0) / most * 100, 2) for number in numbers
    ]
    return ComparedFact(name, label, unit, list(zip(traces, numbers, shares, strict=True)))


def apart(values: Sequence[float], unit: Unit) -> str:
    """
    Return how far values are apart, as the page's script writes it for the traces that were ticked.

    >>> apart([3, 51, 3], "count"), apart([0.135, 0.708], "fraction"), apart([0, 24], "count")
    ('×17', '57.3 points', 'from 0')
    >>> apart([3, 3], "count"), apart([3.001, 3], ""), apart([3], "count")
    ('the same', 'nearly the same', '')
    """
    if len(values) < 2:  # noqa: PLR2004 - one is not apart
        return ""
    low, high = min(values), max(values)
    if low == high:
        return SAME
    if unit == "fraction":
        points = f"{(high - low) * 100:.1f}".removesuffix(".0")
        return "nearly the same" if points == "0" else f"{points} points"
    if low <= 0:
        return "from 0"
    times = significant(high / low, 3)
    return "nearly the same" if times == "1" else f"×{times}"


def furthest(facts: Sequence[ComparedFact]) -> list[ComparedFact]:
    """Return the facts whose values are furthest apart, as far as these have a ratio."""
    return sorted((fact for fact in facts if fact.ratio), key=lambda fact: -fact.ratio)[:FURTHEST]


def _latest(site: Site) -> list[tuple[CatalogueChange, list[CatalogueEntry]]]:
    """Return the newest changes, the newest first, each with the traces that it was made in."""
    made: dict[CatalogueChange, list[CatalogueEntry]] = {}
    for trace in site.available:
        for change in trace.entry.changes[:1]:
            made.setdefault(change, []).append(trace.entry)
    return sorted(made.items(), key=lambda pair: pair[0].date, reverse=True)[:LATEST]


def _made(archive: Site) -> dict[str, list[PublishedTrace]]:
    """Return the traces that each preset made."""
    found: dict[str, list[PublishedTrace]] = {}
    for trace in archive.available:
        if trace.entry.preset:
            found.setdefault(trace.entry.preset, []).append(trace)
    return found


def _trace_variables(site: Site, trace: PublishedTrace) -> dict[str, Any]:
    """Return the further variables of the page of a trace."""
    name = trace.entry.id
    standings = [
        (measure, rank, sum(each.place is not None for each in site.ranks[measure.id]))
        for measure in MEASURES
        for rank in site.ranks[measure.id]
        if rank.trace is trace
    ]
    pairs = [pair for pair in site.pairs if name in pair]
    return {
        "places": standings,
        "pairs": [("--".join(pair), pair[pair[0] == name]) for pair in pairs],
        "entry_of": site.catalogue.entry,
        "line": of_archive(trace),
        "missing": missing(trace.entry, site.catalogue.url),
        "dataset": Markup(as_script(dataset(site.catalogue, trace))),  # noqa: S704 - cannot end its element
    }


def _environment() -> jinja2.Environment:
    """Return a Jinja environment that escapes everything."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(str(asset("templates", "site"))),
        autoescape=True,
        auto_reload=False,
        undefined=jinja2.StrictUndefined,
        finalize=printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (show, exact, prose, size, outline, slug, rounded, tied, halves, indented)
    environment.filters |= {function.__name__: function for function in filters}
    return environment


def rounded(value: float, unit: Unit) -> str:
    """
    Return a value with no more digits than a comparison needs: two after a point, three of a large number.

    >>> rounded(0.61234, ""), rounded(1234567.8, "per hour"), rounded(12.3456, ""), rounded(312826, "count")
    ('0.61', '1,234,568', '12.3', '312,826')
    >>> rounded(1_283_962_819_886, "cpu seconds"), rounded(3_600, "cpu seconds")
    ('356.7 M h', '1 h')
    """
    if unit == "cpu seconds" and abs(value) >= MILLION_HOURS:
        return f"{compact(value / HOUR, 'count')} h"
    if unit in PLAIN and not float(value).is_integer():
        return f"{value:,.{0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2}f}"  # noqa: PLR2004 - digits
    return brief(value, unit)


def tied(text: str) -> str:
    """
    Return a text in which no line ends between a number and its unit.

    >>> tied("5 % of 30 jobs") == "5\N{NO-BREAK SPACE}% of 30 jobs"
    True
    """
    return BEFORE_UNIT.sub("\N{NO-BREAK SPACE}", text)


def halves(text: str) -> tuple[str, str]:
    """
    Return the first sentence of a text, and all others.

    >>> halves("Of 8 processors, 2.5 were busy in 3 s. St. Ives had 4. None")
    ('Of 8 processors, 2.5 were busy in 3 s.', 'St. Ives had 4. None')
    """
    first, *others = SENTENCE_END.split(text, maxsplit=1)
    return first, "".join(others)


def slug(title: str) -> str:
    """
    Return a title as a place in an address.

    >>> slug("Core-hours by outcome")
    'core-hours-by-outcome'
    """
    return "-".join(re.findall("[a-z0-9]+", title.lower()))


def size(count: int) -> str:
    """
    Return a number of bytes with a unit.

    >>> size(999), size(1_060_864)
    ('999 B', '1.1 MB')
    """
    value = float(count)
    for unit in ("B", "kB", "MB"):
        if value < 1000:  # noqa: PLR2004 - of the unit
            return f"{value:.{0 if unit == 'B' else 1}f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"
