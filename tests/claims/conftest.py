"""What a finding says of a world."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np
import pytest

from gwa.analysis.base import Analysis, MadeWhen, analyses
from gwa.analysis.finding import FindingRule, rules
from gwa.report.document import Facts, FactTable
from gwa.store.account import Account
from gwa.store.store import Store
from tests.claims.worlds import World, random_calm
from tests.conftest import filled

FactsOf = Callable[[World, Iterable[FindingRule]], dict[str, Any]]

SOMETIMES = {
    "wait.worst": "slowdown",
    **{name: "alerts" for rule in rules() if rule.section == "alerts" for name in rule.needs},
}
"""The sections of facts that a calm world need not have."""


def _listed(values: Any) -> list[Any]:
    array = np.asarray(values)
    if array.dtype.kind == "f":
        return [
            None if missing else value for value, missing in zip(array.tolist(), np.isnan(array), strict=True)
        ]
    return list(array.tolist())


def _store(world: World) -> Store:
    size = len(world.jobs["submit_time"])
    header = [("Times", "Unix seconds, UTC"), ("TimeZoneString", "UTC"), *world.header.items()]
    header += [("MaxProcs", str(world.cpus))] if world.cpus else []
    store = filled(header, {name: _listed(of) for name, of in world.jobs.items()})
    rejected, comments = world.account
    store.set_account(Account(size + rejected + comments, size, 0, rejected, comments))
    return store


def _facts(store: Store, analysis: Analysis) -> dict[str, Any]:
    blocks = analysis.section(store).blocks
    return {
        fact.id: fact.value
        for block in blocks
        if isinstance(block, Facts | FactTable)
        for fact in block.facts
    }


@cache
def _sections() -> dict[str, str]:
    """Return the section that has each fact, as a calm world shows."""
    with _store(random_calm(np.random.default_rng(0))) as store:
        made = {one.id: _facts(store, one) for one in analyses() if one.made is MadeWhen.ALWAYS}
    return {name: section for section, facts in made.items() for name in facts} | SOMETIMES


@pytest.fixture
def facts_of() -> FactsOf:
    """Return a function from a world to its facts, made by the sections on which some rules rest."""

    def facts_of(world: World, rules: Iterable[FindingRule]) -> dict[str, Any]:
        rules = list(rules)
        needs = {name for rule in rules for name in (*rule.needs, "trace.jobs")} - world.known.keys()
        wanted = {_sections()[name] for name in needs if name in _sections()}
        if any(rule.section == "fits" for rule in rules):
            wanted.add("fits")
        facts: dict[str, Any] = {}
        with _store(world) as store:
            for analysis in analyses():
                if analysis.id in wanted:
                    facts |= _facts(store, analysis)
        return facts | world.known

    return facts_of
