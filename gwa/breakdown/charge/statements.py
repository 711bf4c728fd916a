"""
Statements: lines of money for projects, made of what their jobs held.

An amount is rounded once, for each line: a quantity of a calendar month at a rate, free hours, or a discount.
What a longer period costs is the sum of the lines of its months, so that twelve months are the year. What was
charged before is not changed: `corrections` are the differences, as lines of a later statement.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import groupby
from math import floor
from typing import Final, Literal

from gwa.breakdown.charge import charges, tokens
from gwa.breakdown.charge.became import Worth, became
from gwa.breakdown.charge.charges import (
    SERVICES,
    SHOWN,
    BillingPeriod,
    ChargedUsage,
    Month,
    Uncharged,
)
from gwa.breakdown.charge.rates import WHOLE, Rates
from gwa.errors import ArgumentError, DefinitionError
from gwa.metrics.outcomes import coding
from gwa.metrics.presence import recorded
from gwa.metrics.window import window
from gwa.store.store import Store
from gwa.store.subset import bounds
from gwa.store.system import System

Kind = Literal["use", "free", "discount"]

DISCOUNT: Final = "discount"
"""The service of lines of discounts."""


@dataclass(frozen=True)
class StatementLine:
    """
    A line of a statement: *units* of a *service* at a *rate* are an *amount*.

    The quantity is *units* / *per*; of free hours it is below 0, and of a discount it is the money that it is
    of. *part* is the month in which jobs held it, and *jobs* is their number, None where that says nothing.
    """

    project: str | None
    part: BillingPeriod
    kind: Kind
    name: str
    service: str
    units: int
    per: int
    rate: Decimal
    amount: Decimal
    jobs: int | None = None
    is_correction: bool = False

    @property
    def quantity(self) -> Fraction:
        """The quantity, in the unit of the service or in the currency."""
        return Fraction(self.units, self.per)

    @property
    def key(self) -> tuple[object, ...]:
        """What two lines of the same project and month have in common that differ in how much it was."""
        return (self.project, self.part, self.kind, self.name, self.service, self.per, self.rate)


@dataclass(frozen=True)
class EarlierStatements:
    """
    Statements that were given before: the *lines* of *parts* of the time, at their *rates*.

    *name* is what errors call them. The lines include corrections of other parts.
    """

    name: str
    rates: Rates
    parts: Sequence[BillingPeriod]
    lines: Sequence[StatementLine]


@dataclass(frozen=True)
class Statements:
    """
    The statements of all projects on a period.

    *parts* are those that are charged for the first time. *uncharged* are jobs of which is not known what
    they held, *undated* those of which is not known when, *running* those that had not ended when the log
    did, by project. *known_until* is when the log's knowledge of the load ends, if before the period does.
    *became* is what the money of *parts* went into; if *is_bound*, jobs that failed are among the finished.
    """

    rates: Rates
    period: str
    system: System
    parts: Sequence[BillingPeriod]
    lines: Sequence[StatementLine]
    uncharged: Sequence[Uncharged] = ()
    undated: int = 0
    running: Sequence[tuple[str | None, int]] = ()
    known_until: float | None = None
    became: Worth = field(default_factory=dict)
    is_bound: bool = False

    @property
    def total(self) -> Decimal:
        """The sum of all amounts."""
        return total(self.lines, self.rates.decimals)

    @property
    def projects(self) -> list[str | None]:
        """The projects with lines or uncharged jobs, by name; None, which is last, is of jobs without one."""
        found = {one.project for one in self.lines} | {one.project for one in self.uncharged}
        return sorted(found, key=lambda name: (name is None, name or ""))

    def by_project(self) -> "dict[str | None, Statements]":
        """Return the statement of each project."""
        lines: dict[str | None, list[StatementLine]] = {project: [] for project in self.projects}
        for line in self.lines:
            lines[line.project].append(line)
        return {
            project: replace(
                self,
                lines=lines[project],
                uncharged=[one for one in self.uncharged if one.project == project],
                running=[(name, jobs) for name, jobs in self.running if name == project],
                became={name: parts for name, parts in self.became.items() if name == project},
            )
            for project in lines
        }


def statements(
    store: Store, rates: Rates, period: str, against: Sequence[EarlierStatements] = ()
) -> Statements:
    """
    Return the statements on a *period* of *store*, with corrections of those that were given before.

    Parts of the period that these charge are not charged again, only corrected. Raise `TraceError` if there
    are jobs that no rate fits, `ArgumentError` for a period that is none, or that statements are in the way
    of, and `DefinitionError` for statements that do not fit together.
    """
    asked = parts(period, store.system, is_whole=rates.has_free_hours)
    _require_sound(asked, against, rates)
    are_requests = store.holds == "requests"
    for of in (rates, *(given.rates for given in against)):
        if are_requests != (of.basis == "tokens"):
            expected = "tokens" if are_requests else "one of jobs"
            raise DefinitionError(
                f"basis: is '{of.basis}', expected {expected}: the trace holds {store.holds}"
            )
    month = tokens.month if are_requests else charges.month
    charged = {part: given for given in against for part in given.parts}
    fresh = [part for part in asked if part not in charged]
    again = [part for part in charged if part in asked]
    past = [part for part in charged if part not in asked]
    months = [(month(store, rates, part), rates) for part in (*fresh, *again)]
    months += [(month(store, charged[part].rates, part), charged[part].rates) for part in past]
    lines: list[StatementLine] = []
    for one, of in months:
        made = lines_of(one, of)
        if one.part in charged:
            before = [line for given in against for line in given.lines if line.part == one.part]
            _require_known(one, before)
            made = list(corrections(made, before))
        lines += made
    first_months = [one for one, _ in months if one.part in asked]
    whole = BillingPeriod(period, asked[0].first, asked[-1].last)
    made_of = Statements(rates, period, store.system, fresh, sorted(lines, key=_place))
    if are_requests:
        (until,) = store.row("select max(submit_time) from requests")
        return replace(
            made_of,
            uncharged=tokens.uncharged(store, rates, whole),
            known_until=until if until is not None and until < whole.last else None,
        )
    is_known = all(one.is_known for one in first_months)
    (undated,) = store.row("select count(*) as jobs from all_jobs where submit_time is null")
    return replace(
        made_of,
        uncharged=charges.uncharged(store, rates, whole, is_known=is_known),
        undated=undated,
        running=_running(first_months),
        known_until=_known_until(store, asked[-1]),
        became=became(store, rates, fresh),
        is_bound=not coding(store).tells("failed"),
    )


def parts(period: str, system: System, *, is_whole: bool = False) -> list[BillingPeriod]:
    """
    Return the calendar months that a *period* has, of which the first and the last may be cut.

    Where times count from an unknown start there are none: the period is one part. Raise `ArgumentError` if
    months are to be whole, and are not.

    >>> utc = System(zone="UTC", relative=False)
    >>> [part.name for part in parts("2025-11..2026-01", utc)]
    ['2025-11', '2025-12', '2026-01']
    >>> [part.name for part in parts("2..3", System())]
    ['2..3']
    >>> [part.name for part in parts("2025-10-30..2025-11-02", utc)]
    ['2025-10-30..2025-10-31', '2025-11-01..2025-11-02']
    """
    first, last = (floor(moment) for moment in bounds(period, system))
    if system.relative:
        if is_whole:
            raise ArgumentError(
                f"the period is '{period}', expected calendar months: free hours are of these, and the times"
                " of this trace count from an unknown start"
            )
        return [BillingPeriod(period, first, last)]
    found = [_within(first, last, *one, system) for one in _months(first, last, system)]
    if is_whole and any(".." in part.name or part.name.count("-") > 1 for part in found):
        raise ArgumentError(
            f"the period is '{period}', expected whole months such as 2025-10: free hours are of these"
        )
    return found


def _months(first: int, last: int, system: System) -> Iterator[tuple[int, int]]:
    """Yield the first second of each month between two moments, and the first one after it."""
    begin = datetime.fromtimestamp(first, system.timezone).replace(day=1, hour=0, minute=0, second=0, fold=0)
    while begin.timestamp() < last:
        end = (begin + timedelta(days=32)).replace(day=1)
        yield floor(begin.timestamp()), floor(end.timestamp())
        begin = end


def _within(first: int, last: int, begin: int, end: int, system: System) -> BillingPeriod:
    """Return what of the month between *begin* and *end* lies between two moments."""
    month_name = datetime.fromtimestamp(begin, system.timezone).strftime("%Y-%m")
    if first <= begin and end <= last:
        return BillingPeriod(month_name, begin, end)
    cut = max(first, begin), min(last, end)
    moments = [datetime.fromtimestamp(moment, system.timezone) for moment in cut]
    if all((moment.hour, moment.minute) == (0, 0) for moment in moments):
        days = [moments[0].date(), moments[1].date() - timedelta(days=1)]
        return BillingPeriod("..".join(dict.fromkeys(day.isoformat() for day in days)), *cut)
    return BillingPeriod("..".join(moment.strftime("%Y-%m-%dT%H:%M") for moment in moments), *cut)


def _require_sound(
    asked: Sequence[BillingPeriod], against: Sequence[EarlierStatements], rates: Rates
) -> None:
    """Refuse statements of another currency, on a part that is charged twice, in pieces, or not at all."""
    seen: list[tuple[BillingPeriod, EarlierStatements]] = []
    for given in against:
        if (given.rates.currency, given.rates.decimals) != (rates.currency, rates.decimals):
            raise DefinitionError(
                f"{given.name}: is in {given.rates.currency} with {given.rates.decimals} decimals,"
                f" expected {rates.currency} with {rates.decimals}, as in the file of rates"
            )
        for part in given.parts:
            for other, of in seen:
                if part.first < other.last and other.first < part.last:
                    raise DefinitionError(
                        f"{given.name}: charges {part.name}, as {of.name} does, expected other statements"
                    )
            seen.append((part, given))
    known = [part for part, _ in seen]
    for given in against:
        for line in given.lines:
            if line.part not in known:
                raise DefinitionError(
                    f"{given.name}: corrects {line.part.name}, expected the statements on it, too"
                    " (--against for each)"
                )
    for part in asked:
        for other in known:
            if part != other and part.first < other.last and other.first < part.last:
                raise ArgumentError(
                    f"the period has {part.name}, a part of which was charged as {other.name}, expected a"
                    " period with all of that, or with nothing of it"
                )


def _require_known(one: Month, before: Sequence[StatementLine]) -> None:
    """Refuse a trace without any job in a month that was charged: it would all be given back."""
    if before and not one.usage and one.is_known:
        raise DefinitionError(
            f"{one.part.name}: was charged, and the trace has no jobs in it, expected a trace that has"
        )


def lines_of(of: Month, rates: Rates) -> list[StatementLine]:
    """Return the lines of a month: of each project what it held by rate, its free hours, and its discount."""
    found: list[StatementLine] = []
    ordered = sorted(
        of.usage, key=lambda one: (one.project is None, one.project or "", one.place, one.model or "")
    )
    for project, group in groupby(ordered, lambda one: one.project):
        held = [line for usage in group for line in _held(usage, of.part, rates)]
        free = list(_free(held, project, rates))
        found += [*held, *free, *_discounted([*held, *free], project, of.part, rates)]
    return found


def _held(usage: ChargedUsage, part: BillingPeriod, rates: Rates) -> Iterator[StatementLine]:
    """Yield a line for each service that was held."""
    rate = rates.rates[usage.place]
    name = rate.name if usage.model in {None, rate.name} else f"{rate.name}, {usage.model}"
    for key, price in rate.prices.items():
        units, per = usage.amounts[key], SERVICES[key].per
        if units:
            amount = rounded(Fraction(units, per) * Fraction(price), rates.decimals)
            yield StatementLine(usage.project, part, "use", name, key, units, per, price, amount, usage.jobs)


def _free(held: Sequence[StatementLine], project: str | None, rates: Rates) -> Iterator[StatementLine]:
    """Yield the lines that take free hours off, which are of the first rates, as far as they go."""
    hours = rates.free_hours(project)
    for key, service in SERVICES.items():
        left = int(hours.of(key) * service.per)
        for line in held:
            if line.service == key and (units := min(left, line.units)):
                left -= units
                amount = rounded(Fraction(-units, line.per) * Fraction(line.rate), rates.decimals)
                yield replace(line, kind="free", units=-units, amount=amount, jobs=None)


def _discounted(
    lines: Sequence[StatementLine], project: str | None, part: BillingPeriod, rates: Rates
) -> Iterator[StatementLine]:
    """Yield the line of the discount on *lines*, if there is one."""
    percent = rates.discount(project)
    of = total(lines, rates.decimals)
    if percent and of:
        per = 10**rates.decimals
        rate = -percent / WHOLE
        amount = rounded(Fraction(of) * Fraction(rate), rates.decimals)
        yield StatementLine(project, part, "discount", "", DISCOUNT, int(of * per), per, rate, amount)


def corrections(made: Iterable[StatementLine], before: Iterable[StatementLine]) -> Iterator[StatementLine]:
    """Yield the differences of lines that are *made* now from those of *before*, some of them corrections."""
    sums: dict[tuple[object, ...], list[StatementLine]] = {}
    for line in made:
        sums.setdefault(line.key, []).append(line)
    for line in before:
        opposite = replace(
            line, units=-line.units, amount=-line.amount, jobs=None if line.jobs is None else -line.jobs
        )
        sums.setdefault(line.key, []).append(opposite)
    for lines in sums.values():
        units, amount = sum(line.units for line in lines), sum((line.amount for line in lines), Decimal(0))
        if units or amount:
            counts = [line.jobs for line in lines if line.jobs is not None]
            jobs = sum(counts) if counts else None
            yield replace(lines[0], units=units, amount=amount, jobs=jobs, is_correction=True)


def rounded(value: Fraction, decimals: int) -> Decimal:
    """
    Return a *value* with a number of *decimals*, halves away from zero.

    >>> rounded(Fraction(1, 8), 2), rounded(Fraction(-1, 8), 2), rounded(Fraction(2, 3), 0)
    (Decimal('0.13'), Decimal('-0.13'), Decimal('1'))
    """
    whole = floor(abs(value) * 10**decimals + Fraction(1, 2))
    return Decimal(whole if value >= 0 else -whole).scaleb(-decimals)


def total(lines: Iterable[StatementLine], decimals: int) -> Decimal:
    """Return the sum of the amounts of *lines*, with a number of *decimals*."""
    return sum((line.amount for line in lines), Decimal(0).scaleb(-decimals))


def _place(line: StatementLine) -> tuple[object, ...]:
    """Return where a line stands: by project, what is charged for the first time first, then by time."""
    return (line.project is None, line.project or "", line.is_correction, line.part.first)


def _running(months: Iterable[Month]) -> list[tuple[str | None, int]]:
    """Return how many jobs of each project had not ended when the log did, as the last month has them."""
    found: dict[str | None, int] = {}
    for one in months:
        counts: dict[str | None, int] = {}
        for usage in one.usage:
            counts[usage.project] = counts.get(usage.project, 0) + usage.running
        found |= {project: jobs for project, jobs in counts.items() if jobs}
    return list(found.items())


def _known_until(store: Store, last: BillingPeriod) -> float | None:
    """Return when the knowledge of the log ends; None if not before the end of the *last* part."""
    whole = store.whole
    bounds_of_log = recorded(whole)
    until = window(whole).last or (bounds_of_log[1] if bounds_of_log else None)
    return until if until is not None and until < last.last else None


def _rate_of(line: str, rates: Rates) -> str:
    """Return the name of the rate in that of a *line*, which may name a model after it; empty for none."""
    names = (rate.name for rate in rates.rates if f"{line}, ".startswith(f"{rate.name}, "))
    return max(names, key=len, default="")


def unused(of: Statements) -> list[str]:
    """Return what the rates say of no job that is charged: names of rates, and of projects with own terms."""
    if not of.parts:
        return []
    rates, projects = of.rates, set(of.projects)
    charged = {_rate_of(line.name, rates) for line in of.lines}
    terms = {
        "rates": [rate.name for rate in rates.rates if rate.name not in charged],
        "discounts": [name for name in rates.discounts.projects if name not in projects],
        "free hours": [name for name in rates.free.projects if name not in projects],
        "projects of classes": [
            name for members in rates.classes.values() for name in members if name not in projects
        ],
    }
    return [
        f"not used in {of.period}: {len(names):,} of the {kind} ({', '.join(names[:SHOWN])}"
        f"{', …' if len(names) > SHOWN else ''})"
        for kind, names in terms.items()
        if names
    ]
