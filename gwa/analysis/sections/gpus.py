"""How GPUs were used."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from gwa.analysis.base import Chapter, analysis
from gwa.analysis.sections._resource import resource_blocks
from gwa.breakdown.views import tables
from gwa.metrics.presence import counted
from gwa.metrics.timeline import exact_sum
from gwa.metrics.usage import holding, seconds
from gwa.report.columns import column
from gwa.report.document import Block, Column, Fact, Facts, Note, Table, list_of
from gwa.report.facts import number
from gwa.store.resources import GPU
from gwa.store.store import Store
from gwa.util.units import HOUR
from gwa.words.message import message

IDLE: Final = 0.01
"""GPUs that are used less than this on average are idle."""

BY_TYPE: Final = """
select gpu_type as name, {jobs} as jobs, {amount} as seconds from {table} group by gpu_type order by name
"""

IDLE_JOBS: Final = """
select {measured} as measured, {idle} as idle,
    {amount} as seconds from {table} where gpu_utilization is not null
"""


MEASURED: Final = {
    "known": "case when gpu_utilization >= 0 then held end",
    "used": "gpu_utilization * held",
    "idle_known": "case when idle_gpus >= 0 then held end",
    "idle": "idle_gpus",
}
"""How many GPUs of a job are measured as a whole, used, measured one by one, and idle."""

HOURS: Final = "select {sums} from {table}"

NOT_MEASURED: Final = message(
    "Nothing says how much of the GPUs was used: export AdminComment where jobstats runs, or join"
    " measurements with --measurements FILE."
)


@analysis(
    "GPUs",
    Chapter.UTILIZATION,
    facts=("gpu",),
    needs=("n_gpus",),
    when=lambda store: store.has("n_gpus"),
    order=1,
)
def gpus(store: Store) -> Iterator[Block]:
    """
    GPUs that jobs held: hours, of which type, in which sizes, and the waits and outcomes of these.

    Hours are GPUs times hours of run time of jobs that held some; a fraction of a GPU counts as such. Of a
    period they are the part that lies in it. Jobs are idle that used their GPUs for less than 1 % of the
    time on average, and GPUs that were not used at all in their job, where the log records that or
    measurements were joined; what is not measured is unknown. Tables of who left GPUs idle are of whole jobs.
    Jobs with GPUs of several types count for each type by its number.
    """
    yield from resource_blocks(store, GPU)
    if types := _types(store):
        yield Facts((Fact("gpu.types", types, "GPUs by type"),), listed=False)
        yield Table(
            "gpu-types",
            "GPUs by type",
            (
                Column("type", "Type"), column("jobs"), column("held_hours", "hours"),
                column("held_share", "share"),
            ),
            tuple(tuple(row.values()) for row in types),
            minor=True,
        )  # fmt: skip
    yield from _measured(store)


def _types(store: Store) -> list[dict[str, str | float | int | None]]:
    """Return jobs and hours of each type, the most used first; none where the log has no types."""
    jobs: Counter[str] = Counter()
    hours: Counter[str] = Counter()
    amount = exact_sum(f"{seconds(store)} * held")
    query = BY_TYPE.format(jobs=counted(store), amount=amount, table=holding(store, GPU))
    for text, count, held in store.rows(query):
        parts = type_counts(text)
        for name, part in parts.items():
            jobs[name] += count
            hours[name] += held / HOUR * part / sum(parts.values())
    if set(jobs) <= {UNKNOWN}:
        return []
    total = sum(hours.values())
    return [
        {"type": name, "jobs": jobs[name], "hours": number(held), "share": held / total if total else None}
        for name, held in sorted(hours.items(), key=lambda item: (-item[1], item[0]))
    ]


UNKNOWN: Final = "unknown"


def type_counts(text: str | None) -> dict[str, float]:
    """
    Return how many GPUs of each type a job held, by the field ``gpu_type``.

    >>> type_counts("a100:2,v100:1"), type_counts("a100"), type_counts(None)
    ({'a100': 2.0, 'v100': 1.0}, {'a100': 1.0}, {'unknown': 1.0})
    """
    counts: dict[str, float] = {}
    for item in (text or UNKNOWN).split(","):
        name, _, count = item.rpartition(":")
        is_counted = bool(name) and count.replace(".", "", 1).isdigit() and float(count) > 0
        counts[name if is_counted else item] = float(count) if is_counted else 1.0
    return counts


def _measured(store: Store) -> Iterator[Block]:
    """Yield what was used and idle of the GPUs that were measured, and who left most idle."""
    if not (store.has("gpu_utilization") or store.has("idle_gpus")):
        yield Note(NOT_MEASURED)
        return
    yield from _idle_jobs(store)
    yield from _hours(store)
    yield from tables(store, "gpus")


def _hours(store: Store) -> Iterator[Block]:
    """Yield the hours that were measured, and of them those that were used, and those of idle GPUs."""
    sums = ", ".join(
        f"{exact_sum(f'({gpus}) * {seconds(store)}')} as {name}" for name, gpus in MEASURED.items()
    )
    row = store.row(HOURS.format(sums=sums, table=holding(store, GPU)))
    known, used, idle_known, idle = (number(held / HOUR) if held is not None else None for held in row)
    yield list_of(
        Fact("gpu.known_hours", known, "Hours of GPUs whose use is measured", "hours"),
        Fact("gpu.used_hours", used, "Of them, used", "hours"),
        Fact("gpu.idle_known_hours", idle_known, "Hours of GPUs that are measured one by one", "hours"),
        Fact("gpu.idle_gpu_hours", idle, "Of them, hours of GPUs that were never used", "hours"),
    )


def _idle_jobs(store: Store) -> Iterator[Block]:
    """Yield how many jobs left their GPUs idle, where that is recorded."""
    if not store.has("gpu_utilization"):
        return
    wasted = exact_sum(f"case when gpu_utilization < {IDLE} then {seconds(store)} * held end")
    query = IDLE_JOBS.format(
        measured=counted(store),
        idle=counted(store, f"gpu_utilization < {IDLE}"),
        amount=wasted,
        table=holding(store, GPU),
    )
    measured, idle, held = store.row(query)
    if measured:
        yield list_of(
            Fact("gpu.measured_jobs", measured, "Jobs whose use of GPUs is recorded", "count"),
            Fact("gpu.idle_jobs", idle, "Of them, jobs that left their GPUs idle", "count"),
            Fact("gpu.idle_hours", number((held or 0.0) / HOUR), "Hours of idle GPUs", "hours"),
        )
