"""Two systems side by side: size and book-keeping are not differences, and what differs is found."""

from typing import Any

import numpy as np
import pytest

from gwa.analysis.comparison.compare import compare
from gwa.analysis.comparison.differences import rank_differences
from gwa.analysis.comparison.levels import LevelDifference, change_text, compare_levels, level_findings
from gwa.analysis.comparison.quantities import common_quantile, quantile_ratios
from gwa.analysis.comparison.recording import Recording, recording_remarks
from gwa.analysis.comparison.relation import Relation, relation
from gwa.analysis.comparison.trace_summary import summarize
from gwa.metrics.intervals import Intervals
from gwa.report.document import Note, Table
from gwa.statistics.sample import Sample
from gwa.store.store import Store
from gwa.store.subset import Subset, select

DAY = 86_400
FIRST = 10_000
"""The day since 1970 on which the logs begin."""

SEEDS = range(20)
FALSE = 2
"""Of 20 pairs without a difference, one may differ by chance at 5 %; three do in 8 % of cases."""


def system(  # noqa: PLR0913 - what may differ
    make_store: Any, seed: int, *, cpus: int = 64, days: int = 60, copies: int = 1, size: int = 1,
    run: float = 1.0, wait: float = 1.0, load: float = 1.0, codes: tuple[int, ...] = (0, 1, 5),
) -> Store:  # fmt: skip
    """Return the log of a machine: *copies* of a population of users, whose days remember those before."""
    rng, users = np.random.default_rng(seed), 8
    noise = rng.normal(0, 0.3, days)
    for day in range(1, days):
        noise[day] += 0.5 * noise[day - 1]
    weekly = np.where(np.arange(days) % 7 < 2, 0.5, 1.0)
    counts = rng.poisson(15 * copies * load * weekly * np.exp(noise))
    place = np.repeat(np.arange(days), counts)
    total = place.size
    kind = np.minimum(rng.geometric(0.3, total), users) - 1
    typical = np.linspace(-1, 1, users)
    columns = {
        "submit_time": np.sort((place + FIRST) * DAY + rng.integers(0, DAY, total)).astype(float).tolist(),
        "wait_time": np.round(rng.exponential(1800, total) * np.exp(noise[place]) * wait).tolist(),
        "run_time": np.round(rng.lognormal(7 + typical[kind], 1.2, total) * run + 1).tolist(),
        "n_procs": (size * 2 ** rng.integers(0, 5, total)).tolist(),
        "status": rng.choice(codes, total, p=[0.2, *[0.8 / (len(codes) - 1)] * (len(codes) - 1)]).tolist(),
        "user_id": [f"u{number}" for number in kind + users * rng.integers(0, copies, total)],
    }
    store: Store = make_store((("Times", "Unix seconds, UTC"), ("Processors", str(cpus))), **columns)
    return store


def differing(first, second):
    """Return the findings on two systems, A and B, by id."""
    found = level_findings(compare_levels(first, second), ("A", "B"), "levels")
    return {one.id.removeprefix("level-"): one.text for one in found if one.id != "no-level"}


@pytest.mark.parametrize(
    "scaled",
    [{"cpus": 128, "copies": 2}, {"cpus": 128, "size": 2}, {"cpus": 256, "copies": 4}],
    ids=["twice the jobs", "jobs of twice the size", "four times the jobs"],
)
def test_a_system_and_itself_at_another_size_do_not_differ(make_store, scaled):
    found = [
        differing(system(make_store, 2 * seed), system(make_store, 2 * seed + 1, **scaled)) for seed in SEEDS
    ]

    assert sum(map(bool, found)) <= FALSE
    assert not any("busy" in one for one in found)


def test_a_difference_of_size_is_called_so(make_store):
    first, second = system(make_store, 1), system(make_store, 2, cpus=512, size=8)
    found = {one.name: one for one in compare_levels(first, second)}

    assert found["processors"].verdict == "may be due to size"
    assert found["jobs_per_processor"].verdict == "may be due to size"
    assert "users_daily" not in found
    assert "jobs" not in found


def test_halves_of_a_stationary_log_do_not_differ(make_store):
    found = []
    for seed in SEEDS:
        store = system(make_store, seed, days=80)
        halves = [
            store.filtered("true", (float(FIRST + day) * DAY, float(FIRST + day + 40) * DAY))
            for day in (0, 40)
        ]
        assert relation(*halves) is Relation.PERIODS
        found.append(differing(*halves))

    assert sum(map(bool, found)) <= FALSE


def test_what_differs_between_systems_is_found_and_does_not_rise(make_store):
    for seed in range(3):
        one = system(make_store, seed, size=8, cpus=512)
        slow = differing(one, system(make_store, seed + 50, copies=2, cpus=128, run=3))
        assert {"runtime_median", "runtime_p95"} <= slow.keys()
        late = differing(system(make_store, seed + 60, copies=2, cpus=128, wait=5), one)
        assert {"wait_median", "wait_p95"} <= late.keys()
        assert late["wait_median"].startswith("Median wait is higher in A (")
        assert " against " in late["wait_median"]
        assert not any(
            word in text for text in (*slow.values(), *late.values()) for word in ("rises", "falls")
        )


def test_a_system_twice_as_busy_is_found_so(make_store):
    """About 40 % and 80 % of the processors; users of one machine are as many as of the other."""
    found = [
        differing(
            system(make_store, 2 * seed, size=8, days=120, run=1.7),
            system(make_store, 2 * seed + 1, size=16, cpus=128, days=120, run=1.7, load=2),
        )
        for seed in range(4)
    ]
    busy = [one["busy"] for one in found if "busy" in one]

    assert len(busy) >= 3
    assert all(text.startswith("Utilization is higher in B (") for text in busy)


def test_logs_that_record_other_outcomes_are_not_compared_by_them(make_store):
    failed = system(make_store, 1, codes=(0, 1))
    cancelled = system(make_store, 2, codes=(5, 1))
    names = {one.name for one in compare_levels(failed, cancelled)}
    report = compare([("A", failed), ("B", cancelled)])
    notes = [block.text for block in report.section("compared").blocks if isinstance(block, Note)]
    shares = {fact.id: fact.value for fact in report.facts() if fact.id.endswith("ed.share")}

    assert not names & {"failed", "cancelled"}
    codes = "A: completed, failed; B: completed, cancelled"
    assert notes == [f"Outcomes are not compared, because the logs record different ones ({codes})."]
    assert shares["compare.1.jobs.failed.share"] == pytest.approx(0.2, abs=0.05)
    assert shares["compare.2.jobs.failed.share"] is None
    assert shares["compare.1.jobs.cancelled.share"] is None
    assert "Share of failed" not in str([finding.text for finding in report.findings])


def test_one_code_for_all_jobs_is_no_outcome(make_store):
    columns = {"submit_time": [1.0, 2.0], "run_time": [5.0, 5.0], "n_procs": [1, 1], "status": [1, 1]}
    log = Recording.of(make_store(**columns))

    assert not log.has_outcomes
    outcomes, load = recording_remarks([("A", log), ("B", log)])
    assert outcomes == "Outcomes are not compared, because the logs record only one: completed."
    assert load.endswith("are not compared with A and B: the number of processors is not stated.")


def test_a_system_of_unknown_size_is_not_compared_by_what_it_divides(make_store):
    first = system(make_store, 1)
    fields = ("submit_time", "wait_time", "run_time", "n_procs", "status", "user_id")
    jobs = first.frame(f"select {', '.join(fields)} from jobs")
    columns = {field: jobs[field].tolist() for field in fields}
    unsized = make_store((("Times", "Unix seconds, UTC"),), **columns)
    names = {one.name for one in compare_levels(first, unsized)}

    assert names >= {"wait_median", "runtime_median", "failed"}
    assert not names & {"busy", "jobs_per_processor", "processors", "busy_processors"}


SITE = (("Computer", "Heron"), ("Installation", "Lab"))


@pytest.mark.parametrize(
    ("header", "cpus", "expected"),
    [
        (SITE, 64, Relation.PERIODS),
        (SITE, 128, Relation.SYSTEMS),
        ((), 64, Relation.SYSTEMS),
        ((("Computer", "Egret"), ("Installation", "Lab")), 64, Relation.SYSTEMS),
    ],
)
def test_logs_are_of_one_system_if_they_state_it(make_store, header, cpus, expected):
    first = make_store(
        (("Times", "Unix seconds, UTC"), ("Processors", "64"), *SITE), submit_time=[1e9, 1e9 + DAY]
    )
    second = make_store(
        (("Times", "Unix seconds, UTC"), ("Processors", str(cpus)), *header), submit_time=[2e9, 2e9 + DAY]
    )

    assert relation(first, second) is expected
    assert relation(second, first) is not Relation.PERIODS


def test_periods_that_overlap_have_no_order(make_store):
    store = system(make_store, 1)
    days = [f"1997-05-{day:02}" for day in (20, 25, 30)]
    whole, early, late = (
        select(store, Subset(period)) for period in (f"{days[0]}..{days[2]}", days[0], days[1])
    )

    assert relation(whole, early) is Relation.SYSTEMS
    assert relation(early, late) is Relation.PERIODS
    assert relation(late, early) is Relation.PERIODS_BACKWARDS


def test_periods_given_backwards_neither_rise_nor_fall(make_store):
    store = system(make_store, 1, days=80)
    later = store.filtered("true", (float(FIRST + 40) * DAY, float(FIRST + 80) * DAY))
    earlier = store.filtered("submit_time >= 0", (float(FIRST) * DAY, float(FIRST + 40) * DAY))
    found = compare_levels(later, earlier)
    larger = [
        LevelDifference("wait_median", 60.0, 6000.0, 0.4, 0.001, relation=one.relation) for one in found[:1]
    ]

    assert "users_daily" in {one.name for one in found}
    (finding,) = level_findings(larger, ("late", "early"), "levels")
    assert finding.text.startswith("Median wait is higher in early (1 h 40 min against 1 min in late)")


def test_the_difference_of_a_row_is_that_of_its_values(make_store):
    report = compare(
        [("A", system(make_store, 1)), ("B", system(make_store, 2, cpus=1024, copies=16))],
    )
    facts: dict[str, Any] = {fact.id: fact.value for fact in report.facts()}
    points = 100 * (facts["compare.2.utilization.mean"] - facts["compare.1.utilization.mean"])
    levels = next(block for block in report.sections[1].blocks if isinstance(block, Table))
    values = {str(line[0]): line for line in levels.rows}

    assert report.fact("side.utilization.mean.difference").value == pytest.approx(points / 100)
    assert report.fact("side.utilization.mean.difference").text == f"{points:+.1f} points".replace("-", "−")
    assert report.fact("side.utilization.mean.verdict").value == "no more than chance"
    assert facts["side.1.jobs.wait.median"] == facts["compare.1.jobs.wait.median"]
    assert facts["differences.busy.second"] == facts["compare.2.utilization.mean"]
    assert facts["differences.wait_median.first"] == facts["compare.1.jobs.wait.median"]
    assert facts["differences.failed.second"] == facts["compare.2.jobs.failed.share"]
    assert values["Utilization"][5] == "no more than chance"


@pytest.mark.parametrize(
    ("name", "first", "second", "text"),
    [
        ("wait_median", 0.0, 300.0, None),
        ("wait_median", 5.0, 7.0, None),
        ("wait_median", 600.0, 6000.0, None),
        ("wait_median", 600.0, 900.0, "+50 %"),
        ("failed", 0.0, 0.216, "+21.6 points"),
        ("failed", 0.27, 0.27, None),  # equal as shown is not shown
    ],
)
def test_changes_of_tiny_values_are_not_given_in_percent(name, first, second, text):
    assert change_text(LevelDifference(name, first, second, 1.0, 0.0)) == text


def test_a_quantile_is_compared_by_the_jobs_above_a_common_limit(make_store):
    stores = [system(make_store, seed, wait=seed) for seed in (1, 2)]
    intervals = [Intervals(float(FIRST * DAY), 60, "UTC", float(DAY)) for _ in stores]
    found = quantile_ratios(stores, intervals)["wait_median"]
    waits = [store.frame("select wait_time, submit_time from jobs") for store in stores]
    limit = common_quantile([Sample.of(one.wait_time) for one in waits], 0.5)

    for ratio, one in zip(found, waits, strict=True):
        place = (one.submit_time // DAY).astype(int) - FIRST
        above = (one.wait_time > limit) + 0.5 * (one.wait_time == limit)
        assert ratio.value == pytest.approx(one.wait_time.median())
        assert ratio.above.tolist() == [float(above[place == day].sum()) for day in range(60)]
        assert ratio.series().mean() == pytest.approx(above.mean())
    assert np.mean([ratio.series().mean() for ratio in found]) == pytest.approx(0.5, abs=0.001)


def test_measures_of_size_are_not_said_to_differ(make_store):
    one = summarize("A", system(make_store, 1), ())
    other = summarize("B", system(make_store, 2, cpus=256, copies=4), ())
    verdicts = {found.measure.id: found.verdict for found in rank_differences([one, other])}

    assert verdicts["gaps"] == "may be due to size"
    assert verdicts["run-time"] in {"no more than chance", "a little"}


def test_every_trace_is_drawn_over_time(make_store):
    report = compare([("A", system(make_store, 1)), ("B", system(make_store, 2))])
    strips: Any = report.figure("use-over-time").data["strips"]
    busy = [report.fact(f"side.{n}.utilization.mean").value for n in (1, 2)]
    means = [np.nanmean(np.nansum(strip["y"], axis=0)) for strip in strips]

    assert [strip["label"].split(",")[0] for strip in strips] == ["A", "B"]
    assert means == pytest.approx(busy, rel=0.1)
    assert [report.figure(f"months-{name}").data["rows"] for name in ("utilization", "median-wait")] == [
        ["A", "B"], ["A", "B"],
    ]  # fmt: skip
