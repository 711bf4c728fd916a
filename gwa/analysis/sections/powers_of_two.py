"""Powers of two among the sizes of jobs."""

from collections.abc import Iterator
from typing import Final

from gwa.analysis.base import Chapter, analysis
from gwa.report.columns import column
from gwa.report.document import Block, Column, Facts, Note, Table
from gwa.report.facts import facts_of
from gwa.store.store import Store
from gwa.words.message import message

MAXIMUM_ROWS: Final = 10

SMALL_SIZE: Final = 4
"""Of the sizes above 1 up to this one, two of three are powers of two."""

COMMON_SHARE: Final = 0.02
"""A size with this share of the parallel jobs is common."""

SIZES: Final = """
select n_procs, count(*) as jobs, cast(sum(cpu_seconds) as double) as cpu_seconds
from ran group by n_procs order by jobs desc, n_procs
"""


@analysis(
    "Sizes and powers of two",
    Chapter.MODELLERS,
    facts=("jobs.parallel", "jobs.procs"),
    needs=("n_procs", "run_time"),
    order=9,
)
def powers_of_two(store: Store) -> Iterator[Block]:
    """
    The share of powers of two among parallel jobs, which models of workloads reproduce explicitly.

    Lublin and Feitelson (2003) found that most parallel jobs use a power of two processors, even where
    nothing in the system asks for it. A parallel job is one that ran on more than one processor.
    """
    sizes = store.rows(SIZES)
    parallel = [row for row in sizes if row[0] > 1]
    if not parallel:
        yield Note("No parallel job ran.")
        return
    powers = [row for row in parallel if is_power_of_two(row[0])]
    jobs, seconds = sum(row[1] for row in parallel), sum(row[2] for row in parallel)
    large = sum(row[1] for row in parallel if row[0] > SMALL_SIZE)
    large_powers = sum(row[1] for row in powers if row[0] > SMALL_SIZE)
    common = sum(row[1] >= COMMON_SHARE * jobs for row in powers)
    large_label = message("Of those on more than {small} processors", small=SMALL_SIZE)
    share, of_large = sum(row[1] for row in powers) / jobs, large_powers / large if large else None
    of_time = sum(row[2] for row in powers) / seconds if seconds else None
    yield Facts(
        facts_of(
            "jobs",
            ("parallel.power_of_two", share, "Parallel jobs on a power of two processors", "fraction"),
            ("parallel.power_of_two_large", of_large, large_label, "fraction"),
            ("parallel.powers", common, "Powers of two with 2 % of parallel jobs or more", "count"),
            (
                "parallel.power_of_two_cpu",
                of_time,
                "Parallel CPU time on a power of two processors",
                "fraction",
            ),
            ("procs.distinct", len(sizes), "Different sizes of jobs", "count"),
        )
    )
    yield _table(sizes)


def is_power_of_two(size: int) -> bool:
    """
    Whether *size* is a power of two; 1 is one.

    >>> [size for size in range(1, 20) if is_power_of_two(size)]
    [1, 2, 4, 8, 16]
    """
    return size & (size - 1) == 0


def _table(sizes: list[tuple[int, int, float]]) -> Table:
    jobs, seconds = sum(row[1] for row in sizes), sum(row[2] for row in sizes)
    return Table(
        "sizes",
        message("The {maximum_rows} most common sizes", maximum_rows=min(MAXIMUM_ROWS, len(sizes)))
        if len(sizes) > 1
        else "The only size",
        (
            column("processors", "procs"),
            Column("power", "Power of two"),
            column("jobs"),
            column("jobs_share", "share"),
            column("cpu_share"),
        ),
        tuple(
            (size, is_power_of_two(size), count, count / jobs, cpu_seconds / seconds if seconds else None)
            for size, count, cpu_seconds in sizes[:MAXIMUM_ROWS]
        ),
    )
