"""
Join measurements to the jobs of a trace, by the ids that its log has for them.

What is measured stands in the table ``measured`` of the store, as it was given; a field of a job is what the
log says, else what the first of `PRECEDENCE` that measured it says. Joining anything again changes nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb

from gwa.errors import DefinitionError, TraceError
from gwa.formats.measure_nodes import NodeOptions, NodeSamples, join_samples, sorted_out
from gwa.formats.open import open_files
from gwa.ingest.by_node import AT_LEAST, NOTES
from gwa.ingest.jobstats import define_jobstats
from gwa.ingest.measured_files import GivenFiles, by_kind, given
from gwa.ingest.measurements import (
    JOBSTATS,
    JOBSTATS_NODES,
    MEASURABLE,
    OTHER,
    PRECEDENCE,
    mapped_query,
    query_of,
)
from gwa.ingest.node_samples import reading
from gwa.store.engines.duckdb import literal
from gwa.store.options import ReadOptions
from gwa.store.schema import BY_NAME
from gwa.store.store import TABLES, Store
from gwa.util.atomic import whole
from gwa.util.exclusive import exclusive
from gwa.util.protection import protected

if TYPE_CHECKING:
    import pyarrow as pa

LOG: Final = "log"
BOUND: Final = "bound of the log"
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

SAID_BY_LOG: Final = """
select job_id, 0 as rank, field, value, source from measured
inner join known_id on measured.source_id = known_id.id and measured.site is not distinct from known_id.site
where source in {sources}
"""

OF_LOG: Final = f"select * exclude (source) from ({SAID_BY_LOG.format(sources=(LOG, LOG))})"
"""What the log says of jobs of which something else measured the same."""

IS_VALUE: Final = "jobs = 1 and is_possible and not is_bound"
"""The SQL of whether what is measured is a value of a job, in the table ``matched``."""

STATED_VALUES: Final = f"""
select job_id, rank, field, value from matched where {IS_VALUE}
union all
{OF_LOG}
"""
"""All that is said of jobs, by the rank of who says so: the lowest counts."""

OF_GPUS: Final = ("gpu_utilization", "idle_gpus", "gpu_memory", "max_gpu_memory")
"""Fields that are of all GPUs of a job, and not known where fewer or more were measured."""

OF_NODES: Final = ("average_cpu_time", "max_memory", "idle_nodes")
"""Fields that are of all nodes of a job, and not known where fewer or more were measured."""

IS_BOUND: Final = "coalesce(list_contains(string_split(recorded.bounds, ','), '{field}'), false)"
"""Whether what the log says of a field is that it is at least, or at most, so much: measured values count."""

MATCH: Final = f"""
with found as (
    select
        measured.*,
        measured.site is null
        or of_id.site is null
        or of_id.jobs = 1 and measured.site = of_id.site as is_by_id,
        coalesce(if(is_by_id, of_id.jobs, of_site.jobs), 0) as jobs,
        if(is_by_id, of_id.job_id, of_site.job_id) as job_id,
        if(is_by_id, of_id.run_time, of_site.run_time) as run_time,
        if(is_by_id, of_id.n_procs, of_site.n_procs) as n_procs,
        if(is_by_id, of_id.n_gpus, of_site.n_gpus) as n_gpus,
        if(is_by_id, of_id.n_nodes, of_site.n_nodes) as n_nodes
    from measured
    left join of_id on measured.source_id = of_id.id
    left join of_site on measured.source_id = of_site.id and measured.site = of_site.site
    where measured.source not in ('{LOG}', '{BOUND}')
        and measured.field not in ('gpus', 'nodes', {", ".join(map(literal, {*NOTES} - AT_LEAST.keys()))})
),
counted as (
    select
        source_id,
        site,
        source,
        max(value) filter (where field = 'gpus') as gpus,
        max(value) filter (where field = 'nodes') as nodes
    from measured
    where field in ('gpus', 'nodes')
    group by all
),
known as (
    select
        found.* exclude (field, value),
        gpus,
        nodes,
        case
            when field = 'watts' then 'energy'
            when field in ('cpu_share', 'cpu_seconds') then 'average_cpu_time'
            {" ".join(f"when field = '{name}' then '{of}'" for name, of in AT_LEAST.items())}
            else field
        end as field,
        field in ({", ".join(map(literal, AT_LEAST))}) as is_bound,
        case
            when field in ('watts', 'cpu_share') then value * run_time
            when field = 'cpu_seconds' then value / n_procs
            else value
        end as value
    from found
    left join counted
        on found.source_id = counted.source_id and found.site is not distinct from counted.site
            and found.source = counted.source
)
select
    job_id,
    jobs,
    source_id,
    source,
    list_position([{", ".join(map(literal, PRECEDENCE))}], source) as rank,
    field,
    value,
    is_bound,
    coalesce({POSSIBLE}, false) as is_possible
from known
where not coalesce(field in ({", ".join(map(literal, OF_GPUS))}) and gpus <> n_gpus, false)
    and not coalesce(field in ({", ".join(map(literal, OF_NODES))}) and nodes <> n_nodes, false)
    and (jobs <> 1 or value is not null)
"""
"""What is measured by job, in the units of the fields of jobs."""


SAME: Final = " and ".join(
    f"measured.{key} is not distinct from given.{key}" for key in ("source_id", "site", "source", "field")
)

FRESH: Final = f"""
select count(*) from (
    (from given_rows where value is not null except from measured)
    union all
    (select given.* from given_rows as given semi join measured on {SAME} where given.value is null)
)
"""
"""How many rows are not in the store as they are given; those without a value must not be there."""


@dataclass(frozen=True)
class Joined:
    """
    How many *jobs* have measurements, *of* how many, and how many *values*.

    The ids that are *unmatched* are of none, or of several. *said* are sentences on samples of nodes.
    """

    jobs: int
    of: int
    values: int
    unmatched: int
    said: tuple[str, ...] = ()


@dataclass(frozen=True)
class Measurements:
    """What files measured: *rows* of the table ``measured``, and *samples* of nodes, which say no job."""

    rows: "pa.Table"
    samples: NodeSamples

    def of(self, store: Store) -> "tuple[pa.Table, list[str]]":
        """Return all rows of the table ``measured`` for *store*, and what there is to say of samples."""
        if not self.samples.files:
            return self.rows, []
        import pyarrow as pa

        tables, said = join_samples(store, self.samples)
        return pa.concat_tables([self.rows, *(table.cast(self.rows.schema) for table in tables)]), said


def measure(
    trace: Path,
    files: Sequence[Path],
    *,
    on: str | None = None,
    stated: str | None = None,
    nodes: NodeOptions | None = None,
    options: ReadOptions | None = None,
) -> Joined:
    """
    Join the measurements in *files* to the store *trace*, which is replaced as a whole or not at all.

    *nodes* is what is stated of files that hold samples of nodes.

    Raise `TraceError` where *trace* is no store, `DefinitionError` where a file is of no known kind, and
    `OutputError` where another command is at work on the store.
    """
    if trace.suffix.lower() != ".duckdb" or not trace.is_file():
        store = trace.with_suffix(".duckdb").name
        raise TraceError(
            f"{trace}: measurements are joined to a store, expected one that gwa convert made, as in"
            f" 'gwa convert LOG -o {store}'"
        )
    with exclusive(trace):
        return _measure(trace, files, partial(read, files, on, stated, nodes), options or ReadOptions())


def _measure(
    trace: Path, files: Sequence[Path], reading: Callable[[], Measurements], options: ReadOptions
) -> Joined:
    with Store.open(trace, options.engine) as known, protected(files):
        given, said = reading().of(known)
        known.connection.register("given_rows", given)
        (fresh,) = known.row(
            FRESH if known.row("select count(*) from measured")[0] else "select count(*) from given_rows"
        )
        if not fresh:
            _know_ids(known)
            _match(known, "matched")
            return replace(_counted(known), said=tuple(said))
    with whole(trace) as part:
        with open_files([trace], None, replace(options, target=part)) as store:
            found = join_table(store, given)
            store.flush()
        return replace(found, said=tuple(said))


def read(
    files: Sequence[Path], on: str | None, stated: str | None, nodes: NodeOptions | None = None
) -> Measurements:
    """
    Return what *files* measured of jobs, as `measurements` does, or of nodes, of which *nodes* states more.

    Raise `DefinitionError` for a file of no known kind, `TraceError` for one that cannot be read.
    """
    samples, others = sorted_out(files, on, stated, nodes or NodeOptions())
    return Measurements(measurements(others, on, stated), samples)


def join_measurements(store: Store, given: Measurements) -> Joined:
    """Join what files measured to *store*."""
    rows, said = given.of(store)
    return replace(join_table(store, rows), said=tuple(said))


def measurements(files: Sequence[Path], on: str | None, stated: str | None) -> "pa.Table":
    """
    Return the rows of the table ``measured`` that *files* hold.

    *on* names the column of the ids of jobs, *stated* says which fields are in which columns. Raise
    `DefinitionError` for a file of no known kind, `TraceError` for one that cannot be read.
    """
    # Sums of several threads would differ in their last digits from one time to the next.
    with duckdb.connect(config={"threads": 1}) as database:
        database.execute(f"create table rows ({TABLES['measured']})")
        found = [given(database, path, f"file_{place}") for place, path in enumerate(files)]
        if on and not any(on in one.columns for one in found):
            raise DefinitionError(
                f"{files[0]}: there is no column '{on}', expected one of {', '.join(found[0].columns)}"
            )
        if stated:
            for one in found:
                _add(database, one, OTHER, lambda columns: mapped_query(columns, on, stated))
        else:
            for kind, one in by_kind(database, found, on):
                if kind in {JOBSTATS, JOBSTATS_NODES}:
                    define_jobstats(database)
                _add(database, one, kind.name, partial(query_of, kind, on=on))
        select = "from rows"
        if len(found) > 1:
            select = "select * exclude (value), max(value) as value from rows group by all order by all"
        return database.sql(select).to_arrow_table()


def _add(
    database: duckdb.DuckDBPyConnection, one: GivenFiles, source: str, query: Callable[[Sequence[str]], str]
) -> None:
    """Add to the table ``rows`` what is given by a *source*, of which *query* makes rows of jobs."""
    with reading(one.path):
        database.execute(f"create or replace temp view given as {one.select}")
        database.execute(
            f"insert into rows select id, site, {literal(source)}, field, value"
            f" from (unpivot (from ({query(one.columns)}) order by id, site)"
            " on columns(* exclude (id, site)) into name field value value) where id is not null"
        )


def joined(store: Store) -> "pa.Table | None":
    """Return the measurements that were joined to *store*, None where there are none."""
    if not store.row("select count(*) from measured")[0]:
        return None
    return store.connection.sql(f"from measured where source not in ('{LOG}', '{BOUND}')").to_arrow_table()


def join_again(store: Store, rows: "pa.Table | None") -> None:
    """Join to *store* what was joined to an earlier edition of it."""
    if rows is not None:
        join_table(store, rows)


def take_off(store: Store) -> None:
    """Make the fields of the jobs of *store* again what the log says, and forget what was joined to them."""
    database = store.connection
    _know_ids(store)
    _match(store, "matched")
    database.execute(f"create temp table said as from ({SAID_BY_LOG.format(sources=(LOG, BOUND))})")
    for field in AT_LEAST.values() if "bounds" in store.recorded else ():
        _is_bound_no_more(store, field, "matched", f"matched.is_bound and field = '{field}'")
    _are_bounds_again(store)
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


def join_table(store: Store, rows: "pa.Table") -> Joined:
    """Join *rows* of the table ``measured`` to *store*."""
    store.connection.register("given_rows", rows)
    try:
        return _join(store, "given_rows")
    finally:
        store.connection.unregister("given_rows")


def _join(store: Store, rows: str) -> Joined:
    """Put the measurements *rows*, a relation, into *store*, and make fields of its jobs of all it has."""
    database = store.connection
    _know_ids(store)
    _match(store, "was")
    database.execute(f"create temp table kept as from measured anti join {rows} as given on {SAME}")
    database.execute("truncate measured")
    database.execute(f"insert into measured from (from kept union all from {rows} where value is not null)")
    _match(store, "matched")
    _settle(store)
    _note(store)
    found = _counted(store)
    for table in ("was", "kept"):
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
    columns = ("job_id", "run_time", "n_procs", "n_gpus", "n_nodes")
    database.execute(
        f"""create temp table known_id as
        select id, coalesce(last_run_site_id, orig_site_id) as site, {", ".join(columns)}
        from (select source_id as id, job_id from source_ids union all select raw_id, job_id from raw_ids)
        inner join jobs using (job_id)"""
    )
    any_of = f"count(distinct job_id) as jobs, {', '.join(f'any_value({one}) as {one}' for one in columns)}"
    (several,) = store.row("select count(*) <> count(distinct id) from known_id")
    # Most logs have each id once, and what is of one job need not be grouped.
    by_id = f"select id, any_value(site) as site, {any_of} from known_id group by id"
    once = f"select id, site, 1 as jobs, {', '.join(columns)} from known_id"
    database.execute(f"create temp table of_id as {by_id if several else once}")
    database.execute(
        f"create temp table of_site as select id, site, {any_of} from known_id"
        " where id in (select id from of_id where jobs > 1) group by id, site"
    )


def _match(store: Store, name: str) -> None:
    """Make the table *name* of what is measured by job."""
    store.connection.execute(f"create temp table {name} as {MATCH}")


def _settle(store: Store) -> None:
    """Make the fields of each job what the first source of them says."""
    database = store.connection
    found = {name for (name,) in store.rows("select distinct field from matched where jobs = 1")}
    recorded = store.recorded
    fields = [name for name in MEASURABLE if name in found]
    has_bounds = "bounds" in recorded
    for field in fields:
        if field in recorded:
            _keep_of_log(store, field, is_bound=IS_BOUND.format(field=field) if has_bounds else "false")
        else:
            database.execute(f"alter table recorded add column {field} {BY_NAME[field].sql}")
    if not fields:
        return
    # The least is the first where there is one source.
    first = "arg_min(value, (rank, value))" if _has_several(store) else "min(value)"
    columns = ", ".join(f"{first} filter (where field = '{name}') as {name}" for name in fields)
    database.execute(
        f"create temp table settled as select job_id, {columns} from ({STATED_VALUES}) group by job_id"
    )
    values = ", ".join(
        f"{name} = coalesce(cast(settled.{name} as {BY_NAME[name].sql}), recorded.{name})" for name in fields
    )
    database.execute(f"update recorded set {values} from settled where recorded.job_id = settled.job_id")
    for field in fields if has_bounds else ():
        _is_bound_no_more(store, field, "settled", f"settled.{field} is not null")
    database.execute("drop table settled")
    for field in AT_LEAST.values():
        _say_bound(store, field)
    store.show_all()


def _has_several(store: Store) -> bool:
    """Whether several sources measured jobs, of which the log may be one."""
    return bool(store.row(f"select count(distinct rank) > 1 from ({STATED_VALUES})")[0])


def _is_bound_no_more(store: Store, field: str, table: str, where: str = "true") -> None:
    """Take a *field* off those that are bounds, of the jobs of a *table* of which *where* holds."""
    others = f"list_filter(string_split(bounds, ','), lambda one: one <> '{field}')"
    store.connection.execute(
        f"update recorded set bounds = nullif(array_to_string({others}, ','), '') from {table}"
        f" where recorded.job_id = {table}.job_id and {where} and {IS_BOUND.format(field=field)}"
    )


def _say_bound(store: Store, field: str) -> None:
    """Set a *field* that nothing measured to the largest of its lower bounds, that of the log among them."""
    measured = f"from matched where jobs = 1 and is_possible and is_bound and field = '{field}'"
    if not store.row(f"select count(*) {measured}")[0]:
        return
    database = store.connection
    if "bounds" not in store.recorded:
        database.execute("alter table recorded add column bounds varchar")
    of_log = f"from ({SAID_BY_LOG.format(sources=(BOUND, BOUND))}) where field = '{field}'"
    is_bound = IS_BOUND.format(field=field)
    database.execute(
        f"update recorded set {field} = bound.value,"
        f" bounds = case when {is_bound} then bounds else concat_ws(',', bounds, '{field}') end"
        f" from (select job_id, max(value) as value"
        f" from (select job_id, value {measured} union all select job_id, value {of_log}) as several"
        f" where job_id in (select job_id {measured}) group by job_id) as bound"
        f" where recorded.job_id = bound.job_id and (recorded.{field} is null or {is_bound})"
    )
    store.show_all()


def _are_bounds_again(store: Store) -> None:
    """Say again of which fields the log, in the table ``said``, knows a bound only, in their order."""
    if not store.row(f"select count(*) from said where source = '{BOUND}'")[0]:
        return
    is_bound = f"{IS_BOUND} or list_contains(of_log.fields, '{{field}}')"
    named = ", ".join(
        f"case when {is_bound.format(field=name)} then '{name}' end" for name in BY_NAME if name in MEASURABLE
    )
    store.connection.execute(
        f"update recorded set bounds = concat_ws(',', {named}) from ("
        f"select job_id, list(field) as fields from said where source = '{BOUND}' group by job_id"
        ") as of_log where recorded.job_id = of_log.job_id"
    )


def _keep_of_log(store: Store, field: str, is_bound: str) -> None:
    """
    Keep what the log says of a *field* that is measured, and take off what was joined to it before.

    What the log says of the jobs for which *is_bound* holds is kept as a bound, which does not count.
    """
    measured = "(select job_id from {} where field = '{}' and jobs = 1)"
    now, before = measured.format("matched", field), measured.format("was", field)
    # What is in the jobs is the log's unless something was joined before.
    store.connection.execute(
        f"""insert into measured
        select
            min(id), any_value(site), if(any_value({is_bound}), '{BOUND}', '{LOG}'), '{field}',
            any_value(recorded.{field})
        from recorded
        inner join known_id using (job_id)
        where recorded.{field} is not null and job_id in {now} and job_id not in {before}
        group by job_id
        order by all"""
    )
    store.connection.execute(f"update recorded set {field} = null where job_id in {before}")


def _note(store: Store) -> None:
    """Count the jobs on which sources disagree and values that cannot be, and reject what is of no job."""
    database = store.connection
    order = ", ".join((LOG, *PRECEDENCE))
    database.execute(f"delete from repairs where name in ('{DISAGREEMENT}', '{IMPOSSIBLE}')")
    differing = f"""select field, count(*) from (
        select job_id, field from ({STATED_VALUES}) group by job_id, field
        having count(distinct rank) > 1 and max(value) - min(value) > 0.1 * max(value)
    ) group by field order by field"""
    for field, jobs in store.rows(differing) if _has_several(store) else ():
        store.repaired(DISAGREEMENT, MEANING.format(field=field, order=order), jobs)
    for field, jobs in store.rows(
        "select field, count(*) from matched where jobs = 1 and not is_possible group by all order by all"
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
            f"select count(distinct job_id) filter (where {IS_VALUE}),"
            " (select count(*) from jobs),"
            f" count(*) filter (where {IS_VALUE}),"
            " count(distinct (source, source_id)) filter (where jobs <> 1) from matched"
        )
    )
