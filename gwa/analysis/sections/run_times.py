"""How long jobs run."""

from collections.abc import Iterator
from functools import partial

from gwa.analysis.base import Chapter, Drawing, analysis
from gwa.report.document import Block, Fact, Facts, Note, note_of
from gwa.report.facts import summary
from gwa.report.figures.cdf import cdf
from gwa.statistics.sample import Sample
from gwa.store.store import Store
from gwa.util.units import HOUR, MINUTE
from gwa.words.formatting import fraction, seconds
from gwa.words.message import message

LIMIT_SHARE = 0.005
"""From this share of jobs on, the greatest run time looks like a limit of the system or the log."""

MINIMUM_WHOLE = 0.99
"""Where this share of run times are whole multiples of a unit, they are recorded to that."""


@analysis("Run times", Chapter.SIZES, facts=("jobs.runtime",), needs=("run_time",), order=1)
def run_times(store: Store) -> Iterator[Block | Drawing]:
    """Wall-clock time from start to end of the jobs that ran."""
    times = store.sample("run_time", "ran")
    if not times.n:
        yield Note("No job ran.")
        return
    yield Facts(summary("jobs.runtime", times, "seconds", message("run time")))
    yield Facts(_short_facts(times))
    yield from _limit_note(times)
    yield Drawing(partial(_figure, store, times))


def _figure(store: Store, times: Sample) -> Block:
    kinds = {"sequential": "= 1", "parallel": "> 1"}
    parts = {k: store.sample("run_time", f"(from ran where n_procs {size})") for k, size in kinds.items()}
    curves = {"all": times, **parts} if all(part.n for part in parts.values()) else {"jobs": times}
    return cdf(
        "run-times",
        "Run time of a job",
        {name: sample.ecdf() for name, sample in curves.items()},
        "Run time",
        message(
            "Cumulative fraction of jobs by run time: half run at most {median}, 95 % at most {quantile}.",
            median=seconds(times.median()),
            quantile=seconds(times.quantile(0.95)),
        ),
        unit="seconds",
    )


def _short_facts(times: Sample) -> tuple[Fact, ...]:
    """Return the share of jobs that are over at once, and how finely run times are recorded."""
    share = times.restrict(high=1.0).n / times.n
    return (
        Fact("jobs.runtime.one_second", share, "Jobs that ran for a second or less", "fraction"),
        Fact("jobs.runtime.resolution", resolution(times), "Run times are recorded to", "seconds"),
    )


def resolution(times: Sample) -> int:
    """
    Return the unit of a second, 10 s, a minute or an hour of which 99 % of *times* are multiples.

    >>> resolution(Sample.of([0, 60, 120, 7200])), resolution(Sample.of([0, 61, 7200, 0.5]))
    (60, 1)
    """
    units = (HOUR, MINUTE, 10)
    positive = times.restrict(above=0.0)
    for unit in units:
        whole = positive.counts[positive.values % unit == 0].sum()
        if positive.n and whole >= MINIMUM_WHOLE * positive.n:
            return unit
    return 1


def _limit_note(times: Sample) -> Iterator[Block]:
    """Yield a note where many jobs share the maximum run time."""
    share = float(times.counts[-1]) / times.n
    if share >= LIMIT_SHARE and times.n > 1 / LIMIT_SHARE and times.max() > 0:
        limit = message("{max}, the maximum run time", max=seconds(times.max()))
        yield note_of(
            "{share} of the jobs ran exactly {limit}: a limit cut them.",
            share=fraction(share),
            limit=limit,
        )
