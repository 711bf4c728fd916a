"""When jobs arrive."""

from collections.abc import Iterator

import numpy as np

from gwa.analysis import Chapter, analysis
from gwa.blocks import Block, Fact, Facts
from gwa.figures import series
from gwa.statistics.sample import Sample
from gwa.store import Store
from gwa.summary import spread
from gwa.timeline import QUARTER, Calendar, Counts, Floats, counts

HOUR = 3600.0


@analysis("Arrivals", Chapter.USAGE, needs=("submit_time",), order=1)
def arrivals(store: Store) -> Iterator[Block]:
    """
    Jobs that arrive in an hour, from the hour of the first to the hour of the last submission.

    Hours are those of the clock in UTC; days, weeks (from Monday) and months are those of the calendar
    in the trace's own time zone. Empty intervals count, except where it says otherwise.
    """
    hours = counts(store, "submit_time", HOUR)
    yield Facts(spread("arrivals.hour", hours.sample(), "count", "jobs in an hour"), "Jobs in an hour")
    quarters = counts(store, "submit_time", QUARTER)
    first, last = store.row("select min(submit_time), max(submit_time) from jobs")
    days = Calendar.of(first, last, store.system.timezone, relative=store.system.relative)
    for name, (edges, labels) in {
        "day": (days.edges, days.labels), "week": days.weeks(), "month": days.months(),
    }.items():  # fmt: skip
        yield _busiest(name, quarters, edges, labels)
    yield _figure(store, quarters, days)


def _busiest(name: str, quarters: Counts, edges: Floats, labels: tuple[str, ...]) -> Facts:
    """Return the busiest interval and how its like are spread."""
    arrived = quarters.per(edges)
    top = int(np.argmax(arrived))
    busiest = Fact(
        f"arrivals.busiest_{name}", {"period": labels[top], "jobs": int(arrived[top])}, f"Busiest {name}"
    )
    return Facts(
        (busiest, *spread(f"arrivals.{name}", Sample.of(arrived), "count", f"jobs in a {name}")),
        f"Jobs in a {name}",
    )


def _figure(store: Store, quarters: Counts, days: Calendar) -> Block:
    arrived = quarters.per(days.edges)
    top = int(np.argmax(arrived))
    return series(
        "arrivals",
        "Jobs submitted in a day",
        days.edges[:-1],
        {"jobs": arrived.astype(np.float64)},
        "Jobs in a day",
        f"Jobs submitted in each of {len(arrived)} days: {arrived.mean():.0f} on average, most on"
        f" {days.labels[top]} with {arrived[top]}.",
        unit="count",
        zone=None if store.system.relative else store.system.timezone.key,
    )
