"""
What one user should change, with the numbers of that user's jobs.

Each advice is a rule of its own: it is given only where the jobs bear it out, and names what they show.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from gwa.metrics.efficiency import Share, killed, overall, requests, sequential
from gwa.metrics.timeline import exact_sum
from gwa.store.engines.duckdb import literal
from gwa.store.resources import GPU
from gwa.store.store import Store
from gwa.util.units import HOUR
from gwa.words.formatting import decimal, fraction, kilobytes, seconds
from gwa.words.formatting import number as show
from gwa.words.message import Verbatim, message, plural

MINIMUM_JOBS: Final = 10
"""Fewer jobs do not show what would do."""

MARGIN: Final = 1.25
"""What would have sufficed must be this many times less than what was asked for."""

LOW: Final = 0.5
"""Processors or GPUs of which less was used on average are too many."""

IDLE: Final = 0.01
"""GPUs of which less was used did nothing."""

MINIMUM_HOURS: Final = 1.0
"""Less than this, in hours of processors or GPUs, or gigabyte hours, is not worth a mail."""

ENDED_SHARE: Final = 0.05
"""Jobs that were ended at a limit matter from this share on."""


@dataclass(frozen=True)
class Advice:
    """What to change (*do*), and what the jobs show (*because*)."""

    id: str
    do: str
    because: str


@dataclass(frozen=True)
class Letter:
    """The advice to a *user*, whose *jobs* took so many *cpu_hours*."""

    user: str
    jobs: int
    cpu_hours: float
    advice: tuple[Advice, ...]


def letter(store: Store, user: str) -> Letter:
    """Return the advice to a *user*; without jobs it has none."""
    where = f"user_id = {literal(user)}"
    jobs, held = store.row(
        f"select count(*) as jobs, {exact_sum('run_time * n_procs')} as held from jobs where {where}"  # noqa: S608 - quoted
    )
    share = overall(store, where)
    given = tuple(advice for rule in RULES for advice in rule(store, user, share))
    return Letter(user, jobs, (held or 0.0) / HOUR, given)


def users(store: Store) -> list[str]:
    """Return the users of a trace by name."""
    return [
        name
        for (name,) in store.rows(
            "select distinct user_id as name from jobs where user_id is not null order by name"
        )
    ]


def _memory(store: Store, user: str, share: Share) -> Iterator[Advice]:
    if "memory" not in share.parts or share.parts["memory"].jobs < MINIMUM_JOBS:
        return
    for request in requests(store, "memory", [user]):
        if request.enough * MARGIN < request.asked and request.saved >= MINIMUM_HOURS:
            yield Advice(
                "memory",
                message("Ask for at most {enough} of memory for a job.", enough=kilobytes(request.enough)),
                message(
                    "95 % of {jobs} asked for {asked} at most, and 95 % used {enough} at most. Asking for "
                    "that would have left {saved} gigabyte hours to others.",
                    jobs=plural("{n} job", "{n} jobs", request.jobs),
                    asked=kilobytes(request.asked),
                    enough=kilobytes(request.enough),
                    saved=show(round(request.saved, 1)),
                ),
            )


def _time(store: Store, user: str, share: Share) -> Iterator[Advice]:
    if "time" not in share.parts or share.parts["time"].jobs < MINIMUM_JOBS:
        return
    for request in requests(store, "time", [user]):
        if request.enough * MARGIN < request.asked and request.asked >= HOUR:
            yield Advice(
                "time",
                message("Ask for at most {enough}.", enough=seconds(request.enough)),
                message(
                    "95 % of {jobs} asked for {asked} at most, and 95 % ran for {enough} at most. With "
                    "shorter requests they may start sooner.",
                    jobs=plural("{n} job", "{n} jobs", request.jobs),
                    asked=seconds(request.asked),
                    enough=seconds(request.enough),
                ),
            )


def _processors(store: Store, user: str, share: Share) -> Iterator[Advice]:
    where = f"user_id = {literal(user)}"
    jobs, idle = sequential(store, where) if "cpu" in share.parts else (0, 0.0)
    if jobs and idle >= MINIMUM_HOURS:
        yield Advice(
            "sequential",
            message("Ask for one processor for programs that use one."),
            message(
                "{jobs} held several processors and used no more CPU time than one has: the "
                "others idled for {idle} CPU hours.",
                jobs=plural("{n} job", "{n} jobs", jobs),
                idle=show(round(idle, 1)),
            ),
        )
    part = share.parts.get("cpu")
    if part and part.mean is not None and part.mean < LOW and part.wasted - idle >= MINIMUM_HOURS:
        yield Advice(
            "processors",
            message("Ask for fewer processors, or look what your jobs wait for."),
            message(
                "{jobs} used {mean} of the CPU time that they held; {wasted} CPU hours were not used.",
                jobs=plural("{n} job", "{n} jobs", part.jobs),
                mean=fraction(part.mean),
                wasted=show(round(part.wasted, 1)),
            ),
        )


def _gpus(store: Store, user: str, share: Share) -> Iterator[Advice]:
    part = share.parts.get("gpu")
    if not part or not part.jobs:
        return
    idle, held = store.row(
        f"select count(*) as jobs, {exact_sum(f'{GPU.held} * run_time')} as held from jobs"  # noqa: S608 - quoted
        f" where user_id = {literal(user)} and run_time >= 0 and {GPU.held} > 0 and gpu_utilization < {IDLE}"
    )
    hours = (held or 0.0) / HOUR
    if hours >= MINIMUM_HOURS:
        yield Advice(
            "idle-gpus",
            "Run jobs that use no GPU where there is none.",
            message(
                "{idle} held GPUs for {hours} GPU hours and did not use them.",
                idle=plural("{n} job", "{n} jobs", idle),
                hours=show(round(hours, 1)),
            ),
        )
    if part.mean is not None and part.mean < LOW and part.wasted - hours >= MINIMUM_HOURS:
        yield Advice(
            "gpus",
            message("Ask for fewer GPUs, or let several tasks share one."),
            message(
                "{jobs} used {mean} of their GPUs on average; {wasted} GPU hours were not used.",
                jobs=plural("{n} job", "{n} jobs", part.jobs),
                mean=fraction(part.mean),
                wasted=show(round(part.wasted, 1)),
            ),
        )


ENDED: Final = {
    "memory": (
        message("Ask for more memory, or use less."),
        message("ended because more memory was used than asked for"),
    ),
    "time": (message("Ask for more time, or save what jobs have done."), message("ended at the time limit")),
}


def _ended(store: Store, user: str, share: Share) -> Iterator[Advice]:
    if not store.has("state"):
        return
    for kind, (jobs, hours) in killed(store, f"user_id = {literal(user)}").items():
        if jobs >= ENDED_SHARE * share.jobs and hours >= MINIMUM_HOURS:
            what, why = ENDED[kind]
            yield Advice(
                f"ended-{kind}",
                what,
                message(
                    "Of {jobs}, {jobs2} {why}, after {hours} CPU hours.",
                    jobs=plural("{n} job", "{n} jobs", share.jobs),
                    jobs2=decimal(jobs, ","),
                    why=why,
                    hours=show(round(hours, 1)),
                ),
            )


Rule = Callable[[Store, str, Share], Iterator[Advice]]

RULES: Final[tuple[Rule, ...]] = (_processors, _gpus, _memory, _time, _ended)
"""What may be said, that which frees most first."""


def as_text(given: Letter, trace: str) -> str:
    """Return a letter as plain text, fit to be mailed."""
    hours = show(round(given.cpu_hours, 1))
    lines = [
        message(
            "Jobs of {user} in {trace}: {jobs}, {hours} CPU hours.",
            user=Verbatim(given.user),
            trace=Verbatim(trace),
            jobs=plural("{n} job", "{n} jobs", given.jobs),
            hours=hours,
        ),
        "",
    ]
    for place, advice in enumerate(given.advice, 1):
        lines += [f"{place}. {advice.do}", f"   {advice.because}", ""]
    if not given.advice:
        lines += [message("These jobs show nothing that should be changed."), ""]
    return "\n".join(lines)
