"""The pages of an archive: the variables of each; templates in ``templates/site`` only place them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from urllib.parse import urlsplit

import jinja2
from markupsafe import Markup

from gwa.archive.catalogue import Catalogue, CatalogueChange, CatalogueEntry
from gwa.archive.feeds import as_script, dataset
from gwa.archive.leaderboard import Board
from gwa.archive.markdown_pages import MarkdownPage
from gwa.archive.public_traces import PublicTrace, bibliography, public_traces
from gwa.archive.published import PublishedTrace
from gwa.archive.ranking import MEASURES, Rank, ranking
from gwa.archive.trace_map import trace_map
from gwa.formats.registry import all_formats
from gwa.models.base import models, presets
from gwa.report.html import exact, printable, prose
from gwa.store.schema import FIELDS, Field
from gwa.util.assets import asset
from gwa.words.formatting import show

COMPARED: Final = (
    "trace.jobs", "trace.users", "trace.groups", "trace.sites", "trace.cpus", "trace.span_seconds",
    "trace.cpu_seconds", "utilization.mean", "utilization.max", "arrivals.hour.mean", "arrivals.hour.max",
    "jobs.runtime.median", "jobs.runtime.mean", "jobs.runtime.max", "jobs.procs.mean", "jobs.procs.max",
    "jobs.wait.median", "jobs.wait.p95", "jobs.memory.median", "jobs.memory.max", "slowdown.bounded.median",
    "users.gini_jobs", "users.gini_cpu", "bags.text.count", "bags.text.jobs_in_bags_fraction",
    "bags.text.size.mean",
)  # fmt: skip
"""The facts that the page for comparing traces shows."""

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

MOST_JOBS: Final = 0.5

FEATURED: Final = 3
"""Traces that the front page shows with a picture, unless the catalogue says which."""

LATEST: Final = 5
"""Changes that the front page lists."""

PUBLIC: Final = "public"
"""The folder with the pages of traces that ``gwa fetch`` knows."""

NOT_FOUND: Final = "404"
"""The page that servers show under any address, so its links start at the root of the server."""


@dataclass(frozen=True)
class Site:
    """
    What the pages are made of.

    *engine* is the version of DuckDB for browsers, None without one; *compared* names the pairs of traces
    that have a page, such as ``one--other``.
    """

    catalogue: Catalogue
    traces: Sequence[PublishedTrace]
    written: Sequence[MarkdownPage] = ()
    engine: str | None = None
    compared: Sequence[str] = ()
    board: Board | None = None

    @cached_property
    def ranks(self) -> dict[str, list[Rank]]:
        """The ranking by each measure."""
        return {measure.id: ranking(measure, self.traces) for measure in MEASURES}

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of traces that have a page of their own."""
        return [pair for pair in self.catalogue.pairs if "--".join(pair) in self.compared]

    @cached_property
    def public(self) -> list[PublicTrace]:
        """The traces that ``gwa fetch`` knows, if the archive has pages of them."""
        return list(public_traces().values()) if self.catalogue.public else []

    @cached_property
    def available(self) -> list[PublishedTrace]:
        """The traces without a failure."""
        return [trace for trace in self.traces if not trace.failure]


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
        yield (
            f"{name}.html",
            jinja.get_template(f"{name}.html").render(root=root, here=name, **shared, **variables),
        )
    for page in site.written:
        yield (
            f"{page.name}.html",
            jinja.get_template("written.html").render(root="", here=page.name, page=page, **shared),
        )
    template = jinja.get_template("public_trace.html")
    for public in site.public:
        text = template.render(root="../", here="", trace=public, bibtex=bibliography(public), **shared)
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
        console = jinja.get_template("console.html")
        yield (
            f"{place}/console.html",
            console.render(**variables, examples=EXAMPLE_QUERIES, fields=fields, tables=_tables(fields)),
        )


EXAMPLE_QUERIES: Final = (
    ("Users", "select user_id, count(*) as jobs from jobs group by user_id order by jobs desc limit 10"),
    (
        "Jobs by hour",
        "select floor(submit_time / 3600) % 24 as hour, count(*) as jobs from jobs group by all order by 1",
    ),
    (
        "Run times",
        "select floor(log2(run_time + 1)) as power, count(*) as jobs from jobs group by all order by 1",
    ),
    ("Where it comes from", "select key, value from header order by position"),
)
"""Queries offered in the console."""


def _tables(fields: Sequence[Field]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the tables that a query can use: columns of each, and what they mean."""
    jobs = [(field.name, field.meaning + (f", {field.unit}" if field.unit else "")) for field in fields]
    header = [("key", "what a line of the header is called"), ("value", "what it says")]
    return [("jobs", jobs), ("header", header)]


def _page_variables(site: Site) -> dict[str, dict[str, Any]]:
    """Return the variables of each page on all traces, by the name of the page."""
    labels = {name: label for trace in site.available for name, label in trace.about["labels"].items()}
    facts = [(name, *labels[name]) for name in COMPARED if name in labels]
    board = {"leaderboard": {"board": site.board}} if site.board else {}
    return {
        "index": {
            "recorded": RECORDED_FIELDS,
            "marks": {trace.entry.id: _marks(trace) for trace in site.available},
            "map": trace_map(site.available),
            "featured": _featured(site),
            "latest": _latest(site),
        },
        "ranking": {"measures": MEASURES},
        "compare": {"facts": facts},
        "models": {"models": models(), "presets": presets(), "made": _made(site)},
        "formats": {"formats": all_formats(), "fields": FIELDS},
        "search": {},
        NOT_FOUND: {},
        **board,
        **({PUBLIC: {}} if site.public else {}),
    }


def _marks(trace: PublishedTrace) -> list[tuple[str, float]]:
    """Return what most jobs of a trace record, each with the share of jobs that do."""
    shares = ((name, trace.shares.get(field) or 0.0) for field, name in RECORDED_FIELDS.items())
    return [(name, share) for name, share in shares if share >= MOST_JOBS]


def _featured(site: Site) -> list[PublishedTrace]:
    """Return the traces that the catalogue features, or its first ones; with a picture."""
    shown = {trace.entry.id: trace for trace in site.available if trace.about.get("answers")}
    wanted = site.catalogue.featured or tuple(shown)[:FEATURED]
    return [shown[name] for name in wanted if name in shown]


def _latest(site: Site) -> list[tuple[CatalogueEntry, CatalogueChange]]:
    """Return the newest change of each trace, the newest first."""
    newest = [(trace.entry, trace.entry.changes[0]) for trace in site.available if trace.entry.changes]
    return sorted(newest, key=lambda pair: pair[1].date, reverse=True)[:LATEST]


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
    environment.filters |= {"show": show, "exact": exact, "prose": prose, "size": size}
    return environment


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
