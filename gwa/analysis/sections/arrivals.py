"""When jobs arrive."""

from collections.abc import Iterator

import numpy as np

from gwa.analysis.base import Chapter, analysis
from gwa.metrics.calendar import Calendar, Names, article
from gwa.metrics.clock import by_clock, clock
from gwa.metrics.timeline import QUARTER, Counts, Floats, counts
from gwa.metrics.window import window
from gwa.report.document import Block, Fact, Facts
from gwa.report.facts import spread, table
from gwa.report.figures.series import series
from gwa.statistics.sample import Sample
from gwa.store.store import Store
from gwa.util.units import HOUR
from gwa.words.compared import single_largest
from gwa.words.formatting import decimal, show
from gwa.words.formatting import number as number_text
from gwa.words.message import message, plural
from gwa.words.unit import Value


@analysis("Arrivals", Chapter.ARRIVALS, facts=("arrivals",), needs=("submit_time",))
def arrivals(store: Store) -> Iterator[Block]:
    """
    Jobs that arrive in an hour, from the hour of the first to the hour of the last submission.

    Hours, days, weeks (from Monday) and months are those of the clock and the calendar in the trace's own
    time zone, clock changes included. Empty intervals count, except where it says otherwise.
    The figure is of days, or of hours where the days are few; it is grey outside the window of observation.
    """
    quarters = counts(store, "submit_time", QUARTER)
    hours = by_clock(quarters, float(HOUR), clock(store)).counts
    first, last = store.row("select min(submit_time), max(submit_time) from jobs")
    days = Calendar.of(first, last, store.system.timezone, relative=store.system.relative)
    periods = {"day": days.days(), "week": days.weeks(), "month": days.months()}
    yield Facts(tuple(_busiest(name, quarters, *period) for name, period in periods.items()))
    rows: dict[str, tuple[Fact, ...]] = {
        message("in an hour"): spread("arrivals.hour", hours.sample(), "count", message("jobs in an hour"))
    }
    for name, (edges, _) in periods.items():
        arrived = Sample.of(quarters.per(edges))
        rows[message("in a {name}", name=name)] = spread(
            f"arrivals.{name}", arrived, "count", message("jobs in a {name}", name=name)
        )
    yield table("arrivals-intervals", message("Jobs submitted"), rows)
    yield _figure(store, quarters, *days.shown(first, last))


def _busiest(name: str, quarters: Counts, edges: Floats, labels: Names) -> Fact:
    """Return the busiest interval of a kind."""
    arrived = quarters.per(edges)
    busiest = int(np.argmax(arrived))
    value: Value = {"period": labels[busiest], "jobs": int(arrived[busiest])}
    others = int((arrived == arrived[busiest]).sum()) - 1
    return Fact(
        f"arrivals.busiest_{name}",
        value,
        message("Busiest {name}", name=name),
        text=message(
            "{labels}: {arrived}",
            labels=message("{first} and {n} more", first=labels[busiest], n=others)
            if others
            else labels[busiest],
            arrived=plural("{n} job", "{n} jobs", int(arrived[busiest])),
        ),
    )


def _figure(store: Store, quarters: Counts, name: str, edges: Floats) -> Block:
    """Return the figure of the jobs in each interval of a *name*, such as day, between *edges*."""
    arrived = quarters.per(edges)
    busiest = single_largest(range(len(arrived)), lambda place: int(arrived[place]))
    zone = None if store.system.relative else store.system.timezone.key
    return series(
        "arrivals",
        message("Jobs submitted in {name}", name=article(name)),
        edges[:-1],
        {"jobs": arrived.astype(np.float64)},
        message("Jobs in {name}", name=article(name)),
        message(
            "Jobs submitted in each {name} of {arrived}: {mean} on average, at most {most}{when}.",
            name=name,
            arrived=number_text(len(arrived)),
            mean=show(float(arrived.mean())),
            most=decimal(arrived.max(), ","),
            when=""
            if busiest is None
            else message(" (from {edges} on)", edges=show(float(edges[busiest]), "timestamp", zone)),
        ),
        unit="count",
        zone=zone,
        window=window(store).known,
    )
