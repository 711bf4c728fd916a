"""What the trace is, and what became of every row."""

from collections.abc import Iterator
from typing import Final

from gwa.analysis.base import analysis
from gwa.report.columns import column, rejected_rows, table_of
from gwa.report.document import Block, Column, Fact, Facts, Note, Table, list_of
from gwa.report.facts import number
from gwa.requests.base import RequestChapter
from gwa.requests.measured import SubmissionSpan
from gwa.store.requests import REQUEST_FIELDS, recorded
from gwa.store.store import Store
from gwa.words.message import message
from gwa.words.unit import Unit

BY_MODEL: Final = """
select
    coalesce(model, '–') as model, coalesce(service, '–') as service, count(*) as requests,
    count(*) / sum(count(*)) over () as share,
    quantile_cont(tokens_in, 0.5) as tokens_in, quantile_cont(tokens_out, 0.5) as tokens_out,
    quantile_cont(latency, 0.5) as latency
from requests group by all order by requests desc, model, service limit {top}
"""

REJECTS: Final = "select file, line, reason, text from rejects order by file, line limit 20"


@analysis(
    "The trace",
    RequestChapter.TRACE,
    facts=("requests.count", "requests.first", "requests.last", "requests.span", "requests.models",
           "requests.rows", "requests.rejected", "requests.comments", "requests.recorded"),
)  # fmt: skip
def request_trace(store: Store) -> Iterator[Block]:
    """
    How many requests there are, of which models, and what became of every row of the source.

    Rows are requests, rejected, or comments, headers and blank lines; the three add up. What a source does
    not tell is missing and never 0. Requests are numbered in the order of time.
    """
    extent, known, account = SubmissionSpan.of(store), recorded(store), store.account
    (models,) = store.row("select count(distinct model) from requests")
    moment: Unit = "seconds" if store.system.relative else "timestamp"
    yield list_of(
        Fact("requests.count", account.jobs, "Requests", "count"),
        Fact("requests.first", number(extent.first), "First request", moment),
        Fact("requests.last", number(extent.last), "Last request", moment),
        Fact("requests.span", number(extent.seconds), "From first to last", "seconds"),
        Fact("requests.models", models if known["model"] else None, "Models", "count"),
        Fact("requests.rows", account.rows, "Rows of the source", "count"),
        Fact("requests.rejected", account.rejected, "were rejected", "count"),
        Fact("requests.comments", account.comments, "were comments or blank", "count"),
    )
    yield Facts(
        tuple(
            Fact(
                f"requests.recorded.{field.name}",
                known[field.name] / account.jobs,
                message("Requests with a known {meaning}", meaning=field.name),
                "fraction",
            )
            for field in REQUEST_FIELDS[2:]
        ),
        listed=False,
    )
    if known["model"] or known["service"]:
        yield _by_model(store)
    yield from _quality(store)
    yield _fields(known, account.jobs)


def _by_model(store: Store) -> Table:
    """Return the table of models and services, the most requested first."""
    return Table(
        "requests-by-model",
        "Requests by model and service",
        (
            Column("model", "Model"),
            Column("service", "Service"),
            column("requests"),
            column("requests_share", "share"),
            Column("tokens_in", "Median tokens in"),
            Column("tokens_out", "Median tokens out"),
            Column("latency", "Median latency", "seconds"),
        ),
        tuple(store.rows(BY_MODEL.format(top=store.top))),
    )


def _quality(store: Store) -> Iterator[Block]:
    """Yield what was repaired, and the first rows that were rejected."""
    repairs = store.rows("select name, meaning, requests from repairs order by requests desc, meaning")
    columns = (Column("name", "Repair"), Column("meaning", "What"), column("requests"))
    if repairs:
        yield Table("request-repairs", "Found", columns, tuple(repairs))
    if rejects := store.rows(REJECTS):
        yield rejected_rows("request-rejects", rejects, store.account.rejected)
    if not repairs and not rejects:
        yield Note("Nothing was rejected or repaired.")


def _fields(known: dict[str, int], requests: int) -> Table:
    """Return the table of what the trace records."""
    return table_of(
        "request-fields",
        "What the trace records",
        REQUEST_FIELDS[1:],
        {
            Column("field", "Field"): lambda field: field.name,
            Column("meaning", "Meaning"): lambda field: field.meaning,
            column("requests"): lambda field: known[field.name],
            column("requests_share", "share"): lambda field: known[field.name] / requests,
        },
    )
