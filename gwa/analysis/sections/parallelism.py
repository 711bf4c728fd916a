"""Sequential and parallel jobs."""

from collections.abc import Iterator

from gwa.analysis.base import Chapter, analysis
from gwa.report.columns import column
from gwa.report.document import Block, Column, Facts, Table
from gwa.report.facts import facts_of, number
from gwa.store.store import Store
from gwa.words.message import capitalized, message


@analysis(
    "Sequential and parallel jobs",
    Chapter.SIZES,
    facts=("jobs.sequential", "jobs.parallel"),
    needs=("n_procs", "run_time"),
    order=3,
)
def parallelism(store: Store) -> Iterator[Block]:
    """Jobs on one processor and on several, among those that ran, and the CPU time they consumed."""
    counted = store.row(
        """
        select
            count(*) filter (where n_procs = 1), cast(sum(cpu_seconds) filter (where n_procs = 1) as double),
            count(*) filter (where n_procs > 1), cast(sum(cpu_seconds) filter (where n_procs > 1) as double)
        from ran
        """
    )
    sequential, parallel = (counted[0], counted[1] or 0.0), (counted[2], counted[3] or 0.0)
    kinds = {"sequential": sequential, "parallel": parallel}
    yield Facts(
        tuple(
            fact
            for name, (jobs, seconds) in kinds.items()
            for fact in facts_of(
                f"jobs.{name}",
                ("count", jobs, message("{capitalize} jobs", capitalize=capitalized(name)), "count"),
                (
                    "cpu_seconds",
                    number(seconds),
                    message("CPU time of {name} jobs", name=name),
                    "cpu seconds",
                ),
            )
        )
    )
    all_jobs, all_seconds = sequential[0] + parallel[0] or 1, sequential[1] + parallel[1] or 1.0
    yield Table(
        "parallelism",
        "Sequential and parallel jobs",
        (
            Column("kind", "Kind of jobs"),
            column("jobs"),
            column("jobs_share", "share"),
            column("cpu_seconds"),
            column("cpu_share"),
        ),
        tuple(
            (name, jobs, jobs / all_jobs, seconds, seconds / all_seconds)
            for name, (jobs, seconds) in kinds.items()
        ),
        minor=True,
    )
