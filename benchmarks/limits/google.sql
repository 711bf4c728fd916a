-- The task events of `benchmarks.logs`, by hand: what a task asks for is the same in each of its events.
create temp table event as
select *, row_number() over () as line
from read_csv(
    $log, delim = ',', header = false, auto_detect = false, columns = {
        'time': 'bigint', 'missing': 'tinyint', 'job': 'bigint', 'task': 'integer', 'machine': 'bigint',
        'event': 'tinyint', 'person': 'varchar', 'class': 'tinyint', 'priority': 'tinyint', 'cpu': 'double',
        'ram': 'double', 'disk': 'double', 'different': 'tinyint'
    }
);

insert into jobs by name
with attempt as (
    select
        job,
        task,
        count(*) as rows,
        min(time) filter (where event = 0) as submitted,
        max({'time': time, 'line': line}) filter (where event = 0) as submission,
        max({'time': time, 'line': line}) filter (where event = 1) as start,
        min(time) filter (where event = 1) as first_start,
        count(*) filter (where event = 1) as starts,
        max({'time': time, 'line': line, 'event': event}) filter (where event > 1) as last,
        any_value(class) as class,
        any_value(priority) as priority,
        any_value(cpu) as cpu,
        any_value(ram) as ram,
        any_value(disk) as disk
    from event
    group by job, task
),
bag as (
    select job, 'U' || left(translate(any_value(person), '+/', '-_'), 12) as person, min(task) < max(task) as is_bag
    from event
    group by job
),
request as (
    select
        *,
        'cpu:' || cpu || ',ram:' || ram || ',disk:' || disk || ',class:' || class as requested
    from (select distinct cpu, ram, disk, class from event)
),
one as (
    select
        *,
        round(submitted / 1e6) as submitted_at,
        case when start > submission then round(start.time / 1e6) end as started_at,
        round(first_start / 1e6) as first_started_at,
        last is not null
        and {'time': last.time, 'line': last.line} > greatest(submission, coalesce(start, submission)) as is_over
    from attempt
),
several as (
    select
        job,
        task,
        string_agg(
            concat_ws(
                '/',
                (round(time / 1e6) - submitted_at)::bigint,
                coalesce((round(until / 1e6) - round(time / 1e6))::bigint::varchar, ''),
                '',
                '1',
                '',
                '',
                case ending
                    when 2 then 'evicted'
                    when 3 then 'failed'
                    when 4 then 'completed'
                    when 5 then 'killed'
                    when 6 then 'lost'
                    else 'running'
                end
            ),
            ';' order by time
        ) as runs
    from (
        select
            *,
            lead(event) over (partition by job, task order by time, line) as ending,
            lead(time) over (partition by job, task order by time, line) as until
        from event
    ) as followed
    join (from one where starts > 1 or start < submission) as again using (job, task)
    where event = 1
    group by job, task
)
select
    row_number() over (order by submitted_at, job, task) as job_id,
    1304290200 + submitted_at as submit_time,
    first_started_at - submitted_at as wait_time,
    case when is_over then round(last.time / 1e6) - started_at end as run_time,
    case when started_at is not null then 1 end as n_procs,
    1 as req_n_procs,
    case when is_over then case last.event when 4 then 1 when 5 then 5 else 0 end end as status,
    person as user_id,
    'P' || priority as queue_id,
    if(is_bag, 'BoT', 'UNITARY') as job_structure,
    case when is_bag then job::varchar end as job_structure_params,
    'events:' || rows as used_resources,
    requested as req_resources,
    several.runs,
    case when several.runs is not null then starts - (start > submission)::integer end as n_requeues
from one
left join several using (job, task)
join bag using (job)
join request using (cpu, ram, disk, class)
order by job_id;
