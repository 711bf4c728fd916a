"""How far the trace can be trusted."""

from collections.abc import Iterator

from gwa.analysis.base import Chapter, analysis
from gwa.metrics.quality import Problem, completeness, problems
from gwa.report.columns import Cells, column, rejected_rows, table_of
from gwa.report.document import Block, Column, Fact, Facts, Note, Table, list_of
from gwa.store.schema import BY_NAME
from gwa.store.store import Store
from gwa.words.message import joined, message

LEVELS = {"error": message("error"), "warning": message("warning"), "info": message("info")}

REJECTS = "select file, line, reason, text from rejects order by file, line limit 20"


@analysis("Data quality", Chapter.TRACE, facts=("conversion", "completeness"), order=1)
def data_quality(store: Store) -> Iterator[Block]:
    """
    What became of every row of the source, what was repaired, what looks wrong, what is not recorded.

    Rows are jobs, folded into other rows, rejected, or comments and blank lines; the four add up.
    """
    account = store.account
    yield Facts(_completeness_facts(store), listed=False)
    yield list_of(
        Fact("conversion.rows", account.rows, "Rows of the source", "count"),
        Fact("conversion.jobs", account.jobs, "Jobs read", "count"),
        Fact("conversion.folded", account.folded, "Rows folded into other jobs", "count"),
        Fact("conversion.rejected", account.rejected, "Rows rejected", "count"),
        Fact("conversion.comments", account.comments, "Comments and blank rows", "count"),
        *(
            [Fact("conversion.skipped", account.skipped, "Rows of files that were not read", "count")]
            if account.skipped
            else []
        ),
    )
    problem_list = problems(store)
    if problem_list:
        cells: Cells[Problem] = {
            Column("level", "Kind"): lambda one: LEVELS[one.level],
            Column("meaning", "What"): lambda one: one.meaning,
            Column("count", "Jobs or rows", "count"): lambda one: one.count,
            Column("affects", "What it affects"): lambda one: one.affects,
            Column("examples", "Such as"): lambda one: joined("; ", one.examples),
        }
        yield table_of("problems", "Found", problem_list, cells)
    else:
        yield Note("Nothing was rejected or repaired, and nothing looks wrong.")
    if rejects := store.rows(REJECTS):
        yield rejected_rows("rejects", rejects, store.account.rejected)
    yield Table(
        "completeness",
        "What the trace records",
        (
            Column("field", "Field"),
            Column("meaning", "Meaning"),
            column("jobs"),
            column("jobs_share", "share"),
        ),
        tuple(row for row in completeness(store) if row[2]),
        note="Not recorded at all: "
        + (joined(", ", (row[0] for row in completeness(store) if not row[2])) or "none."),
    )


KEY_FIELDS = ("submit_time", "wait_time", "run_time", "n_procs", "req_time", "status", "user_id", "queue_id")
"""The fields on which most of a report rests."""


def _completeness_facts(store: Store) -> tuple[Fact, ...]:
    """Return the share of jobs that record each key field, and the jobs that ran without a known wait."""
    jobs = max(store.row("select count(*) as jobs from jobs")[0], 1)
    shares = tuple(
        Fact(
            f"completeness.{name}",
            store.known[name] / jobs,
            message("Jobs with a known {title}", title=BY_NAME[name].title),
            "fraction",
        )
        for name in KEY_FIELDS
    )
    unknown = store.row("select count(*) as jobs from ran where wait_time is null")[0]
    return (*shares, Fact("completeness.ran_without_wait", unknown, "Jobs that ran, wait unknown", "count"))
