"""What a log records that may free processors before any are bought: it needs no forecast."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from gwa.analysis.conditions import FactsOnDemand
from gwa.evaluation.capacity.rule import Recorded
from gwa.store.store import Store
from gwa.words.formatting import fraction, number
from gwa.words.message import message, plural

FEW: Final = 3
"""The number of users whose share is stated."""


def without_forecast(store: Store) -> tuple[Recorded, ...]:
    """
    Return idle GPU hours, what limits cost, the share of the largest users, and how far off requests are.

    All of them are facts of the report. No user is named. Of a log without GPUs nothing is said of them.
    """
    facts = FactsOnDemand(store).of(lambda analysis: any(map(analysis.has_facts, NEEDED)))

    def value(name: str) -> Any:  # noqa: ANN401 - a fact may be anything
        return facts[name].value if name in facts else None

    of_gpus = (_idle,) if value("gpu.jobs") or store.system.gpus else ()
    return tuple(tell(value) for tell in (*of_gpus, _limits, _users, _requests))


NEEDED: Final = ("gpu.idle_hours", "killed.time.jobs", "trace.users", "users.by_cpu", "estimates.time.median")
"""Facts of all sections that are needed."""

Value = Callable[[str], Any]


def _idle(value: Value) -> Recorded:
    """GPUs that were never used, where each is measured, else those of jobs that left theirs idle."""
    idle, known = value("gpu.idle_gpu_hours"), value("gpu.idle_known_hours")
    if idle is not None and known:
        text = message(
            "Of {known} GPU hours that are measured one by one, {hours} were idle; 'gwa advise' lists by"
            " whom.",
            hours=number(idle), known=number(known),
        )  # fmt: skip
        return Recorded("idle-gpus", float(idle), text)
    hours, jobs = value("gpu.idle_hours"), value("gpu.measured_jobs")
    if hours is not None:
        text = plural(
            "The {n} job whose use of GPUs is recorded left them idle for {hours} GPU hours; 'gwa advise'"
            " lists by whom.",
            "Of the {n} jobs whose use of GPUs is recorded, some left them idle, for {hours} GPU hours; 'gwa"
            " advise' lists by whom.",
            jobs, hours=number(hours),
        )  # fmt: skip
        return Recorded("idle-gpus", float(hours), text)
    return Recorded("idle-gpus", None, message("How many GPU hours were idle is not recorded."))


def _limits(value: Value) -> Recorded:
    """CPU hours of jobs that were ended at their limit, else the share of jobs that ran up to it."""
    hours, jobs = value("killed.time.cpu_hours"), value("killed.time.jobs")
    if hours is not None:
        text = plural(
            "{hours} CPU hours went into {n} job that ended at its time limit.",
            "{hours} CPU hours went into {n} jobs that ended at their time limit.",
            jobs, hours=number(round(float(hours), 1)),
        )  # fmt: skip
        return Recorded("time-limits", float(hours), text)
    share = value("estimates.time.at_limit")
    if share is not None:
        text = message("{share} of the jobs that request a time ran up to it.", share=fraction(share))
        return Recorded("time-limits", float(share), text)
    return Recorded("time-limits", None, message("Which jobs ended at a time limit is not recorded."))


def _users(value: Value) -> Recorded:
    users, ranked = value("trace.users"), value("users.by_cpu")
    shares = [row["cpu_share"] for row in (ranked or ())[:FEW] if isinstance(row, Mapping)]
    if not users or not shares or None in shares:
        return Recorded("three-users", None, message("Who holds how much of the CPU time is not recorded."))
    share = float(sum(shares))
    text = plural(
        "The only user holds {share} of the CPU time.",
        "The {few} largest of {n} users hold {share} of the CPU time.",
        users, few=number(len(shares)), share=fraction(min(share, 1.0)),
    )  # fmt: skip
    return Recorded("three-users", share, text)


def _requests(value: Value) -> Recorded:
    used = value("estimates.time.median")
    if used is None:
        return Recorded("requests", None, message("How much time jobs request is not recorded."))
    text = message("Half of the jobs that request a time use at most {share} of it.", share=fraction(used))
    return Recorded("requests", float(used), text)
