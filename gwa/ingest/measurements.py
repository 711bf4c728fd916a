"""
Measurements of jobs by something else than their resource manager: tables of what each job used.

A table becomes rows ``source_id, site, source, field, value``: the id of a job in its log, the cluster if the
table says it, what measured, a field of jobs, and its value in the unit of the field. Each kind is known by
names of its columns; any other table by a map such as ``job_id=id,gpu_utilization=util:%``.

Sources: NVIDIA's dcgm-exporter (fields of DCGM 4: a blank is a number from 2^47 or 2^63 - 16 on, an energy is
a counter in mJ), CEEMS (units of its SQLite database; energy includes PUE, and the use of GPUs is a mean of
samples above 0, so none is known to be idle), CodeCarbon 3 (a row for each process and node: in the mode
machine each measured its whole node) and jobstats (``job_summary``, with ``AdminComment`` in a column, or a
row for each node and GPU, as ``job_nodes`` and ``job_gpu_metrics`` have them).
"""

from collections.abc import Collection
from dataclasses import dataclass
from textwrap import indent
from typing import Final

from gwa.errors import DefinitionError
from gwa.ingest.by_node import IDLE_RATIO, IN_USE, MAXIMUM_CONTEXT
from gwa.ingest.jobstats import TEXT_FUNCTION
from gwa.ingest.node_samples import sample_readers
from gwa.ingest.samples.dcgm import BLANK
from gwa.store.engines.duckdb import identifier

PRECEDENCE: Final = (
    "jobstats",
    "ipmi",
    "node-exporter",
    "sadf",
    "dcgm",
    "pmon",
    "nvidia-smi",
    "dmon",
    "compute-apps",
    "table",
    "ceems",
    "codecarbon",
)
"""Whose value counts where several measured a job: each GPU before a mean, and a mean before an estimate."""

MEASURABLE: Final = (
    "gpu_utilization", "gpu_memory", "max_gpu_memory", "idle_gpus", "idle_nodes", "max_memory", "energy",
    "average_cpu_time",
)  # fmt: skip
"""The fields that may be measured."""

KWH: Final = 3.6e6
"""Joules in a kilowatt-hour."""

UNITS: Final = {
    "": "",
    "%": " / 100",
    "B": " / 1024",
    "KB": "",
    "MiB": " * 1024",
    "GiB": " * 1048576",
    "J": "",
    "mJ": " / 1000",
    "Wh": " * 3600",
    "kWh": f" * {KWH!r}",
    "s": "",
}
"""What makes of a number in a unit one in the unit of a field."""

SUMS: Final = ("energy", "average_cpu_time")
"""Fields of which a table's rows of a job are added up; of others the greatest counts, of use the mean."""


@dataclass(frozen=True)
class MeasuredKind:
    """
    What is measured by *name*, which *title* explains.

    Tables that have the *columns* are of it, and *key*, which has the ids of jobs, or another column that is
    said to have them. *select* makes of the table ``given`` a row for each job, with ``id``, ``site``, fields
    of jobs, and what `gwa.formats.measure` makes fields of: ``gpus`` and ``nodes`` (measured), ``watts``,
    ``cpu_share`` and ``cpu_seconds``. *export* says how to get such a table.
    """

    name: str
    title: str
    columns: frozenset[str]
    select: str
    export: str
    key: str = ""

    def fits(self, columns: Collection[str], on: str | None) -> bool:
        """Whether a table with *columns* is of this kind, where *on* is the column of ids that is said."""
        return self.columns <= set(columns) and (not self.key or (on or self.key) in columns)


DCGM: Final = MeasuredKind(
    "dcgm",
    "samples of NVIDIA's dcgm-exporter: Prometheus' answer as JSON, or a row for each metric, GPU and time",
    frozenset({"timestamp", "metric", "gpu", "value"}),
    f"""
with sample as (
    select
        {{id}} as id,
        coalesce({{uuid}}, concat_ws('/', {{host}}, cast(gpu as varchar))) as board,
        coalesce({{model}}, board) as model,
        concat_ws('/', board, {{part}}) as device,
        coalesce({{part}}, {{profile}}) is not null as is_part,
        metric,
        "timestamp" as t,
        try_cast(value as double) as value,
        count(*) over (partition by board, metric, t) as sharing
    from given
    -- A blank is a number, too.
    where try_cast(value as double) >= 0 and try_cast(value as double) < {BLANK!r}
),
read as (
    select
        id,
        device,
        any_value(model) as model,
        bool_or(is_part) as is_part,
        avg(value) filter (where metric = 'DCGM_FI_DEV_GPU_UTIL') / 100 as use_of_gpu,
        avg(value) filter (where metric = 'DCGM_FI_PROF_GR_ENGINE_ACTIVE') as use_of_engine,
        max(value) filter (where metric = 'DCGM_FI_DEV_FB_USED') * 1024 as memory,
        avg(value / sharing) filter (where metric = 'DCGM_FI_DEV_POWER_USAGE') as watts
    from sample
    where id is not null
    group by id, device
),
free as (
    select model, quantile_disc(lowest, 0.25) as empty
    from (
        select model, board, min(value) as lowest
        from sample
        where id is null and metric = 'DCGM_FI_DEV_POWER_USAGE'
        group by model, board, floor(try_cast(t as double) / 86400)
    )
    group by model
),
waiting as (
    select model, quantile_disc(watts, 0.05) as context
    from read
    where use_of_gpu = 0 and memory > {IN_USE!r}
    group by model
),
device as (
    -- A reading of 0 is a short look, as likely between the bursts of a program: it counts where the power is
    -- that of idle GPUs. Of a part of a GPU, the use of the GPU is not counted, and 0.
    select
        read.*,
        coalesce(use_of_engine, use_of_gpu) as was_read,
        coalesce(
            use_of_engine,
            nullif(use_of_gpu, 0),
            case
                when not is_part and watts <= {IDLE_RATIO!r} * case
                    when context <= {MAXIMUM_CONTEXT!r} * empty then greatest(context, empty) else empty
                end then use_of_gpu
            end
        ) as used
    from read
    left join free using (model)
    left join waiting using (model)
),
counter as (
    -- A counter that is less than before has begun again at 0. Jobs that share a GPU, whole or in parts,
    -- share its energy.
    select id, sum(if(value < former, value, value - former) / sharing) / 1000 as joules
    from (
        select id, value, sharing, lag(value) over (partition by id, device order by t) as former
        from sample
        where metric = 'DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION' and id is not null
    )
    where former is not null
    group by id
)
select
    id,
    null as site,
    cast(coalesce(nullif(count(was_read), 0), nullif(count(memory), 0)) as double) as gpus,
    case when count(used) = count(was_read) then avg(used) end as gpu_utilization,
    case
        when count(used) = count(was_read) and count(used) > 0
            then cast(count(*) filter (where used = 0) as double)
    end as idle_gpus,
    sum(memory) as gpu_memory,
    max(memory) as max_gpu_memory,
    any_value(joules) as energy,
    case when count(joules) = 0 then sum(watts) end as watts
from device
left join counter using (id)
group by id
""",
    "# hpc_job is what the site's prolog writes for dcgm-exporter. Series without it say what idle GPUs\n"
    "# draw, else no GPU is known to be idle. Files of several days are read as one.\n"
    "curl -sG $PROMETHEUS/api/v1/query_range -d step=60"
    " -d start=2025-01-01T00:00:00Z -d end=2025-01-02T00:00:00Z \\\n"
    """  --data-urlencode 'query={__name__=~"DCGM_FI_DEV_(GPU_UTIL|FB_USED|POWER_USAGE"""
    """|TOTAL_ENERGY_CONSUMPTION)|DCGM_FI_PROF_GR_ENGINE_ACTIVE"}' > dcgm.json""",
    key="hpc_job",
)

CEEMS: Final = MeasuredKind(
    "ceems",
    "units of CEEMS, a row for each job",
    frozenset({"cluster_id", "avg_cpu_usage", "avg_gpu_usage"}),
    f"""
with unit as (
    select
        {{id}} as id,
        cast(cluster_id as varchar) as site,
        try_cast(json_extract_string(avg_cpu_usage, '$.global') as double) / 100 as cpu_share,
        try_cast(json_extract_string(avg_gpu_usage, '$.global') as double) as used,
        try_cast(json_extract_string({{cpu_energy}}, '$.total') as double) as cpu_kwh,
        try_cast(json_extract_string({{gpu_energy}}, '$.total') as double) as gpu_kwh
    from given
    where coalesce(cast({{ignored}} as varchar), '0') <> '1'
    -- A unit that has not ended is more in a later export.
    qualify
        {{begun}} is null
        or row_number()
            over (partition by id, site, {{begun}} order by try_cast({{lasted}} as double) desc) = 1
)
select
    id,
    site,
    max(cpu_share) as cpu_share,
    -- A rule of CEEMS yields fractions where the GPUs have the newer counter.
    max(used) / case when max(max(used)) over () <= 1 then 1 else 100 end as gpu_utilization,
    case
        when count(cpu_kwh) + count(gpu_kwh) > 0
            then (coalesce(sum(cpu_kwh), 0) + coalesce(sum(gpu_kwh), 0)) * {KWH!r}
    end as energy
from unit
group by id, site
""",
    "sqlite3 -csv -header ceems.db 'select * from units' > units.csv",
    key="uuid",
)

CODECARBON: Final = MeasuredKind(
    "codecarbon",
    "emissions.csv of CodeCarbon, a row for each process and node",
    frozenset({"run_id", "duration", "energy_consumed"}),
    f"""
with run as (
    select
        coalesce({{own_id}}, {{on}}) as id,
        coalesce({{host}}, '') as node,
        coalesce({{mode}}, 'machine') as mode,
        try_cast(duration as double) as lasted,
        try_cast(energy_consumed as double) * {KWH!r} as joules
    from given
)
select id, null as site, sum(joules) as energy
from (
    -- What measured the whole node did so for all processes on it.
    select id, if(mode = 'machine', max_by(joules, lasted), sum(joules)) as joules
    from run
    group by id, node, mode
)
where id is not null
group by id
""",
    "# CodeCarbon writes it beside the program, with job_id and node_name where it knows the scheduler.\n"
    "gwa measure jobs.duckdb */emissions.csv",
)

OF_SUMMARY: Final = """
select
    id,
    site,
    cast(s.nodes as double) as nodes,
    -- Where the use of GPUs is not known, as of parts of them (MIG), their memory tells how many there are.
    cast(coalesce(nullif(len(s.uses), 0), nullif(len(s.sizes), 0)) as double) as gpus,
    list_avg(s.uses) / 100 as gpu_utilization,
    case when len(s.uses) > 0 then cast(len(list_filter(s.uses, lambda x: x = 0)) as double) end as idle_gpus,
    jobstats_total(s.sizes) / 1024 as gpu_memory,
    case when jobstats_total(s.sizes) is not null then list_max(s.sizes) / 1024 end as max_gpu_memory,
    nullif(s.memory, 0) as max_memory,
    jobstats_total(s.times) as cpu_seconds,
    case
        when jobstats_total(s.times) is not null
            then cast(len(list_filter(s.times, lambda x: x = 0)) as double)
    end as idle_nodes
from summary
where s.nodes > 0
"""
"""What is made of what jobstats says of the nodes of a job, as `gwa.ingest.jobstats` has it."""

JOBSTATS: Final = MeasuredKind(
    "jobstats",
    "job_summary of jobstats' database, a row for each job",
    frozenset({"cluster", "admin_comment"}),
    f"""
with summary as (
    select
        {{id}} as id,
        cast(cluster as varchar) as site,
        jobstats_summary({TEXT_FUNCTION}(admin_comment)) as s
    from given
    where ltrim(admin_comment) like 'JS1:%' and not regexp_matches(ltrim(admin_comment), '^JS1:(None|Short)')
)
{OF_SUMMARY}
""",
    "mariadb jobstats -B -e 'select cluster, jobid, admin_comment from job_summary' > summary.tsv",
    key="jobid",
)

JOBSTATS_NODES: Final = MeasuredKind(
    "jobstats",
    "job_nodes and job_gpu_metrics of jobstats' database, a row for each node and GPU; as dumps of the three"
    " tables, too",
    frozenset({"cluster", "node_name", "used_memory", "total_time", "gpu_index", "gpu_utilization"}),
    f"""
with each_gpu as (
    select
        {{id}} as id,
        cast(cluster as varchar) as site,
        cast(node_name as varchar) as node,
        nullif(cast(gpu_index as varchar), '') as gpu,
        max(try_cast(used_memory as double)) as memory,
        max(try_cast(total_time as double)) as cpu_time,
        max(try_cast(gpu_utilization as double)) as used,
        max(try_cast({{gpu_memory}} as double)) as size
    from given
    group by all
),
each_node as (
    select
        id,
        site,
        max(memory) as memory,
        max(cpu_time) as cpu_time,
        list(used order by gpu) filter (where gpu is not null) as uses,
        list(size order by gpu) filter (where gpu is not null) as sizes
    from each_gpu
    group by id, site, node
),
summary as (
    select
        id,
        site,
        {{{{
            'nodes': count(*),
            'times': list(cpu_time),
            'memory': jobstats_total(list(memory)) / 1024,
            'uses': jobstats_uses(flatten(list(uses) filter (where uses is not null))),
            'sizes': flatten(list(sizes) filter (where sizes is not null))
        }}}} as s
    from each_node
    group by id, site
)
{OF_SUMMARY}
""",
    "mariadb jobstats -B -e 'select s.cluster, s.jobid, n.node_name, n.used_memory, n.total_time,"
    " g.gpu_index, g.gpu_utilization, g.gpu_used_memory from job_summary s"
    " join job_nodes n on n.job_summary_id = s.id"
    " left join job_gpu_metrics g on g.job_node_id = n.id' > nodes.tsv",
    key="jobid",
)

KINDS: Final = (DCGM, CEEMS, CODECARBON, JOBSTATS_NODES, JOBSTATS)

OTHER: Final = "table"
"""The name of what is measured by a table of which a map says what it has."""

OPTIONAL: Final = {
    "host": "Hostname",
    "uuid": "UUID",
    "part": "GPU_I_ID",
    "profile": "GPU_I_PROFILE",
    "model": "modelName",
    "cpu_energy": "total_cpu_energy_usage_kwh",
    "gpu_energy": "total_gpu_energy_usage_kwh",
    "ignored": "ignore",
    "begun": "started_at_ts",
    "lasted": "total_time_seconds",
    "own_id": "job_id",
    "mode": "tracking_mode",
    "gpu_memory": "gpu_used_memory",
}
"""Columns that a kind reads where there are such."""


def kind_of(columns: Collection[str], on: str | None) -> MeasuredKind:
    """
    Return the kind of a table with *columns*, in which *on* has the ids of jobs where that is said.

    Raise `DefinitionError` for a table of no kind that is known.
    """
    for kind in KINDS:
        if kind.fits(columns, on):
            return kind
    known = "; ".join(
        f"{kind.name} ({', '.join(sorted({*kind.columns, kind.key} - {''}))})" for kind in KINDS
    )
    raise DefinitionError(
        f"the columns are those of no measurements that are known: {known}; for another table say which"
        " column has the ids of jobs and what the others hold, such as --on job --map gpu_utilization=util:%,"
        " or, of samples of nodes, --map host=node,time=ts,device=gpu,gpu_utilization=util:%"
    )


def query_of(kind: MeasuredKind, columns: Collection[str], on: str | None) -> str:
    """Return the query that makes rows of jobs of the table ``given`` of a *kind*, with *columns*."""
    names = OPTIONAL | ({"host": "node_name"} if kind is CODECARBON else {})
    found = {key: _text(name) if name in columns else "null" for key, name in names.items()}
    has_on = on is not None and on in columns
    return kind.select.format(
        **found,
        id=_text(on if on and has_on else kind.key) if kind.key else "null",
        on=_text(on) if on and has_on else "null",
    )


def _text(column: str) -> str:
    return f"nullif(cast({identifier(column)} as varchar), '')"


def _number(column: str) -> str:
    """Return the SQL of the number in a column; of text that is none, what is no number."""
    text = _text(column)
    return f"if({text} is null, null, coalesce(try_cast({text} as double), 'nan'))"


def mapped_query(columns: Collection[str], on: str | None, stated: str) -> str:
    """
    Return the query of a table with *columns* of which *stated* says what it has.

    *on* names the column of the ids of jobs. Raise `DefinitionError` for a map that is none.
    """
    if on is None:
        raise DefinitionError("which column has the ids of jobs is not said, expected --on COLUMN as well")
    values = []
    for entry in stated.split(","):
        field, _, place = entry.strip().partition("=")
        column, _, unit = place.partition(":")
        if field not in MEASURABLE or column not in columns or unit not in UNITS:
            raise DefinitionError(
                f"'{entry.strip()}' is no FIELD=COLUMN:UNIT, expected a field of {', '.join(MEASURABLE)},"
                f" a column of the table, and a unit of {', '.join(filter(None, UNITS))}"
            )
        how = "avg" if field == "gpu_utilization" else "sum" if field in SUMS else "max"
        values.append(f"{how}({_number(column)}){UNITS[unit]} as {field}")
    return (
        f"select coalesce({_text(on)}, '') as id, null as site, {', '.join(values)} from given group by all"
    )


OTHER_TABLE: Final = """\
Any other table: --on COLUMN has the ids, and --map FIELD=COLUMN:UNIT,… says what others have.
Fields: {fields}. Units: {units}.
"""

SAMPLES_HEADING: Final = """\
Samples of nodes say no job: they are joined to the job that held the node alone, by node and time, if the log
names its nodes. Where a file does not say the node, its name does (gpu01.csv), or --node, or
--node-from-name. Times without a zone are of the log's, or --zone; --shift moves them.
"""

SAMPLES_TABLE: Final = """\
Any other table of samples: --map "host=COLUMN,time=COLUMN,device=COLUMN,gpu_utilization=COLUMN:%,…".
Fields: host, time (s, ms), device, model, gpu_utilization (%), gpu_memory (B, KB, MiB, GiB), power (W, mW,
kW) and energy_counter (J, mJ, uJ, Wh, kWh). Without a device, power and energy are of the whole node.
"""


def explained() -> str:
    """Return what `gwa formats measurements` prints."""
    parts = [
        f"{kind.name}: {kind.title}\n    columns: {', '.join(sorted({*kind.columns, kind.key} - {''}))}\n"
        + "".join(f"    {line}\n" for line in kind.export.splitlines())
        for kind in KINDS
    ]
    heading = (
        "Measurements of jobs, for gwa measure STORE FILE…, gwa convert and gwa report --measurements FILE."
        "\nFiles are CSV or Parquet, or what Prometheus answers.\n"
    )
    return "\n".join([
        heading,
        *parts,
        OTHER_TABLE.format(fields=", ".join(MEASURABLE), units=", ".join(filter(None, UNITS))),
        SAMPLES_HEADING,
        *(f"{one.name}: {one.title}\n{indent(one.export, '    ')}\n" for one in sample_readers()),
        SAMPLES_TABLE,
        "What the log has itself counts first, then " + ", ".join(PRECEDENCE) + ".",
    ])  # fmt: skip
