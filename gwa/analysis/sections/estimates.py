"""What jobs ask for, and what they use of it."""

from collections.abc import Iterator, Mapping
from typing import Final

from gwa.analysis.base import Chapter, analysis
from gwa.analysis.sections._impossible import impossible_note
from gwa.analysis.sections._rounding import counted_ratios
from gwa.breakdown.records import Records
from gwa.metrics.efficiency import IS_MEASURED, limits_of_queues, overall
from gwa.metrics.efficiency import RATIOS as EFFICIENCY
from gwa.report.columns import column
from gwa.report.document import Block, Fact, Facts, Note, list_of, note_of
from gwa.report.facts import number, summary_of, table
from gwa.report.figures.cdf import cdf
from gwa.statistics.sample import Sample
from gwa.store.store import Store
from gwa.words.formatting import decimal, fraction
from gwa.words.formatting import number as number_text
from gwa.words.message import capitalized, joined, message, plural, within_sentence

MODES: Final = 10

MAXIMUM_DRAWN: Final = 1.5
"""Greater ratios are drawn as this."""

RATIOS: Final = {
    "time": (
        message("Requested time used"),
        EFFICIENCY["time"].quotient,
        EFFICIENCY["time"].jobs,
        ("req_time", "run_time"),
    ),
    "memory": (
        message("Requested memory used"),
        "used_memory / req_memory",
        f"(from jobs where used_memory > 0 and req_memory > 0 and {IS_MEASURED})",
        ("used_memory", "req_memory"),
    ),
    "cpu": (
        message("CPU time used of run time"),
        EFFICIENCY["cpu"].quotient,
        EFFICIENCY["cpu"].jobs,
        ("average_cpu_time", "run_time"),
    ),
}
"""By name: label of a ratio, its SQL, the jobs that have it, and the fields that it needs."""

OVERALL: Final = {
    "time": message("Requested CPU time used, all jobs together"),
    "cpu": message("CPU efficiency of all jobs together"),
}

KINDS: Final = {
    "limit": (
        "run_time * 100 >= req_time * 99",
        message("Jobs that ran to their limit (99 % of it or more)"),
    ),
    "overrun": ("run_time * 100 >= req_time * 101", message("Jobs that overran it (by 1 % or more)")),
    "below_tenth": ("run_time * 10 < req_time", message("Jobs that used less than a tenth of it")),
}
"""Shares of jobs by their exact times: products of whole seconds are exact where quotients are not."""

AT_LIMIT: Final = """
select count(*) as jobs,
    count(*) filter (where run_time >= 0.99 * req_time and run_time <= 1.05 * req_time) as at_limit,
    count(*) filter (where run_time >= 0.93 * req_time and run_time < 0.99 * req_time) as before_limit,
    count(*) filter (where run_time > 1.05 * req_time) as beyond,
    count(*) filter (where run_time > 1.05 * req_time and run_time > req_time + 600) as beyond_far
from ran where req_time > 0
"""
"""Where run times pile up around the requested time; ten minutes are the grace that schedulers give."""

LIMIT_LABELS: Final = {
    "at_limit": message("Jobs that ran for 99 to 105 % of their requested time"),
    "before_limit": message("Jobs that ran for 93 to 99 % of it"),
    "beyond": message("Jobs that ran for more than 105 % of it"),
    "beyond_far": message("Jobs that ran over 5 % and ten minutes longer than it"),
}

MODE: Final = """
with mode as (
    select req_time from jobs where req_time > 0 group by req_time order by count(*) desc, req_time limit 1
), by_queue as (
    select queue_id, count(*) as jobs, count(*) filter (where jobs.req_time = mode.req_time) as at_mode,
        count(*) filter (where jobs.req_time > mode.req_time) as longer
    from jobs cross join mode where jobs.req_time > 0 group by queue_id
), by_user as (
    select user_id, count(*) filter (where jobs.req_time = mode.req_time) as at_mode
    from jobs cross join mode where jobs.req_time > 0 and user_id is not null group by user_id
)
select
    (select cast(sum(case when longer <= 0.01 * jobs then at_mode else 0 end) as double) / sum(at_mode)
        from by_queue) as limited,
    (select cast(count(*) filter (where at_mode > 0) as double) / nullif(count(*), 0) from by_user) as users,
    (select cast(max(at_mode) as double) / nullif(sum(at_mode), 0) from by_user) as top
"""
"""Of the most common requested time: whether queues allow more, and which share of users ask for it."""

REQUESTED_TIMES: Final = """
select req_time, count(*) as jobs from jobs where req_time > 0
group by req_time order by jobs desc, req_time
"""


@analysis("Requested and used", Chapter.REQUESTS, facts=("estimates",))
def estimates(store: Store) -> Iterator[Block]:
    """
    How much of the requested time and memory jobs use, and how busy they keep their processors.

    Accuracy is run time over requested time (Mu'alem and Feitelson 2001), of jobs that ran and asked for
    a time: 100 % used all of it, more than 100 % overran. Memory is that used over that requested, both
    for each processor and above 0. CPU efficiency is the CPU time used by each processor over the run time,
    without jobs that used more CPU time than their processors had.
    All numbers are of the exact ratios; the figure has them to three significant digits.
    """
    counted = {
        name: counted_ratios(store, quotient, jobs)
        for name, (_, quotient, jobs, needs) in RATIOS.items()
        if all(map(store.has, needs))
    }
    shares = {name: rounded for name, (rounded, _) in counted.items() if rounded.n}
    missing = [label for name, (label, *_) in RATIOS.items() if name not in shares]
    if missing:
        yield note_of(
            "Not recorded in this trace: {within_sentence}.",
            within_sentence=joined(", ", map(within_sentence, missing)),
        )
    if not shares:
        return
    exact = {name: counted[name].exact for name in shares}
    rows: dict[str, tuple[Fact, ...]] = {
        RATIOS[name][0]: summary_of(f"estimates.{name}", values, "fraction", within_sentence(RATIOS[name][0]))
        for name, values in exact.items()
    }
    yield table("estimates", message("Share of requests used"), rows)
    yield _figure(shares, {name: values.median for name, values in exact.items()})
    yield Facts(_overall_facts(store, shares))
    if "cpu" in shares:
        yield from impossible_note(overall(store))
    if "time" in shares:
        yield Facts(_limit_facts(store))
    if store.has("req_time"):
        yield from _modal(store)


def _figure(shares: dict[str, Sample], medians: Mapping[str, float]) -> Block:
    texts = joined(
        "; ",
        (
            message("{lower}: median {x}", lower=within_sentence(RATIOS[name][0]), x=fraction(x))
            for name, x in medians.items()
        ),
    )
    labels = {"time": "time", "memory": "memory", "cpu": "CPU"}
    capped = {name: sample.map(lambda x: x.clip(max=MAXIMUM_DRAWN)) for name, sample in shares.items()}
    return cdf(
        "estimates",
        "Share of requests used",
        {labels[name]: sample.ecdf() for name, sample in capped.items()},
        message(
            "Used of requested; higher values are drawn at {maximum_drawn} %",
            maximum_drawn=decimal(MAXIMUM_DRAWN * 100, ".0f"),
        ),
        message(
            "Cumulative fraction of jobs by the share of their request that they used. {capitalize}.",
            capitalize=capitalized(texts),
        ),
        log=False,
        unit="fraction",
    )


def _overall_facts(store: Store, shares: dict[str, Sample]) -> tuple[Fact, ...]:
    """Return the shares of jobs at the limit, and the ratios of totals, which weigh jobs by their size."""
    facts: list[Fact] = []
    if "time" in shares:
        conditions = ", ".join(f"count(*) filter (where {condition})" for condition, _ in KINDS.values())
        counts = store.row(f"select {conditions}, count(*) from {RATIOS['time'][2]} as t")  # noqa: S608 - fields of the schema
        facts += [
            Fact(f"estimates.time.{name}", count / counts[-1], label, "fraction")
            for count, (name, (_, label)) in zip(counts[:-1], KINDS.items(), strict=True)
        ]
    everything = overall(store)
    facts += [
        Fact(f"estimates.{name}.overall", everything.parts[name].mean, label, "fraction")
        for name, label in OVERALL.items()
        if name in shares
    ]
    return tuple(sorted(facts, key=lambda fact: not fact.id.startswith("estimates.time")))


def _limit_facts(store: Store) -> tuple[Fact, ...]:
    """Return the shares of jobs that end at their requested time, before it, and after it."""
    jobs, *counts = store.row(AT_LIMIT)
    return tuple(
        Fact(f"estimates.time.{name}", count / jobs, label, "fraction")
        for (name, label), count in zip(LIMIT_LABELS.items(), counts, strict=True)
    )


def _modal(store: Store) -> Iterator[Block]:
    """Yield the most common requested times; users request round ones (Tsafrir et al. 2005)."""
    requested = store.rows(REQUESTED_TIMES)
    total = sum(count for _, count in requested)
    if not total:
        return
    modes = requested[:MODES]
    top = [{"req_time": number(time), "jobs": count, "share": count / total} for time, count in modes]
    covered = sum(count for _, count in modes) / total
    limited, users, top_user = store.row(MODE)
    limit_label = message("Jobs with the most common one whose queue has hardly any longer ones")
    yield list_of(
        Fact("estimates.distinct", len(requested), "Different requested times", "count"),
        Fact(
            "estimates.modal_share",
            covered,
            message("Share of the {modes} most common", modes=MODES),
            "fraction",
        ),
        Fact("estimates.modal_limit", limited, limit_label, "fraction"),
        Fact("estimates.modal_users", users, "Users who request the most common one", "fraction"),
        Fact("estimates.modal_top_user", top_user, "Its jobs that one user submits, at most", "fraction"),
        *_queue_facts(store),
    )
    if limits_of_queues(store).are_limits:
        yield Note(LIMITS_OF_QUEUES)
    columns = (
        column("req_time"), column("jobs"),
        column("jobs_share", "share"),
    )  # fmt: skip
    note = message("Of {total} with a requested time.", total=plural("{n} job", "{n} jobs", total))
    most_common = Records("estimates.modal", message("Most common requested times"), columns, top, note)
    yield most_common.fact
    title = message("The {top} most common requested times", top=number_text(len(top)))
    yield most_common.table("estimates-modal", title if len(top) > 1 else message("The only requested time"))


LIMITS_OF_QUEUES: Final = message(
    "Nearly all jobs of each queue have the same requested time: it is the limit or the default of the queue,"
    " not a request of its users."
)


def _queue_facts(store: Store) -> Iterator[Fact]:
    """Yield whether requested times are those of the queues, where the log has queues."""
    queues = limits_of_queues(store)
    if queues.share is not None:
        label = message("Jobs with the requested time that is the most common one of their queue")
        yield Fact("estimates.of_queue", queues.share, label, "fraction")
        yield Fact(
            "estimates.limits_of_queues",
            queues.are_limits,
            "Requested times are limits of queues",
            text=message("yes") if queues.are_limits else message("no"),
        )
