"""
Conditions on the facts of a trace, such as utilization.mean<0.5, on which something is to be done.

Only the sections are computed that the facts stand in.
"""

import json
import math
import operator
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from typing import Any, Final, Self

from gwa.analysis.base import Analysis, MadeWhen, analyses
from gwa.errors import DefinitionError
from gwa.report.document import Fact, Report
from gwa.store.store import Store
from gwa.util.assets import asset
from gwa.util.once import Once
from gwa.words.unit import Value

SIGNS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}

CONDITION: Final = re.compile(rf"\s*([^\s<>=!]+)\s*({'|'.join(SIGNS)})\s*([^\s<>=!](?:.*\S)?)\s*")

WORDS: Final[Mapping[str, bool]] = {"true": True, "false": False}

ALIAS: Final = "jobs."
"""What facts on all jobs begin with, and may be left out: wait.p95 is jobs.wait.p95."""

STATED: Final[Mapping[str, str]] = {"quota": "quota", "carbon": "carbon", "energy.cost": "carbon"}
"""How facts begin that are only of what a file states, and the option that it is given with."""


@dataclass(frozen=True)
class Condition:
    """A *text* such as ``utilization.mean<0.5``: the id of a *fact*, a *sign*, and a *limit*."""

    text: str
    fact: str
    sign: str
    limit: float | bool | str

    @classmethod
    def parse(cls, text: str) -> Self:
        """
        Return the condition that *text* states; raise `DefinitionError` where it states none.

        >>> Condition.parse("wait.p95 > 86400").limit
        86400.0
        """
        match = CONDITION.fullmatch(text)
        if not match:
            raise DefinitionError(
                f"'{text}' is not a condition, expected a fact, one of {' '.join(SIGNS)}, and a value,"
                " such as utilization.mean<0.5"
            )
        fact, sign, written = match.groups()
        limit = _limit(written)
        if isinstance(limit, str | bool) and sign not in {"==", "!="}:
            raise DefinitionError(f"'{text}' compares with '{written}', expected a number, or == or !=")
        return cls(text.strip(), fact, sign, limit)

    def holds(self, value: Value) -> bool:
        """Whether it holds for *value*; raise `DefinitionError` for what cannot be compared."""
        if isinstance(value, Mapping | Sequence) and not isinstance(value, str):
            raise DefinitionError(f"{self.fact} is a list, expected a fact that is a number or a word")
        numbers = [
            isinstance(part, int | float) and not isinstance(part, bool) for part in (value, self.limit)
        ]
        if numbers[0] != numbers[1]:
            raise DefinitionError(f"{self.fact} is {value!r}, which cannot be compared with {self.limit!r}")
        return SIGNS[self.sign](value, self.limit)


def _limit(written: str) -> float | bool | str:
    try:
        number = float(written)
    except ValueError:
        return WORDS.get(written, written)
    if not math.isfinite(number):
        raise DefinitionError(f"'{written}' is not a limit, expected a number")
    return number


@dataclass(frozen=True)
class FactsOnDemand:
    """The facts of a *store*; a section is computed when one of its facts is asked for, and once."""

    store: Store
    made: Once = field(default_factory=Once)
    """What was made of the sections, which stores of the same jobs may share."""

    def of(self, wanted: Callable[[Analysis], bool]) -> dict[str, Fact]:
        """Return all facts of the sections that are *wanted*, by their ids."""
        found: dict[str, Fact] = {}
        for analysis in filter(wanted, analyses()):
            found |= self.of_section(analysis)
        return found

    def of_section(self, analysis: Analysis) -> dict[str, Fact]:
        """Return all facts of one section, by their ids."""

        def make() -> dict[str, Fact]:
            facts = Report("", "", (analysis.section(self.store, is_drawn=False),)).facts()
            return {fact.id: fact for fact in facts}

        return self.made(analysis.id, make)

    def on_levels(self) -> dict[str, Value]:
        """Return the facts on which the safety of levels rests: the window of observation and utilization."""
        found = self.of(
            lambda analysis: (
                analysis.id == "overview"
                or analysis.has_facts("window.")
                or analysis.has_facts("utilization.")
            )
        )
        return {name: fact.value for name, fact in found.items()}

    def value(self, name: str) -> Value:
        """
        Return the value of the fact called *name*, or jobs.*name*; None where the trace does not tell it.

        Raise `DefinitionError` that names the nearest ids where there is no such fact, or the option that it
        needs.
        """
        for beginning, option in STATED.items():
            if f"{name}.".startswith(f"{beginning}.") and option not in self.store.stated:
                raise DefinitionError(f"'{name}' is of what a file states, expected --{option} FILE")
        ids = (name, f"{ALIAS}{name}")
        known = self.of(lambda analysis: any(map(analysis.has_facts, ids)))
        for one in ids:
            if one in known:
                return known[one].value
        if self._is_known_elsewhere(name, ids) or any(_is_in_reference(one, known) for one in ids):
            return None
        others = {**_reference(), **(known or self.of(lambda one: one.made is not MadeWhen.ON_REQUEST))}
        nearest = get_close_matches(name, others, 3, cutoff=0)
        raise DefinitionError(f"there is no fact '{name}', the nearest are: {', '.join(nearest)}")

    def _is_known_elsewhere(self, name: str, ids: Sequence[str]) -> bool:
        """Whether the whole trace tells the fact, or a package's section that could tells nothing of it."""
        if self.store.whole is not self.store:
            whole = FactsOnDemand(self.store.whole)
            if any(one in whole.of(lambda analysis: any(map(analysis.has_facts, ids))) for one in ids):
                return True
        own = set(_reference().values())
        sections = (one for one in analyses() if one.id not in own and name.startswith(one.facts))
        return any(not self.of_section(analysis) for analysis in sections)


@cache
def _reference() -> Mapping[str, str]:
    """Return the sections of all facts that gwa's own may have, by their ids, with what varies in braces."""
    kept = json.loads(asset("docs", "facts.json").read_text(encoding="utf-8"))
    return {fact["id"]: fact["section"] for fact in kept}


def _is_in_reference(name: str, known: Collection[str]) -> bool:
    """
    Whether there may be a fact called *name* that a trace does not tell.

    What varies, such as a distribution, is one of those that are *known*, where any is.
    """
    if name in _reference():
        return True
    for general in _reference():
        pattern = re.sub(r"\\\{\w+\\\}", "[^.]+", re.escape(general))
        if "{" in general and re.fullmatch(pattern, name):
            return not any(re.fullmatch(pattern, one) for one in known)
    return False
