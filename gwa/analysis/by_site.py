"""The clusters of a log on one page: what each of them did, and links to the reports on each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gwa.analysis.build import reproduction
from gwa.analysis.credits import credits_of
from gwa.report.document import Block, Fact, FactTable, Report, Section, note_of
from gwa.report.facts import busy_share
from gwa.store.schema import SITE
from gwa.store.store import Store
from gwa.words.formatting import show
from gwa.words.message import Verbatim, message
from gwa.words.quantities import quantity

SHOWN: Final[Mapping[str, str]] = {
    "trace.jobs": "jobs",
    "trace.users": "users",
    "trace.cpu_seconds": "cpu_seconds",
    "gpu.hours": "gpu_seconds",
    "utilization.mean": "utilization",
    "jobs.wait.median": "wait_median",
    "jobs.wait.p95": "wait_p95",
    "outcomes.core_hours.failed": "failed_core_hours",
}
"""The facts that are shown of each cluster, and what each is of; of all of them, those that any has."""

NOTE: Final = message(
    "Jobs, CPU time and GPU-hours of the clusters add up to those of all. Utilization is of the processors"
    " that the description of the system states of a cluster, outside gaps of the log; without it, it is"
    " unknown."
)


@dataclass(frozen=True)
class SitePage:
    """The *facts* of the report on a cluster, or on all, called *name*, and the *address* of its page."""

    name: str
    facts: Mapping[str, Fact]
    address: str


def site_names(store: Store) -> list[str]:
    """Return the names of the clusters, that with the most jobs first."""
    counted = f"select {SITE} as site, count(*) as jobs from jobs where {SITE} is not null group by {SITE}"  # noqa: S608 - our own SQL
    return [str(site) for site, _ in store.rows(f"{counted} order by jobs desc, site")]


def by_site(store: Store, name: str, pages: Sequence[SitePage]) -> Report:
    """Return the page of the clusters of *store*: *pages* are those of all its jobs, and of each cluster."""
    known = [fact for fact in SHOWN if any(fact in page.facts for page in pages)]
    rows = tuple((Verbatim(page.name), tuple(_fact(page, fact) for fact in known)) for page in pages)
    (unnamed,) = store.row(f"select count(*) from jobs where {SITE} is null")  # noqa: S608 - our own SQL
    table = FactTable(
        "sites", "Clusters", tuple(quantity(SHOWN[fact]).heading for fact in known),
        ((message("All"), rows[0][1]), *rows[1:]), NOTE, links=tuple(page.address for page in pages),
    )  # fmt: skip
    blocks: tuple[Block, ...] = (table,)
    if unnamed:
        blocks += (
            note_of("{n} jobs name no cluster: they count in the first row only.", n=show(unnamed, "count")),
        )
    section = Section("sites", message("Cluster by cluster"), "", blocks, is_on_top=True)
    return Report(
        Verbatim(name),
        "",
        (section,),
        None if store.system.relative else store.system.timezone.key,
        reproduction(store),
        overline=message("Cluster by cluster"),
        credits=credits_of(store.header),
    )


def _fact(page: SitePage, id_: str) -> Fact:
    """Return a fact of a page by an id of its own; unknown where the page has none."""
    found = busy_share(page.facts) if id_ == "utilization.mean" else page.facts.get(id_)
    fact = found or Fact(id_, None, quantity(SHOWN[id_]).heading, "", text="–")
    return replace(fact, id=f"site.{page.name}.{id_}")
