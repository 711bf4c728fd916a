"""
When a job held what: the field `runs` of jobs that held several amounts, or one in several intervals.

Most jobs hold one amount in one interval; their `runs` is NULL, and `wait_time`, `run_time` and `n_procs` say
all. A job that was started again, suspended or resized lists its *boxes*, in order of time, parted by ``;``::

    begin/length/seconds/procs/gpus/nodes/why

A box is what a job held without a change: it begins *begin* whole seconds after the submission and lasts
*length* seconds; empty where it had not ended. Where only the *seconds* are known, and not where in it they
lie, begin and length are the frame: the time in which they must. *procs*, *gpus* and *nodes* are empty where
they are those of the job. *why* says how the box ended: ``evicted``, ``preempted``, ``node_fail`` and the
like end a run, ``resizing`` and ``suspended`` do not, and the last box has the state of the job.

Waits are to the start of the first run; `run_time` is that of the last. Seconds without a place are put at
the end of their frame: totals are then exact, and what was charged for an earlier month does not change.
"""

from collections.abc import Iterable
from typing import Final

WITHIN_A_RUN: Final = ("resizing", "suspended")
"""What ends a box, but not the run that it is of."""

_WHOLE: Final = "[0-9]{0,9}"
_AMOUNT: Final = r"([0-9]{1,9}(\.[0-9]{1,6})?)?"
FORM: Final = rf"([0-9]{{1,9}}/{_WHOLE}/{_WHOLE}/{_WHOLE}/{_AMOUNT}/{_WHOLE}/[a-z_ ]{{0,30}}(;|$))+"
"""The regular expression of what `runs` may be."""

_BOX: Final = "[^;/]*/" + "[^;/]*/" * 5  # without braces, which templates of SQL have
_LAST_RUN: Final = f"regexp_extract(runs, '({_BOX}({'|'.join(WITHIN_A_RUN)});)*{_BOX}[^;/]*$')"
_LAST_BOX: Final = "regexp_extract(runs, '[^;]*$')"


def _number(box: str, place: int) -> str:
    """Return the SQL of the number at a *place* of a box; null where there is none."""
    return f"try_cast(split_part({box}, '/', {place}) as double)"


FIRST_START: Final = "submit_time + coalesce(wait_time, 0)"
"""The SQL of when a job started first; where its wait is unknown, when it was submitted."""

START: Final = f"case when runs is null then {FIRST_START} else submit_time + {_number(_LAST_RUN, 1)} end"
"""The SQL of when the last run of a job started."""

END: Final = (
    f"case when runs is null then {FIRST_START} + run_time"
    f" else submit_time + {_number(_LAST_BOX, 1)} + {_number(_LAST_BOX, 2)} end"
)
"""The SQL of when a job ended; null where it had not when the log did, or that is unknown."""

_HAS_NO_LAST_RUN: Final = "n_procs is null and regexp_matches(runs, '[0-9]/[^;/]*/[^;/]*/[^;/]*$')"
"""Whether boxes say what a job held of which no last run is known: it waits again, or ended while it did."""

_HAS_SUM: Final = "regexp_matches(runs, '(^|;)[^;/]*/[^;/]*/[0-9]')"
_BOXES_WITHIN: Final = " - ".join(
    f"cast((length(runs) - length(replace(concat(runs, ';'), '/{why};', '')) + 1) / {len(why) + 2} as bigint)"
    for why in WITHIN_A_RUN
)

UNLISTED_RUNS: Final = f"""
case
    when runs is null then coalesce(n_requeues, 0)
    when {_HAS_SUM} then 0
    else greatest(
        coalesce(n_requeues, 0) + case when {_HAS_NO_LAST_RUN} then 0 else 1 end
            - (length(runs) - length(replace(runs, ';', '')) + 1 - {_BOXES_WITHIN}),
        0
    )
end
"""
"""
The SQL of how many runs of a job before its last are counted, and not listed.

A source may know the number of runs, and not when each was. A sum stands for all of them.
"""

OF_A_BOX: Final = {
    "n_procs": "coalesce(try_cast(split_part(box, '/', 4) as bigint), n_procs)",
    "n_gpus": f"coalesce({_number('box', 5)}, n_gpus)",
    "n_nodes": "coalesce(try_cast(split_part(box, '/', 6) as bigint), n_nodes)",
    "gpu_utilization": "case when is_last_run then gpu_utilization end",
    "idle_gpus": "case when is_last_run then idle_gpus end",
}
"""Fields of a job that are others in a box: what it held then, and what was measured of its last run only."""

BOXES: Final = """
select {columns}, end_time - seconds as start_time, end_time, seconds, is_last_run, begins_last_run, is_open,
    is_by_sum, seconds / sum(seconds) over (partition by job_id) as share,
    lag(end_time) over (partition by job_id order by begin, end_time) as previous_end,
    lag(waits_from) over (partition by job_id order by begin, end_time) as waits_from,
    submit_time + begin as waits_until
from (
    select *, begin >= last_begin as is_last_run, begin = last_begin as begins_last_run,
        {length} is null as is_open,
        case when {why} not in ({within_a_run}) then submit_time + begin + length end as waits_from,
        coalesce({seconds} < length, false) as is_by_sum,
        submit_time + begin + length as end_time, coalesce({seconds}, length) as seconds
    from (
        select *, coalesce({length}, {still}) as length from (
            select *, {begin} as begin, {last_begin} as last_begin from (
                select *, unnest(string_split(runs, ';')) as box from {jobs}
                where runs is not null and submit_time is not null
            ) as listed
        ) as begun
    ) as parted
) as boxed where seconds > 0
"""


def boxes(fields: Iterable[str], jobs: str, still: str) -> str:
    """
    Return the query of the boxes of those of *jobs* that list them, with *fields* of the job.

    ``start_time``, ``end_time`` and ``seconds`` are those of the box; ``share`` is its part of all seconds
    that the job held, ``previous_end`` the end of the box before, ``is_open`` whether it had not ended when
    the log did, and ``is_by_sum`` whether its seconds are known and their place is not. ``begins_last_run``
    is the first box of the last run. Where the box before ended a run, the job waited again, from
    ``waits_from`` to ``waits_until``. *still* is the SQL of how long one that had not ended lasted, of the
    fields of a job and its ``begin``.
    """
    return BOXES.format(
        columns=", ".join(f"{OF_A_BOX[name]} as {name}" if name in OF_A_BOX else name for name in fields),
        jobs=jobs,
        still=still,
        begin=_number("box", 1),
        length=_number("box", 2),
        seconds=_number("box", 3),
        why="split_part(box, '/', 7)",
        within_a_run=", ".join(f"'{why}'" for why in WITHIN_A_RUN),
        last_begin=_number(_LAST_RUN, 1),
    )
