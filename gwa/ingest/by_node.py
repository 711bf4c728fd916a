"""
Samples of nodes and times joined to the jobs that held the nodes then.

The time of a node is cut into *pieces* in which the jobs that hold it do not change. In a piece with one job,
what is sampled is that job's; with several, none's. Each sample looks its piece up by node and hour, so that
nothing is sorted and the memory needed grows with the number of jobs, not of samples. Where the log says
which GPUs of a node a job held, the time of each of these GPUs is cut, as that of the others is together: a
job of which it does not say that may have held any.

The run of a job is cut into `MARKS` parts, and a number has a bit for each that has a sample: it tells gaps.
Sums of power over `BATCHES` parts are batch means, whose spread says how far the mean of all may be from the
truth. Sums are of whole numbers, so that their order changes nothing.

A job is measured where it was alone on its nodes, held all of their devices, and was sampled at least
`MINIMUM_SAMPLES` times without a gap of more than three steps and a tenth of its run. Of one that held a part
of the devices what all of them used is a bound, from above; of one that was sampled too seldom the peak is a
bound, from below. All else is unknown, which is not 0.

What processors of a node used is that of its only job, in CPU seconds, as is its power; the memory of a node
is that of its system, too, and stays a number beside the job. A mean over a time in which a job began is of
no job.

A reading of use is a short look: one of 0 does not say that a device did nothing, as programs that compute
for a part of each second are often read as 0 every time. So a use of 0 counts, and a device was idle, only
where its power agrees: `IDLE_RATIO` times what boards of the model draw when they are idle, which is learned
from the samples.

Sources: batch means, Law and Kelton, Simulation Modeling and Analysis, section 9.5.3. That power meters of
GPUs are off by a per cent and more: Yang et al., Part-time Power Measurements, arXiv 2312.02741.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from gwa.ingest.node_samples import COLUMNS
from gwa.store.engines.duckdb import literal
from gwa.store.hosts import GPU_FORM, on_nodes
from gwa.store.runs import END, START
from gwa.store.schema import NOT_ENDED, SITE
from gwa.store.store import Store

if TYPE_CHECKING:
    import pyarrow as pa

MARKS: Final = 64
"""Parts of a run of which it is marked whether there is a sample in them: bits of a number."""

BATCHES: Final = 4
"""Parts of a run of which power is summed."""

COUNTED: Final = 1 << 44
"""What is added to each number of a sum, which then has the count of its numbers above this."""

MINIMUM_SAMPLES: Final = 10
"""Samples of a job that a mean needs."""

IDLE_RATIO: Final = 1.10
"""By how much the mean power of a device that did nothing may be above that of idle boards."""

MAXIMUM_CONTEXT: Final = 2.0
"""By how much idle boards draw more with a program's data in memory than without, at most."""

IN_USE: Final = 262144.0
"""KB above the lowest memory of a device from which a program has data there: a driver has less."""

METER_ERROR: Final = 0.01
"""The error of a power meter, as a fraction."""

T_QUANTILE: Final = 3.18
"""The 97.5 % quantile of Student's t with a degree of freedom less than `BATCHES`."""

NOTES: Final = (
    "readings", "energy_error", "gpu_memory_at_least", "gpu_memory_at_most", "energy_at_most", "node_memory",
)  # fmt: skip
"""
What is kept beside the measured fields of a job: samples, the error of its energy in J, bounds, and the
memory in KB of its nodes, with that of their systems.
"""

BOUNDS: Final = ("gpu_memory_at_least", "gpu_memory_at_most", "energy_at_most")

AT_LEAST: Final = {"gpu_memory_at_least": "gpu_memory"}
"""Of which fields it is known that they are at least so much."""

UNREADABLE, NO_SUCH_NODE, OUTSIDE, SKEWED, REPEATED, BEGUN_WITHIN = -1, -2, -3, -4, -5, -6
"""Why samples are of no job, in place of the day that they are of."""

FREE, SHARED = 0, 1
"""The same of samples of nodes that no job held then, or several."""

WITHIN_SECOND: Final = "{moment} + case when {moment} = floor({moment}) then 0.5 else 0.0 end"
"""The SQL of a moment of which the fraction of the second was cut off, as it is on average."""

HOLDS: Final = f"""
create or replace temp table by_node_placed as
select job_id, submit_time, node, n_procs * share as procs, coalesce(n_gpus, 0) * share as gpus,
    since, is_open, case when share = 1 then {{gpu_list}} end as gpu_list,
    coalesce(till, (select max(greatest(coalesce({END}, 0), {START})) from jobs)) as till
from (
    select *, {WITHIN_SECOND.format(moment=f"({START})")} as since,
        {WITHIN_SECOND.format(moment=f"({END})")} as till, {END} is null as is_open
    from {{on_nodes}} as placed
    inner join by_node_node as known on placed.host = known.name
    where (run_time >= 0 or {NOT_ENDED}) and submit_time is not null
) as held
where coalesce(till, 1e300) > since
"""

NODES: Final = """
create or replace temp table by_node_node as
select cast(row_number() over (order by host) as integer) as node, host as name,
    split_part(host, '/', -1) as short
from (select distinct host from {on_nodes} as placed)
"""

OF_KIND: Final = """
create or replace temp table by_node_hold as from by_node_placed where {holders}
"""

_SHORT_UUID: Final = "left(lower({uuid}), 12)"
"""The SQL of the part of a UUID that schedulers write, too."""

GPUS_OF_JOBS: Final = f"""
create or replace temp table by_node_gpu_of_job as
with part as (
    select job_id, node, gpus, unnest(string_split(gpu_list, ',')) as part
    from by_node_hold
    where regexp_full_match(gpu_list, {literal(GPU_FORM)})
),
gpu as (
    select distinct job_id, node, gpus, gpu
    from (
        select *, unnest(case
            when contains(part, 'GPU') then [{_SHORT_UUID.format(uuid="part")}]
            else cast(
                range(cast(split_part(part, '-', 1) as int), cast(split_part(part, '-', -1) as int) + 1)
                as varchar[]
            )
        end) as gpu
        from part
    ) as gpus
),
-- Of a node that has a GPU without the one or the other, nothing is told by it.
seen as (
    select node, count(*) = count(number) as has_numbers, count(*) = count(uuid) as has_uuids
    from by_node_gpu group by node
),
comparable as (
    select job_id, node, gpus, gpu, starts_with(gpu, 'gpu-') as by_uuid
    from gpu inner join seen using (node)
    where if(by_uuid, has_uuids, has_numbers)
    qualify not (bool_or(by_uuid) over (partition by node) and not by_uuid)
)
select job_id, node, gpu from comparable
qualify abs(count(*) over (partition by job_id, node) - gpus) < 1e-6
"""
"""
Which GPUs jobs held, of jobs on one node: by number, or by the beginning of the UUID where jobs of the node
are told by it. What does not agree with how many GPUs a job held tells nothing.
"""

SAMPLED_GPUS: Final = f"""
create or replace temp table by_node_gpu as
select distinct known.node, seen.host, seen.device, seen.place,
    cast(coalesce(seen.place, try_cast(seen.device as integer)) as varchar) as number,
    case when starts_with(seen.device, 'GPU-') then {_SHORT_UUID.format(uuid="seen.device")} end as uuid
from by_node_seen_host as seen inner join by_node_match as known using (host)
where seen.device is not null
"""
"""The GPUs that were sampled, each by what jobs may be told to hold."""

SLOTS: Final = """
create or replace temp table by_node_slot as
select cast((select count(*) from by_node_node) + row_number() over (order by node, gpu) as integer) as slot,
    node, gpu
from (
    select distinct node, gpu from by_node_gpu_of_job
    union select distinct node, '' from by_node_gpu_of_job
) as parts
"""
"""
Parts of nodes of which samples are looked up alone: the GPUs that a job was told to hold, and of each of
their nodes all others. A slot with the number of a node is all of it.
"""

SLOT_OF_GPU: Final = """
create or replace temp table by_node_slot_of_gpu as
select host, device, coalesce(place, -1) as place,
    coalesce(any_value(slot) filter (where gpu <> ''), any_value(slot)) as slot
from by_node_gpu as seen inner join by_node_slot as part
    on seen.node = part.node and part.gpu in (seen.number, seen.uuid, '')
group by host, device, seen.place
"""

HELD: Final = """
create or replace temp table by_node_held as
select job_id, node as slot, since, till, gpus,
    node not in (select node from by_node_slot) as is_looked_up
from by_node_hold
union all
select job_id, slot, since, till, 1, true
from by_node_hold inner join by_node_gpu_of_job using (job_id, node) inner join by_node_slot using (node, gpu)
union all
select job_id, slot, since, till, 0, true
from by_node_hold anti join by_node_gpu_of_job using (job_id, node) inner join by_node_slot using (node)
"""
"""Which slots jobs may have held, when; nodes as a whole stand beside their slots."""

MOMENTS: Final = """
create or replace temp table by_node_moment as
with border as (
    select slot, since as t, 1 as step, job_id, cast(gpus as decimal(18, 6)) as gpus from by_node_held
    union all
    select slot, till, -1, -job_id, -cast(gpus as decimal(18, 6)) from by_node_held
),
moment as (
    select slot, t, sum(step) as step, sum(job_id) as job, sum(gpus) as gpus from border group by slot, t
),
running as (
    select slot, t as since, lead(t) over by_time as till, sum(step) over by_time as jobs,
        sum(job) over by_time as job, sum(gpus) over by_time as gpus
    from moment
    window by_time as (partition by slot order by t)
)
select slot, since, till, cast(jobs as bigint) as jobs,
    case when jobs = 1 then cast(job as bigint) end as job, cast(gpus as double) as gpus,
    coalesce(sum(cast(jobs > 1 as bigint)) over (
        partition by slot order by since rows between unbounded preceding and 1 preceding
    ), 0) as shared_before
from running
"""
"""When the jobs of a slot change, what holds it from then on, and how many pieces before were shared."""

HOLDERS: Final = f"""
create or replace temp table by_node_piece as
select cast(row_number() over (order by moment.slot, moment.since) as integer) as piece, moment.slot, job,
    jobs, moment.since, moment.till, hold.since as start,
    {MARKS}.0 / (hold.till - hold.since) as marks_a_second
from by_node_moment as moment
left join by_node_held as hold on moment.job = hold.job_id and moment.slot = hold.slot
where jobs > 0
"""

HOURLY: Final = """
create or replace temp table by_node_hourly as
select *, unnest(range(cast(floor(since / 3600) as bigint), cast(ceil(till / 3600) as bigint))) as hour
from by_node_piece
"""

OF_GPU: Final = """
    left join by_node_slot_of_gpu as part
        on sample.host = part.host and sample.device = part.device and {place} = part.place"""

BINNED: Final = f"""
create or replace temp table by_node_bin as
select node, device, piece,
    cast(case
        when t is null or device is null or coalesce({{values}}) is null then {UNREADABLE}
        when t < 0 then {REPEATED}
        when node is null then {NO_SUCH_NODE}
        when t < {{first!r}} or t > {{last!r}} then {OUTSIDE}
        when piece is null then floor(t / 86400)
        {{within}}
        else 0
    end as integer) as day,
    count(*) as n, bit_or(1::ubigint << mark) as marks, min(t) as first, max(t) as last, {{sums}}
from (
    select sample.*, known.node, piece{{since}},
        cast(least(floor((t - start) * marks_a_second), {MARKS - 1}) as utinyint) as mark,
        mark >> {(MARKS // BATCHES).bit_length() - 1} as batch
    from (select {{guarded}} from ({{samples}}) as sample) as sample
    left join by_node_match as known on sample.host = known.host{{of_gpu}}
    left join by_node_hourly as held
        on held.slot = {{slot}} and hour = cast(floor(t / 3600) as bigint) and t >= since and t < till
) as placed
group by node, device, piece, day
"""

_BATCHES: Final = [f"watts_{batch}" for batch in range(BATCHES)]
_TEN_THOUSANDTHS: Final = f"sum(cast({{name}} * 10000 as bigint) + {COUNTED}) as {{name}}"

SUMS: Final = {
    "use": _TEN_THOUSANDTHS.format(name="use"),
    "mean_use": _TEN_THOUSANDTHS.format(name="mean_use"),
    "cores": _TEN_THOUSANDTHS.format(name="cores"),
    "watts": ", ".join(
        [
            *(
                f"sum(case when batch = {batch} then cast(watts * 1000 as bigint) + {COUNTED} end) as {name}"
                for batch, name in enumerate(_BATCHES)
            ),
            "min(watts) as lowest_watts, sum(cast(watts * watts * 100 as bigint)) as squares",
        ]
    ),
    "kb": "count(kb) as n_kb, max(kb) as kb, min(kb) as lowest_kb",
    "counter": "count(counter) as n_counter, min(counter) as low, max(counter) as high,"
    " arg_min(counter, t) as first_counter, arg_max(counter, t) as last_counter",
    "model": "any_value(model) as model",
    "place": "max(place) as place",
}
"""What is kept of the samples of each column, if there is one: whole numbers, which add up exactly."""

MISSING: Final = {
    "use": "cast(null as hugeint) as use",
    "mean_use": "cast(null as hugeint) as mean_use",
    "cores": "cast(null as hugeint) as cores",
    "watts": ", ".join(
        [
            *(f"cast(null as hugeint) as {name}" for name in _BATCHES),
            "cast(null as double) as lowest_watts, cast(null as hugeint) as squares",
        ]
    ),
    "kb": "0 as n_kb, cast(null as double) as kb, cast(null as double) as lowest_kb",
    "counter": "0 as n_counter, "
    + ", ".join(
        f"cast(null as double) as {name}" for name in ("low", "high", "first_counter", "last_counter")
    ),
    "model": "cast(null as varchar) as model",
    "place": "cast(null as integer) as place",
}

GUARDED: Final = {
    "use": "case when use between 0 and 1 then use end as use",
    "mean_use": "case when mean_use between 0 and 1 then mean_use end as mean_use",
    "cores": "case when cores between 0 and 1e6 then cores end as cores",
    "watts": "case when watts between 0 and 1e6 then watts end as watts",
    "kb": "case when kb between 0 and 1e12 then kb end as kb",
    "counter": "case when counter between 0 and 1e18 then counter end as counter",
}
"""The values that a column may have; others are none."""


def _count_in(*sums: str) -> str:
    """Return the SQL of how many numbers are in sums."""
    return (
        "("
        + " + ".join(f"coalesce(cast({one} >> {COUNTED.bit_length() - 1} as bigint), 0)" for one in sums)
        + ")"
    )


def _sum_in(*sums: str) -> str:
    """Return the SQL of the sum of the numbers in sums."""
    return "(" + " + ".join(f"coalesce(cast({one} & {COUNTED - 1} as bigint), 0)" for one in sums) + ")"


_MEANS: Final = [f"{_sum_in(one)} / 1000.0 / nullif({_count_in(one)}, 0)" for one in _BATCHES]
_SPREAD: Final = " + ".join(f"({one} - sampled_watts) ** 2" for one in _MEANS)
_LONGEST_GAP: Final = (
    f"list_max(list_transform(string_split(lpad(to_binary(marks), {MARKS}, '0'), '1'),"
    f" lambda zeros: length(zeros))) / {MARKS}.0"
)
"""The SQL of the longest time without a mark, as a part of the run."""

READ: Final = f"""
create or replace temp view by_node_read as
select bin.* exclude (use, mean_use, cores, piece, node), job, jobs, bin.node, start,
    {_count_in("use")} as n_use, {_sum_in("use")} / 10000.0 / nullif(n_use, 0) as use,
    {_count_in("mean_use")} as n_mean_use,
    {_sum_in("mean_use")} / 10000.0 / nullif(n_mean_use, 0) as mean_use,
    {_count_in("cores")} as n_cores, {_sum_in("cores")} / 10000.0 / nullif(n_cores, 0) as cores,
    {_count_in(*_BATCHES)} as n_watts,
    {_sum_in(*_BATCHES)} / 1000.0 / nullif(n_watts, 0) as sampled_watts,
    greatest(n_use, n_mean_use, n_cores, n_watts, n_kb, n_counter) as readings
from by_node_bin as bin left join by_node_piece as piece on bin.piece = piece.piece
where day >= 0
"""
"""What was read of each device in each piece, and on each day that no job held it."""

DEVICES: Final = """
create or replace temp table by_node_device as
with seen as (
    select node, device, max(model) as model, max(place) as place, min(lowest_kb) as lowest_kb,
        max(kb) as highest_kb, min(first) as first, max(last) as last,
        median((last - first) / (readings - 1)) filter (where readings >= 3 and job is not null) as step
    from by_node_read
    group by node, device
)
select *, coalesce(model, concat(node, '/', device)) as board,
    count(*) over (partition by node) as devices,
    greatest(
        count(*) over (partition by node), coalesce(max(place) over (partition by node) + 1, 0),
        coalesce({peak}, 0), coalesce(told, 0), {stated}
    ) as whole
from seen
left join (
    -- A job that a log keeps for too long must not make GPUs that there are not: what is held together for
    -- less than a hundredth of the time counts only if one job held it.
    select node, ceil(max(gpus) - 1e-6) as peak
    from (
        select node, gpus, sum(till - since) as seconds, sum(seconds) over (partition by node) as all_seconds
        from by_node_moment inner join by_node_node on slot = node where jobs > 0 group by node, gpus
        union all
        select node, gpus, 1, 1 from by_node_hold
    ) as amounts
    where seconds >= 0.01 * all_seconds
    group by node
) as held using (node)
left join (select node, count(*) - 1 as told from by_node_slot group by node) as slots using (node)
"""

IDLE_POWER: Final = f"""
create or replace temp table by_node_idle as
with drawn as (
    select board, jobs, n_watts, found.lowest_watts, sampled_watts as watts,
        n_use > 0 and use = 0 and (kb is null or kb > device.lowest_kb + {IN_USE!r}) as is_waiting
    from by_node_read as found
    inner join by_node_device as device on found.node = device.node and found.device = device.device
),
waiting as (
    select board, watts,
        sum(n_watts) over (partition by board order by watts)
            >= 0.05 * sum(n_watts) over (partition by board) as is_above
    from drawn where n_watts > 0 and jobs is not null and is_waiting
)
select board, empty,
    {IDLE_RATIO!r} * case
        when context <= {MAXIMUM_CONTEXT!r} * empty then greatest(context, empty) else empty
    end as threshold
from (
    select board, quantile_disc(lowest_watts, 0.25) as empty from drawn where jobs is null group by board
) as empties
left join (select board, min(watts) as context from waiting where is_above group by board) as contexts
    using (board)
"""
"""
What boards of a model draw when no job holds them, and up to which power one that a job holds is idle.

The former is the lowest power of a day, of which it is the lower quartile: jobs leave data behind. A board
with a program's data in memory draws more than one without: the 5 % quantile of those that are read as 0.
Where it is far more, the boards that were read as 0 may all have computed, and it does not count.
"""

OF_DEVICE: Final = f"""
create or replace temp table by_node_of_device as
with read as (
    select found.*, hold.till - hold.since as seconds, board, step, threshold,
        greatest(3 * coalesce(step, 0) / (hold.till - hold.since), 0.1) as longest_gap,
        -- Where few parts are without a sample no gap can be long, and none is looked for.
        case when bit_count(marks) >= {MARKS} * (1 - longest_gap) then true
            else {_LONGEST_GAP} <= longest_gap end as is_covered,
        -- A counter that fell has begun again, and what it counted before is not known.
        case when n_counter >= {MINIMUM_SAMPLES} and first_counter = low and last_counter = high
            then (high - low) / nullif(found.last - found.first, 0) end as counted_watts
    from by_node_read as found
    inner join by_node_hold as hold on found.job = hold.job_id and found.node = hold.node
    inner join by_node_device as device on found.node = device.node and found.device = device.device
    left join by_node_idle using (board)
)
select *,
    coalesce(counted_watts, case when n_watts >= {MINIMUM_SAMPLES} then sampled_watts end) as watts,
    case
        when counted_watts is not null
            then counted_watts * ({METER_ERROR!r} + 2 * coalesce(step, 0) / seconds)
        else greatest(
            {T_QUANTILE!r} * sqrt(({_SPREAD}) / {BATCHES * (BATCHES - 1)}.0),
            2 * sqrt(greatest(squares / 100.0 / n_watts - sampled_watts ** 2, 0) / n_watts)
        ) + {METER_ERROR!r} * sampled_watts
    end as error,
    case when n_mean_use >= {MINIMUM_SAMPLES} then mean_use when n_use >= {MINIMUM_SAMPLES} then use end
        as read_use,
    case
        when n_mean_use >= {MINIMUM_SAMPLES} or read_use > 0 then read_use
        when n_watts >= {MINIMUM_SAMPLES} and sampled_watts <= threshold then read_use
    end as known_use,
    case
        when read_use > 0 then false
        when n_mean_use >= {MINIMUM_SAMPLES} and read_use = 0 then true
        when read_use = 0 and n_watts >= {MINIMUM_SAMPLES} then sampled_watts <= threshold
    end as is_idle
from read
"""

OF_JOB: Final = f"""
create or replace temp table by_node_job as
with place as (
    select node, any_value(devices) as devices, any_value(whole) as whole, min(first) as first,
        max(last) as last
    from by_node_device group by node
),
told as (
    select job_id, node, count(*) as told from by_node_gpu_of_job group by job_id, node
),
held as (
    select job_id, bool_or(is_open) as is_open, max(till - since) as seconds,
        sum(gpus) as gpus, sum(procs) as procs,
        bool_or(since < last and till > first) as is_in_time,
        bool_and(place.node is not null) as is_on_seen,
        coalesce(bool_or(told is null and devices < whole), false) as lacks_devices,
        coalesce(bool_or({{holds_part}}), false) as is_part,
        sum(coalesce(told, devices)) as devices
    from by_node_hold as hold left join place using (node) left join told using (job_id, node)
    group by job_id
),
shared as (
    select distinct hold.job_id from by_node_held as hold
    inner join by_node_moment as early on early.slot = hold.slot and early.since = hold.since
    inner join by_node_moment as late on late.slot = hold.slot and late.since = hold.till
    where is_looked_up and late.shared_before > early.shared_before
),
sampled as (
    select job as job_id, count(*) as seen, bool_and(coalesce(is_covered, false)) as is_covered,
        min(readings) as readings,
        min(case when n_mean_use > 0 then n_mean_use else n_use end) as looks,
        case when count(known_use) = count(*) then sum(known_use) end as known_use,
        case when count(is_idle) = count(*) then count(*) filter (where is_idle) end as idle_gpus,
        count(*) filter (where read_use = 0 and known_use is null) as unsure,
        case when count(watts) = count(*) then sum(watts) end as watts,
        sum(error) as error,
        case when min(n_cores) >= {MINIMUM_SAMPLES} then sum(cores) end as cores,
        max(n_mean_use) > 0 and max(n_cores) = 0 as is_uncounted,
        case when min(n_kb) > 0 then sum(kb) end as kb, max(kb) as max_kb, min(n_kb) as n_kb
    from by_node_of_device group by job
)
select held.*, sampled.* exclude (job_id), site, id,
    case
        when is_open then 'open'
        when shared.job_id is not null then 'shared'
        when not is_on_seen or lacks_devices then 'elsewhere'
        when seen is null then 'none'
        when readings < {MINIMUM_SAMPLES} or seen < devices then 'few'
        when not is_covered then 'gap'
        when is_part then 'part'
        else 'measured'
    end as found
from held
left join shared using (job_id)
left join sampled using (job_id)
inner join by_node_id using (job_id)
where is_in_time
"""

IDS: Final = f"""
create or replace temp table by_node_id as
select job_id, any_value({SITE}) as site, min(source_id) as id
from source_ids inner join jobs using (job_id)
where job_id in (select job_id from by_node_placed)
group by job_id
"""

OF_GPUS: Final = {
    "gpu_utilization": "case when found = 'measured' then known_use / devices end",
    "idle_gpus": "case when found = 'measured' then cast(idle_gpus as double) end",
    "gpu_memory": f"case when found = 'measured' and n_kb >= {MINIMUM_SAMPLES} then kb end",
    "max_gpu_memory": f"case when found = 'measured' and n_kb >= {MINIMUM_SAMPLES} then max_kb end",
    "energy": "case when found = 'measured' then watts * seconds end",
    "energy_error": "case when found = 'measured' and watts is not null then error * seconds end",
    "readings": "case when found = 'measured' and looks > 0 then cast(looks as double) end",
    "gpu_memory_at_most": f"case when found = 'part' and n_kb >= {MINIMUM_SAMPLES} then kb end",
    "energy_at_most": "case when found = 'part' then watts * seconds end",
    "gpu_memory_at_least": "case when found in ('few', 'gap') then kb end",
}
"""What is made of what was found of a job on GPUs."""

OF_NODES: Final = {
    "energy": OF_GPUS["energy"],
    "energy_error": OF_GPUS["energy_error"],
    "cpu_seconds": "case when found = 'measured' then cores * seconds end",
    "node_memory": OF_GPUS["gpu_memory"],
}
"""What is made of what was found of a job on whole nodes."""

ROWS: Final = """
create or replace temp table by_node_row as
select id as source_id, site, {source} as source, field, value
from (unpivot (select id, site, {fields} from by_node_job) on columns(* exclude (id, site))
    into name field value value)
"""

KNOWN_BETTER: Final = f"""
select source_id, site, source, field, value from by_node_row
union all
select source_id, measured.site, source, field, null
from measured
inner join by_node_job as job on source_id = job.id and measured.site is not distinct from job.site
anti join by_node_row as row on measured.source_id = row.source_id
    and measured.site is not distinct from row.site and measured.field = row.field
where source = {{source}} and (
    is_part or found in ('shared', 'open')
    or found = 'measured' and field in ({", ".join(map(literal, BOUNDS))})
)
order by all
"""
"""
What was found and, without a value, what an earlier join of the *source* had found that does not hold.

A log that grew may have a job that shared the node. That less was sampled this time refutes nothing.
"""

UNUSED: Final = f"""
select case when day < 0 then day when bin.piece is null then {FREE} else {SHARED} end as why, sum(n)::bigint
from by_node_bin as bin left join by_node_piece as piece on bin.piece = piece.piece
where job is null or day < 0 group by why order by why
"""

TABLES: Final = (
    "node", "placed", "hold", "gpu", "gpu_of_job", "slot", "slot_of_gpu", "held", "moment", "piece", "hourly",
    "seen_host", "match", "bin", "device", "idle", "of_device", "job", "row", "id",
)  # fmt: skip


@dataclass(frozen=True)
class ByNode:
    """
    What samples said of jobs.

    *rows* are those of the table ``measured``, without a value where there is none any more. There are the
    numbers of jobs by what was *found*.

    ``measured`` are those that were, ``part`` those that held a part of the GPUs of their nodes, ``shared``,
    ``few`` (samples), ``gap``, ``elsewhere`` (on other nodes or GPUs, too), ``open`` (had not ended) and
    ``none`` (no sample) are those that were not. *unsure* of those that were measured were read as 0, and
    their power does not agree, or is not known; of *uncounted* ones the samples say which part of the
    processors was used, and not how many there are. *unused* are the samples that are of no job, by reason.
    The log *tells_gpus* of a node that some job held.
    """

    rows: "pa.Table"
    found: Mapping[str, int]
    unsure: int
    uncounted: int
    samples: int
    unused: Mapping[int, int]
    nodes: int
    tells_gpus: bool


def place_jobs(store: Store) -> None:
    """Make the tables of the nodes that *store* names and of what its jobs held of them, when."""
    database = store.connection
    placed = on_nodes(store)
    database.execute(NODES.format(on_nodes=placed))
    gpu_list = "gpu_list" if store.has("gpu_list") else "cast(null as varchar)"
    database.execute(HOLDS.format(on_nodes=placed, gpu_list=gpu_list))
    database.execute(IDS)


def log_span(store: Store) -> tuple[float, float]:
    """Return the first start and the last end of the jobs that nodes are known of."""
    first, last = store.row("select min(submit_time), max(till) from by_node_placed")
    return (0.0, 0.0) if first is None else (first, last)


def cut(store: Store, *, of_nodes: bool) -> None:
    """
    Make the pieces of the time of nodes: of all jobs, or of those that held GPUs.

    The table ``by_node_match`` says which ``node`` a ``host`` is, and ``by_node_seen_host`` which were seen.
    """
    store.connection.execute(OF_KIND.format(holders="true" if of_nodes else "gpus > 0"))
    for table in (SAMPLED_GPUS, GPUS_OF_JOBS, SLOTS, SLOT_OF_GPU, HELD, MOMENTS, HOLDERS, HOURLY):
        store.connection.execute(table)


def bin_samples(store: Store, samples: str, columns: Sequence[str]) -> None:
    """
    Make the sums of *samples* by job and part of its run: a query of rows of those *columns* that there are.

    `place_jobs` and `cut` were called before.
    """
    first, last = log_span(store)
    sums = [SUMS[name] if name in columns else text for name, text in MISSING.items()]
    kept = [name for name in COLUMNS if name in columns and name not in {"host", "clock", "t"}]
    tells_gpus = bool(store.row("select count(*) from by_node_slot")[0])
    place = "coalesce(sample.place, -1)" if "place" in columns else "-1"
    store.connection.execute(
        BINNED.format(
            values=", ".join([*(name for name in GUARDED if name in columns), "null"]),
            sums=", ".join(sums),
            since=", since" if "span" in columns else "",
            within=f"when t - span < since - 1 then {BEGUN_WITHIN}" if "span" in columns else "",
            guarded=", ".join(["host", "t", *(GUARDED.get(name, name) for name in kept)]),
            samples=samples,
            of_gpu=OF_GPU.format(place=place) if tells_gpus else "",
            slot="coalesce(part.slot, known.node)" if tells_gpus else "known.node",
            first=first,
            last=last,
        )
    )
    store.connection.execute(READ)


def know_devices(store: Store, *, of_nodes: bool) -> None:
    """Make the table of the devices that were sampled, and of how many each node has."""
    stated = 0 if of_nodes else float(store.system.node_gpus or 0)
    store.connection.execute(DEVICES.format(peak="null" if of_nodes else "peak", stated=stated))


def leave_out(store: Store, nodes: Sequence[int]) -> None:
    """Let samples of *nodes*, whose clocks are wrong, be of no job."""
    several = ", ".join(map(str, nodes)) or "null"
    store.connection.execute(f"update by_node_bin set day = {SKEWED} where node in ({several}) and day >= 0")


def conclude(store: Store, source: str, *, of_nodes: bool) -> ByNode:
    """Return what the samples of a *source* say of jobs, from what `bin_samples` and others made."""
    know_devices(store, of_nodes=of_nodes)
    database = store.connection
    for table in (IDLE_POWER, OF_DEVICE):
        database.execute(table)
    database.execute(
        OF_JOB.format(holds_part="false" if of_nodes else "told is null and gpus < whole - 1e-6")
    )
    fields = OF_NODES if of_nodes else OF_GPUS
    named = ", ".join(f"{sql} as {name}" for name, sql in fields.items())
    database.execute(ROWS.format(source=literal(source), fields=named))
    return ByNode(
        rows=database.sql(KNOWN_BETTER.format(source=literal(source))).to_arrow_table(),
        found=dict(store.rows("select found, count(*) from by_node_job group by found order by found")),
        unsure=store.row("select count(*) from by_node_job where found = 'measured' and unsure > 0")[0],
        uncounted=store.row(
            f"select count(*) from by_node_job where {of_nodes} and found = 'measured' and is_uncounted"
        )[0],
        samples=store.row("select coalesce(sum(n), 0)::bigint from by_node_bin")[0],
        unused=dict(store.rows(UNUSED)),
        nodes=store.row("select count(distinct node) from by_node_device")[0],
        tells_gpus=bool(store.row("select count(*) from by_node_gpu_of_job")[0]),
    )


def forget(store: Store) -> None:
    """Drop the tables of the join."""
    store.connection.execute("drop view if exists by_node_read")
    for table in TABLES:
        store.connection.execute(f"drop table if exists by_node_{table}")
