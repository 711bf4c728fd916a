"""
The tools: each a function of a `Desk`, whose docstring tells an assistant what it is for.

Each answer has *about*: which trace and which part of it, from when to when the log knows what happened, what
makes conclusions unsafe, and which fields are not recorded.
"""

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final

from gwa.analysis.advice import letter, users
from gwa.analysis.base import analyses
from gwa.analysis.finding import findings as findings_of
from gwa.assistant.desk import Desk, TracePart
from gwa.breakdown.dimensions import by_name
from gwa.breakdown.dimensions import recorded as recorded_dimensions
from gwa.breakdown.held import held_rows
from gwa.errors import ArgumentError
from gwa.evaluation.whatif.change import ChangeSubject, parsed
from gwa.functions import compare as compare_traces
from gwa.functions import wait as bound_of_wait
from gwa.functions import whatif as replay
from gwa.metrics.alerts import alerts
from gwa.report.document import Report
from gwa.simulation.policy import is_code

Answer = dict[str, Any]

MAXIMUM_FACTS: Final = 400
"""The largest number of facts in one answer."""

HELD: Final = "held"
"""The order of a breakdown by what jobs held within the window, of which no other measures are known."""

NEAREST: Final = 5
"""The number of similar names that are suggested for an unknown one."""


def traces(desk: Desk) -> Answer:
    """List the traces that can be asked, with what each is about."""
    return {"traces": [desk.part(name).context for name in desk.traces]}


def questions(
    desk: Desk, trace: str | None = None, period: str | None = None, where: str | None = None
) -> Answer:
    """
    Answer what everybody asks first: what became of the hours, who used them, how long jobs waited, and more.

    Begin here. The sentences are true as they stand: quote them, with their caveats.
    """
    part = desk.part(trace, period, where)
    return part.answer({"answers": _answers(part)})


def _answers(part: TracePart) -> list[Answer]:
    """Return what became of the hours and the answers to the first questions, the same each time."""
    return part.once(
        "the first answers", lambda: list(_first(part.trace.report(["overview"], explore=False)))
    )


def _first(report: Report) -> Iterator[Answer]:
    if report.lead:
        hours = (report.lead, report.lead.gpus)
        said = " ".join(one.sentence for one in hours if one)
        basis = {"basis": report.lead.basis} if report.lead.basis else {}
        state = "known" if report.lead.segments else "unknown"
        yield {
            "question": "What became of the hours?",
            "answer": said,
            "state": state,
            **basis,
            "more_in": "budget",
        }
    for one in report.answers:
        yield {"question": one.question, "answer": one.text, "state": one.state, "more_in": one.section}


def facts(
    desk: Desk, prefix: str, trace: str | None = None, period: str | None = None, where: str | None = None
) -> Answer:
    """
    Return the facts whose ids begin with a prefix, such as "utilization", "jobs.wait" or "users.by_cpu".

    Values are in full precision and SI units: seconds, joules, kilobytes, shares of 1. None means unknown,
    never zero. "describe" explains a fact. A period is "2025", "2025-10", "2025-10-03..2025-10-09" or
    "last-month"; where is an SQL condition on the fields of a job, such as "queue_id = 'gpu'".
    """
    part = desk.part(trace, period, where)
    beginnings = sorted({fact.rstrip(".") for analysis in analyses() for fact in analysis.facts})
    if not any(prefix and (prefix.startswith(one) or one.startswith(prefix)) for one in beginnings):
        nearest = get_close_matches(prefix, beginnings, NEAREST, cutoff=0.3) or beginnings
        raise ArgumentError(f"no fact begins with '{prefix}', expected one of {', '.join(nearest)}")
    wanted = part.facts.of(lambda analysis: analysis.has_facts(prefix))
    found = [fact for name, fact in wanted.items() if name.startswith(prefix)]
    told = part.answer({"left_out": max(len(found) - MAXIMUM_FACTS, 0)}, found[:MAXIMUM_FACTS])
    return told if found else {**told, "facts": {}, "unknown": [prefix]}


def describe(desk: Desk, fact_id: str, trace: str | None = None) -> Answer:
    """Explain a fact: its label, unit, definition with its source, and its value in the whole trace."""
    part = desk.part(trace)
    wanted = part.facts.of(lambda analysis: analysis.has_facts(fact_id))
    if fact_id not in wanted:
        part.facts.value(fact_id)  # names the nearest ids
        raise ArgumentError(f"{fact_id}: this trace does not tell it")
    fact = wanted[fact_id]
    section = next(one for one in analyses() if one.has_facts(fact_id))
    about = {
        "label": fact.label, "unit": fact.unit, "definition": fact.help or section.help, "section": section.id
    }  # fmt: skip
    return part.answer(about, [fact])


def breakdown(
    desk: Desk,
    dimension: str,
    by: str = "cpu",
    trace: str | None = None,
    period: str | None = None,
    where: str | None = None,
) -> Answer:
    """
    Tell by whom, of what, how much: the largest classes of a dimension with all measures.

    Dimensions are "users", "projects", "queues", "partitions", "qos", "outcomes", "sizes", "months" and
    others that the trace records; by is "cpu", "jobs", "gpu", "energy", "waste" or "wait", of whole jobs, or
    "held": the CPU time that jobs held while the log knows the load, with shares of all.
    """
    part = desk.part(trace, period, where)
    known = [one.name for one in recorded_dimensions(part.trace.store)]
    if dimension not in known:
        raise ArgumentError(f"there is no dimension '{dimension}', this trace records {', '.join(known)}")
    return part.answer({"fact_id": f"{dimension}.by_{by}", "rows": _rows(part, dimension, by)})


def _rows(part: TracePart, dimension: str, by: str) -> list[Answer]:
    """Return the rows of a breakdown, which are the same each time; None is unknown."""
    if by == HELD:
        store = part.trace.store
        return part.once(
            ("breakdown", dimension, by),
            lambda: held_rows(store, by_name(dimension), store.top),
        )
    return part.once(
        ("breakdown", dimension, by),
        lambda: [
            {str(name): None if value != value else value for name, value in row.items()}  # noqa: PLR0124 - not a number
            for row in part.trace.breakdown(dimension, by).to_dict("records")
        ],
    )


def _breakdowns(part: TracePart) -> None:
    """Make the breakdowns that are asked for most."""
    for dimension in recorded_dimensions(part.trace.store):
        _rows(part, dimension.name, "cpu")


def findings(
    desk: Desk, trace: str | None = None, period: str | None = None, where: str | None = None
) -> Answer:
    """List what is worth knowing of a trace, the most remarkable first, with what to do about it."""
    part = desk.part(trace, period, where)
    made = [one for one in analyses() if one.is_wanted(part.trace.store)]
    known = {name: fact.value for name, fact in part.facts.of(lambda one: one in made).items()}
    is_whole = not any(subset.is_selective for subset in part.trace.filters)
    found = [
        {
            "finding": one.text,
            "advice": one.advice,
            "action": one.action,
            "stake": one.stake,
            "rule": one.rule,
        }
        for one in findings_of(known, {one.id for one in made}, whole=is_whole)
    ]
    return part.answer({"findings": found})


def compare(
    desk: Desk, period: str = "", against: str = "", trace: str | None = None, other: str | None = None
) -> Answer:
    """
    Say what differs, and whether by more than chance: two periods of one trace, or two traces.

    For two periods, give period and against, such as "2025-11" and "2025-10"; for two traces, trace and
    other.
    """
    if not other and not (period and against):
        raise ArgumentError("expected period and against, or trace and other")
    first = desk.part(trace, against or period or None)
    second = desk.part(other or trace, period or None)
    names = [against, period] if not other else [first.trace.name, second.trace.name]
    report = compare_traces([first.trace, second.trace], names=names, progress=desk.progress)
    rows = report.table("levels").frame().to_dict("records")
    return {"answer": report.answer, "levels": rows, "about": [first.context, second.context]}


def advise(
    desk: Desk, user: str | None = None, trace: str | None = None, period: str | None = None
) -> Answer:
    """
    Say who wastes GPUs, cores, memory, nodes or time: of one user what to change, of all who should.

    Without a user, the alerts that hold are listed, with hours at stake and how many jobs are measured.
    """
    part = desk.part(trace, period)
    store = part.trace.store
    if user is None:
        found = alerts(store)
        rows = [
            {"alert": one.rule.id, "user": holder.name, "jobs": holder.jobs, one.rule.stake: holder.hours}
            for one in found
            for holder in one.holders
        ]
        of = [{"alert": one.rule.id, "measured": one.known, "of_jobs": one.about} for one in found]
        return part.answer({"alerts": rows, "measured": of})
    known = users(store)
    if user not in known:
        nearest = get_close_matches(user, known, NEAREST, cutoff=0.3) or known[:NEAREST]
        raise ArgumentError(f"there is no user '{user}', the nearest are: {', '.join(nearest)}")
    told = letter(store, user)
    advice = [{"do": one.do, "because": one.because, "measured": one.measured} for one in told.advice]
    return part.answer({"user": user, "jobs": told.jobs, "cpu_hours": told.cpu_hours, "advice": advice})


def sql(desk: Desk, query: str, trace: str | None = None) -> Answer:
    """
    Run one SELECT in DuckDB's SQL over the tables jobs, ran, header, sources, rejects, repairs, dependencies.

    "ran" has the jobs that ran, with start_time, end_time and cpu_seconds. At most 200 rows come back, in at
    most 20 s. Prefer "facts" and "breakdown": they know of gaps, of running jobs and of what is unknown.
    """
    return desk.sql(query, trace)


def wait_bound(
    desk: Desk,
    procs: int = 1,
    time: float | None = None,
    queue: str | None = None,
    user: str | None = None,
    trace: str | None = None,
) -> Answer:
    """
    Bound the wait of a job submitted at the end of the log, in seconds, and say how often such bounds held.

    time is the requested time in seconds. The bound is meant to hold for 95 % of such jobs.
    """
    part = desk.part(trace)
    return part.answer(bound_of_wait(part.trace, procs=procs, time=time, queue=queue, user=user))


def whatif(desk: Desk, changes: list[str], trace: str | None = None) -> Answer:
    """
    Replay the log on a changed machine, and say how waits would change: ["cpus +20%"], ["scheduler fcfs"].

    Quote the first sentence with every number: it says how far the answer is to be trusted. Takes seconds to
    minutes.
    """
    part = desk.part(trace)
    _refuse_code(changes)
    return part.answer(replay(part.trace, *changes, progress=desk.progress))


def _refuse_code(changes: list[str]) -> None:
    """Raise `ArgumentError` for a policy by whose name code is run: only its user's command line may."""
    for one in map(parsed, changes):
        if is_code(one.text) and one.kind.aspect is ChangeSubject.POLICY:
            raise ArgumentError(f"'{one.text}' runs code, which an assistant may not: gwa whatif {one} does")


TOOLS: Final[Mapping[str, Callable[..., Answer]]] = {
    tool.__name__: tool
    for tool in (
        traces, questions, facts, describe, breakdown, findings, advise, compare, sql, wait_bound, whatif,
    )
}  # fmt: skip
"""All tools by name."""

UNLOCKED: Final = frozenset({sql.__name__})
"""The tools that work in a process of their own, and wait for no other."""

USUAL: Final = (_answers, _breakdowns)
"""What is likely to be asked of a whole trace, beside its facts."""
