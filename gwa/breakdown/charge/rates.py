"""
Rates: what an hour of processors, GPUs or memory costs, by queue, QoS, type of GPU, project and more.

Of requests to language models it is what a million tokens cost. The first rate that fits a job is the rate
of the job. A rate that fits no job which an earlier one does not fit is refused, and so is whatever else the
file says without an effect. Prices are decimal numbers: what stands in the file is what is computed with.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias

from gwa.breakdown.dimensions import GPU_TYPE
from gwa.store.engines.duckdb import literal
from gwa.util.toml import Check, TomlFile, record
from gwa.util.units import DAY

Basis: TypeAlias = Literal["allocated", "billing", "largest", "tokens"]

PRICES: Final[Mapping[Basis, tuple[str, ...]]] = {
    "allocated": ("cpu_hour", "gpu_hour", "whole_gpu_hour", "gb_hour", "shard_hour", "mps_hour"),
    "billing": ("billing_hour",),
    "largest": ("node_hour",),
    "tokens": ("million_in", "million_cached", "million_out"),
}
"""What has a price, by the basis of the charges."""

CONDITIONS: Final[Mapping[str, str]] = {
    "queues": "queue_id",
    "partitions": "partition_id",
    "qos": "qos",
    "gpu_types": GPU_TYPE,
    "projects": "project_id",
    "models": "model",
    "services": "service",
}
"""The SQL of a job that is compared with the names of a rate, by the key of these."""

OF_REQUESTS: Final = frozenset({"projects", "models", "services"})
"""The conditions that requests have, whose users are projects."""

OF_JOBS: Final = CONDITIONS.keys() - {"models", "services"}
"""The conditions that jobs have."""

MAXIMUM_BYTES: Final = 2_000_000
"""The size of the largest file of rates; it may list thousands of projects."""

MAXIMUM_PRICE: Final = 1_000_000
DECIMALS: Final = 6
"""Of prices, and at most of amounts."""

FREE_DECIMALS: Final = 2
PERCENT_DECIMALS: Final = 4
WHOLE: Final = 100
"""Percent."""

NAME_LENGTH: Final = 80


def exact(number: float) -> Decimal:
    """
    Return a *number* of TOML as the decimal number that stands in the file.

    >>> exact(0.1), exact(1200.0)
    (Decimal('0.1'), Decimal('1200'))
    """
    return Decimal(f"{Decimal(str(number)).normalize():f}")


def _has_decimals(number: float, most: int) -> bool:
    """Whether a *number* has no more decimals than allowed."""
    exponent = exact(number).normalize().as_tuple().exponent
    return isinstance(exponent, int) and -exponent <= most


PRICE: Final = Check(
    lambda price: 0 <= price <= MAXIMUM_PRICE and _has_decimals(price, DECIMALS),
    f"a price from 0 to {MAXIMUM_PRICE:,} with at most {DECIMALS} decimals",
)
HOURS: Final = Check(
    lambda hours: 0 < hours <= 1e9 and _has_decimals(hours, FREE_DECIMALS),  # noqa: PLR2004 - said beside it
    f"hours above 0, at most a milliard, with at most {FREE_DECIMALS} decimals",
)
PERCENT: Final = Check(
    lambda percents: all(
        0 < percent <= WHOLE and _has_decimals(percent, PERCENT_DECIMALS) for percent in percents.values()
    ),
    f"percent above 0, at most {WHOLE}, with at most {PERCENT_DECIMALS} decimals, for each name",
)
NAMES: Final = Check(
    lambda names: names and all(names) and len(set(names)) == len(names), "a list of names, each of them once"
)
LABEL: Final = Check(
    lambda name: name.strip() == name and 0 < len(name) <= NAME_LENGTH and name.isprintable(),
    f"a name in one line, of 1 to {NAME_LENGTH} characters",
)
CURRENCY: Final = Check(
    lambda code: code.isascii() and code.isalpha() and len(code) <= 12,  # noqa: PLR2004 - said beside it
    "a currency such as EUR or credits: at most 12 letters",
)
PLACES: Final = Check(lambda places: 0 <= places <= DECIMALS, f"a whole number from 0 to {DECIMALS}")
SECONDS: Final = Check(lambda seconds: 0 <= seconds <= DAY, f"whole seconds from 0 to {DAY:,}")
SIZE: Final = Check(lambda size: 0 < size <= 1e12, "a whole number above 0")  # noqa: PLR2004 - of KB

Names: TypeAlias = Annotated[tuple[str, ...], NAMES]
Price: TypeAlias = Annotated[float | None, PRICE]
Size: TypeAlias = Annotated[int | None, SIZE]
Hours: TypeAlias = Annotated[float | None, HOURS]


@dataclass(frozen=True, kw_only=True)
class Rate:
    """
    The prices of what jobs hold that fit: those for which each list of names that is given has the job's.

    Prices are of an hour of a processor, a GPU as the scheduler counts them, a whole GPU, of which a part
    (MIG) costs its slice, a share of one (Slurm's shards and MPS), a GB of memory, a unit of Slurm's billing,
    a whole node, or of a million tokens of prompts, of prompts that a cache held, and of answers. A job is
    charged for *minimum_seconds* at least. The sizes of a
    node, which the largest share is of, are those of the system unless they are given; memory is in KB.
    """

    name: Annotated[str, LABEL]
    queues: Names = ()
    partitions: Names = ()
    qos: Names = ()
    gpu_types: Names = ()
    projects: Names = ()
    models: Names = ()
    services: Names = ()
    classes: Names = ()
    cpu_hour: Price = None
    gpu_hour: Price = None
    whole_gpu_hour: Price = None
    gb_hour: Price = None
    shard_hour: Price = None
    mps_hour: Price = None
    billing_hour: Price = None
    node_hour: Price = None
    million_in: Price = None
    million_cached: Price = None
    million_out: Price = None
    minimum_seconds: Annotated[int, SECONDS] = 0
    node_cores: Size = None
    node_memory: Size = None
    node_gpus: Size = None

    @property
    def prices(self) -> dict[str, Decimal]:
        """The prices that are given, by their keys."""
        keys = (key for of_basis in PRICES.values() for key in of_basis)
        return {key: exact(price) for key in keys if (price := getattr(self, key)) is not None}


@dataclass(frozen=True, kw_only=True)
class Free:
    """The hours of a calendar month that cost nothing."""

    cpu_hours: Hours = None
    gpu_hours: Hours = None
    whole_gpu_hours: Hours = None
    gb_hours: Hours = None
    shard_hours: Hours = None
    mps_hours: Hours = None
    billing_hours: Hours = None
    node_hours: Hours = None

    def of(self, price: str) -> Decimal:
        """Return the free hours of what has a *price*, such as cpu_hour."""
        hours = getattr(self, f"{price}s", None)
        return exact(hours) if hours is not None else Decimal(0)


@dataclass(frozen=True, kw_only=True)
class _Discounts:
    projects: Annotated[Mapping[str, float], PERCENT] = field(default_factory=dict)
    classes: Annotated[Mapping[str, float], PERCENT] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class _AllFree:
    projects: Mapping[str, Free] = field(default_factory=dict)
    classes: Mapping[str, Free] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Rates:
    """
    All rates: the *currency*, of how many *decimals* an amount is, what is charged, and at which rates.

    *basis* is what jobs are charged for: *allocated* processors, GPUs, shares of these and memory; the
    *billing* that Slurm records; or the *largest* of the shares of processors, memory and GPUs of a node.
    Requests to language models are charged for their *tokens*, and their users are the projects.
    *classes* are of projects. Of discounts and free hours, those of a project take precedence over those of
    its class. What jobs held in earlier runs, before they were preempted or requeued say, is *charged*, or
    *free*.
    """

    currency: Annotated[str, CURRENCY]
    rates: tuple[Rate, ...]
    decimals: Annotated[int, PLACES] = 2
    basis: Basis = "allocated"
    earlier_runs: Literal["charged", "free"] = "charged"
    classes: Mapping[str, Names] = field(default_factory=dict)
    discounts: _Discounts = field(default_factory=_Discounts)
    free: _AllFree = field(default_factory=_AllFree)

    def of_all(self, price: str) -> Decimal | None:
        """Return a *price*, such as cpu_hour, that every job has in every month; None where none has it."""
        one = self.rates[0]
        differs = any(getattr(one, name) for name in (*CONDITIONS, "classes")) or one.minimum_seconds
        is_reduced = self.discounts != _Discounts() or self.free != _AllFree()
        return None if len(self.rates) > 1 or differs or is_reduced else one.prices.get(price)

    def __post_init__(self) -> None:
        """Refuse what contradicts itself, and what has no effect."""
        if not self.rates:
            raise ValueError("rates: is empty, expected a rate")
        self._check_classes()
        for place, rate in enumerate(self.rates):
            self._check_prices(f"rates[{place}]", rate)
            self._check_reached(place, rate)
        if self.basis == "tokens" and self.has_free_hours:
            raise ValueError("free: has no effect by basis 'tokens', expected none: hours are of jobs")
        for kind in ("projects", "classes"):
            for name, free in getattr(self.free, kind).items():
                self._check_free(f"free.{kind}.{name}", free)

    def _check_classes(self) -> None:
        """Refuse a project of two classes, and a class that is not there."""
        known: dict[str, str] = {}
        for name, projects in self.classes.items():
            for project in projects:
                if other := known.get(project):
                    raise ValueError(
                        f"classes.{name}: has '{project}', which '{other}' has, too, expected one class"
                        " for each project"
                    )
                known[project] = name
        named = [(f"rates[{place}].classes", rate.classes) for place, rate in enumerate(self.rates)]
        named += [("discounts.classes", tuple(self.discounts.classes))]
        named += [("free.classes", tuple(self.free.classes))]
        for path, names in named:
            for name in names:
                if name not in self.classes:
                    expected = ", ".join(self.classes) or "a table [classes] with its projects"
                    raise ValueError(f"{path}: has '{name}', which is no class, expected {expected}")

    def _check_prices(self, path: str, rate: Rate) -> None:
        """Refuse a rate without a price, or with one of another basis, and a name that another one has."""
        keys = PRICES[self.basis]
        for price in rate.prices:
            if price not in keys:
                raise ValueError(
                    f"{path}.{price}: is not charged by basis '{self.basis}', expected {' or '.join(keys)}"
                )
        if {"gpu_hour", "whole_gpu_hour"} <= rate.prices.keys():
            raise ValueError(f"{path}.whole_gpu_hour: stands beside gpu_hour, expected one price of GPUs")
        if not rate.prices:
            raise ValueError(f"{path}: has no price, expected {' or '.join(keys)}")
        has_tokens = self.basis == "tokens"
        if has_tokens and not {"million_in", "million_out"} <= rate.prices.keys():
            raise ValueError(f"{path}: expected million_in and million_out; a price of 0 is free")
        for key in CONDITIONS.keys() - (OF_REQUESTS if has_tokens else OF_JOBS):
            if getattr(rate, key):
                raise ValueError(f"{path}.{key}: has no effect by basis '{self.basis}', expected none")
        if has_tokens and rate.minimum_seconds:
            raise ValueError(f"{path}.minimum_seconds: has no effect by basis 'tokens', expected none")
        for key in ("node_cores", "node_memory", "node_gpus"):
            if getattr(rate, key) is not None and self.basis != "largest":
                raise ValueError(f"{path}.{key}: has no effect by basis '{self.basis}', expected 'largest'")
        if [other.name for other in self.rates].index(rate.name) != self.rates.index(rate):
            raise ValueError(f"{path}.name: is '{rate.name}' again, expected another name for each rate")

    def _check_reached(self, place: int, rate: Rate) -> None:
        """Refuse a rate that fits no job, or no other jobs than an earlier one."""
        fitting = self._fitting(rate)
        if not all(names is None or names for names in fitting.values()):
            raise ValueError(
                f"rates[{place}].projects: has no project of its classes, expected some, or one of both keys"
            )
        for earlier, other in enumerate(self.rates[:place]):
            wider = self._fitting(other)
            if all(_has_all(wider[key], names) for key, names in fitting.items()):
                raise ValueError(
                    f"rates[{place}]: is never used, as rates[{earlier}] ('{other.name}') fits all its jobs,"
                    " expected it before that one: the first rate that fits is used"
                )

    def _fitting(self, rate: Rate) -> dict[str, frozenset[str] | None]:
        """Return the names of jobs that a *rate* fits, by what they are names of; None for all names."""
        found = {key: frozenset(getattr(rate, key)) or None for key in CONDITIONS}
        members = [frozenset(rate.projects)] if rate.projects else []
        if rate.classes:
            members.append(frozenset(one for name in rate.classes for one in self.classes[name]))
        return {**found, "projects": frozenset.intersection(*members) if members else None}

    def _check_free(self, path: str, free: Free) -> None:
        keys = [f"{price}s" for price in PRICES[self.basis]]
        given = [one.name for one in fields(Free) if getattr(free, one.name) is not None]
        for key in given:
            if key not in keys:
                raise ValueError(
                    f"{path}.{key}: is not charged by basis '{self.basis}', expected {' or '.join(keys)}"
                )
        if not given:
            raise ValueError(f"{path}: has no hours, expected {' or '.join(keys)}")

    @cached_property
    def _class_of(self) -> Mapping[str, str]:
        return {project: name for name, projects in self.classes.items() for project in projects}

    def discount(self, project: str | None) -> Decimal:
        """Return the discount of a *project* in percent, 0 where it has none."""
        if project is not None and project in self.discounts.projects:
            return exact(self.discounts.projects[project])
        return exact(self.discounts.classes.get(self._class_of.get(project or "", ""), 0))

    def free_hours(self, project: str | None) -> Free:
        """Return the free hours of a *project* in a month."""
        if project is not None and project in self.free.projects:
            return self.free.projects[project]
        return self.free.classes.get(self._class_of.get(project or "", ""), Free())

    @property
    def has_free_hours(self) -> bool:
        """Whether any project has some."""
        return bool(self.free.projects or self.free.classes)

    def place(self) -> str:
        """Return the SQL of the place of the rate of a job, null where none fits."""
        cases = (f"when {self._condition(rate)} then {place}" for place, rate in enumerate(self.rates))
        return f"case {' '.join(cases)} end"

    def _condition(self, rate: Rate) -> str:
        """Return the SQL condition on jobs that a *rate* fits."""
        fitting = self._fitting(rate).items()
        parts = [
            f"{CONDITIONS[key]} in ({', '.join(map(literal, sorted(names)))})"
            for key, names in fitting
            if names is not None
        ]
        return " and ".join(parts) or "true"

    def by_rate(self, values: Iterable[object], place: str = "place") -> str:
        """Return the SQL of the one of *values*, SQL for each rate, that is of the rate at a *place*."""
        texts = list(map(str, values))
        if len(set(texts)) == 1:
            return texts[0]
        cases = (f"when {number} then {text}" for number, text in enumerate(texts))
        return f"case {place} {' '.join(cases)} end"

    def as_table(self) -> dict[str, Any]:
        """Return the rates as a table of JSON, from which `from_table` makes them again."""
        table: dict[str, Any] = _without_empty(asdict(self))
        return table


def _has_all(wider: frozenset[str] | None, names: frozenset[str] | None) -> bool:
    """Whether *wider* has all *names*, where None stands for all names that there are."""
    return wider is None or (names is not None and names <= wider)


def _without_empty(value: Any) -> Any:  # noqa: ANN401 - anything that JSON can say
    if isinstance(value, Mapping):
        inner = {key: _without_empty(one) for key, one in value.items()}
        return {key: one for key, one in inner.items() if one is not None and one not in ({}, [])}
    return [_without_empty(one) for one in value] if isinstance(value, list | tuple) else value


def from_table(table: object) -> Rates:
    """Return the rates that a *table* says; raise `DefinitionError` where it says none."""
    return record(Rates, table)


def read_rates(path: Path) -> Rates:
    """Return what a file of rates says; raise `DefinitionError` where it is none."""
    file = TomlFile.read(path, "a file of rates: gwa charge --example prints one", MAXIMUM_BYTES)
    with file.located():
        return from_table(file.data)


EXAMPLE: Final = Path(__file__).with_name("example.toml").read_text(encoding="utf-8")
"""A file of rates with all that it may say."""
