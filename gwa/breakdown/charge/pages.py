"""Statements as pages and as CSV: lines in words, for ``statement.html`` and ``statements.html``."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from gwa.breakdown.budget import hundred
from gwa.breakdown.charge.became import ORDER
from gwa.breakdown.charge.charges import SERVICES, Uncharged
from gwa.breakdown.charge.rates import CONDITIONS, WHOLE, Basis, Rate, Rates
from gwa.breakdown.charge.statements import DISCOUNT, StatementLine, Statements, rounded
from gwa.report.html import filled
from gwa.report.language import Language
from gwa.report.lead import Caption, Segment
from gwa.store.system import System
from gwa.util.spreadsheet import disarmed
from gwa.words.formatting import seconds, timestamp
from gwa.words.hours import BOUNDS, LABELS, is_single, number_of_hundred
from gwa.words.message import Number, Verbatim, joined, message, plural

COLUMNS: Final = ("project", "service", "quantity", "unit", "rate", "amount", "currency", "from", "to")
"""Of a CSV of statements, after FOCUS (FinOps Open Cost and Usage Specification); ``to`` is exclusive."""

QUANTITY_DECIMALS: Final = 6
"""Of a quantity in CSV; the record has it exactly."""

SHOWN_DECIMALS: Final = 2

NO_PROJECT: Final = message("without a project")
NO_USER: Final = message("without a user")

CHARGED: Final[dict[Basis, str]] = {
    "allocated": message(
        "A job is charged for the processors, GPUs and memory that were allocated to it, from its start"
        " to its end, whether it used them or not."
    ),
    "billing": message(
        "A job is charged for the billing that Slurm records for it, from its start to its end, whether it"
        " used what was allocated to it or not."
    ),
    "largest": message(
        "A job is charged for the largest of its shares of a node's processors, memory and GPUs, from its"
        " start to its end, whether it used them or not."
    ),
    "tokens": message(
        "A request is charged for the tokens of its prompt and of its answer, in the month in which it was"
        " submitted. Tokens of the prompt that a cache held are charged apart where they have a price."
    ),
}

HEADINGS: Final = {
    "queues": message("Queue"),
    "partitions": message("Partition"),
    "qos": message("QoS"),
    "gpu_types": message("GPU type"),
    "projects": message("Project"),
    "models": message("Model"),
    "services": message("Way of asking"),
    "classes": message("Class"),
}
"""What conditions of rates are called."""


@dataclass(frozen=True)
class StatementRow:
    """A line in words; *amount* is below 0 where it *is_credit*."""

    service: str
    month: str
    jobs: str
    quantity: str
    rate: str
    amount: str
    is_credit: bool


# --- Words ---


def project_name(project: str | None, rates: Rates) -> str:
    """Return what a *project* is called, or a user of requests."""
    if project is not None:
        return Verbatim(project)
    return NO_USER if rates.basis == "tokens" else NO_PROJECT


def service(line: StatementLine) -> str:
    """Return what a line is of, in words."""
    if line.service == DISCOUNT:
        said: str = message("Discount")
    elif line.kind == "free":
        said = message("{rate}, free hours", rate=Verbatim(line.name))
    else:
        said = Verbatim(line.name)
    if not line.is_correction:
        return said
    return message("Correction of {month}: {service}", month=Number(line.part.name), service=said)


def unit(line: StatementLine, rates: Rates) -> str:
    """Return the unit of the quantity of a line."""
    return Verbatim(rates.currency) if line.service == DISCOUNT else SERVICES[line.service].unit


def decimal(value: Decimal) -> Number:
    """
    Return a decimal number with all its digits, thousands separated.

    >>> decimal(Decimal("-1234.50")), decimal(Decimal("0.012"))
    ('−1,234.50', '0.012')
    """
    return Number(f"{value:,f}".replace("-", "\N{MINUS SIGN}"))


def money(amount: Decimal, rates: Rates) -> str:
    """Return an *amount* with its currency."""
    return message("{amount} {currency}", amount=decimal(amount), currency=Verbatim(rates.currency))


def _percent(rate: Decimal) -> str:
    percent = Decimal(f"{(rate * WHOLE).normalize():f}")
    return Number(f"{decimal(percent)} %")


def row(line: StatementLine, rates: Rates) -> StatementRow:
    """Return a line in words."""
    quantity = decimal(rounded(line.quantity, SHOWN_DECIMALS))
    return StatementRow(
        service(line),
        line.part.name,
        "" if line.jobs is None else decimal(Decimal(line.jobs)),
        message("{quantity} {unit}", quantity=quantity, unit=unit(line, rates)),
        _percent(line.rate) if line.service == DISCOUNT else decimal(line.rate),
        decimal(line.amount),
        line.amount < 0,
    )


def notes(statements: Statements) -> list[str]:
    """Return what a reader has to know: jobs that are not charged, still run, or are not known yet."""
    said = [
        _not_charged([one for one in statements.uncharged if one.lacking == lacking], statements.rates)
        for lacking in dict.fromkeys(one.lacking for one in statements.uncharged)
    ]
    if statements.undated:
        said.append(
            plural(
                "{n} job of the trace has no submission time: it is in no statement.",
                "{n} jobs of the trace have no submission time: they are in no statement.",
                statements.undated,
            )
        )
    if running := sum(jobs for _, jobs in statements.running):
        said.append(
            plural(
                "{n} job had not ended when the log did: it is charged until then.",
                "{n} jobs had not ended when the log did: they are charged until then.",
                running,
            )
        )
    if statements.known_until is not None:
        moment = timestamp(statements.known_until, _zone(statements.system))
        said.append(
            message(
                "The log ends at {moment}: later requests become lines of a later statement.", moment=moment
            )
            if statements.rates.basis == "tokens"
            else message(
                "The log is known to be complete until {moment} only: what jobs held afterwards may be"
                " missing, and becomes a line of a later statement.",
                moment=moment,
            )
        )
    return said


def _not_charged(uncharged: Sequence[Uncharged], rates: Rates) -> str:
    jobs, ids = sum(one.jobs for one in uncharged), [name for one in uncharged for name in one.ids][:10]
    said = {
        "what": uncharged[0].lacking,
        "ids": Verbatim(", ".join(ids) + (", …" if jobs > len(ids) else "")),
    }
    if rates.basis == "tokens":
        return plural(
            "{n} request is not charged, as the log does not say its {what}: {ids}.",
            "{n} requests are not charged, as the log does not say their {what}: {ids}.",
            jobs,
            **said,
        )
    return plural(
        "{n} job is not charged, as the log does not say its {what}: {ids}.",
        "{n} jobs are not charged, as the log does not say their {what}: {ids}.",
        jobs,
        **said,
    )


def definitions(statements: Statements) -> list[str]:
    """Return how amounts are computed, in sentences."""
    rates = statements.rates
    said = [CHARGED[rates.basis]]
    if rates.basis != "tokens":
        said.append(
            message(
                "A job that ran across the end of a month is charged in both months, for its seconds in each."
            )
        )
    said.append(
        plural(
            "An amount is rounded once, to {n} decimal, halves away from zero; totals are sums of lines.",
            "An amount is rounded once, to {n} decimals, halves away from zero; totals are sums of lines.",
            rates.decimals,
        )
    )
    if any(rate.minimum_seconds for rate in rates.rates):
        said.append(message("A job is charged for at least the minimum time of its rate."))
    if any(line.is_correction for line in statements.lines):
        said.append(
            message(
                "A correction is the difference between what jobs of a month held, as the log says now, and"
                " what was charged for it before."
            )
        )
    return said


def _zone(system: System) -> str | None:
    return None if system.relative else system.timezone.key


def period_in_words(statements: Statements) -> str:
    """Return the period, with the time zone where there is one."""
    zone = _zone(statements.system)
    if zone is None:
        return message("Day {days}", days=Number(statements.period))
    return message("{period} ({zone})", period=Number(statements.period), zone=Verbatim(zone))


# --- Pages ---


def bar(statements: Statements) -> tuple[tuple[Segment, ...], tuple[Caption, ...]]:
    """Return the bar of what the money went into, and what stands below it; nothing where that is unknown."""
    worth = {name: sum((of[name] for of in statements.became.values()), Fraction(0)) for name in ORDER}
    parts = {name: float(amount) for name, amount in worth.items() if amount > 0}
    whole = sum(parts.values())
    numbers = hundred(parts)
    segments = tuple(Segment(name, amount, amount / whole) for name, amount in parts.items())
    signs = BOUNDS if statements.is_bound else {}
    below = tuple(
        Caption(
            name,
            number_of_hundred(count, signs.get(name, ""), is_all=is_single(parts.values())),
            LABELS[name],
        )
        for name, count in numbers.items()
    )
    return segments, below


@dataclass(frozen=True)
class Look:
    """What pages have in common: the *title* of the trace, the *language*, and a *theme*, as of reports."""

    title: str
    language: Language
    theme: Path | None = None


def statement_page(statements: Statements, project: str | None, look: Look, *, paper: bool) -> str:
    """Return the page of *statements*, which are of a *project* alone."""
    return _page(
        "statement.html",
        statements,
        look,
        paper=paper,
        project=look.language(project_name(project, statements.rates)),
        rows=[_translated(row(line, statements.rates), look.language) for line in statements.lines],
        has_months=len({line.part for line in statements.lines}) > 1,
    )


def index_page(statements: Statements, files: dict[str | None, str], look: Look) -> str:
    """Return the page of all statements, whose *files* are called so, without a suffix."""
    language = look.language
    used = [key for key in SERVICES if any(line.service == key for line in statements.lines)]
    projects = [
        (
            language(project_name(project, statements.rates)),
            quote(files[project]),
            _quantities(own.lines, used, language),
            language(decimal(own.total)),
        )
        for project, own in statements.by_project().items()
    ]
    return _page(
        "statements.html",
        statements,
        look,
        projects=projects,
        units=[language(SERVICES[key].unit) for key in used],
        all_units=_quantities(statements.lines, used, language),
        prices=[_translated_rate(rate, statements.rates, language) for rate in statements.rates.rates],
    )


def _page(
    template: str,
    statements: Statements,
    look: Look,
    *,
    paper: bool = False,
    **variables: Any,  # noqa: ANN401 - of the template
) -> str:
    language = look.language
    segments, below = bar(statements)
    return filled(
        template,
        is_of_requests=statements.rates.basis == "tokens",
        overrides=look.theme,
        language=language,
        zone=_zone(statements.system),
        paper=paper,
        title=look.title,
        segments=segments,
        captions=[replace(one, text=language(one.text), label=language(one.label)) for one in below],
        period=language(period_in_words(statements)),
        total=language(money(statements.total, statements.rates)),
        amount=language(decimal(statements.total)),
        currency=statements.rates.currency,
        notes=[language(text) for text in notes(statements)],
        definitions=[language(text) for text in definitions(statements)],
        **variables,
    )


def _quantities(lines: Iterable[StatementLine], used: Sequence[str], language: Language) -> list[str]:
    """Return how much of each service that is *used* the *lines* have, free hours included."""
    sums = dict.fromkeys(used, Fraction(0))
    for line in lines:
        if line.kind == "use":
            sums[line.service] += line.quantity
    return [language(decimal(rounded(one, SHOWN_DECIMALS))) for one in sums.values()]


def _translated(row: StatementRow, language: Language) -> StatementRow:
    service, month, jobs, quantity, rate, amount = map(
        language, (row.service, row.month, row.jobs, row.quantity, row.rate, row.amount)
    )
    return StatementRow(service, month, jobs, quantity, rate, amount, row.is_credit)


def _translated_rate(rate: Rate, rates: Rates, language: Language) -> dict[str, str]:
    """Return a rate in words: its name, the jobs that it fits, and its prices."""
    conditions = [
        joined(" ", (HEADINGS[key], Verbatim(", ".join(names))))
        for key in (*CONDITIONS, "classes")
        if (names := getattr(rate, key))
    ]
    prices: list[str] = [
        joined(": ", (SERVICES[key].unit, money(price, rates))) for key, price in rate.prices.items()
    ]
    if rate.minimum_seconds:
        prices.append(message("for {time} at least", time=seconds(rate.minimum_seconds)))
    others = message("all other requests") if rates.basis == "tokens" else message("all other jobs")
    return {
        "name": rate.name,
        "jobs": language(joined("; ", conditions) if conditions else others),
        "prices": language(joined("; ", prices)),
    }


# --- CSV ---


def as_csv(statements: Statements) -> str:
    """Return the lines as CSV that no spreadsheet takes a formula from."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(map(_cell, values(line, statements)) for line in statements.lines)
    return text.getvalue()


def values(line: StatementLine, statements: Statements) -> tuple[object, ...]:
    """Return what a line says in `COLUMNS`: exact numbers, and moments in the zone of the system."""
    rates = statements.rates
    first, last = (_moment(moment, statements.system) for moment in (line.part.first, line.part.last))
    quantity = rounded(line.quantity, QUANTITY_DECIMALS)
    what = (line.project, str(service(line)), quantity, str(unit(line, rates)))
    return (*what, line.rate, line.amount, rates.currency, first, last)


def _cell(value: object) -> str:
    """Return a value as text: no project is empty, a moment ISO 8601, a text no formula."""
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, datetime):
        return value.isoformat()
    return disarmed(str(value)) if value is not None else ""


def _moment(moment: int, system: System) -> datetime | int:
    """Return a moment in the zone of the system, or in seconds from an unknown start."""
    return moment if system.relative else datetime.fromtimestamp(moment, system.timezone)
