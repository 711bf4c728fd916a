"""
The answers to what everybody asks first: how busy, who, how long did jobs wait, what went wrong or changed.

Each is made of the facts and figures of the report, so it says nothing that a section does not show. What the
log does not record is said to be unknown, with the reason.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from gwa.report.document import Answer, Figure, Report, Unit, Value, Verbatim
from gwa.report.figures.spark import spark
from gwa.report.formatting import fraction, number, seconds, show
from gwa.report.formatting import number as number_text
from gwa.report.message import joined, message, plural

NOTICEABLE: Final = 0.005
"""Shares below this are not mentioned."""


class _Known(NamedTuple):
    """The facts of a report by id, and its figures by id."""

    facts: Mapping[str, Any]
    figures: Mapping[str, Figure]


class _Found(NamedTuple):
    """A number and a sentence, the section that has more, and a picture."""

    number: str
    text: str
    section: str
    picture: Figure | None = None


def answers(report: Report) -> tuple[Answer, ...]:
    """Return the answers for which *report* has the sections, in the order of the questions."""
    known = _Known(
        {fact.id: fact.value for fact in report.facts()}, {figure.id: figure for figure in report.figures()}
    )
    sections = {section.id for section in report.sections if not section.failed}
    found = ((name, question, answer(known)) for name, question, answer in QUESTIONS)
    return tuple(
        Answer(name, question, one.number, one.text, one.section, one.picture)
        for name, question, one in found
        if one.section in sections
    )


# --- How busy? ---


def _busy(known: _Known) -> _Found:
    mean, least = known.facts.get("utilization.mean"), known.facts.get("utilization.at_least")
    machine = _machine(known.facts)
    picture = _course(known.figures, "utilization", message("Busy processors over time"))
    if mean is not None:
        share = fraction(mean)
        return _Found(
            share,
            message(
                "On average {share} of {machine} were busy.{known}",
                share=share,
                machine=machine,
                known=_gpus(known),
            ),
            "utilization",
            picture,
        )
    if least is not None:
        share = fraction(least)
        text = message(
            "At least {share} of {machine} were busy; the log is cut, so it may be more.{known}",
            share=share,
            machine=machine,
            known=_gpus(known),
        )
        return _Found(message("≥ {share}", share=share), text, "utilization", picture)
    return _Found(
        "",
        message(
            "Utilization is unknown: sizes, run times or submissions are not recorded.{known}",
            known=_gpus(known),
        ),
        "utilization",
    )


def _machine(facts: Mapping[str, Any]) -> str:
    """Return what the processors are called: those of the system, or those ever busy at once."""
    cpus = facts.get("trace.cpus")
    if not cpus:
        return message("the processors")
    if facts.get("trace.cpus_inferred"):
        return message(
            "{cpus} processors (the most ever busy at once; the size is not recorded)", cpus=number(cpus)
        )
    return plural("{n} processor", "{n} processors", cpus)


def _gpus(known: _Known) -> str:
    mean, total = known.facts.get("gpu.utilization"), known.facts.get("gpu.total")
    return (
        ""
        if mean is None or not total
        else message(
            " Of {total}, {mean} were allocated.",
            total=plural("{n} GPU", "{n} GPUs", total),
            mean=fraction(mean),
        )
    )


# --- Who used it? ---


class _Holders(NamedTuple):
    prefix: str
    many: str
    one: str


HOLDERS: Final = (_Holders("users", "users", "user"), _Holders("groups", "groups", "group"))


def _who(known: _Known) -> _Found:
    for holders in HOLDERS:
        total, half = (
            known.facts.get(f"trace.{holders.prefix}"),
            known.facts.get(f"{holders.prefix}.half_cpu"),
        )
        ranking = known.facts.get(f"{holders.prefix}.by_cpu") or []
        if total and half:
            return _Found(*_holding(total, half, holders, ranking), "users", _ranking(ranking, holders.many))
    return _Found("", message("Users and groups are not recorded."), "users")


def _holding(
    total: int, half: int, holders: _Holders, ranking: Sequence[Mapping[str, Any]]
) -> tuple[str, str]:
    """Return who accounts for half of the core-hours, as a number and a sentence."""
    if total == 1:
        return message("1 {one}", one=holders.one), message(
            "A single {one} submitted all jobs.", one=holders.one
        )
    largest = (
        message(", the largest for {cpu_share}", cpu_share=fraction(ranking[0]["cpu_share"]))
        if ranking
        else ""
    )
    account = "accounts" if half == 1 else "account"
    text = message(
        "{half} of {total} {many} {account} for half of all core-hours{largest}.",
        half=number(half),
        total=number(total),
        many=holders.many,
        account=account,
        largest=largest,
    )
    return message("{half} of {total}", half=number(half), total=number(total)), text


def _ranking(ranking: Sequence[Mapping[str, Any]], many: str) -> Figure | None:
    shares = [one["cpu_share"] for one in ranking]
    if len(shares) <= 1:
        return None
    alt = message(
        "Shares of core-hours of the top {shares} {many}: {fraction}.",
        shares=number_text(len(shares)),
        many=many,
        fraction=joined(", ", map(fraction, shares)),
    )
    return spark(
        "answer-who",
        message("Core-hours of the top {shares} {many}", shares=number_text(len(shares)), many=many),
        shares,
        alt,
        shape="bars",
    )


# --- How long did jobs wait? ---


def _wait(known: _Known) -> _Found:
    median, high = known.facts.get("jobs.wait.median"), known.facts.get("jobs.wait.p95")
    if median is None or high is None:
        return _Found("", message("Wait times are not recorded."), "waits")
    text = message(
        "Half of the jobs waited {median} or less, 5 % longer than {high}.",
        median=seconds(median),
        high=seconds(high),
    )
    worst = known.facts.get("wait.worst")
    if worst:
        text += message(" Worst served: {kind} {id}.", kind=worst["kind"], id=Verbatim(worst["id"]))
    return _Found(seconds(median), text, "waits", _by_size(known.facts.get("wait.by_size") or []))


def _by_size(classes: Sequence[Mapping[str, Any]]) -> Figure | None:
    waits = [one["p95"] for one in classes]
    if len(waits) <= 1 or not any(waits):
        return None
    words = joined(", ", (message("{id}: {p95}", id=one["id"], p95=seconds(one["p95"])) for one in classes))
    title = message("95th percentile of wait times by number of processors")
    return spark(
        "answer-wait", title, waits, message("{title}: {words}.", title=title, words=words), shape="bars"
    )


# --- What went wrong? ---


def _wrong(known: _Known) -> _Found:
    counts = {
        name: known.facts.get(f"jobs.{name}.count") or 0 for name in ("completed", "failed", "cancelled")
    }
    total = sum(counts.values())
    outages = _outages(known.facts)
    if not total:
        return _Found("", message("How jobs ended is not recorded.{outages}", outages=outages), "outcomes")
    shares = {name: count / total for name, count in counts.items()}
    bad = shares["failed"] + shares["cancelled"]
    parts = [
        message("{shares} {done}", shares=fraction(shares[name]), done=done)
        for name, done in (("failed", "failed"), ("cancelled", message("were cancelled")))
        if shares[name] >= NOTICEABLE
    ]
    known_ones = message(" whose outcome is recorded") if known.facts.get("jobs.unknown.count") else ""
    said = (
        message(
            "Of the jobs{known_ones}, {parts}", known_ones=known_ones, parts=joined(message(" and "), parts)
        )
        if parts
        else message(
            "{value} jobs{known_ones} completed", value="Nearly all" if bad else "All", known_ones=known_ones
        )
    )
    words = joined(
        ", ", (message("{name} {share}", name=name, share=fraction(share)) for name, share in shares.items())
    )
    picture = spark(
        "answer-wrong",
        "Jobs by outcome",
        [*shares.values()],
        message("Jobs by outcome: {words}.", words=words),
        shape="bars",
    )
    return _Found(fraction(bad), joined("", (said, ".", outages)), "outcomes", picture)


def _outages(facts: Mapping[str, Any]) -> str:
    count, lost = facts.get("capacity.outages.count"), facts.get("capacity.outages.seconds")
    if not count or lost is None:
        return ""
    return message(
        " {count} ({lost} in all).",
        count=plural("{n} possible outage", "{n} possible outages", count),
        lost=seconds(lost),
    )


# --- What changed? ---

MEASURES: Final[Mapping[str, tuple[str, Unit]]] = {
    "peak": (message("The maximum of busy processors"), "count"),
    "busy": (message("The mean of busy processors"), "count"),
    "users": (message("Users per week"), "count"),
    "jobs": (message("Jobs per week"), "count"),
    "wait": (message("The mean wait time"), "seconds"),
    "failed": (message("The share of failed jobs"), "fraction"),
    "runtime": (message("The median run time"), "seconds"),
    "processors": (message("Mean processors per job"), "count"),
}


def _changed(known: _Known) -> _Found:
    changes = known.facts.get("changes")
    picture = _course(known.figures, "arrivals", message("Jobs submitted over time"))
    if changes is None:
        return _Found(
            "",
            message("Whether anything changed is unknown: the log has too few weeks with jobs."),
            "changes",
            picture,
        )
    if not changes:
        return _Found(
            message("none found"),
            message("No lasting change of weekly values is found."),
            "changes",
            picture,
        )
    largest = max(changes, key=_factor)
    name, unit = MEASURES[largest["what"]]
    before, after = show(largest["before"], unit), show(largest["after"], unit)
    others = (
        message(" {changes}.", changes=plural("{n} more change", "{n} more changes", len(changes) - 1))
        if len(changes) > 1
        else ""
    )
    text = message(
        "{name} went from {before} to {after} (from {when}).{others}",
        name=name,
        before=before,
        after=after,
        when=largest["when"],
        others=others,
    )
    return _Found(plural("{n} change", "{n} changes", len(changes)), text, "changes", picture)


def _factor(change: Mapping[str, Any]) -> float:
    """Return how many times the larger level is the smaller one."""
    low, high = sorted((abs(change["before"]), abs(change["after"])))
    return float(high / low) if low else float("inf")


def _course(figures: Mapping[str, Figure], name: str, title: str) -> Figure | None:
    """Return the first line of a time series as a small picture."""
    if name not in figures:
        return None
    figure = figures[name]
    values = next(iter(_lines(figure.data["lines"])), ())
    return spark(f"answer-{name}", title, list(values), figure.alt) if len(values) > 1 else None


def _lines(lines: Value) -> Iterator[Sequence[float | None]]:
    for line in lines if isinstance(lines, list) else ():
        yield line["y"]


Question = tuple[str, str, Callable[[_Known], _Found]]

QUESTIONS: Final[Sequence[Question]] = (
    ("busy", message("How busy was it?"), _busy),
    ("who", message("Who used it?"), _who),
    ("wait", message("How long did jobs wait?"), _wait),
    ("wrong", message("What went wrong?"), _wrong),
    ("changed", message("What changed?"), _changed),
)
