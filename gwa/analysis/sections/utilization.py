"""How busy the system was."""

from collections.abc import Iterator

from gwa.analysis.base import Chapter, analysis
from gwa.metrics.timeline import Level, level
from gwa.report.document import Block, Fact, Facts, Note
from gwa.report.figures.series import series
from gwa.store.store import Store

BIN = 600.0
"""Ten minutes: the archive's interval for utilisation."""


@analysis("Utilisation", Chapter.USAGE, facts=("utilization",), needs=("run_time", "n_procs", "submit_time"))
def utilization(store: Store) -> Iterator[Block]:
    """
    Busy processors as a fraction of all, in intervals of ten minutes from the first submission.

    The mean is the CPU seconds of jobs that ran, divided by processors times span. Minimum, maximum
    and the mean over intervals that were not idle are of the ten-minute averages, which are exact:
    a job counts for the part of an interval in which it ran.
    """
    first = store.row("select min(submit_time) from jobs")[0]
    last, seconds = store.row("select max(end_time), cast(sum(cpu_seconds) as double) from ran")
    cpus = store.system.cpus
    if first is None or last is None or last <= first or not cpus:
        yield Note("Utilisation needs a first submission, a later end and a number of processors.")
        return
    busy = level(store, "n_procs", ("start_time", "end_time"), "ran", width=BIN, period=(first, last))
    yield Facts(
        (
            Fact("utilization.mean", seconds / (cpus * (last - first)), "Mean utilisation", "fraction"),
            Fact("utilization.min", float(busy.values.min()) / cpus, "Least utilisation", "fraction"),
            Fact("utilization.max", float(busy.values.max()) / cpus, "Greatest utilisation", "fraction"),
            Fact(
                "utilization.mean_nonzero",
                busy.mean_nonzero() / cpus,
                "Mean utilisation, where not idle",
                "fraction",
            ),
        )
    )
    if busy.values.max() > cpus:
        yield Note(
            "At times more processors were busy than the system is said to have: the number of processors or"
            " some times in the log are wrong, or processors were shared.",
            "warning",
        )
    yield _figure(store, busy, cpus)


def _figure(store: Store, busy: Level, cpus: int) -> Block:
    times, mean, low, high = busy.points()
    return series(
        "utilization",
        "Busy processors",
        times,
        {"busy": (mean, low, high)},
        "Processors",
        f"Busy processors of {cpus}: {busy.mean():.0f} on average, at most {busy.values.max():.0f}.",
        unit="count",
        zone=None if store.system.relative else store.system.timezone.key,
        reference=(cpus, "all processors"),
        note="The line is the mean, the band goes from the least to the greatest ten-minute average.",
    )
