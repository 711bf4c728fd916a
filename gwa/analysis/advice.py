"""
What a user should change, or the users of a project, with the numbers of their own jobs.

First come the alerts that hold (`gwa.metrics.alerts`), then what requests, the ends of jobs and their waits
show. Each advice is given only where the jobs bear it out.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, inf
from typing import Final

from gwa.analysis.waiting_advice import advice_on_waits
from gwa.metrics.alert_rules import Rule
from gwa.metrics.alerts import OWNERS, REQUESTS, Alert, By, Holder, alerts, because, jobs_of, measured
from gwa.metrics.efficiency import ASKED, Share, ended_at, killed, overall, requests
from gwa.metrics.presence import of_all_runs
from gwa.metrics.timeline import exact_sum
from gwa.report.columns import column
from gwa.report.document import Column
from gwa.report.letter import Advice, JobTable, Letter
from gwa.store.engines.duckdb import literal
from gwa.store.store import Store
from gwa.util.units import HOUR
from gwa.words.formatting import brief, date_range, decimal, kilobytes, seconds
from gwa.words.formatting import number as show
from gwa.words.message import Message, Number, Verbatim, capitalized, joined, message, plural
from gwa.words.unit import Value

MINIMUM_JOBS: Final = 10
"""Fewer jobs do not show what would do."""

MARGIN: Final = 1.25
"""What would have sufficed must be this many times less than what was asked for."""

MINIMUM_HOURS: Final = 1.0
"""Less than this, in hours of processors or GPUs, or gigabyte hours, is not worth a mail."""

ENDED_SHARE: Final = 0.05
"""Jobs that were ended at a limit matter from this share on."""

COVERED_SHARE: Final = 0.5
"""An alert is left out if others, which say it more exactly, have this share of its hours."""

SHOWN: Final = 10
"""The jobs of an alert that a letter lists."""

LESS: Final = {**REQUESTS, "memory-per-gpu": "memory"}
"""Alerts that advise to ask for less, and of what."""

EACH_KIND: Final = message(
    "Ask for what each kind of job needs: some ended at what they asked for, others used far less."
)
"""What is advised where a letter says of other jobs that they need more."""

MEMORY_MARGIN: Final = 1.2

STEPS: Final = ((HOUR, 300.0), (12 * HOUR, 900.0), (inf, float(HOUR)))
"""Times up to a limit are asked for in steps, in seconds."""

SHOWN_KINDS: Final = 3
"""The amounts that jobs asked for that are named; of more kinds nothing is said."""


def letter(store: Store, name: str, by: By = "user") -> Letter:
    """Return the advice to a user, or on a project, of that *name*; without jobs it has none."""
    where = f"{OWNERS[by]} = {literal(name)}"
    jobs, held = store.row(
        f"select count(*) as jobs, {exact_sum('all_cpu_seconds')} as held"  # noqa: S608 - quoted
        f" from {of_all_runs(store, 'jobs')} where {where}"
    )
    due = _due(store, name, by)
    share = overall(store, where)
    others = {one.id: one for rule in RULES for one in rule(store, name, by, share)}
    given = [_of_alert(store, name, by, alert, holder, others) for alert, holder in due]
    said = {REQUESTS[alert.rule.id] for alert, _ in due if alert.rule.id in REQUESTS}
    given += [one for one in others.values() if one.id not in said]
    is_due = any(holder.is_mailed for _, holder in due)
    period = _period(store, where)
    return Letter(name, jobs, (held or 0.0) / HOUR, tuple(given), of=by, is_due=is_due, period=period)


def _period(store: Store, where: str) -> str:
    """Return from when to when the jobs that meet a condition were submitted; empty without dates."""
    first, last = store.row(f"select min(submit_time), max(submit_time) from jobs where {where}")  # noqa: S608 - quoted
    zone = None if store.system.relative else store.system.timezone.key
    return "" if first is None or zone is None else date_range(first, last, zone)


def users(store: Store, by: By = "user") -> list[str]:
    """Return the users or projects of a trace by name."""
    return [
        name
        for (name,) in store.rows(
            f"select distinct {OWNERS[by]} as name from jobs where {OWNERS[by]} is not null order by name"  # noqa: S608 - a field
        )
    ]


def held_by(store: Store, by: By) -> list[str]:
    """Return the users or projects for whom an alert holds, by name."""
    return sorted({holder.name for alert in alerts(store, by) for holder in alert.holders})


# --- Alerts ---


def _due(store: Store, name: str, by: By) -> list[tuple[Alert, Holder]]:
    """Return the alerts that hold for somebody, but for those that others say more exactly."""
    held = {
        alert.rule.id: (alert, holder)
        for alert in alerts(store, by)
        for holder in alert.holders
        if holder.name == name
    }

    def is_said(rule: Rule, holder: Holder) -> bool:
        return (
            sum(held[one][1].hours for one in rule.parts if one in held) >= COVERED_SHARE * holder.hours > 0
        )

    return [(alert, holder) for alert, holder in held.values() if not is_said(alert.rule, holder)]


def _of_alert(
    store: Store, name: str, by: By, alert: Alert, holder: Holder, others: dict[str, Advice]
) -> Advice:
    rule = alert.rule
    kind = LESS.get(rule.id, "")
    exact = others.get(kind) if rule.id in REQUESTS else None
    do = EACH_KIND if f"ended-{kind}" in others else rule.do
    return Advice(
        rule.id,
        exact.do if exact else do,
        because(rule, holder),
        message("Measured: {measured}.", measured=measured(rule, holder.known, holder.about)),
        _jobs(store, rule, by, name, holder),
    )


def _jobs(store: Store, rule: Rule, by: By, name: str, holder: Holder) -> JobTable:
    """Return the jobs of an alert with most at stake."""
    left_out = {
        "user": by == "user",
        "n_gpus": "n_gpus" not in rule.fields,
        "n_nodes": "n_nodes" not in rule.fields,
    }
    columns = [
        column
        for column in (
            Column("job", "Job"),
            Column("user", "User"),
            column("run_time"),
            column("processors", "n_procs"),
            column("gpus", "n_gpus"),
            column("nodes", "n_nodes"),
            Column("found", rule.heading, rule.found_unit),
            Column("hours", capitalized(rule.stake), "count"),
        )
        if not left_out.get(column.key)
    ]
    worst = [replace(job, hours=round(job.hours, 1)) for job in jobs_of(store, rule, by, name, SHOWN)]
    rows = [
        tuple(Verbatim(value) if isinstance(value, str) else value for value in map(vars(job).get, keys))
        for job in worst
        for keys in [[column.key for column in columns]]
    ]
    more = holder.jobs - len(rows)
    others = message("and {n} more", n=Number(f"{more:,}")) if more > 0 else ""
    return JobTable(tuple(columns), _summed_up(columns, rows), others)


def _summed_up(columns: Sequence[Column], rows: Sequence[tuple[Value, ...]]) -> tuple[tuple[Value, ...], ...]:
    """Return *rows*, whose first value is a job; those that look the same but for it are one."""
    alike: dict[tuple[str, ...], list[tuple[Value, ...]]] = {}
    for row in rows:
        shown = tuple(
            str(brief(value, column.unit)) for value, column in zip(row[1:], columns[1:], strict=True)
        )
        alike.setdefault(shown, []).append(row)
    return tuple(
        (message("{job} and {n} alike", job=same[0][0], n=Number(f"{len(same) - 1:,}")), *same[0][1:])
        if len(same) > 1
        else same[0]
        for same in alike.values()
    )


# --- Requests, and how jobs ended ---


def _memory(store: Store, user: str, by: By, share: Share) -> Iterator[Advice]:
    if by != "user" or "memory" not in share.parts or share.parts["memory"].jobs < MINIMUM_JOBS:
        return
    kinds = _kinds(store, user, by, share, "memory")
    for request in requests(store, "memory", [user], kinds.others) if kinds.are_told else ():
        enough = request.enough * MEMORY_MARGIN
        if request.enough * MARGIN < request.asked and request.unneeded >= MINIMUM_HOURS:
            yield Advice(
                "memory",
                _but(
                    kinds,
                    message("Ask for at most {enough} of memory for a job.", enough=kilobytes(enough)),
                ),
                message(
                    "95 % of {jobs} asked for {asked} at most, and 95 % used {enough} at most; a fifth more"
                    " is a margin. This would have left up to {saved} gigabyte hours to others.",
                    jobs=plural("{n} job", "{n} jobs", request.jobs),
                    asked=kilobytes(request.asked),
                    enough=kilobytes(request.enough),
                    saved=show(round(request.unneeded, 1)),
                ),
            )


def _time(store: Store, user: str, by: By, share: Share) -> Iterator[Advice]:
    if by != "user" or "time" not in share.parts or share.parts["time"].jobs < MINIMUM_JOBS:
        return
    kinds = _kinds(store, user, by, share, "time")
    for request in requests(store, "time", [user], kinds.others) if kinds.are_told else ():
        enough = time_with_margin(request.enough)
        if request.jobs >= MINIMUM_JOBS and enough < request.asked and request.asked >= HOUR:
            yield Advice(
                "time",
                _but(kinds, message("Ask for at most {enough}.", enough=seconds(enough))),
                message(
                    "95 % of {jobs} asked for {asked} at most, and 95 % ran for {enough} at most; a quarter"
                    " more is a margin. With shorter requests they may start sooner.",
                    jobs=plural("{n} job", "{n} jobs", request.jobs),
                    asked=seconds(request.asked),
                    enough=seconds(request.enough),
                ),
            )


def time_with_margin(enough: float) -> float:
    """
    Return what to ask for where so many seconds are *enough*: a quarter more, rounded up as people ask.

    >>> time_with_margin(600.0), time_with_margin(6 * HOUR) / HOUR, time_with_margin(20 * HOUR) / HOUR
    (900.0, 7.5, 25.0)
    """
    wanted = enough * MARGIN
    step = next(step for limit, step in STEPS if wanted <= limit)
    return ceil(wanted / step) * step


@dataclass(frozen=True)
class _Kinds:
    """
    The jobs of somebody by what they asked for: those that asked for one of *tight* ended at their limit.

    They *are told* apart where they are few kinds; of the *others*, which a condition in SQL says, something
    else may be said.
    """

    tight: tuple[float, ...] = ()
    asked: Message | None = None
    others: str = "true"
    are_told: bool = True


def _kinds(store: Store, name: str, by: By, share: Share, kind: str) -> _Kinds:
    """Return which jobs ended at the limits of a *kind*, if so many did that they get an advice."""
    where = f"{OWNERS[by]} = {literal(name)}"
    if not store.has("state") or not _matters(*killed(store, where)[kind], share):
        return _Kinds()
    tight = ended_at(store, kind, where, ENDED_SHARE)
    if not tight or len(tight) > SHOWN_KINDS:
        return _Kinds(are_told=False)
    words = [(seconds if kind == "time" else kilobytes)(amount) for amount in tight]
    amounts = ", ".join(map(repr, tight))
    others = f"coalesce({ASKED[kind][1]} not in ({amounts}), true)"
    return _Kinds(tuple(tight), joined(message(" or "), words), others)


def _but(kinds: _Kinds, do: Message) -> Message:
    """Return an advice to ask for less, with what it is not about."""
    if kinds.asked is None:
        return do
    return message(
        "{do} This is not about jobs that asked for {asked}: they need more.", do=do, asked=kinds.asked
    )


def _matters(jobs: int, hours: float, share: Share) -> bool:
    """Whether so many jobs ended at a limit that it is worth an advice."""
    return jobs >= ENDED_SHARE * share.jobs and hours >= MINIMUM_HOURS


ENDED: Final = {
    "memory": (
        message("Ask for more memory, or use less."),
        message("Ask for more memory for jobs that asked for {asked}, or use less."),
        message("ended because more memory was used than asked for"),
    ),
    "time": (
        message("Ask for more time, or save what jobs have done."),
        message("Ask for more time for jobs that asked for {asked}, or save what they have done."),
        message("ended at the time limit"),
    ),
}


def _ended(store: Store, name: str, by: By, share: Share) -> Iterator[Advice]:
    if not store.has("state"):
        return
    for kind, (jobs, hours) in killed(store, f"{OWNERS[by]} = {literal(name)}").items():
        if _matters(jobs, hours, share):
            what, of_kinds, why = ENDED[kind]
            asked = _kinds(store, name, by, share, kind).asked
            yield Advice(
                f"ended-{kind}",
                what if asked is None else message(of_kinds, asked=asked),
                message(
                    "Of {jobs}, {jobs2} {why}, after {hours} CPU hours.",
                    jobs=plural("{n} job", "{n} jobs", share.jobs),
                    jobs2=decimal(jobs, ","),
                    why=why,
                    hours=show(round(hours, 1)),
                ),
            )


RuleOfRequests = Callable[[Store, str, By, Share], Iterator[Advice]]


def _waits(store: Store, name: str, by: By, _: Share) -> Iterator[Advice]:
    if by == "user":
        yield from advice_on_waits(store, name)


RULES: Final[tuple[RuleOfRequests, ...]] = (_memory, _time, _ended, _waits)
"""What may be said beside alerts."""
