"""Long-range dependence is claimed of worlds that have it, and of no others."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from gwa.analysis.findings.arrivals import busy_times, memory_of_load
from gwa.analysis.sections.dependence_over_time import in_words, verdict_facts
from gwa.report.facts import number
from gwa.statistics.spectra import MINIMUM_HOURS, dependence
from tests.claims.arrivals import (
    MONTH,
    WITH,
    WITHOUT,
    YEAR,
    Floats,
    LogRate,
    arrivals,
    autoregressive,
    fractional_noise,
    random_steps,
)

CLAIM = "their spectrum is a power law"
NO_SIGN = "no sign of long-range dependence"

WORLDS = 200
BURST_AND_CHANCE = 169
"""A seed with which the square roots of independent arrivals have a memory by chance, as few have."""

LOGS = [(1, 240), (3, 240), (1, 60)]
"""Years and jobs a day."""


def facts(world: LogRate, seed: int, hours: int = YEAR, per_day: float = 240) -> dict[str, Any]:
    x = arrivals(world, seed, hours, per_day)
    return {fact.id: fact.value for fact in verdict_facts(dependence(x), x.size)}


def said(world: LogRate, seed: int, hours: int = YEAR, per_day: float = 240) -> str:
    """Return the finding on a world, empty where there is none; it is the sentence of the section."""
    found = facts(world, seed, hours, per_day)
    findings = [finding for rule in (memory_of_load, busy_times) if (finding := rule(found))]
    assert all(finding.text == in_words(found) for finding in findings)
    assert len(findings) <= 1
    return findings[0].text if findings else ""


@pytest.mark.parametrize("name", WITHOUT)
def test_no_world_without_long_range_dependence_has_it(name):
    sentences = [said(WITHOUT[name], seed) for seed in range(4)] + [said(WITHOUT[name], 9, 3 * YEAR)]

    assert not [text for text in sentences if CLAIM in text]


@pytest.mark.parametrize("name", WITH)
def test_fractional_noise_has_it_and_is_never_said_to_lack_it(name):
    found = [facts(WITH[name], seed, years * YEAR) for seed in range(4) for years in (1, 3)]
    sentences = [in_words(one) for one in found]

    assert sum(CLAIM in text for text in sentences) >= 6
    assert not [text for text in sentences if NO_SIGN in text]
    assert all("from 2 h to" in text and "many memory times" in text for text in sentences if CLAIM in text)


@pytest.mark.parametrize(("world", "hours"), [("AR 6 h", 5.2), ("AR 24 h", 20), ("MMPP 48 h", 24)])
def test_a_memory_of_hours_is_measured(world, hours):
    """The correlation of the rate, the exponential of the process, falls faster than the process's own."""
    for seed in range(4):
        found = facts(WITHOUT[world], seed)
        if found["dependence.verdict"] == "one memory time":
            assert found["dependence.memory_time"] == pytest.approx(hours * 3600, rel=0.35)
            assert "Busy and quiet times last about" in said(WITHOUT[world], seed)


@pytest.mark.parametrize("world", ["trend", "random steps"])
def test_what_is_slower_than_the_log_can_measure_has_no_memory_time(world):
    for seed in range(4):
        found = facts(WITHOUT[world], seed)
        memory = found["dependence.memory_time"]
        assert memory is None or memory <= YEAR * 3600 / 24
        assert ("last about" in in_words(found)) == (memory is not None)


def test_cycles_alone_are_no_dependence():
    """The exact figure is measured below; of these worlds all are independent apart from their cycles."""
    verdicts = [facts(WITHOUT["cyclic Poisson"], seed)["dependence.verdict"] for seed in range(10)]

    assert verdicts.count("none") >= 9
    assert not any(said(WITHOUT["cyclic Poisson"], seed) for seed in range(10))


def office_hours(name: str, seed: int) -> Floats:
    """Return arrivals without memory in opening hours, and in no others."""
    workdays, (first, last), hours, per_day = OFFICES[name]
    rng, hour = np.random.default_rng(seed), np.arange(hours)
    of_day = hour % 24
    is_open = (of_day >= first) & (of_day < last) & ((hour // 24 % 7 < 5) | (not workdays))
    jobs: Floats = rng.poisson(is_open * per_day * hours / 24 / is_open.sum()).astype(np.float64)
    return jobs


OFFICES = {
    "every day, whole weeks": (False, (9, 17), 364 * 24, 22),
    "every day": (False, (9, 17), YEAR, 22),
    "workdays": (True, (8, 18), YEAR, 100),
    "workdays, busy": (True, (9, 17), YEAR, 500),
    "half a year": (True, (7, 12), 200 * 24 + 13, 60),
}
"""Whether there are weekends, opening hours, the hours of the log, and jobs a day."""


def claims_of_offices(seeds: range) -> dict[str, list[str]]:
    """Return what is found of office hours without memory, by kind."""
    return {name: [memory_found(office_hours(name, seed)) for seed in seeds] for name in OFFICES}


def memory_found(x: Floats) -> str:
    found = {fact.id: fact.value for fact in verdict_facts(dependence(x), x.size)}
    return "".join(finding.text for rule in (memory_of_load, busy_times) if (finding := rule(found)))


def test_nights_without_arrivals_are_no_memory():
    for name, claims in claims_of_offices(range(20)).items():
        assert sum(map(bool, claims)) <= 1, name


@pytest.mark.slow
def test_nights_without_arrivals_are_hardly_ever_memory():
    claims = claims_of_offices(range(100))
    for name, texts in claims.items():
        print(f"\n{name}: {sum(map(bool, texts))} of {len(texts)}", end="")  # noqa: T201 - `make calibration`
        assert sum(map(bool, texts)) <= 5, name


@pytest.mark.parametrize("name", ["every day", "workdays", "workdays, busy"])
def test_memory_is_found_between_empty_nights_too(name):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        memory = np.exp(0.8 * autoregressive(12, YEAR, rng))
        x = rng.poisson(8 * memory * (office_hours(name, 0) + office_hours(name, 1) > 0)).astype(float)
        assert "Busy and quiet times last about" in memory_found(x), seed


def test_the_advice_follows_the_verdict():
    law, memory = (advice_of(WITH["fractional noise 0.8"]), advice_of(WITHOUT["AR 12 h"]))
    assert law == {"A model with independent arrivals tends to underestimate queues."}
    assert memory == {busy_times.advice}
    assert "underestimate" not in busy_times.advice


def advice_of(world: LogRate) -> set[str]:
    found = [rule(facts(world, seed)) for seed in range(4) for rule in (memory_of_load, busy_times)]
    return {finding.advice for finding in found if finding}


def test_undecided_is_no_evidence_either_way():
    """A memory of three hours on top of fractional noise hides the power law, which is there all the same."""
    for seed in range(4):
        found = facts(
            lambda n, rng: 0.6 * fractional_noise(0.8, n, rng) + 0.5 * autoregressive(3, n, rng), seed
        )
        assert found["dependence.verdict"] == "undecided"
        assert "no evidence for or against" in in_words(found)
        assert memory_of_load(found) is busy_times(found) is None


def test_a_few_bursts_do_not_decide():
    """Where counts and their square roots disagree nothing is claimed."""
    x = arrivals(WITH["fractional noise 0.7"], 1)
    x[np.random.default_rng(2).integers(0, x.size, 40)] += 1000
    found: dict[str, Any] = {fact.id: fact.value for fact in verdict_facts(dependence(x), x.size)}

    assert found["dependence.counts"] != found["dependence.roots"]
    assert found["dependence.verdict"] == "undecided"
    assert "a few bursts decide" in in_words(found)


def test_a_memory_that_only_a_burst_has_is_none():
    """A burst of two hours gives counts a memory; that of square roots is chance, and another."""
    rng = np.random.default_rng(BURST_AND_CHANCE)
    x = rng.poisson(2.5, YEAR).astype(float)
    burst = int(rng.integers(0, YEAR - 2))
    x[burst : burst + 2] += 5000
    found: dict[str, Any] = {fact.id: fact.value for fact in verdict_facts(dependence(x), x.size)}

    assert found["dependence.counts"] == found["dependence.roots"] == "one memory time"
    assert found["dependence.verdict"] == "undecided"
    assert "another memory time than their square roots, so a few bursts decide" in in_words(found)
    assert busy_times(found) is None


def test_a_series_that_cannot_tell_is_refused():
    with pytest.raises(ValueError, match="2160 hours"):
        dependence(np.ones(MINIMUM_HOURS - 1))
    with pytest.raises(ValueError, match="varies"):
        dependence(np.ones(MINIMUM_HOURS))
    with pytest.raises(ValueError, match="at least 0"):
        dependence(-np.ones(MINIMUM_HOURS))


def test_the_scale_of_arrivals_does_not_matter():
    x = arrivals(WITHOUT["AR 12 h"], 3)
    one, many = dependence(x), dependence(1000 * x)

    assert one.verdict == many.verdict
    assert one.counts.memory_time == pytest.approx(many.counts.memory_time, rel=1e-3)
    assert number(one.counts.advantage("one_memory")) == pytest.approx(
        many.counts.advantage("one_memory"), abs=0.01
    )


@pytest.mark.slow
@pytest.mark.parametrize(("years", "per_day"), LOGS)
@pytest.mark.parametrize("name", WITHOUT)
def test_false_alarms_are_rare(name, years, per_day):
    verdicts = _verdicts(WITHOUT[name], years, per_day)
    report = f"\n{years} y, {per_day}/d, {name}: {dict(verdicts)} of {WORLDS}"
    print(report, end="")  # noqa: T201 - `make calibration`

    assert verdicts["power law"] <= 0.05 * WORLDS
    if name == "cyclic Poisson":
        assert verdicts["one memory time"] <= 0.05 * WORLDS
    else:
        assert verdicts["none"] <= 0.05 * WORLDS


@pytest.mark.slow
@pytest.mark.parametrize(("years", "per_day"), LOGS[:2])
@pytest.mark.parametrize("name", WITH)
def test_hits_are_frequent(name, years, per_day):
    verdicts = _verdicts(WITH[name], years, per_day)
    print(f"\n{years} y, {per_day}/d, {name}: {dict(verdicts)} of {WORLDS}", end="")  # noqa: T201 - as above

    assert verdicts["power law"] >= 0.8 * WORLDS
    assert verdicts["one memory time"] + verdicts["none"] <= 0.05 * WORLDS


def _verdicts(world: LogRate, years: int, per_day: float) -> Counter[str]:
    return Counter(
        dependence(arrivals(world, seed, years * YEAR, per_day)).verdict
        for seed in range(1000, 1000 + WORLDS)
    )


@pytest.mark.slow
def test_a_mixture_of_memories_is_why_the_sentence_is_careful():
    """Memories of 3 h, 1 d and 10 d are a power law for many a log (Granger 1980): said, not hidden."""

    def mixture(n: int, rng: np.random.Generator) -> Floats:
        return 0.4 * (autoregressive(3, n, rng) + autoregressive(24, n, rng) + autoregressive(240, n, rng))

    verdicts = _verdicts(mixture, 1, 240)
    assert verdicts["one memory time"] == verdicts["none"] == 0
    assert "many memory times" in in_words(facts(WITH["fractional noise 0.8"], 1))


@pytest.mark.slow
def test_steps_on_a_memory_are_not_long_range():
    verdicts = _verdicts(
        lambda n, rng: 0.6 * autoregressive(6, n, rng) + 0.4 * random_steps(MONTH, n, rng), 1, 240
    )
    assert verdicts["power law"] <= 0.05 * WORLDS
