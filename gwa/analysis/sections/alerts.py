"""Who wastes what, by the rules on which alerts are raised."""

from collections.abc import Iterator, Sequence
from typing import Any

from gwa.analysis.base import Chapter, analysis
from gwa.metrics.alerts import Alert, alerts, at_stake, measured
from gwa.report.columns import column, table_of
from gwa.report.document import Block, Column, Fact, Facts, Note, Table
from gwa.report.facts import number
from gwa.store.store import Store
from gwa.words.message import joined, message


@analysis(
    "Alerts",
    Chapter.REQUESTS,
    facts=("alerts",),
    needs=("run_time",),
    when=lambda store: any(alert.holders for alert in alerts(store)),
    order=2,
)
def waste(store: Store) -> Iterator[Block]:
    """
    Who held what their jobs did not use: GPUs, cores, memory, nodes and time, and the hours at stake.

    Each alert is a rule with thresholds, which 'gwa advise' lists and --thresholds changes. A job that is not
    measured says nothing; beside each alert stands how many of the jobs that it is about are measured. Hours
    are those of jobs that ran and ended; of a period, of all that ran in it, and for the part within it. What
    is asked of time limits is shared out over the run.

    GPUs are idle whose mean use over a job is exactly 0. CPU time beyond that of a job's processors is not
    believed, a peak is no mean, and memory allocated is what the log says of that, else what was requested.
    Rules on nodes need the cores, memory and GPUs of a node, which a description of the system states.
    """
    found = alerts(store)
    told = [alert for alert in found if not alert.lacking and alert.known]
    yield Facts(tuple(fact for alert in told for fact in _facts(alert)), listed=False)
    held = [alert for alert in told if alert.holders]
    unknown = [alert for alert in found if alert.lacking]
    lacking = _lacking(unknown) if unknown else ""
    if held:
        yield _overview(held, lacking)
        yield _holders(held, store.top)
        return
    yield Note("No alert is due.")
    if lacking:
        yield Note(lacking)


def _facts(alert: Alert) -> Iterator[Fact]:
    title, prefix = alert.rule.title, f"alerts.{alert.rule.key}"
    yield Fact(f"{prefix}.users", len(alert.holders), message("{title}: users", title=title), "count")
    yield Fact(f"{prefix}.jobs", alert.jobs, message("{title}: jobs", title=title), "count")
    hours, run = number(alert.hours), number(alert.rule.minimum_run)
    label = message("{title}: hours at stake", title=title)
    yield Fact(f"{prefix}.hours", hours, label, help=alert.rule.stake)
    yield Fact(f"{prefix}.known", alert.known, message("{title}: jobs measured", title=title), "count")
    yield Fact(f"{prefix}.about", alert.about, message("{title}: jobs it is about", title=title), "count")
    yield Fact(f"{prefix}.minimum_run", run, message("{title}: shortest run judged", title=title), "seconds")


def _overview(held: Sequence[Alert], note: str) -> Table:
    return table_of(
        "alerts",
        "Alerts",
        held,
        {
            Column("alert", "Alert"): lambda alert: alert.rule.title,
            column("users"): lambda alert: len(alert.holders),
            column("jobs"): lambda alert: alert.jobs,
            Column("hours", "At stake"): lambda alert: at_stake(alert.rule, alert.hours),
            Column("measured", "Measured"): lambda alert: measured(alert.rule, alert.known, alert.about),
            Column("do", "What to do"): lambda alert: alert.rule.do,
        },
        note,
    )


def _holders(held: Sequence[Alert], top: int) -> Table:
    rows: list[tuple[Any, ...]] = [
        (
            alert.rule.title,
            holder.name,
            holder.jobs,
            at_stake(alert.rule, holder.hours),
            holder.used,
        )
        for alert in held
        for holder in alert.holders[:top]
    ]
    columns = (
        Column("alert", "Alert"), Column("id", "User"), column("jobs"),
        Column("hours", "At stake"), Column("used", "Used", "fraction"),
    )  # fmt: skip
    return Table("alerts-users", "Alerts by user", columns, tuple(rows), is_acted_on=True)


def _lacking(unknown: Sequence[Alert]) -> str:
    names = joined(
        "; ",
        (
            message("{title} ({fields})", title=alert.rule.title, fields=", ".join(alert.lacking))
            for alert in unknown
        ),
    )
    return message("Not told, for what this trace or its system does not say: {names}.", names=names)
