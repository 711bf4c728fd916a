"""The pages of an archive: what each is given. Templates in ``templates/site`` only place it."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from urllib.parse import urlsplit

import jinja2
from markupsafe import Markup

from gwa.archive.catalogue import Catalogue
from gwa.archive.feeds import as_script, dataset
from gwa.archive.leaderboard import Board
from gwa.archive.markdown_pages import MarkdownPage
from gwa.archive.published import PublishedTrace
from gwa.archive.ranking import MEASURES, Rank, ranking
from gwa.formats.registry import all_formats
from gwa.models.base import models, presets
from gwa.report.formatting import show
from gwa.report.html import exact, printable, prose
from gwa.store.schema import FIELDS
from gwa.util.assets import asset

COMPARED: Final = (
    "trace.jobs", "trace.users", "trace.groups", "trace.sites", "trace.cpus", "trace.span_seconds",
    "trace.cpu_seconds", "utilization.mean", "utilization.max", "arrivals.hour.mean", "arrivals.hour.max",
    "jobs.runtime.median", "jobs.runtime.mean", "jobs.runtime.max", "jobs.procs.mean", "jobs.procs.max",
    "jobs.wait.median", "jobs.wait.p95", "jobs.memory.median", "jobs.memory.max", "slowdown.bounded.median",
    "users.gini_jobs", "users.gini_cpu", "bags.text.count", "bags.text.jobs_in_bags_fraction",
    "bags.text.size.mean",
)  # fmt: skip
"""The facts in which traces are compared side by side."""

RECORDED: Final = {
    "UsedMemory": "memory",
    "WaitTime": "waits",
    "ReqTime": "requested times",
    "Status": "outcomes",
    "UserID": "users",
    "ExecutableID": "programs",
}
"""What the front page tells of a trace's fields, where every job has them."""


LOST: Final = "404"
"""The page that servers show under any address, however deep: its links begin at the top of the server."""


@dataclass(frozen=True)
class Site:
    """
    All that pages are made of.

    *engine* is the version of DuckDB for browsers, None without one; *compared* names the pairs of traces
    that have a page, such as ``one--other``.
    """

    catalogue: Catalogue
    holdings: Sequence[PublishedTrace]
    written: Sequence[MarkdownPage] = ()
    engine: str | None = None
    compared: Sequence[str] = ()
    board: Board | None = None

    @cached_property
    def ranks(self) -> dict[str, list[Rank]]:
        """The ranking by each measure."""
        return {one.id: ranking(one, self.holdings) for one in MEASURES}

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of traces that have a page of their own."""
        return [pair for pair in self.catalogue.pairs if "--".join(pair) in self.compared]

    @cached_property
    def good(self) -> list[PublishedTrace]:
        """The traces with which nothing is wrong."""
        return [one for one in self.holdings if not one.wrong]


def pages(archive: Site) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of every page."""
    jinja = _environment()
    shared = {
        "archive": archive,
        "catalogue": archive.catalogue,
        "nav": [(f"{page.name}.html", page.title) for page in archive.written],
    }
    for name, given in _shared(archive).items():
        root = urlsplit(archive.catalogue.url).path if name == LOST else ""
        yield (
            f"{name}.html",
            jinja.get_template(f"{name}.html").render(root=root, here=name, **shared, **given),
        )
    for page in archive.written:
        yield (
            f"{page.name}.html",
            jinja.get_template("written.html").render(root="", here=page.name, page=page, **shared),
        )
    for one in archive.holdings:
        place = f"traces/{one.entry.id}"
        given = {"root": "../../", "here": "", "one": one, **shared}
        if one.wrong:
            yield f"{place}/index.html", jinja.get_template("broken.html").render(**given)
            continue
        yield f"{place}/index.html", jinja.get_template("trace.html").render(**given, **_trace(archive, one))
        yield (
            f"{place}/console.html",
            jinja.get_template("console.html").render(
                **given, examples=EXAMPLES, fields=[field for field in FIELDS if one.shares.get(field.title)]
            ),
        )


EXAMPLES: Final = (
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
"""Queries to begin with."""


def _shared(archive: Site) -> dict[str, dict[str, Any]]:
    """Return what each page that is made of all traces is given."""
    labels = {name: said for one in archive.good for name, said in one.about["labels"].items()}
    facts = [(name, *labels[name]) for name in COMPARED if name in labels]
    board = {"leaderboard": {"board": archive.board}} if archive.board else {}
    return {
        "index": {"recorded": RECORDED},
        "ranking": {"measures": MEASURES},
        "compare": {"facts": facts},
        "models": {"models": models(), "presets": presets(), "made": _made(archive)},
        "formats": {"formats": all_formats(), "fields": FIELDS},
        "search": {},
        LOST: {},
        **board,
    }


def _made(archive: Site) -> dict[str, list[PublishedTrace]]:
    """Return the traces that each preset made."""
    found: dict[str, list[PublishedTrace]] = {}
    for one in archive.good:
        if one.entry.preset:
            found.setdefault(one.entry.preset, []).append(one)
    return found


def _trace(archive: Site, one: PublishedTrace) -> dict[str, Any]:
    """Return what the page of a trace is given beside the trace."""
    name = one.entry.id
    places = [
        (measure, rank, sum(one.place is not None for one in archive.ranks[measure.id]))
        for measure in MEASURES
        for rank in archive.ranks[measure.id]
        if rank.holding is one
    ]
    pairs = [pair for pair in archive.pairs if name in pair]
    return {
        "places": places,
        "pairs": [("--".join(pair), pair[pair[0] == name]) for pair in pairs],
        "entry_of": archive.catalogue.entry,
        "dataset": Markup(as_script(dataset(archive.catalogue, one))),  # noqa: S704 - cannot end its element
    }


def index_of(archive: Site) -> str:
    """Return the index of the search as a script: address, title and words of every page."""
    entries = []
    for one in archive.holdings:
        entry = one.entry
        told = (
            entry.system,
            entry.provider,
            entry.notes,
            *(text for text, _, _ in one.about.get("findings", ())),
        )
        title = f"{entry.title} (synthetic)" if entry.synthetic else entry.title
        entries.append((f"traces/{entry.id}/index.html", title, f"{entry.id} {' '.join(told)}"))
    entries += [(f"{page.name}.html", page.title, page.text) for page in archive.written]
    if archive.board:
        entries += [("leaderboard.html", "Leaderboard of models", archive.board.legend)]
    entries += [("ranking.html", "Ranking", " ".join(f"{one.title} {one.about}" for one in MEASURES))]
    entries += [
        ("models.html", f"Model: {one.title}", f"{one.name} {one.source} {one.about()}")
        for one in models().values()
    ]
    entries += [("formats.html", f"Format: {one.title}", f"{one.name} {one.notes}") for one in all_formats()]
    short = [(url, title, _words(text)) for url, title, text in entries]
    return f"globalThis.gwaIndex = {json.dumps(short, ensure_ascii=False, separators=(',', ':'))};\n"


def _words(text: str) -> str:
    return re.sub(r"[\s|#*`]+", " ", text)[:2000].strip()


def _environment() -> jinja2.Environment:
    """Return a Jinja environment that escapes everything."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(str(asset("templates", "site"))),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"show": show, "exact": exact, "prose": prose, "size": size}
    return environment


def size(count: int) -> str:
    """
    Return a number of bytes as people say it.

    >>> size(999), size(1_060_864)
    ('999 B', '1.1 MB')
    """
    value = float(count)
    for unit in ("B", "kB", "MB"):
        if value < 1000:  # noqa: PLR2004 - of the unit
            return f"{value:.{0 if unit == 'B' else 1}f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"
