"""Jobs that users submit together."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from gwa.analysis.base import Chapter, analysis
from gwa.metrics.bags import (
    ARRAYS,
    DEFINITIONS,
    TEXT,
    Definition,
    bag_spans,
    bags,
    forget,
    jobs_of,
    nearness,
    neighbours_table,
)
from gwa.metrics.user_days import user_days
from gwa.report.document import Block, Fact, Facts, FactTable, Figure, note_of
from gwa.report.facts import facts_of, number
from gwa.report.figures.cdf import cdf
from gwa.statistics.numeric import dot
from gwa.statistics.sample import Sample
from gwa.store.store import Store
from gwa.util.units import DAY
from gwa.words.formatting import fraction
from gwa.words.message import capitalized, joined, message

COLUMNS = (
    message("Bags"),
    message("of one job"),
    message("Jobs in bags of several"),
    message("Jobs of a bag, mean"),
    "median",
    "95 %",
    message("maximum"),
    message("Submitted within, median"),
    message("Gini of sizes"),
)

MAXIMUM_GAP = DAY
"""The longest gap of the figure: a day."""

CURVE_POINTS = 80

CHANCE_NEIGHBOUR = 1 / 120
"""The probability that a job is within 120 s of another one in eight hours: 240/28800."""


@analysis("Bags of tasks", Chapter.MODELLERS, facts=("bags",), needs=("submit_time", "user_id"), order=1)
def bags_of_tasks(store: Store) -> Iterator[Block]:
    """
    Jobs that a user submits together, by several definitions, since papers and their numbers differ.

    Sizes and times are those of bags of two jobs or more; the share of jobs in them is of all jobs that the
    definition is about (for job arrays, of all jobs). A job of an unknown user is in no bag.

    The figure shows how much the share depends on the longest gap between two jobs of a bag.
    """
    rows, curves = {}, {}
    nearest: dict[str, Sample] = {}
    for definition in DEFINITIONS.values():
        if not jobs_of(store, definition):
            if definition is not ARRAYS:
                yield note_of("No job can be in a bag by the definition: {title}.", title=definition.title)
            continue
        rows[capitalized(definition.title)] = _facts(store, definition)
        if definition.gap is not None:
            near = neighbours_table(store, definition)  # two definitions may share it
            nearest[near] = nearest.get(near) or nearness(store, definition)
            curves[_short_title(definition)] = (nearest[near], jobs_of(store, definition))
        if definition in (TEXT, ARRAYS):
            # No other section needs the tables of these definitions.
            forget(store, definition)
    if not rows:
        return
    yield Facts((_single_if_even(store),), listed=False)
    sources = joined(
        "; ",
        (
            message("{definition}: {source}", definition=_short_title(definition), source=definition.source)
            for definition in DEFINITIONS.values()
            if definition is not ARRAYS or len(rows) > len(curves)
        ),
    )
    yield FactTable(
        "bags",
        "Bags by definition",
        COLUMNS,
        tuple(rows.items()),
        message("Sources: {sources}.", sources=sources),
    )
    if any(gap.n for gap, _ in curves.values()):
        yield _figure(curves)


def _single_if_even(store: Store) -> Fact:
    """Return the share of jobs that would be in no bag if users spread each day's jobs evenly."""
    days = store.sample("jobs", user_days(store))
    alone = dot(days.counts, days.values * (1 - CHANCE_NEIGHBOUR) ** (days.values - 1))
    value = alone / days.total() if days.n else None
    label = message(
        "Share of jobs in no bag (text) if each user's jobs of a day were spread over eight hours"
    )
    return Fact("bags.text.single_if_even", value, label, "fraction")


def _short_title(definition: Definition) -> str:
    """Return the part of the title that says what jobs of a bag share, without the gap."""
    return definition.title.partition(",")[0]


def _facts(store: Store, definition: Definition) -> tuple[Fact, ...]:
    """Return the facts of the bags by one definition."""
    table, prefix = bags(store, definition), f"bags.{definition.name}"
    sizes = store.sample("size", table)
    multiple = sizes.restrict(low=2)
    share = multiple.total() / jobs_of(store, TEXT if definition is ARRAYS else definition)
    label, durations = message("jobs of a bag"), bag_spans(store, definition)
    p95 = message("95th percentile of {label}", label=label)
    return facts_of(
        prefix,
        ("count", sizes.n, "Bags", "count"),
        ("singletons", sizes.n - multiple.n, "Bags of one job", "count"),
        ("jobs_in_bags_fraction", share, "Share of jobs in bags of several", "fraction"),
        ("size.mean", number(multiple.mean()), message("Mean {label}", label=label), "count"),
        ("size.median", number(multiple.median()), message("Median {label}", label=label), "count"),
        ("size.p95", number(multiple.quantile(0.95)), p95, "count"),
        ("size.max", number(multiple.max()), message("Most {label}", label=label), "count"),
        ("duration.median", number(durations.median()), "Median submission time", "seconds"),
        ("gini_jobs", number(sizes.gini()), "Gini coefficient of jobs over bags", ""),
    )


def _figure(curves: Mapping[str, tuple[Sample, int]]) -> Figure:
    """Return the share of jobs in bags of several by the maximum gap, a curve for each definition."""
    gaps = np.concatenate(([0.0], np.geomspace(1.0, MAXIMUM_GAP, CURVE_POINTS)))
    shares = {name: gap.cdf(gaps) * gap.n / jobs for name, (gap, jobs) in curves.items() if gap.n}
    figure = cdf(
        "bags-gap",
        "Share of jobs in bags of several, by the longest gap",
        {name: (gaps, share) for name, share in shares.items()},
        "Longest gap between two jobs of a bag",
        "Share of jobs in bags of two or more against the longest gap allowed, by definition: "
        + joined(
            "; ",
            (
                message(
                    "{name} {share} at two minutes",
                    name=name,
                    share=fraction(float(np.interp(120, gaps, share))),
                )
                for name, share in shares.items()
            ),
        )
        + ".",
        unit="seconds",
        ylabel="Share of jobs",
        note="Without the limit of 20 min on whole bags.",
    )
    # The curves of a distribution end at 1, these at the share of jobs that have another one alike.
    drawn = [
        {"label": name, "x": gaps.round(3).tolist(), "y": share.round(5).tolist()}
        for name, share in shares.items()
    ]
    return replace(figure, data={**figure.data, "curves": drawn})
