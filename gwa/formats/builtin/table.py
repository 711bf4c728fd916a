"""
Any table with one row per job and names of columns: CSV, TSV, cells parted by ; or |, JSON, or Parquet.

JSON is one flat object per job, in a list or one after the other. What a column is, and in which unit, is
decided by its name and its values, and how they fit those of other columns: an end less a start tells the
unit of a duration. What does not decide itself is asked, and the message ends in the --map to type; a column
that no trace needs (energy, memory, a limit, states in numbers) is left out then, with a note that does so:

  gwa convert jobs.csv -o jobs.parquet --map "start=begin_ts:ms, procs=nodes*36"
  gwa convert jobs.csv -o jobs.parquet --map columns.toml

An entry is ROLE=COLUMN, ROLE=COLUMN:UNIT, a product of counts, a number, or - for no column; a name with
commas, colons, stars or equals signs stands in double quotes. In a TOML file each entry is a line such as
start = "begin_ts:ms". What is stated comes first, all else is decided as without it. Two further entries:
zone=Europe/Berlin is the zone of local times (else UTC, and counted), others=- reads no other columns.

{roles}

Times are Unix times in any unit, ISO times with an offset or without, dates such as 31.12.2025 and
12/31/2025 with a time, the form of ctime, and with a format of strptime, as in start="Begin":"%d-%b-%Y";
smaller numbers count from the beginning of the trace. Durations are numbers, 1-02:03:04, PT1H or 1h2m3s.

Units of {units}.

A job needs a submission or a start; an end or a run time; processors, nodes or GPUs. Without a submission,
jobs are submitted when they start, and waits are missing. Processors are those allocated, else requested,
else nodes times processors per node. A row without a submission, in a table that has them, is of a job that
was submitted when it started, less what it waited: such rows are counted. A job without a start has no
processors, one without an end no run time, unless the run time stands beside it: then the start is the end
less that. A job whose state is REJECTED or that waits (PENDING, QUEUED) never ran, and one that is RUNNING
or SUSPENDED has not ended, whatever its row says: what squeue prints of both is a guess. A row without a
submission, a start and an end is a sum or a legend, and refused, unless it has a run time, a number and a
user. Memory is that of the whole job, unless the column says per core or per node. CPU hours and similar
columns are allocations, and no CPU time. States become outcomes by a list of words; success is 1 or 0.
Names of columns may hold line breaks, and a carriage return alone ends a row, if there are rows on both of
its sides. A row whose times cannot be read is refused; other values that cannot be read are missing, and
counted.

Some published tables are recognised by their columns, and what their names and values do not decide is known:

{known}
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from textwrap import fill
from typing import Final

from gwa.errors import GwaError, TraceError
from gwa.formats.base import Format, new_store
from gwa.formats.builtin._parquet import MAGIC, refuse_bombs
from gwa.formats.tables.known import known_tables
from gwa.formats.tables.mapping import FIELDS, RoleSource, statement
from gwa.formats.tables.plan import ReadingPlan, plan_of, sentence
from gwa.formats.tables.sample import TableSample, sample_of
from gwa.formats.tables.select import PlanSelection
from gwa.formats.tables.units import KINDS
from gwa.formats.tables.vocabulary import missing, roles, statuses
from gwa.ingest.pipeline import ingest
from gwa.ingest.source.head import FileHead
from gwa.ingest.spec import ConverterSpec, RepairStep, TableSpec
from gwa.store.options import ReadOptions
from gwa.store.store import Store

MAXIMUM_HEADS: Final = 20
"""Files of a trace whose rows are examined."""

MAXIMUM_SHOWN: Final = 12
"""The number of columns that are named where more are not read."""

NOT_MEASURED: Final = RepairStep(
    "energy not measured",
    "no job used energy: it was set to missing",
    "update recorded set energy = null where energy is not null",
    "select max(energy) = 0 from recorded",
)


def mismatch(head: FileHead) -> str | None:
    """Return the reason why *head* is not that of a table of jobs, or None."""
    try:
        plan_of(sample_of(head), statement(""))
    except ValueError as error:
        return str(error)
    return None


def likeness(head: FileHead) -> float:
    """Return 1 for a table of which some columns are those of jobs."""
    reason = mismatch(head) or ""
    return 1.0 if "--map" in reason else 0.6 if reason.startswith("no column says") else 0.0


def read(heads: Sequence[FileHead], options: ReadOptions) -> Store:
    """Return a store with the jobs of tables; raise `TraceError` with all questions if there are any."""
    plan = _plan(heads, options)
    if plan.questions:
        raise TraceError(f"{heads[0].path}: {sentence(plan.questions)}")
    refuse_bombs([head for head in heads if head.data.startswith(MAGIC)])
    stated = {"map": plan.map, **({"zone": plan.zone} if plan.zone else {})}
    options = replace(options, format_options={**options.format_options, **stated})
    with new_store(options) as store:
        ingest(store, heads, _spec(plan), options)
        store.note({"map": plan.map})
        _note_plan(store, plan)
    return store


def joined_sample(heads: Sequence[FileHead]) -> TableSample:
    """Return the rows at the beginning of all files as one sample."""
    return reduce(TableSample.joined, map(sample_of, heads[:MAXIMUM_HEADS]))


def source_table(names: Mapping[str, str]) -> TableSpec:
    """Return how the columns of files are read, by the *names* that they have there."""
    return TableSpec(
        columns=dict.fromkeys(names, "varchar"),
        missing=tuple(sorted(missing("text"))),
        options={"names": names},
        numbered=True,
    )


def note_columns(store: Store, stated: str, unused: Sequence[str]) -> None:
    """Record as repairs which columns were read as what, and which were not."""
    rows = store.account.jobs
    store.repaired("columns read", f"columns of the table were read as {stated}", rows)
    if unused:
        names = ", ".join(unused[:MAXIMUM_SHOWN]) + (", …" if len(unused) > MAXIMUM_SHOWN else "")
        store.repaired("columns not read", f"{len(unused)} of them: {names}", rows)


def _plan(heads: Sequence[FileHead], options: ReadOptions) -> ReadingPlan:
    """Return the plan for the rows at the beginning of all files."""
    try:
        return plan_of(joined_sample(heads), statement(str(options.format_options.get("map", ""))))
    except GwaError:
        raise
    except ValueError as error:
        raise TraceError(f"{heads[0].path}: {error}") from error


def _spec(plan: ReadingPlan) -> ConverterSpec:
    selection = PlanSelection(plan)
    return ConverterSpec(
        title=FORMAT.title,
        source_table=source_table(selection.names),
        select=selection.sql(),
        reader="table",
        steps=() if plan.sources.get("energy", RoleSource()).is_none else (NOT_MEASURED,),
    )


def _note_plan(store: Store, plan: ReadingPlan) -> None:
    """Record as repairs which columns were read as what, which were not, and what was taken for granted."""
    note_columns(store, plan.map, plan.unused)
    for note in plan.notes:
        store.repaired("assumption", note, store.account.jobs)
    _note_unknown_states(store)


def _note_unknown_states(store: Store) -> None:
    """Name the states that are none of the words for the ends of jobs."""
    if "state" not in store.recorded:
        return
    running = ", ".join(f"'{word}'" for word in statuses()["running"])
    found = store.rows(
        "select state, count(*) as jobs from recorded where status is null and state is not null"
        f" and not regexp_matches(state, '^[0-9]+$') and lower(split_part(state, ' ', 1)) not in ({running})"
        " group by state order by jobs desc, state"
    )
    if found:
        names = ", ".join(f"{state[:30]} ({jobs:,})" for state, jobs in found[:MAXIMUM_SHOWN])
        meaning = f"their outcome is unknown: {names}{', …' if len(found) > MAXIMUM_SHOWN else ''}"
        store.repaired("unknown states", meaning, sum(jobs for _, jobs in found))


def _role_list() -> str:
    """Return all roles with the likeliest names of their columns."""
    lines = []
    for role in roles().values():
        names = ", ".join(list(role.names)[:12])
        field = FIELDS.get(role.name)
        title = f"{role.name} ({field})" if field else role.name
        lines.append(fill(f"  {title}: {names}", 108, subsequent_indent="      "))
    return (
        "Roles, and names of columns for them (capitals, signs and further words do not matter):\n\n"
        + "\n".join(lines)
    )


def _unit_list() -> str:
    units: Mapping[str, Sequence[str]] = {kind: units for kind, (_, units) in KINDS.items()}
    shown = {kind: [unit for unit in units if unit] for kind, units in units.items() if kind != "text"}
    return "; ".join(f"{kind}: {', '.join(names)}" for kind, names in shown.items() if names)


def _known_list() -> str:
    return "\n".join(f"  {table.title}: {table.stated}" for table in known_tables().values())


_LISTS: Final = {"{roles}": _role_list(), "{units}": fill(_unit_list(), 108), "{known}": _known_list()}

FORMAT = Format(
    name="table",
    title="Any table with a row per job: CSV, TSV, JSON, Parquet",
    names=(),
    notes=reduce(lambda text, entry: text.replace(*entry), _LISTS.items(), __doc__ or ""),
    export="# Such as:\nsqlite3 -header -csv jobs.db 'select * from jobs' > jobs.csv",
    mismatch=mismatch,
    read=read,
    likeness=likeness,
    options={"map": "any text", "zone": "a time zone such as Europe/Amsterdam"},
    is_last_resort=True,
)
