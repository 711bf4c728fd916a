"""How far the trace can be trusted."""

from collections.abc import Iterator

from gwa.analysis.base import Chapter, analysis
from gwa.metrics.quality import completeness, problems
from gwa.report.document import Block, Column, Fact, Facts, Note, Table
from gwa.store.store import Store

REJECTS = "select file, line, reason, text from rejects order by file, line limit 20"


@analysis("Data quality", Chapter.QUALITY, facts=("conversion",))
def data_quality(store: Store) -> Iterator[Block]:
    """
    What became of every row of the source, what was repaired, what looks wrong, what is not recorded.

    Rows are jobs, folded into other rows, rejected, or comments and blank lines; the four add up.
    """
    account = store.account
    yield Facts(
        (
            Fact("conversion.rows", account.rows, "Rows of the source", "count"),
            Fact("conversion.jobs", account.jobs, "became jobs", "count"),
            Fact("conversion.folded", account.folded, "were folded into others", "count"),
            Fact("conversion.rejected", account.rejected, "were rejected", "count"),
            Fact("conversion.comments", account.comments, "were comments or blank", "count"),
        )
    )
    problem_list = problems(store)
    if problem_list:
        columns = (
            Column("level", "Kind"),
            Column("meaning", "What"),
            Column("count", "Jobs or rows", "count"),
        )
        rows = tuple((problem.level, problem.meaning, problem.count) for problem in problem_list)
        yield Table("problems", "Found", columns, rows)
    else:
        yield Note("Nothing was rejected or repaired, and nothing looks wrong.")
    yield from _rejects(store)
    yield Table(
        "completeness",
        "What the trace records",
        (
            Column("field", "Field"),
            Column("meaning", "Meaning"),
            Column("jobs", "Jobs", "count"),
            Column("share", "Share", "fraction"),
        ),
        tuple(row for row in completeness(store) if row[2]),
        note="Not recorded at all: "
        + (", ".join(row[0] for row in completeness(store) if not row[2]) or "none."),
    )


def _rejects(store: Store) -> Iterator[Block]:
    rows = store.rows(REJECTS)
    if rows:
        yield Table(
            "rejects",
            "Rejected rows",
            (
                Column("file", "File"),
                Column("line", "Line", "count"),
                Column("reason", "Why"),
                Column("text", "Text"),
            ),
            tuple(rows),
            note=f"The first {len(rows)} of {store.account.rejected}."
            if store.account.rejected > len(rows)
            else "",
        )
