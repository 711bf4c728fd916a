"""
Join measurements to the jobs of a trace, by the ids that its log has for them.

What is measured stands in the table ``measured`` of the store, as it was given; a field of a job is what the
log says, else what the first of `PRECEDENCE` that measured it says. Joining anything again changes nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb

from gwa.errors import DefinitionError, TraceError
from gwa.formats.open import open_files
from gwa.formats.registry import writer
from gwa.ingest.jobstats import define_jobstats
from gwa.ingest.measurements import MEASURABLE, PRECEDENCE, query_of
from gwa.store.engines.duckdb import literal
from gwa.store.options import ReadOptions
from gwa.store.schema import BY_NAME
from gwa.store.store import TABLES, Store
from gwa.util.atomic import whole
from gwa.util.protection import protected

if TYPE_CHECKING:
    import pyarrow as pa

LOG: Final = "log"
"""The source of a value that the log itself has, where something else measured it, too."""

DISAGREEMENT: Final = "disagreeing measurements"
MEANING: Final = (
    "two sources say values of {field} that differ by more than 10 %: the first of {order} counts"
)

IMPOSSIBLE: Final = "impossible measurements"
IMPOSSIBLE_MEANING: Final = "measured values of {field} cannot be, and are not used"

POSSIBLE: Final = " or ".join(
    f"(field = '{name}' and value >= {BY_NAME[name].low!r} and value <= least({BY_NAME[name].high!r}, 1e300))"
    for name in MEASURABLE
)
"""The SQL of the condition that a measured value may be one of its field."""

UNMATCHED: Final = "no job of the trace has this id"
AMBIGUOUS: Final = "several jobs of the trace have this id"
MAXIMUM_REJECTS: Final = 10_000

OF_LOG: Final = f"""
select job_id, source, field, value from measured
inner join known_id on measured.source_id = known_id.id and measured.site is not distinct from known_id.site
where source = '{LOG}'
"""
"""What the log says of jobs of which something else measured the same."""

OF_GPUS: Final = ("gpu_utilization", "idle_gpus", "gpu_memory", "max_gpu_memory")
"""Fields that are of all GPUs of a job, and not known where fewer or more were measured."""


@dataclass(frozen=True)
class Joined:
    """
    How many *jobs* have measurements, *of* how many, and how many *values*.

    The ids that are *unmatched* are of none, or of several.
    """

    jobs: int
    of: int
    values: int
    unmatched: int


def measure(
    trace: Path,
    files: Sequence[Path],
    *,
    on: str | None = None,
    stated: str | None = None,
    options: ReadOptions | None = None,
) -> Joined:
    """
    Join the measurements in *files* to the store *trace*, which is replaced as a whole or not at all.

    Raise `TraceError` where *trace* is no store, `DefinitionError` where a file is of no known kind.
    """
    if writer(trace).name != "duckdb" or not trace.is_file():
        raise TraceError(f"{trace}: measurements are joined to a store, expected one that gwa convert made")
    options = options or ReadOptions()
    with Store.open(trace, options.engine) as known, protected(files):
        given = measurements(files, on, stated)
        known.connection.register("given_rows", given)
        (fresh,) = known.row("select count(*) from (from given_rows except from measured)")
        if not fresh:
            _know_ids(known)
            _match(known, "matched")
            return _counted(known)
    with whole(trace) as part:
        with open_files([trace], None, replace(options, target=part)) as store:
            store.connection.register("given_rows", given)
            found = join(store, "given_rows")
            store.flush()
        return found


def measurements(files: Sequence[Path], on: str | None, stated: str | None) -> "pa.Table":
    """Return the rows of the table ``measured`` that *files* hold."""
    # Sums of several threads would differ in their last digits from one time to the next.
    with duckdb.connect(config={"threads": 1}) as database:
        define_jobstats(database)
        database.execute(f"create table rows ({TABLES['measured']})")
        for path in files:
            _read(database, path, on, stated)
        select = "from rows"
        if len(files) > 1:
            select = "select * exclude (value), max(value) as value from rows group by all"
        return database.sql(select).to_arrow_table()


def joined(store: Store) -> "pa.Table | None":
    """Return the measurements that were joined to *store*, None where there are none."""
    if not store.row("select count(*) from measured")[0]:
        return None
    return store.connection.sql(f"from measured where source <> '{LOG}'").to_arrow_table()


def join_again(store: Store, rows: "pa.Table | None") -> None:
    """Join to *store* what was joined to an earlier edition of it."""
    if rows is not None:
        store.connection.register("joined_before", rows)
        join(store, "joined_before")


def take_off(store: Store) -> None:
    """Make the fields of the jobs of *store* again what the log says, and forget what was joined to them."""
    database = store.connection
    _know_ids(store)
    _match(store, "matched")
    database.execute(f"create temp table said as from ({OF_LOG})")
    for (field,) in store.rows("select distinct field from matched where jobs = 1"):
        database.execute(
            f"update recorded set {field} ="
            f" (select any_value(value) from said where said.job_id = recorded.job_id and field = '{field}')"
            f" where job_id in (select job_id from matched where field = '{field}' and jobs = 1)"
        )
    database.execute("drop table said")
    _forget(store)
    database.execute("truncate measured")
    database.execute(f"delete from repairs where name in ('{DISAGREEMENT}', '{IMPOSSIBLE}')")
    database.execute(f"delete from rejects where reason in ('{UNMATCHED}', '{AMBIGUOUS}')")


def _read(database: duckdb.DuckDBPyConnection, path: Path, on: str | None, stated: str | None) -> None:
    """Append what a file holds to the table ``rows``."""
    reader = "read_parquet" if path.suffix == ".parquet" else "read_csv"
    every = "" if reader == "read_parquet" else ", all_varchar = true"
    try:
        database.execute(f"create or replace temp view given as from {reader}({literal(str(path))}{every})")
        columns = [name for name, *_ in database.execute("describe given").fetchall()]
        source, select = query_of(columns, on, stated)
        database.execute(
            f"insert into rows select id, site, {literal(source)}, field, value from (unpivot ({select})"
            " on columns(* exclude (id, site)) into name field value value) where id is not null"
        )
    except DefinitionError as error:
        raise DefinitionError(f"{path}: {error}") from error
    except duckdb.Error as error:
        raise TraceError(f"{path}: cannot be read: {str(error).splitlines()[0]}") from error


def join(store: Store, rows: str) -> Joined:
    """Put the measurements *rows*, a relation, into *store*, and make fields of its jobs of all it has."""
    database = store.connection
    _know_ids(store)
    _match(store, "was")
    database.execute(f"create temp table given as from {rows}")
    database.execute(
        "create temp table kept as from measured anti join given on measured.source_id = given.source_id"
        " and measured.site is not distinct from given.site and measured.source = given.source"
        " and measured.field = given.field"
    )
    database.execute("truncate measured")
    database.execute(
        "insert into measured from (from kept union all from given)"
        " order by source, field, source_id, site nulls first"
    )
    _match(store, "matched")
    recorded = {name for (name,) in store.rows("select column_name from (describe recorded)")}
    for field in MEASURABLE:
        _settle(store, field, is_recorded=field in recorded)
    _note(store)
    found = _counted(store)
    for table in ("was", "given", "kept"):
        database.execute(f"drop table {table}")
    _forget(store)
    return found


def _forget(store: Store) -> None:
    """Drop the tables that say which measurements are of which jobs."""
    for table in ("known_id", "of_site", "of_id", "matched"):
        store.connection.execute(f"drop table {table}")


def _know_ids(store: Store) -> None:
    """Make the tables of the ids that jobs have, by site and without it, and of how many have the same."""
    database = store.connection
    database.execute(
        """create temp table known_id as
        select id, job_id, coalesce(last_run_site_id, orig_site_id) as site, run_time, n_procs, n_gpus
        from (select source_id as id, job_id from source_ids union all select raw_id, job_id from raw_ids)
        inner join jobs using (job_id)"""
    )
    columns = ", ".join(
        f"any_value({name}) as {name}" for name in ("job_id", "run_time", "n_procs", "n_gpus")
    )
    same = f"count(distinct job_id) as jobs, {columns}"
    database.execute(f"create temp table of_site as select id, site, {same} from known_id group by id, site")
    database.execute(
        f"create temp table of_id as select id, any_value(site) as site, {same} from known_id group by id"
    )


def _match(store: Store, name: str) -> None:
    """Make the table *name* of what is measured by job, in the units of the fields of jobs."""
    of_gpus = ", ".join(map(literal, OF_GPUS))
    store.connection.execute(
        f"""create temp table {name} as
        with found as (
            select
                measured.*,
                unnest(if(
                    measured.site is null or of_id.site is null,
                    {{'jobs': of_id.jobs, 'job_id': of_id.job_id, 'run_time': of_id.run_time,
                      'n_procs': of_id.n_procs, 'n_gpus': of_id.n_gpus}},
                    {{'jobs': of_site.jobs, 'job_id': of_site.job_id, 'run_time': of_site.run_time,
                      'n_procs': of_site.n_procs, 'n_gpus': of_site.n_gpus}}
                )),
                counted.value as gpus
            from measured
            left join of_id on measured.source_id = of_id.id
            left join of_site on measured.source_id = of_site.id and measured.site = of_site.site
            left join (from measured where field = 'gpus') as counted
                on measured.source_id = counted.source_id and measured.site is not distinct from counted.site
                    and measured.source = counted.source
            where measured.source <> '{LOG}'
        )
        select
            job_id,
            coalesce(jobs, 0) as jobs,
            source_id,
            source,
            case
                when field = 'watts' then 'energy'
                when field in ('cpu_share', 'cpu_seconds') then 'average_cpu_time'
                else field
            end as field,
            case
                when field in ('watts', 'cpu_share') then value * run_time
                when field = 'cpu_seconds' then value / n_procs
                else value
            end as value
        from found
        where field <> 'gpus' and not coalesce(field in ({of_gpus}) and gpus <> n_gpus, false)"""
    )


def _settle(store: Store, field: str, *, is_recorded: bool) -> None:
    """Make *field* of each job what the first source of it says."""
    database, kind = store.connection, BY_NAME[field]
    (count,) = store.row(f"select count(*) from matched where field = '{field}' and jobs = 1")
    if not count:
        return
    if not is_recorded:
        database.execute(f"alter table recorded add column {field} {kind.sql}")
    # What is in the jobs is the log's unless something was joined before.
    if is_recorded:
        database.execute(
            f"""insert into measured
            select min(id), any_value(site), '{LOG}', '{field}', any_value(recorded.{field})
            from recorded
            inner join known_id using (job_id)
            where recorded.{field} is not null
                and job_id in (select job_id from matched where field = '{field}' and jobs = 1)
                and job_id not in (select job_id from was where field = '{field}' and jobs = 1)
            group by job_id
            order by all"""
        )
    database.execute(
        f"update recorded set {field} = null where job_id in"
        f" (select job_id from was where field = '{field}' and jobs = 1)"
    )
    order = ", ".join(map(literal, (LOG, *PRECEDENCE)))
    database.execute(
        f"""create or replace temp table settled as
        select job_id, arg_min(value, (list_position([{order}], source), value)) as value
        from (
            select job_id, source, value
            from matched
            where field = '{field}' and jobs = 1 and ({POSSIBLE})
            union all
            select job_id, source, value from ({OF_LOG}) where field = '{field}'
        )
        group by job_id"""
    )
    database.execute(
        f"update recorded set {field} = cast(settled.value as {kind.sql}) from settled"
        " where recorded.job_id = settled.job_id"
    )
    store.show_all()


def _note(store: Store) -> None:
    """Count the jobs on which sources disagree and values that cannot be, and reject what is of no job."""
    database = store.connection
    order = ", ".join((LOG, *PRECEDENCE))
    database.execute(f"delete from repairs where name = '{DISAGREEMENT}'")
    for field, jobs in store.rows(
        f"""select field, count(*) from (
            select job_id, field from (
                select job_id, source, field, value from matched where jobs = 1 and ({POSSIBLE})
                union all
                from ({OF_LOG})
            ) group by job_id, field
            having count(distinct source) > 1 and max(value) - min(value) > 0.1 * max(value)
        ) group by field order by field"""
    ):
        store.repaired(DISAGREEMENT, MEANING.format(field=field, order=order), jobs)
    database.execute(f"delete from repairs where name = '{IMPOSSIBLE}'")
    for field, jobs in store.rows(
        f"select field, count(*) from matched where jobs = 1 and not ({POSSIBLE}) group by all order by all"
    ):
        store.repaired(IMPOSSIBLE, IMPOSSIBLE_MEANING.format(field=field), jobs)
    reasons = f"('{UNMATCHED}', '{AMBIGUOUS}')"
    database.execute(f"delete from rejects where reason in {reasons}")
    database.execute(
        f"""insert into rejects
        select source, 0, if(jobs = 0, '{UNMATCHED}', '{AMBIGUOUS}'), source_id
        from matched where jobs <> 1 group by all order by all limit {MAXIMUM_REJECTS}"""
    )


def _counted(store: Store) -> Joined:
    """Return what is joined to *store*, from the table ``matched``."""
    return Joined(
        *store.row(
            f"select count(distinct job_id) filter (where jobs = 1 and ({POSSIBLE})),"
            f" (select count(*) from jobs), count(*) filter (where jobs = 1 and ({POSSIBLE})),"
            " count(distinct (source, source_id)) filter (where jobs <> 1) from matched"
        )
    )
