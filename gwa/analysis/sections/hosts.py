"""Which node was given what, on which of them failing begins, and which stood idle."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from gwa.analysis.base import Chapter, Drawing, MadeWhen, analysis
from gwa.breakdown.hosts import Host, by_week, held_anywhere, hosts
from gwa.breakdown.records import Records
from gwa.metrics.calendar import Calendar
from gwa.metrics.failing_nodes import MORE, Tried, tried_nodes
from gwa.metrics.node_incidents import FailedNode, failed_nodes
from gwa.metrics.window import window
from gwa.report.columns import column
from gwa.report.document import Block, Column, Fact, Facts, Figure, Note, list_of, note_of
from gwa.report.facts import facts_of, number
from gwa.report.figures.heatmap import heatmap
from gwa.store.store import Store
from gwa.util.units import DAY
from gwa.words.formatting import decimal, fraction
from gwa.words.formatting import number as digits
from gwa.words.message import message, plural
from gwa.words.unit import Value

RANKINGS: Final[Mapping[str, tuple[str, Callable[[Host], float]]]] = {
    "by_jobs": (message("Nodes by jobs that took part"), lambda one: one.jobs),
    "by_cpu": (message("Nodes by CPU time"), lambda one: one.seconds.get("cpu_seconds", 0.0)),
    "by_gpu": (message("Nodes by GPU time"), lambda one: one.seconds.get("gpu_seconds", 0.0)),
    "by_failed": (message("Nodes by jobs that failed"), lambda one: one.failed),
}

IDLE: Final = 7.0 * DAY
"""A node whose last job ended this long before the end of what is observed stood idle since."""

MAXIMUM_ROWS: Final = 40
MAXIMUM_WEEKS: Final = 53
"""How many nodes and weeks a picture has."""

REUSED: Final = ("kubernetes", "aws-batch", "ray", "yarn")
"""Formats of which machines come and go: a name comes back for another one, and no claim is made by name."""


@analysis(
    "Nodes by name",
    Chapter.UTILIZATION,
    facts=("hosts",),
    needs=("node_list", "submit_time", "run_time"),
    when=lambda store: store.has("node_list"),
    made=MadeWhen.ON_REQUEST,
    order=3,
)
def nodes_by_name(store: Store) -> Iterator[Block | Drawing]:
    """
    What each node was given, on which nodes jobs begin to fail more often than chance, and which stood idle.

    A job on several nodes took part on each: numbers of jobs do not add up, hours do. Hours are those held in
    the window of observation, or the period; a node that never ran a job is not in the log.

    A job that fails frees its node, which the next job of the same broken script then gets, so that failures
    gather on sound nodes. Counted is where failing begins: jobs on one node whose predecessor, of the same
    user, application and partition, completed, while others began on other nodes, most of which did not fail.
    A node is named if its failures are at least five and twice those expected of the same users and
    applications, on three days, of two users, and chance explains them in fewer than one log in a hundred.

    Where states say that a node failed (NODE_FAIL), jobs on one node that are lost within a day are an
    incident, unless three nodes had one within a quarter of an hour. A node is named if it had three or more,
    and chance explains as many by the hours that it was held in fewer than one log in twenty.
    """
    every = hosts(store)
    label = message("CPU time held on nodes that the log does not name, share")
    count = Fact("hosts.count", len(every), "Nodes that the log names")
    yield Facts((count, Fact("hosts.unknown_cpu", _unknown(store, every), label, "fraction")))
    yield from _lists(store, every)
    yield from _idle(store, every)
    if store.provenance.get("format") in REUSED:
        yield Note("Names of nodes come back for other machines: none is said to fail.")
        return
    yield from _failing(tried_nodes(store), len(every))
    yield from _incidents(*failed_nodes(store))
    yield Drawing(lambda: _picture(store, every, is_of_failures=True))
    yield Drawing(lambda: _picture(store, every, is_of_failures=False))


def _unknown(store: Store, every: Sequence[Host]) -> float | None:
    """Return the share of CPU time that jobs held on nodes without a name."""
    whole = held_anywhere(store).get("cpu_seconds")
    if not whole:
        return None
    return number(max(1 - sum(one.seconds.get("cpu_seconds", 0.0) for one in every) / whole, 0.0))


def _columns() -> list[Column]:
    return [
        Column("id", "Node"),
        Column("jobs", "Jobs that took part", "count"),
        Column("failed", "Of these failed", "count"),
        Column("failed_alone", "Failed on this node alone", "count"),
        column("cpu_seconds"),
        column("gpu_seconds"),
        column("last_end"),
    ]


def _row(one: Host) -> dict[str, Value]:
    held = {name: number(one.seconds.get(name)) for name in ("cpu_seconds", "gpu_seconds")}
    counts = {"jobs": one.jobs, "failed": one.failed, "failed_alone": one.failed_alone}
    return {"id": one.name, **counts, **held, "last_end": number(one.last_end)}


def _lists(store: Store, every: Sequence[Host]) -> Iterator[Block]:
    """Yield the largest nodes by each ranking, and tables of those with most time and most failed jobs."""
    for name, (title, measure) in RANKINGS.items():
        largest = sorted((one for one in every if measure(one)), key=lambda one: (-measure(one), one.name))
        if largest:
            records = Records(f"hosts.{name}", title, _columns(), [*map(_row, largest[: store.top])])
            yield records.fact
            if name in {"by_cpu", "by_failed"}:
                yield records.table(f"hosts-{name.replace('_', '-')}")


def _idle(store: Store, every: Sequence[Host]) -> Iterator[Block]:
    """Yield the nodes that ran nothing in the last week or longer: the log does not tell why."""
    end = max((one.last_end for one in every), default=0.0)
    period = window(store).period
    end = period[1] if period else end
    idle = sorted(
        (one for one in every if end - one.last_end >= IDLE), key=lambda one: (one.last_end, one.name)
    )
    rows: list[dict[str, Value]] = [
        {"id": one.name, "idle_seconds": number(end - one.last_end), "last_end": number(one.last_end)}
        for one in idle
    ]
    columns = [
        Column("id", "Node"),
        Column("idle_seconds", "Without a job for", "seconds"),
        column("last_end"),
    ]
    title = message("Nodes that ran nothing in the last week")
    yield Facts((Fact("hosts.idle_count", len(idle), title),))
    if rows:
        yield from Records("hosts.idle", title, columns, rows[: store.top]).blocks("hosts-idle")


def _failing(tried: Sequence[Tried], every: int) -> Iterator[Block]:
    """Yield the nodes on which failing begins too often for chance, and which would have been seen."""
    named = [one for one in tried if one.is_named]
    visible = sum(one.would_be_seen or one.is_named for one in tried)
    rows: list[Value] = [
        {
            "id": one.name, "trials": one.trials, "failures": one.failures,
            "expected": number(one.expected), "users": one.users, "days": one.days,
        }
        for one in named
    ]  # fmt: skip
    label = message(
        "Nodes that ran enough jobs for one that fails {more} more to be seen", more=fraction(MORE)
    )
    yield list_of(
        *facts_of(
            "hosts",
            ("tested", len(tried), message("Nodes whose jobs can be compared with those of others"), ""),
            ("visible", visible, label, ""),
            ("failing", rows, message("Nodes on which jobs begin to fail more often than chance"), ""),
        ),
        listed=False,
    )
    for one in named:
        yield Note(
            message(
                "Jobs began to fail on {node} more often than chance: {failures} of {trials} there,"
                " {expected} expected of the same users and applications ({users}, {days}).",
                node=one.name,
                failures=digits(one.failures),
                trials=digits(one.trials),
                expected=decimal(one.expected, ".1f"),
                users=plural("{n} user", "{n} users", one.users),
                days=plural("{n} day", "{n} days", one.days),
            ),
            "warning",
        )
    few = every - visible
    if not named and visible:
        yield note_of(
            "No node was found to fail more than chance would have it; of {nodes}, {visible} ran enough"
            " jobs for a node that fails {more} more to be seen in nine of ten such logs.",
            nodes=plural("{n} node", "{n} nodes", every),
            visible=digits(visible),
            more=fraction(MORE),
        )
    elif few:
        yield Note(plural("{n} node has too few jobs to tell.", "{n} nodes have too few jobs to tell.", few))


def _incidents(every: int, nodes: Sequence[FailedNode]) -> Iterator[Block]:
    """Yield how often nodes failed under jobs, by their states, and which did more often than chance."""
    if not every:
        return
    rows: list[dict[str, Value]] = [
        {"id": one.name, "incidents": one.incidents, "expected": number(one.expected)} for one in nodes
    ]
    columns = [
        Column("id", "Node"),
        Column("incidents", "Incidents", "count"),
        Column("expected", "Expected by the hours held", "count"),
    ]
    yield Facts((Fact("hosts.incident_count", every, "Incidents in which a node failed under jobs"),))
    title = message("Nodes that failed under jobs")
    yield from Records("hosts.incidents", title, columns, rows[:MAXIMUM_ROWS]).blocks("hosts-incidents")
    for one in nodes:
        if one.is_named:
            yield Note(
                message(
                    "{node} failed under jobs more often than chance: {incidents} of {every} incidents,"
                    " {expected} expected by the hours that it was held.",
                    node=one.name,
                    incidents=digits(one.incidents),
                    every=digits(every),
                    expected=decimal(one.expected, ".1f"),
                ),
                "warning",
            )


def _picture(store: Store, every: Sequence[Host], *, is_of_failures: bool) -> Figure:
    """Return the jobs that failed, or the hours held, by node and week, of the nodes with most, or least."""
    period = window(store).period or (min(one.last_end for one in every), max(one.last_end for one in every))
    edges, weeks = Calendar.of(*period, store.system.timezone, relative=store.system.relative).weeks()
    first = max(len(weeks) - MAXIMUM_WEEKS, 0)
    order = (
        (lambda one: (-one.failed, one.name)) if is_of_failures else (lambda one: (one.last_end, one.name))
    )
    shown = sorted(every, key=order)[:MAXIMUM_ROWS]
    seconds, failed = by_week(store, [one.name for one in shown], edges[first:].tolist())
    left_out = len(every) - len(shown)
    note = (
        plural("{n} more node is not shown.", "{n} more nodes are not shown.", left_out) if left_out else ""
    )
    title, caption = (
        (
            message("Jobs that failed, by node and week"),
            message("A row for each node, a column for each week: the darker, the more of its jobs failed."),
        )
        if is_of_failures
        else (
            message("CPU time held, by node and week"),
            message("A row for each node, a column for each week: an empty cell is a week without a job."),
        )
    )
    return heatmap(
        "hosts-failures" if is_of_failures else "hosts-hours",
        title,
        failed if is_of_failures else seconds,
        [one.name for one in shown],
        weeks[first:],
        caption,
        ylabel=message("jobs that failed") if is_of_failures else message("CPU time held"),
        unit="count" if is_of_failures else "cpu seconds",
        note=note,
    )
