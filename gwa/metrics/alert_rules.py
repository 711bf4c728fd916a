"""
The rules by which jobs waste what they hold: the rows of ``alert_rules.toml``, with their thresholds.

A rule is SQL over the table of `gwa.metrics.alerts.judged_jobs`. It is about some jobs; of those of which it
is known, it finds some at fault, each of which puts something at stake in every second that it runs. For whom
it holds is decided by the sums over the jobs of a user or project. A job that is not measured says nothing.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, make_dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias

from gwa.util.toml import Check, record
from gwa.util.units import HOUR, MINUTE
from gwa.words.formatting import kilobytes, number
from gwa.words.message import message
from gwa.words.unit import Unit

GIB: Final = 1024.0**2
TIB: Final = 1024.0**3
"""Kilobytes."""

DIGITS: Final = 9
"""Ratios are compared with this many digits: the last ones of a sum are those of its rounding."""

Kind: TypeAlias = Literal["count", "sum", "max", "min"]

Stake: TypeAlias = Literal["GPU-hours", "core-hours", "node-hours", "TB-hours"]
"""What is at stake; a TB has 1024⁴ bytes, as everywhere in gwa."""

AMOUNTS: Final[Mapping[Stake, str]] = {
    "GPU-hours": message("{n} GPU-hours"),
    "core-hours": message("{n} core-hours"),
    "node-hours": message("{n} node-hours"),
    "TB-hours": message("{n} TB-hours"),
}
OF_REQUESTS: Final[Mapping[Stake, str]] = {
    "GPU-hours": message("{n} GPU-hours of requests"),
    "core-hours": message("{n} core-hours of requests"),
}
"""What is asked for and not used is held by no job."""

SCALES: Final[Mapping[Stake, float]] = {
    "GPU-hours": HOUR, "core-hours": HOUR, "node-hours": HOUR, "TB-hours": TIB * HOUR,
}  # fmt: skip
"""What a sum over seconds is divided by."""

ThresholdKind: TypeAlias = Literal["amount", "share", "count"]

THRESHOLDS: Final[Mapping[ThresholdKind, Any]] = {
    "amount": Annotated[float, Check(lambda value: value >= 0, "a number of at least 0")],
    "share": Annotated[float, Check(lambda value: 0 <= value <= 1, "a share from 0 to 1")],
    "count": Annotated[int, Check(lambda value: value >= 1, "a whole number of at least 1")],
}
"""What thresholds may be."""

FILE: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

SQL: Final[Mapping[str, str]] = {**FILE["sql"], "digits": str(DIGITS), "gib": repr(GIB)}
"""Pieces of SQL, by the names that rules give them."""

TEXTS: Final = ("title", "subject", "claim", "because", "do", "action", "shown", "heading")
"""What rules say in words."""


@dataclass(frozen=True)
class Sum:
    """An aggregate over jobs, of the condition or value *sql*; those of parts can be put together."""

    kind: Kind
    sql: str


@dataclass(frozen=True, kw_only=True)
class Rule:
    """
    A rule; it judges jobs that ran for at least as many minutes as its threshold *minimum_run* says.

    *id* is the name of the alert and *title* that for people; *subject* are the jobs that it is about, in
    words. It *needs* one field of each group, and what the *system* says.

    These are SQL, with names in braces: which jobs it *concerns*; whether what it asks is *known* of a job;
    whether the job is at *fault*, and that *sure* enough to write about; what is *at_stake* in each second of
    the run, and *spent* in all of it; what is *found* of the job, a column whose heading and unit are
    *heading* and *found_unit*; and for whom the rule *holds*, by sums over their jobs: those *of_fault* count
    jobs at fault only, *sums* are the others. *size*, *ratio* and *sign* are used in such SQL only.

    What is at stake *is_held* by the jobs, unless it was only asked for.

    *because* says what the jobs of somebody show, with ``jobs``, ``hours``, ``used`` and ``limit``, and *do*
    what they can do; *claim* says what users (``who``) do, *action* what an operator can do, and *shown* when
    a report says so. *parts* are alerts that say the same of a part more exactly. *thresholds* says what
    values each threshold may have, and *limits* which it has.
    """

    id: str
    title: str
    subject: str
    claim: str
    because: str
    do: str
    action: str
    shown: str
    stake: Stake
    needs: tuple[tuple[str, ...], ...]
    heading: str
    at_stake: str
    found: str
    is_held: bool = True
    system: tuple[str, ...] = ()
    found_unit: Unit = "fraction"
    parts: tuple[str, ...] = ()
    concerns: str = "true"
    known: str = "true"
    fault: str = "true"
    sure: str = "true"
    spent: str = "({at_stake}) * seconds"
    holds: str = "true"
    size: str = ""
    ratio: str = ""
    sign: str = ""
    of_fault: Mapping[str, str] = field(default_factory=dict)
    sums: Mapping[str, Sum] = field(default_factory=dict)
    thresholds: Mapping[str, ThresholdKind] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)

    def with_limits(self, stated: object) -> "Rule":
        """Return the rule with the *stated* thresholds; raise `DefinitionError` where one is none of its."""
        kinds = {"minimum_run": "amount", **self.thresholds}
        table = make_dataclass(self.key, [(name, THRESHOLDS[kind]) for name, kind in kinds.items()])
        return replace(self, limits=vars(record(table, stated, self.key)))

    @property
    def key(self) -> str:
        """What the names of its columns begin with, and its table in a file of thresholds."""
        return self.id.replace("-", "_")

    @property
    def scale(self) -> float:
        """What a sum over seconds is divided by to be hours of what is at stake."""
        return SCALES[self.stake]

    @property
    def minimum_run(self) -> float:
        """How long a job must have run to be judged, in seconds."""
        return self.limits["minimum_run"] * MINUTE

    @property
    def at_fault(self) -> str:
        """The condition on the jobs at fault."""
        judged = f"is_judged and run_time >= {self.minimum_run!r}"
        return self.filled(f"{judged} and {self.concerns} and {self.known} and {self.fault}")

    @property
    def fields(self) -> frozenset[str]:
        """The fields that it needs."""
        return frozenset(name for group in self.needs for name in group)

    @property
    def is_at_fault(self) -> str:
        """The column that says so, from which sums are made."""
        return f"{self.key}_fault"

    @property
    def limit(self) -> str:
        """The threshold that its sentences name."""
        if "memory" in self.limits:
            return kilobytes(self.limits["memory"] * GIB)
        return number(self.limits["cores"]) if "cores" in self.limits else ""

    @property
    def most(self) -> int | None:
        """How many users or projects it is told of, those with the most at stake first; None for all."""
        return int(self.limits["top"]) if "top" in self.limits else None

    def filled(self, sql: str) -> str:
        """Return *sql* with what names in it stand for: thresholds, what the rule says, and `SQL`."""
        return sql.format_map(_Names(self))

    def all_sums(self) -> dict[str, Sum]:
        """Return the sums that decide for whom it holds, by name."""
        sure = "{spent}" if self.sure == "true" else f"case when {self.sure} then {self.spent} end"
        of_fault = {"hours": "{spent}", "sure": sure, **self.of_fault}
        sums = {
            "about": Sum("count", self.concerns),
            "known": Sum("count", f"{self.concerns} and {self.known}"),
            "jobs": Sum("count", self.is_at_fault),
            **self.sums,
        }
        for name, sql in of_fault.items():
            sums[name] = Sum("sum", f"case when {self.is_at_fault} then {sql} end")
        return {name: replace(one, sql=self.filled(one.sql)) for name, one in sums.items()}

    def in_hours(self, name: str) -> str:
        """Return the SQL of the sum called *name* in what is at stake, in hours."""
        return f"{self.key}_{name} / {self.scale!r}"


class _Names(dict[str, str]):
    """What names in the SQL of a rule stand for, in which others may stand."""

    def __init__(self, rule: Rule) -> None:
        super().__init__({name: repr(value) for name, value in rule.limits.items()})
        self._rule = rule

    def __missing__(self, name: str) -> str:
        said = SQL[name] if name in SQL else getattr(self._rule, name)
        return str(said).format_map(self)


def _rule(row: Mapping[str, Any]) -> Rule:
    """Return the rule that a *row* says, with what the kinds say that it is like."""
    said = dict(row)
    while kind := said.pop("like", None):
        said = _joined(FILE["kinds"][kind], said)
    said = {"because": said["claim"], **said}
    return record(Rule, said | {name: message(said[name]) for name in TEXTS})


def _joined(kind: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a *kind* says, and what a row says of its *own*; sums are those of both."""
    sums = {name: {**kind.get(name, {}), **own.get(name, {})} for name in ("of_fault", "sums")}
    return {**kind, **own, **sums}


RULES: Final = tuple(map(_rule, FILE["rules"]))
"""All rules, in the order in which they are told."""
