"""
Judge a job as a whole, by one rule for all formats: its submission, start, end and durations together.

What stands where a time is not known is no time: 0 and the hours after it (1970), the year 1, and 2^32 - 2
(7 February 2106). A start that is one of these, or is before the submission by more than `SLACK`, is missing,
and the wait with it. The run time is then what the source measured by itself (Slurm's Elapsed, PBS's
resources_used.walltime, Grid Engine's ru_wallclock, HTCondor's RemoteWallClockTime), else missing; a job that
has neither, did not complete and used no CPU time never ran: it held no processors. A run time that is
negative by more than that, or longer than any log, gives way to the measured one, too. A submission that is
no time is missing.

Nothing of a log that counts from its own beginning is judged by its distance from 1970: a time near 0 is
wrong only beside others of the same job, or in a log most of whose jobs were submitted after 1985.
"""

from collections.abc import Sequence
from typing import Final

from gwa.store.schema import EARLIEST_UNIX_TIME, LATEST, MAXIMUM_DURATION
from gwa.store.store import Store

SLACK: Final = 3900
"""Seconds by which a wait or run time may be negative: one hour of daylight saving and five minutes."""

DAY: Final = 86_400
"""Seconds from 1970 on which no log has a time: what is unset, in any zone."""

NEVER: Final = (2**32 - DAY, 2**32 + DAY)
"""The seconds around 2^32 - 2, which Slurm writes for no value, in any zone."""

START: Final = "start_time"
MEASURED: Final = "measured_time"

FALSE_START: Final = "a start that is no time (1970, 2106), or is before the submission, was set to missing"
FALSE_SUBMISSION: Final = "a submission that is no time (1970, the year 1, 2106) was set to missing"
FALSE_ELIGIBLE: Final = "an eligible_time that is no time (1970, the year 1, 2106) was set to missing"
TAKEN: Final = "start and end contradict each other: the run time that the source measured was taken"

REPAIRS: Final = (
    ("false start", FALSE_START),
    ("false submission", FALSE_SUBMISSION),
    ("false submission", FALSE_ELIGIBLE),
    ("measured run time", TAKEN),
)
"""The names and meanings of the repairs that are counted here."""

FLAGS: Final = ("has_false_start", "has_false_submission", "has_measured_run")
"""Columns that say what of a job contradicts the rest of it."""

HELD: Final = (
    "n_procs", "n_nodes", "n_gpus", "average_cpu_time", "used_memory", "max_memory", "energy",
    "gpu_utilization", "gpu_memory", "last_run_site_id", "node_list", "gpu_list",
)  # fmt: skip
"""Fields of jobs that ran."""


def judged(store: Store, relation: str, columns: Sequence[str]) -> str:
    """
    Return the jobs of a *relation* without what contradicts itself, and count the repairs.

    Only those are judged whose *columns* hold the start as the source has it, in `START`; `MEASURED` is the
    run time that the source measured. Other run times are what a source says, and kept.
    """
    if START not in columns:
        return relation
    flagged = f"(select *, {_flags(columns)} from {relation} as mapped) as flagged"
    counts = store.row(
        f"select {', '.join(f'count(*) filter (where {flag})' for flag in FLAGS)} from {flagged}"
    )
    if not any(counts):
        return relation
    for (name, meaning), count in zip((REPAIRS[0], REPAIRS[1], REPAIRS[3]), counts, strict=True):
        store.repaired(name, meaning, count)
    without = ", ".join((*FLAGS, "measured"))
    return f"(select * exclude ({without}) replace ({_repaired(columns)}) from {flagged})"


def clear_false_times(store: Store, recorded: Sequence[str]) -> None:
    """Set what is no time to missing: in a log of Unix times what is near 1970, too."""
    for field, meaning in (("submit_time", FALSE_SUBMISSION), ("eligible_time", FALSE_ELIGIBLE)):
        if field not in recorded:
            continue
        first, last = store.row(f"select min({field}), max({field}) from recorded")
        if first is None or (first > DAY and last < NEVER[0]):
            continue
        (is_absolute,) = store.row(
            f"select 2 * count(*) filter (where {field} >= {EARLIEST_UNIX_TIME!r}) > count({field})"
            " from recorded"
        )
        wrong = f"{field} between {NEVER[0]} and {NEVER[1]}"
        if is_absolute:
            wrong += f" or {field} <= {DAY}"
        (cleared,) = store.row(f"update recorded set {field} = null where {wrong}")
        store.repaired("false submission", meaning, cleared)


def _flags(columns: Sequence[str]) -> str:
    """Return the SQL for `FLAGS`, and for ``measured``: the run time that the source measured."""
    measured = MEASURED if MEASURED in columns else "null::double"
    submitted = "submit_time" if "submit_time" in columns else "null::double"
    is_later = f"({START} >= {EARLIEST_UNIX_TIME!r} or run_time >= {EARLIEST_UNIX_TIME!r})"
    flags = {
        "measured": f"case when {measured} > 0 and {measured} <= {MAXIMUM_DURATION!r} then {measured} end",
        "has_false_submission": f"coalesce({submitted} between {NEVER[0]} and {NEVER[1]}"
        f" or {submitted} <= {DAY} and {is_later}, false)",
        "has_false_start": f"coalesce({START} between {NEVER[0]} and {NEVER[1]}"
        f" or {START} <= {DAY} and run_time > {MAXIMUM_DURATION!r}"
        f" or {START} < {submitted} - {SLACK} and {submitted} <= {LATEST!r} and not has_false_submission,"
        " false)",
        "has_measured_run": "measured is not null"
        f" and coalesce(has_false_start or run_time < {-SLACK} or run_time > {MAXIMUM_DURATION!r}, false)",
    }
    return ", ".join(f"{sql} as {name}" for name, sql in flags.items())


def _repaired(columns: Sequence[str]) -> str:
    """Return the columns that change of jobs that contradict themselves."""
    never_ran = ["has_false_start", "measured is null"]
    never_ran += ["status is distinct from 1"] if "status" in columns else []
    never_ran += ["not coalesce(average_cpu_time > 0, false)"] if "average_cpu_time" in columns else []
    changed = {
        "submit_time": "case when not has_false_submission then submit_time end",
        "wait_time": "case when not has_false_start and not has_false_submission then wait_time end",
        "runs": "case when not has_false_start and not has_false_submission then runs end",
        "run_time": "case when has_false_start or has_measured_run then measured else run_time end",
        **{name: f"case when not ({' and '.join(never_ran)}) then {name} end" for name in HELD},
        # What never ran ended with no code of its own; others are of who tried to start it.
        "exit_code": f"case when not ({' and '.join(never_ran)} and exit_code = 0) then exit_code end",
    }
    return ", ".join(f"{sql} as {name}" for name, sql in changed.items() if name in columns)
