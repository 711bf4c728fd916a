"""Build the report on a trace of requests to language models."""

from collections.abc import Collection

from gwa.analysis.build import reproduction
from gwa.analysis.credits import credits_of
from gwa.report.document import Fact, Report
from gwa.requests.base import request_analyses
from gwa.requests.measured import SubmissionSpan
from gwa.store.store import Store
from gwa.util.progress import SILENT, Progress
from gwa.words.formatting import date_range
from gwa.words.message import Verbatim, message

OVERLINE = message("Report on requests to language models")


def build_requests(
    store: Store,
    name: str,
    *,
    only: Collection[str] | None = None,
    strict: bool = False,
    progress: Progress = SILENT,
) -> Report:
    """
    Return the report on the trace called *name*; *only* names the sections wanted.

    A section that cannot be made says so in its place, unless *strict*: then the error is raised.
    """
    wanted = [one for one in request_analyses() if (one.is_wanted(store) if only is None else one.id in only)]
    sections = []
    with progress.step("analysing", len(wanted)) as bar:
        for one in wanted:
            sections.append(one.section(store) if strict else one.attempt(store))
            bar.advance()
    zone = None if store.system.relative else store.system.timezone.key
    extent = SubmissionSpan.of(store)
    return Report(
        Verbatim(store.system.name or name),
        Verbatim(name if store.system.name else ""),
        tuple(sections),
        zone,
        reproduction(store),
        overline=OVERLINE,
        credits=credits_of(store.header),
        period="" if store.system.relative else date_range(extent.first, extent.last, zone),
    )


def request_facts(store: Store, prefix: str = "", *, every: bool = False) -> tuple[Fact, ...]:
    """
    Return the facts whose ids begin with *prefix*; only the sections that they stand in are computed.

    Without a prefix those of fits are left out, unless *every* fact is wanted.
    """
    wanted = (
        one
        for one in request_analyses()
        if one.has_facts(prefix, every=every) and (one.when is None or one.when(store))
    )
    sections = tuple(one.section(store, is_drawn=False) for one in wanted)
    return tuple(fact for fact in Report("", "", sections).facts() if fact.id.startswith(prefix))
