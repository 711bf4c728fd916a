"""
A log of requests to language models as a table: CSV, TSV, JSON or JSON lines, with a row for each request.

Columns are found by their names: when a request was made, how many tokens its prompt and its answer had, of
which session, turn, model and tenant it was, how many tokens came from a cache, how long it took. What the
names do not tell is stated as in --map "time=ts:ms, input=prompt_tokens, output=completion_tokens,
session=chat_id, turn=turn, model=model, tenant=team_id, cached=cached_tokens". Times may be dates, or Unix
times of any unit; of numbers that count from an unknown start the unit is asked for, unless the publisher of
the log states it. A row without a time is refused. Logs as of LiteLLM, vLLM, ServeGen, Bailian, AIPerf and
AIBrix are read so.
"""

from collections.abc import Sequence
from dataclasses import replace

from gwa.errors import GwaError, TraceError
from gwa.formats.base import Format, refuse_requests
from gwa.formats.builtin.table import joined_sample, note_columns, source_table
from gwa.formats.builtin.table import mismatch as of_jobs
from gwa.formats.tables.mapping import statement
from gwa.formats.tables.request_plan import RequestPlan, request_plan
from gwa.formats.tables.sample import sample_of
from gwa.formats.tables.vocabulary import role_kinds
from gwa.ingest.requests import read_requests
from gwa.ingest.source.head import FileHead
from gwa.ingest.spec import ConverterSpec
from gwa.store.options import ReadOptions
from gwa.store.requests import RequestStore
from gwa.store.store import Store


def mismatch(head: FileHead) -> str | None:
    """Return the reason why *head* is not that of a log of requests, or None."""
    try:
        plan = request_plan(sample_of(head), statement("", role_kinds(of_requests=True)))
    except ValueError as error:
        return str(error)
    if "output" not in plan.sources:
        return "no column says how many tokens an answer had"
    return "is a table of jobs" if of_jobs(head) is None else None


def read(heads: Sequence[FileHead], options: ReadOptions) -> Store:
    """Return a store with the requests of tables; raise `TraceError` with what is to be stated."""
    refuse_requests(heads[0].path, options)
    plan = _plan(heads, options)
    if plan.asked:
        raise TraceError(f"{heads[0].path}: {plan.asked}")
    others = {key: given for key, given in options.format_options.items() if key != "map"}
    store = read_requests(heads, _spec(plan), replace(options, format_options=others))
    store.note({"map": plan.map})
    note_columns(store, plan.map, plan.unused)
    return store


def _plan(heads: Sequence[FileHead], options: ReadOptions) -> RequestPlan:
    """Return the plan for the rows at the beginning of all files."""
    try:
        stated = statement(str(options.format_options.get("map", "")), role_kinds(of_requests=True))
        return request_plan(joined_sample(heads), stated)
    except GwaError:
        raise
    except ValueError as error:
        raise TraceError(f"{heads[0].path}: {error}") from error


def _spec(plan: RequestPlan) -> ConverterSpec:
    return ConverterSpec(
        title=FORMAT.title,
        source_table=source_table(plan.names),
        select=plan.sql(),
        reader="table",
    )


FORMAT = Format(
    name="request-table",
    title="Any table with a row per request to a language model: CSV, TSV, JSON",
    names=(),
    notes=__doc__ or "",
    export="# Such as LiteLLM's log of spending:\n"
    "psql -c 'copy (select * from \"LiteLLM_SpendLogs\") to stdout csv header' > requests.csv",
    mismatch=mismatch,
    read=read,
    options={"map": "any text", "zone": "a time zone such as Europe/Amsterdam"},
    is_last_resort=True,
    holds=(RequestStore.holds,),
)
