"""
What the hours of a machine became: finished work, work that did not finish, outages, and what went unused.

All amounts are what jobs *held*, in the time counted: the window of observation or the period, without
missing rows and without stillness of a day or more. Each second stands once: what runs held that were not
the last of their job is apart from its outcome.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeVar

from gwa.breakdown.held import AMOUNTS, held_at_any_time, recorded_amounts
from gwa.metrics.outcomes import BAD_OUTCOMES, OUTCOMES, Outcome, coding
from gwa.metrics.requeues import requeues
from gwa.metrics.stillness import stillness, unaccounted_in
from gwa.metrics.timeline import exact_sum
from gwa.metrics.totals import totals
from gwa.metrics.usage import usage
from gwa.metrics.window import window
from gwa.store.resources import GPU
from gwa.store.store import Period, Store
from gwa.store.system import shared
from gwa.util.units import HOUR

Name = TypeVar("Name", bound=str)

Kind = Literal["none", "count", "log", "used", "machine"]
"""
What the hundred are: nothing, too little for a hundred, all that the log has, all that was used in the time
counted, or all that the machine had in it.
"""

Part = Literal["finished", "unfinished", "running", "unknown", "used", "restarted", "unused", "outages"]

PARTS: Final[tuple[Part, ...]] = (
    "finished", "unfinished", "running", "unknown", "used", "restarted", "unused", "outages"
)  # fmt: skip
"""In the order of sentences and bars."""

FEW: Final = 50
LITTLE: Final = 100.0 * HOUR
"""Fewer jobs, or fewer processor-seconds, are said as they are."""

MAXIMUM_UNKNOWN: Final = 0.5
"""Where more of what was used has no known outcome, how jobs ended is not recorded."""

MINIMUM_OUTAGE: Final = 0.01
"""Outages of less than one in a hundred are a part of what went unused."""


@dataclass(frozen=True)
class Budget:
    """
    What processor-seconds of a *kind* became in *seconds* of time; None without a window of observation.

    *outcomes* are those of last runs, *restarted* was held by other runs, and *gpus* has the amounts of
    `gwa.breakdown.held.AMOUNTS` of GPUs. The machine had *capacity*, of which *outages* took a part;
    both are None where its size is unknown, or where only some of its jobs are looked at. Unless *is_told*,
    it is not known how jobs ended; if *is_bound*, those that failed are among the finished. If it
    *has_unknown_runs*, jobs ran before the runs that the log records, and held what is not recorded.
    """

    kind: Kind
    jobs: int
    seconds: float | None
    outcomes: Mapping[Outcome, float]
    restarted: float
    gpus: Mapping[str, float]
    capacity: float | None = None
    outages: float | None = None
    is_told: bool = False
    is_bound: bool = False
    has_unknown_runs: bool = False

    @property
    def used(self) -> float:
        """All that was held."""
        return sum(self.outcomes.values()) + self.restarted

    @property
    def total(self) -> float | None:
        """What the hundred are of: all that the machine had, or all that was held."""
        if self.kind == "none":
            return None
        return self.capacity if self.kind == "machine" else self.used

    @property
    def has_too_much(self) -> bool:
        """Whether more was held than the machine had: its size is wrong, or the times are."""
        return self.capacity is not None and self.used > self.capacity

    @property
    def segments(self) -> Mapping[str, float]:
        """The parts, and in the place of those that ran without finishing each of their outcomes."""
        found: dict[str, float] = {}
        for name, amount in self.parts.items():
            found |= (
                {end: self.outcomes[end] for end in BAD_OUTCOMES} if name == "unfinished" else {name: amount}
            )
        return found

    @property
    def parts(self) -> Mapping[Part, float]:
        """The parts of the total that are known, which add up to it."""
        if self.kind == "none":
            return {}
        held = dict(self.outcomes)
        running = held.pop("running")
        parts: dict[Part, float] = {"running": running, "restarted": self.restarted}
        if self.is_told:
            parts |= {
                "finished": held["completed"],
                "unfinished": sum(held[name] for name in BAD_OUTCOMES),
                "unknown": held["unknown"],
            }
        else:
            parts["used"] = sum(held.values())
        if self.kind == "machine" and self.capacity is not None:
            outages = min(self.outages or 0.0, self.capacity - self.used)
            parts |= {"outages": outages, "unused": self.capacity - self.used - outages}
        return {name: parts[name] for name in PARTS if name in parts}


def budget(store: Store) -> Budget:
    """Return what the hours of *store* became, those of its period where it has one; it is found once."""
    return store.once("budget", lambda: _budget(store))


def _budget(store: Store) -> Budget:
    jobs = totals(store).jobs
    if not (store.has("run_time") and store.has("n_procs")):
        return Budget("none", jobs, None, dict.fromkeys(OUTCOMES, 0.0), 0.0, {})
    period = window(store).period
    gaps = unaccounted_in(store, period) if period else []
    asked = period or store.period
    (held,) = _held_in(store, [asked], gaps) if asked else _held_ever(store)
    known, earlier = coding(store), requeues(store)
    has_unknown_runs = bool(earlier and earlier.runs and earlier.cpu_seconds is None)
    found = _of_period(store, period, gaps, held)
    is_told = known.codes == "several" and found.outcomes["unknown"] <= MAXIMUM_UNKNOWN * found.used
    return replace(
        found,
        kind=_kind(jobs, found, has_window=period is not None and not has_unknown_runs),
        jobs=jobs,
        is_told=is_told,
        is_bound=is_told and not known.tells("failed"),
        has_unknown_runs=has_unknown_runs,
    )


def budgets(store: Store, whole: Budget, periods: Sequence[Period]) -> list[Budget]:
    """
    Return what the hours of each of *periods* became, as the *whole* is told apart.

    They are within the window of observation, which the whole has. Where more was held in a period than the
    machine had, it is of what was held.
    """
    gaps = [gap for period in periods for gap in unaccounted_in(store, period)]
    found = []
    for period, held in zip(periods, _held_in(store, periods, gaps), strict=True):
        one = _of_period(store, period, gaps, held)
        kind = "used" if whole.kind == "machine" and one.has_too_much else whole.kind
        found.append(replace(one, kind=kind, is_told=whole.is_told, is_bound=whole.is_bound))
    return found


def _of_period(store: Store, period: Period | None, gaps: Sequence[Period], held: "_Held") -> Budget:
    """Return the amounts of a *period* without *gaps* in it; its kind is not judged."""
    seconds = None if period is None else period[1] - period[0] - sum(shared(period, gap) for gap in gaps)
    capacity = (
        None if store.is_selection or not period or not seconds else store.system.capacity(period, gaps)
    )
    outages = _outages(store, period, gaps, capacity) if period and capacity else None
    return Budget("none", 0, seconds, held.outcomes, held.restarted, held.gpus, capacity, outages)


def _kind(jobs: int, found: Budget, *, has_window: bool) -> Kind:
    """Return what the hundred are of, by what was *found* of so many jobs."""
    if not found.used and not found.capacity:
        return "none"
    if jobs < FEW or found.used < LITTLE:
        return "count"
    if not has_window:
        return "log"
    return "used" if found.capacity is None or found.has_too_much else "machine"


def _outages(store: Store, period: Period, gaps: Sequence[Period], capacity: float) -> float | None:
    """Return the processor-seconds of outages in the time counted; None where they cannot be told."""
    found = stillness(store)
    if not found.knows_waits:
        return None
    stretches = [stretch.within(period) for stretch in found.of("outage")]
    down = sum(
        store.system.capacity((stretch.begin, stretch.end), gaps) or 0.0
        for stretch in stretches
        if stretch.seconds > 0
    )
    return down if down >= MINIMUM_OUTAGE * capacity else 0.0


@dataclass
class _Held:
    """What last runs held by outcome, what others did, and what was held and used of GPUs."""

    outcomes: dict[Outcome, float]
    restarted: float
    gpus: dict[str, float]


def _held_in(store: Store, periods: Sequence[Period], gaps: Sequence[Period]) -> list[_Held]:
    """Return what was held in each of *periods*, outside *gaps*, each of which lies in one of them."""
    within = "greatest(least(end_time, {last}, until) - greatest(start_time, {first}, since), 0.0)"
    spans = [("since", "until"), *((repr(first), repr(last)) for first, last in gaps)]
    inside = " - ".join(within.format(first=first, last=last) for first, last in spans)
    places = ", ".join(f"({place}, {since!r}, {until!r})" for place, (since, until) in enumerate(periods))
    table = (
        f"{held_at_any_time(store)} as held"
        f" inner join (select * from (values {places}) as every(place, since, until)) as periods"
        " on start_time < until and end_time > since"
    )
    return _held(store, table, f"({inside})", len(periods))


def _held_ever(store: Store) -> list[_Held]:
    """Return what was held at any time, also where times are not known."""
    return _held(
        store, f"(select *, 0 as place from {held_at_any_time(store)} as every) as held", "seconds", 1
    )


def _held(store: Store, table: str, seconds: str, count: int) -> list[_Held]:
    """Return what the rows of a *table* held in *count* places, by the SQL of how many *seconds*."""
    names = ["cpu_seconds", *(name for name in recorded_amounts(store) if name.startswith("gpu_"))]
    sums = ", ".join(
        f"coalesce({exact_sum(AMOUNTS[name].format(seconds=seconds))}, 0.0) as {name}" for name in names
    )
    rows = store.rows(
        f"select place, outcome, is_last_run, {sums} from {table}"
        " group by place, outcome, is_last_run order by place, outcome, is_last_run"
    )
    found = [_Held(dict.fromkeys(OUTCOMES, 0.0), 0.0, dict.fromkeys(names[1:], 0.0)) for _ in range(count)]
    for place, name, is_last_run, amount, *of_gpus in rows:
        one = found[place]
        if is_last_run:
            one.outcomes[name] += amount
        else:
            one.restarted += amount
        for key, value in zip(one.gpus, of_gpus, strict=True):
            one.gpus[key] += value
    return found


def gpu_parts(store: Store, found: Budget) -> Mapping[str, float | None]:
    """
    Return the GPU-seconds that computed, were held still, were held and not measured, and were not held.

    What was not held is None where the number of GPUs is not stated; the first two
    are None where none is measured.
    """
    held = found.gpus.get("gpu_seconds")
    if not held:
        return {}
    known = found.gpus.get("gpu_known_seconds") or None
    used = found.gpus["gpu_used_seconds"] if known else None
    of_all = usage(store, GPU)
    size = None if store.is_selection or of_all.inferred or found.seconds is None else of_all.total
    not_held = size * found.seconds - held if size and found.seconds else None
    return {
        "computed": used,
        "still": known - used if known and used is not None else None,
        "unmeasured": held - known if known else None,
        "held": held,
        "not_held": not_held if not_held is not None and not_held >= 0 else None,
    }


def hundred(parts: Mapping[Name, float], number: int = 100) -> dict[Name, int]:
    """
    Return whole numbers that add up to *number*, by largest remainder: of equal ones the larger has more.

    >>> hundred({"finished": 1.0, "unfinished": 1.0, "unused": 1.0})
    {'finished': 34, 'unfinished': 33, 'unused': 33}
    """
    whole = sum(parts.values())
    if whole <= 0:
        return dict.fromkeys(parts, 0)
    exact = {name: number * value / whole for name, value in parts.items()}
    numbers = {name: int(value) for name, value in exact.items()}
    by_remainder = sorted(parts, key=lambda name: (numbers[name] - exact[name], -exact[name]))
    for name in by_remainder[: number - sum(numbers.values())]:
        numbers[name] += 1
    return numbers
