"""Every finding is said in a world in which it is true, and not in those in which it is false."""

from collections import Counter

import numpy as np
import pytest

from gwa.analysis.finding import FindingRule, rules
from tests.claims.worlds import WORLDS, load, random_calm

load()

ELSEWHERE = {"bursts", "busy-times", "changes", "memory-of-load"}
"""Findings on processes in time, whose worlds have tests of their own beside this one."""

RULES = {rule.id: rule for rule in rules() if rule.claim.__module__.startswith("gwa.")}

EVERY = [
    pytest.param(said, rule, name, id=f"{rule}-{said}-{name}")
    for said, claims in WORLDS.items()
    for rule, makers in sorted(claims.items())
    for name in makers
]

CALM_WORLDS, FALSE_WORLDS, TRUE_WORLDS = 200, 200, 50
FALSE_ALARMS, HITS = 0.05, 0.8


@pytest.mark.parametrize("rule", sorted(RULES.keys() - ELSEWHERE))
def test_every_finding_has_worlds_in_which_it_is_false(rule):
    assert len(WORLDS[True][rule]) >= 1
    assert len(WORLDS[False][rule]) >= 2


def test_worlds_are_those_of_findings():
    assert (WORLDS[True].keys() | WORLDS[False].keys()) <= RULES.keys()


@pytest.mark.parametrize(("said", "rule", "name"), EVERY)
def test_it_is_said_where_it_is_true_and_only_there(said, rule, name, facts_of):
    world = WORLDS[said][rule][name](np.random.default_rng(7))

    found = RULES[rule](facts_of(world, [RULES[rule]]))

    assert (found is not None) == said, found


def _share(rule: FindingRule, makers, count: int, facts_of) -> float:
    """Return the share of worlds in which a finding is said; its makers take turns."""
    worlds = [makers[seed % len(makers)](np.random.default_rng(seed)) for seed in range(count)]
    return sum(rule(facts_of(world, [rule])) is not None for world in worlds) / count


@pytest.mark.slow
@pytest.mark.parametrize("rule", sorted(RULES.keys() - ELSEWHERE))
def test_false_alarms_and_hits(rule, facts_of):
    """A finding is said in at most 5 % of 200 worlds made for it to be false, and in 80 % of true ones."""
    alarms = _share(RULES[rule], list(WORLDS[False][rule].values()), FALSE_WORLDS, facts_of)
    hits = _share(RULES[rule], list(WORLDS[True][rule].values()), TRUE_WORLDS, facts_of)
    print(f"{rule}: false alarms {alarms:.1%} of {FALSE_WORLDS}, hits {hits:.0%} of {TRUE_WORLDS}")  # noqa: T201
    assert alarms <= FALSE_ALARMS
    assert hits >= HITS


@pytest.mark.slow
def test_nothing_is_said_of_calm_worlds(facts_of):
    """In 200 worlds in which nothing is remarkable, each finding is said in at most 5 %."""
    some = [rule for name, rule in RULES.items() if name not in ELSEWHERE | {"odd-run-times"}]
    said: Counter[str] = Counter()
    for seed in range(CALM_WORLDS):
        facts = facts_of(random_calm(np.random.default_rng(seed)), some)
        said.update(rule.id for rule in some if rule(facts) is not None)
    print(f"calm worlds: {dict(said)} of {CALM_WORLDS}")  # noqa: T201
    assert all(count <= FALSE_ALARMS * CALM_WORLDS for count in said.values()), said
