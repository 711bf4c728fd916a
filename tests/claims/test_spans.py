"""What is said of busy processors is of one time and of one kind: in facts, sentences, cards and charts."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gwa
from gwa.analysis.answers import QUESTIONS, evidence
from gwa.analysis.build import build
from gwa.analysis.comparison.compare import compare
from gwa.analysis.comparison.over_time import months
from gwa.analysis.endings import core_hour_shares, known_share
from gwa.analysis.finding import rules
from gwa.analysis.spans import ANSWERS, span_of, spans_of
from gwa.report.document import Figure, Report
from gwa.store.subset import Subset, select
from gwa.words.formatting import fraction, number
from tests.claims.first_screens import BEGIN, DAY, HOUR, Columns, Made, jobs_at, kept, stated, swf
from tests.claims.sentences import derived as derived_from
from tests.claims.sentences import numbers, written
from tests.claims.spans import ONLY, WORLDS, falsehood, falsehoods, held, mean
from tests.claims.spans import everything as all_of

CPUS = 400
SEEDS = 50
FALSE_SHARE = 0.05


@dataclass(frozen=True)
class Case:
    """What is *kept* of a log, by moments of its jobs in days; its *header*; the *kind* of its levels."""

    kind: str
    kept: Callable[[Columns], np.ndarray]
    header: dict[str, str]
    period: str = ""
    untimed: bool = False


def everything(at: Columns) -> np.ndarray:
    return np.ones(len(at["submit"]), bool)


def two_days(name: str) -> Callable[[Columns], np.ndarray]:
    return lambda at: (at[name] >= 40) & (at[name] < 42)


CASES = {
    "whole": Case("value", everything, stated(CPUS)),
    "starts in the middle": Case("value", lambda at: at["submit"] >= 30, stated(CPUS)),
    "ends in the middle": Case("value", lambda at: at["end"] < 70, stated(CPUS)),
    "two days of long jobs": Case("at least", two_days("start"), stated(CPUS)),
    "hole": Case("value", lambda at: (at["submit"] < 35) | (at["submit"] >= 55), stated(CPUS)),
    "no size": Case("value", everything, {}),
    "no size, two days of long jobs": Case("at least", two_days("start"), {}),
    "a tenth at unknown times": Case("at least", everything, stated(CPUS), untimed=True),
    "a month": Case("value", everything, stated(CPUS), "2020-02"),
    "a month in which it starts": Case("value", lambda at: at["submit"] >= 40, stated(CPUS), "2020-02"),
}


def jobs() -> Columns:
    """Return a hundred days of jobs, some of which run for days."""
    rng = np.random.default_rng(7)
    submit = BEGIN + np.sort(rng.integers(0, 100 * DAY, 4000)).astype(float)
    run = np.round(np.clip(rng.lognormal(9.5, 1.2, len(submit)), 60, 4 * DAY))
    wait = np.round(rng.exponential(HOUR, len(submit)))
    return jobs_at(rng, submit, None, run=run, wait=wait)


def day(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d")


@pytest.fixture(scope="module", params=CASES)
def made(request, tmp_path_factory):
    """Return a case, all its jobs, those in the log, the report on it, and the facts that it is made of."""
    case, every = CASES[request.param], jobs()
    start = every["submit"] + every["wait"]
    at = {"submit": every["submit"], "start": start, "end": start + every["run"]}
    part = kept(every, case.kept({name: (moments - BEGIN) / DAY for name, moments in at.items()}))
    path = tmp_path_factory.mktemp("span") / "log.swf"
    text = swf(Made(part, case.header))
    if case.untimed:
        part = kept(part, np.arange(len(part["submit"])) % 10 > 0)
        text = untimed(text)
    path.write_text(text)
    with gwa.open(path) as trace:
        filters = [Subset(period=case.period)] if case.period else []
        store = select(trace.store, filters[0]) if filters else trace.store
        report = build(store, "log", filters=filters, only=ONLY, strict=True, explore=True)
        known = evidence(store, report.sections).facts
    return case, every, part, report, known


def untimed(text: str) -> str:
    """Return a log in which each tenth job has no time of submission."""
    lines = text.splitlines()
    jobs = [place for place, line in enumerate(lines) if not line.startswith(";")]
    for place in jobs[::10]:
        job, _, rest = lines[place].split(" ", 2)
        lines[place] = f"{job} -1 {rest}"
    return "\n".join(lines) + "\n"


def values(report: Report) -> dict[str, Any]:
    return {fact.id: fact.value for fact in report.facts()}


def test_the_mean_is_of_the_time_that_is_named_and_of_its_kind(made):
    case, every, part, report, _ = made
    facts = values(report)
    assert facts["utilization.kind"] == case.kind
    names = {"value": ("known_busy", "known_mean"), "at least": ("busy_at_least", "at_least")}[case.kind]
    said, share = (facts[f"utilization.{name}"] for name in names)
    assert said == pytest.approx(mean(part, facts), rel=1e-6)
    assert share == (pytest.approx(said / CPUS) if case.header else None)
    truth = mean(every, facts)
    if case.kind == "value":
        assert said == pytest.approx(truth, rel=0.03)
    else:
        assert said <= truth


def test_the_sentence_says_the_number_and_names_its_time(made):
    case, _, _, report, _ = made
    facts = values(report)
    text = next(one.text for one in report.answers if one.id == "busy")
    first, last = day(facts["utilization.first"]), day(facts["utilization.last"] - 1)
    whole = day(facts["trace.first"]), day(facts["trace.last"] - 1)
    assert report.period.startswith(f"{whole[0]} to {whole[1]} (")
    assert text.startswith("On average" if (first, last) == whole else f"On average from {first} to {last}")
    assert ("at least" in text) == (case.kind == "at least")
    name = "known_" if case.kind == "value" else ""
    told = (
        fraction(facts[f"utilization.{name}mean" if name else "utilization.at_least"])
        if case.header
        else number(facts[f"utilization.{name}busy" if name else "utilization.busy_at_least"])
    )
    assert f" {told} " in text
    assert ("%" in text) == bool(case.header)


def test_the_header_is_the_period_asked_for(made):
    case, _, _, report, _ = made
    if case.period:
        assert report.period.startswith(("2020-02-01 to 2020-02-29 ", "2020-02-10 to 2020-02-29 "))


def test_the_chart_beside_it_shows_the_same_mean_over_the_same_time(made):
    _, _, _, report, _ = made
    facts = values(report)
    (figure,) = (
        block
        for section in report.sections
        for block in section.blocks
        if isinstance(block, Figure) and block.id == "utilization"
    )
    data: Any = figure.data
    (line,) = data["lines"]
    times = np.array(line["x"])
    inside = (times >= facts["utilization.first"]) & (times < facts["utilization.last"])
    shown = np.array(line["y"])[inside].mean()
    name = "busy" if facts["utilization.kind"] == "value" else "busy_at_least"
    assert shown == pytest.approx(facts[f"utilization.{name}"], rel=0.02)
    assert f"{facts[f'utilization.{name}']:.0f} on average" in figure.alt


def test_the_first_sentence_and_its_bar_are_of_the_span_of_the_levels(made):
    """Used of the hundred is the mean of the levels; without a size nothing is said of the machine."""
    case, _, _, report, _ = made
    facts = values(report)
    lead = report.lead
    assert lead
    amounts = {one.id: one.amount for one in lead.segments}
    if not case.header:
        assert not amounts.keys() & {"unused", "outages"}
        assert "machine" not in lead.sentence.replace("size of the machine", "")
        assert "unused" not in lead.sentence
        return
    if amounts and "unused" in amounts:
        used = sum(amount for name, amount in amounts.items() if name not in {"unused", "outages"})
        mean = facts.get("utilization.known_mean") or facts.get("utilization.mean")
        assert used / sum(amounts.values()) == pytest.approx(mean, rel=1e-9)


def test_every_number_of_a_sentence_is_a_fact_of_its_span(made):
    """No answer takes a number of other jobs, or of another time, than the table says."""
    _, _, _, report, known = made
    assert {one.id for one in report.answers} == set(ANSWERS)
    needs = {rule.id: rule.needs for rule in rules()}
    for one in report.answers:
        facts = {name: value for name, value in known.items() if span_of(name) in ANSWERS[one.id]}
        texts = written([*facts.values(), *core_hour_shares(facts).values(), known_share(facts)])
        assert [number for number in numbers(one.text) if number not in texts] == [], one.text
    for one in report.findings:
        spans = spans_of(needs[one.id])
        facts = {name: value for name, value in known.items() if span_of(name) in spans}
        own = [facts[name] for name in needs[one.id]]
        texts = written(facts.values()) | written(derived_from(own))
        assert [number for number in numbers(one.text) if number not in texts] == [], one.text


def test_facts_are_of_the_jobs_and_the_time_that_the_table_says(made):
    case, _, part, _, known = made
    first, last = (BEGIN + 31 * DAY, BEGIN + 60 * DAY) if case.period else (0, np.inf)
    submit, end = part["submit"], part["submit"] + part["wait"] + part["run"]
    inside = (submit >= first) & (submit < last)
    lost = np.count_nonzero(inside) // 9 if case.untimed else 0  # they stand in the log, without a time
    assert known["trace.jobs"] - lost in {np.count_nonzero(inside), np.count_nonzero(inside) + 1}
    assert known["jobs.wait.median"] == pytest.approx(np.median(part["wait"][inside]), rel=0.02, abs=2)
    if not case.untimed:
        assert known["outcomes.jobs.completed"] in {None, np.count_nonzero((end >= first) & (end < last))}
    span = known["utilization.first"], known["utilization.last"]
    if case.kind == "value":
        assert known["usage.cpu_seconds"] == pytest.approx(held(part, *span), rel=1e-9)
    else:
        assert known.get("usage.cpu_seconds") is None
        assert known["utilization.mean"] is known["utilization.busy"] is None


def test_every_rule_and_answer_is_of_a_span():
    assert [name for rule in rules() for name in rule.needs if span_of(name) is None] == []
    assert {one.id for one in QUESTIONS} == set(ANSWERS)


def test_a_comparison_says_of_busy_processors_what_the_first_screen_says(tmp_path):
    """The mean over a hole, as of an idle machine, is nowhere; a bound is neither subtracted nor ranked."""
    every = jobs()
    start = every["submit"] + every["wait"]
    at = {"submit": every["submit"], "start": start, "end": start + every["run"]}
    at = {name: (moments - BEGIN) / DAY for name, moments in at.items()}
    said: dict[str, dict[str, Any]] = {}
    stores = []
    with ExitStack() as opened:
        for name in ("hole", "whole", "two days of long jobs"):
            path = tmp_path / f"{name}.swf"
            path.write_text(swf(Made(kept(every, CASES[name].kept(at)), stated(CPUS))))
            trace = opened.enter_context(gwa.open(path))
            said[name] = trace.facts("utilization") | trace.facts("capacity")
            stores.append((name, trace.store))
        pair, three = compare(stores[:2]), compare(stores)
    facts = {fact.id: fact for fact in three.facts()}
    assert said["hole"]["utilization.known_mean"] > 1.1 * said["hole"]["utilization.mean"]
    for place, name in enumerate(said, 1):
        fact = facts[f"side.{place}.utilization.mean"]
        if name == "two days of long jobs":
            least = fraction(said[name]["utilization.at_least"])
            assert (fact.value, fact.text) == (None, f"≥ {least}")
        else:
            assert fact.value == said[name]["utilization.known_mean"]
    assert "tilization" not in three.answer
    of_two = {fact.id: fact.value for fact in pair.facts()}
    assert of_two["compare.1.utilization.mean"] == said["hole"]["utilization.known_mean"]
    assert of_two["side.utilization.mean.verdict"] == "no more than chance"


def test_of_a_month_with_a_gap_it_is_unknown_how_busy_it_was(tmp_path):
    every = jobs()
    submit = (every["submit"] - BEGIN) / DAY
    path = tmp_path / "hole.swf"
    path.write_text(swf(Made(kept(every, (submit < 35) | (submit >= 45)), stated(CPUS))))
    with gwa.open(path) as trace:
        found = months(trace.store)
    assert found is not None
    busy = dict(zip(found.names, found.values["busy"], strict=True))
    assert np.isnan(busy["2020-02"])
    assert busy["2020-03"] > 0


@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_said_of_busy_processors_is_true(seed, tmp_path):
    assert {name: found for name, found in falsehoods(seed, tmp_path) if found} == {}


@pytest.mark.slow
def test_false_sentences_on_busy_processors_are_rare(tmp_path):
    """At most 5 % of all are false."""
    wrong = dict.fromkeys(WORLDS, 0)
    for seed in range(1, SEEDS + 1):
        for name, found in falsehoods(seed, tmp_path):
            wrong[name] += bool(found)
    print(wrong)  # noqa: T201
    assert sum(wrong.values()) <= FALSE_SHARE * SEEDS * len(wrong)


def test_a_still_stretch_begins_when_the_last_job_ended(tmp_path: Path):
    """It began with the last submission, though jobs ran for hours."""
    every = jobs()
    end = (every["submit"] + every["wait"] + every["run"] - BEGIN) / DAY
    submit = (every["submit"] - BEGIN) / DAY
    part = kept(every, (end < 30.5) | (submit >= 70))
    path = tmp_path / "still.swf"
    part["number"] = np.arange(1, len(part["submit"]) + 1)  # as an archive numbers its rows
    path.write_text(swf(Made(part, stated(CPUS))))
    with gwa.open(path) as trace:
        stretches: Any = trace.facts("stretches")["stretches"]
    (still,) = (one for one in stretches if one["kind"] == "still")
    ends = part["submit"] + part["wait"] + part["run"]
    assert still["begin"] == ends[ends < BEGIN + 40 * DAY].max()
    assert still["end"] == part["submit"][part["submit"] >= BEGIN + 70 * DAY].min()


def test_what_ran_since_the_last_submission_is_unknown_where_rows_may_be_missing(tmp_path):
    """The rows of jobs that ran until the log fell still are missing, too: 76 were busy of 79."""
    rng = np.random.default_rng([18, list(WORLDS).index("rows_are_missing_and_numbered_anew")])
    every, days = all_of(rng)
    part = WORLDS["rows_are_missing_and_numbered_anew"](rng, every, days)
    assert falsehood(tmp_path / "log.swf", part, every) == ""
