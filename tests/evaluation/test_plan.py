"""Plans: what a log tells of a larger machine, and that what it cannot tell is no number anywhere."""

import csv
import json
from dataclasses import replace
from decimal import Decimal
from functools import cache
from itertools import product
from math import exp, hypot, log

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import gwa as package
from gwa.analysis.without_forecast import without_forecast
from gwa.breakdown.charge.rates import EXAMPLE, read_rates
from gwa.cli import gwa
from gwa.errors import ArgumentError, DefinitionError, TraceError
from gwa.evaluation.capacity import words
from gwa.evaluation.capacity.estimators import ESTIMATORS, joint, no_change, shifted_replay
from gwa.evaluation.capacity.page import report
from gwa.evaluation.capacity.price import Price, by_rates
from gwa.evaluation.capacity.record import EstimatorRecord, band, block_errors, blocks, held_out, record
from gwa.evaluation.capacity.rule import (
    HIDDEN,
    MINIMUM_WINDOWS,
    CapacityPlan,
    Forecast,
    Refusal,
    plan,
    planned,
)
from gwa.evaluation.capacity.windows import (
    DRAINS,
    EVERY,
    MINIMUM_JOBS,
    WINDOW,
    ProcessorRange,
    Windows,
    backlog,
    large,
    median_month,
    places,
)
from gwa.evaluation.whatif.world import recorded
from gwa.report.language import Language
from gwa.report.output import Edition
from gwa.report.outputs.json import render
from gwa.words.formatting import seconds
from tests.conftest import HOME, LOGS
from tests.evaluation.made_months import MACHINES, Made

SEEDS = (15, 18)
"""Of worlds whose months of long queues gain more than others; the slow test has all seeds."""

TINY = str(HOME / "sample_traces" / "swf" / "tiny.swf")


@cache
def made(seed=1, machine="short_kept"):
    """Return a made world whose waits can be told."""
    return Made.of(seed, machine)


@cache
def told():
    """Return the plan of that world, with its curve."""
    return plan(made().world, made().asked, capacity_is_stated=True)


def refusals():
    """Yield worlds that cannot be told, what is asked of them, if their size is stated, and the reason."""
    world, asked = made().world, made().asked
    month = np.floor((world.submit - world.submit[0]) / WINDOW)
    rng = np.random.default_rng(1)
    unlike = np.exp(rng.normal(8, 3, int(month.max()) + 1))[month.astype(int)] * rng.random(len(world))
    yield world, world.capacity * 3 // 2, True, "change"
    yield world, world.capacity, True, "change"
    yield world, int(world.capacity * 0.8), True, "change"
    yield world, asked, False, "size"
    yield replace(world, wait=np.full(len(world), np.nan)), asked, True, "waits"
    yield world.only(month < 20), asked, True, "months"
    yield replace(world, wait=unlike), asked, True, "joint.score"
    yield replace(world, wait=np.zeros(len(world))), asked, True, "joint.score"
    yield replace(world, wait=world.wait + 2 * WINDOW), asked, True, "outlasting"
    yield made(16, "nine_tenths").world, made(16, "nine_tenths").asked, True, "seen"
    yield made(3, "nine_tenths").world, made(3, "nine_tenths").asked, True, "apart"


# --- Made worlds ---


def test_a_made_world_is_told_with_its_record():
    found = told()
    of_all = found.outcomes[0]
    now, then = made().truth(EVERY)

    assert isinstance(of_all, Forecast)
    low, middle, high = of_all.after
    assert of_all.before == pytest.approx(now)
    assert low <= then <= high
    assert log((high + 60) / (middle + 60)) == pytest.approx(hypot(HIDDEN, log(of_all.record.off)))
    assert (of_all.record.windows, of_all.whole) == (30, 31)
    sentence = words.sentences(found)[0]
    assert sentence.startswith(
        f"With 20 % more processors ({found.asked} instead of {found.processors}) and the same jobs, the p95"
        f" wait of all jobs in the median month would fall to between {seconds(low)} and {seconds(high)} (at"
        f" least 4 in 5 such answers hold). It was {seconds(now)} as recorded: the median of 30 of the log's"
    )
    assert f"the median month of a part is off by at most a factor of {of_all.record.off:.2f}" in sentence
    assert "median wait" not in json.dumps(words.plain(found))


def test_intervals_hold_on_some_of_the_hidden_machines():
    """Some of the worlds of the slow test in test_plan_worlds.py, which prints the share of them all."""
    worlds = [made(seed, machine) for seed, machine in product(SEEDS, MACHINES)]
    held = [
        one
        for world in worlds
        for one in world.held(plan(world.world, world.asked, capacity_is_stated=True, has_curve=False))
    ]

    assert len(held) >= 8
    assert np.mean(held) >= 0.75


def test_the_curve_leads_from_the_machine_to_what_is_asked_for():
    found = told()
    for outcome, curve in zip(found.outcomes, found.curves, strict=True):
        assert curve[-1] == outcome
        assert [one.processors for one in curve] == sorted({one.processors for one in curve})
        assert found.processors < curve[0].processors
        waits = [one.middle for one in curve if isinstance(one, Forecast)]
        assert waits == sorted(waits, reverse=True)


def test_half_of_the_change_is_told_as_on_its_own():
    found = told()
    size = found.curves[0][4].processors
    alone = plan(made().world, size, capacity_is_stated=True, classes=[EVERY], has_curve=False)

    assert alone.outcomes == (found.curves[0][4],)


# --- What cannot be told ---


def numbers(value):
    """Yield all numbers within JSON, those in texts included."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from numbers(one)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield float(value)
    elif isinstance(value, str):
        yield from map(float, pd.Series([value]).str.findall(r"\d+(?:\.\d+)?")[0])


def refused(found: CapacityPlan) -> list[Refusal]:
    """Return what is refused of a plan, which is all."""
    outcomes = [one for one in found.outcomes if isinstance(one, Refusal)]
    assert len(outcomes) == len(found.outcomes)
    return outcomes


def waits(world, asked, among):
    """Return the waits in the median month that the estimators would say, whether they may or not."""
    jobs = [one for one in places(world, among) if one[0].size]
    if not jobs:
        return []
    was = Windows.of(world, world.starts(), jobs)
    changed = replace(world, capacity=asked)
    then = Windows.of(changed, changed.starts(), jobs)
    tells = [one(was, np.arange(len(was))) for one in ESTIMATORS.values()]
    return [median_month(was.wait + tell(then) - tell(was)) for tell in tells]


@pytest.mark.parametrize("number", range(11))
def test_what_cannot_be_told_is_no_number_anywhere(number):
    """Neither of the waits that estimators would give, nor its ratio to the wait now."""
    world, asked, stated, reason = list(refusals())[number]
    found = plan(world, asked, capacity_is_stated=stated)
    page = render(Edition(report(found, "log"), None, Language()))
    text = json.dumps(words.plain(found))

    assert all(reason in [why.id for why in one.reasons] for one in refused(found))
    for answer in json.loads(text)["answers"]:
        assert answer["is_answered"] is False
        assert {answer[key] for key in words.ANSWER} <= {None}
    for row in words.rows(found):
        if row[-1]:
            assert set(row[3:-1]) == {None}
    said = {*numbers(json.loads(text)), *numbers(json.loads(page))}
    for one in found.outcomes:
        for wait in waits(world, asked, one.among):
            if wait > 1:
                assert not [value for value in said if abs(value - wait) < 1e-4 * wait]


@pytest.mark.parametrize("number", range(11))
def test_each_reason_has_its_number_and_a_sentence(number):
    world, asked, stated, _ = list(refusals())[number]
    found = plan(world, asked, capacity_is_stated=stated, has_curve=False)

    for sentence in words.sentences(found):
        assert sentence.startswith("Cannot tell what the p95 wait of ")
    for one in refused(found):
        for why in one.reasons:
            assert any(letter.isdigit() for letter in why.text)
            assert why.text in " ".join(words.sentences(found))


def test_the_months_seen_are_those_within_the_loads_of_the_log():
    world = made().world
    whole = told().outcomes[0]
    assert isinstance(whole, Forecast)
    was = Windows.of(world, world.starts(), places(world, EVERY))
    load = was.load * world.capacity / made().asked
    assert whole.seen == np.mean((load >= was.load.min()) & (load <= was.load.max()))


def test_a_class_without_jobs_is_refused():
    world = made().world
    found = plan(world, made().asked, capacity_is_stated=True, classes=[ProcessorRange(world.capacity)])
    assert [(why.id, why.text) for one in refused(found) for why in one.reasons] == [
        ("waits", "no job that can be replayed is such a job, expected some")
    ]


# --- Windows ---


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 100)), min_size=1, max_size=40),
    st.floats(0.1, 10),
)
def test_the_backlog_is_that_of_a_machine_drained_step_by_step(jobs, rate):
    submit = np.cumsum([float(gap) for gap, _ in jobs])
    work = np.array([float(amount) for _, amount in jobs])
    left, last, expected = 0.0, submit[0], []
    for time, amount in zip(submit, work, strict=True):
        left, last = max(left - (time - last) * rate, 0.0), time
        expected.append(left / rate)
        left += amount

    assert backlog(submit, work, rate) == pytest.approx(expected, abs=1e-6)


def test_windows_are_those_of_a_data_frame():
    world = made().world
    among = large(world)
    jobs = pd.DataFrame(
        {name: getattr(world, name) for name in ("submit", "wait", "run", "size")}
        | {"replay": world.starts() - world.submit}
    )
    jobs["window"] = ((jobs["submit"] - jobs["submit"].iloc[0]) // WINDOW).astype(int)
    inner = jobs[jobs["window"].between(1, jobs["window"].max() - 1)]
    own = inner[inner["size"] >= max(jobs["size"].quantile(0.75), 2)]
    counts = own.groupby("window").size()
    kept = counts[counts >= MINIMUM_JOBS].index
    tails = own[own["window"].isin(kept)].groupby("window")[["wait", "replay"]].quantile(0.95)
    work = (inner["run"] * inner["size"]).groupby(inner["window"]).sum()[kept]

    found = Windows.of(world, world.starts(), places(world, among))

    assert found.wait == pytest.approx(np.log(tails["wait"] + 60))
    assert found.replay == pytest.approx(np.log(tails["replay"] + 60))
    assert found.load == pytest.approx(work / world.capacity / WINDOW)
    assert found.backlog.shape == (len(DRAINS), len(kept))


def test_jobs_without_a_recorded_wait_count_as_load_alone():
    world = made().world
    hidden = np.arange(len(world)) % 3 == 0
    fewer = replace(world, wait=np.where(hidden, np.nan, world.wait))
    for (own, rows), (before, same) in zip(places(fewer, EVERY), places(world, EVERY), strict=True):
        assert (rows == same).all()
        assert own.tolist() == [row for row in before.tolist() if not hidden[row]]
    found = plan(fewer, made().asked, capacity_is_stated=True, has_curve=False)
    assert found.without_wait == hidden.sum()
    assert any("no recorded wait" in remark for remark in words.remarks(found))


def test_waits_that_are_not_recorded_are_unknown_and_not_zero(make_store):
    world = recorded(
        make_store(
            job_id=[1, 2, 3], submit_time=[0, 10, 20], wait_time=[None, 5, None], run_time=[60, 60, 60],
            n_procs=[1, 1, 1],
        ),
        "easy",
    )  # fmt: skip
    assert np.isnan(world.wait).tolist() == [True, False, True]


@given(st.integers(1, 9999), st.integers(0, 9999))
def test_classes_of_sizes_are_read_as_they_are_written(least, more):
    assert ProcessorRange.parse(f"{least}") == ProcessorRange(least)
    assert ProcessorRange.parse(f"{least}..{least + more}") == ProcessorRange(least, least + more)
    for text in ("0", f"{least + more + 1}..{least}", f"-{least}", f"{least}..", "", "large", "1e3"):
        with pytest.raises(ArgumentError, match="is no class of sizes"):
            ProcessorRange.parse(text)


# --- Estimators and their record ---


def windows(seed, months=30, error=0.2):
    """Return made windows whose waits follow load and replay but for an *error*."""
    rng = np.random.default_rng(seed)
    load = rng.uniform(0.4, 0.9, months)
    replay = 6 + 6 * load + rng.normal(0, 0.3, months)
    backlogs = np.array([5 + 5 * drain * load + rng.normal(0, 0.3, months) for drain in DRAINS])
    return Windows(replay + 1 + rng.normal(0, error, months), load, replay, backlogs)


@pytest.mark.parametrize("seed", range(3))
def test_the_joint_estimator_is_a_ridge_of_standardized_features(seed):
    """The same as least squares with a row for each penalty."""
    known = windows(seed)
    learnt = np.arange(0, 30, 2)
    rank = pd.DataFrame(known.backlog[:, learnt].T).corrwith(pd.Series(known.wait[learnt]), method="spearman")
    features = np.stack([known.replay, known.backlog[rank.to_numpy().argmax()], known.load], axis=1)
    features = (features - features[learnt].mean(0)) / features[learnt].std(0)
    penalty = np.sqrt(0.1 * learnt.size) * np.eye(3)
    middle = known.wait[learnt].mean()
    weights = np.linalg.lstsq(
        np.vstack([features[learnt], penalty]),
        np.append(known.wait[learnt] - middle, np.zeros(3)),
        rcond=None,
    )[0]

    assert joint(known, learnt)(known) == pytest.approx(features @ weights + middle)
    assert shifted_replay(known, learnt)(known) - known.replay == pytest.approx(
        np.full(30, np.median((known.wait - known.replay)[learnt]))
    )
    assert no_change(known, learnt)(known).tolist() == [np.median(known.wait[learnt])] * 30


@given(st.integers(4, 80))
def test_blocks_are_contiguous_and_of_like_lengths(count):
    found = blocks(count)
    assert found.tolist() == sorted(found.tolist())
    assert 4 <= len(set(found.tolist())) <= 8
    assert np.ptp(np.bincount(found)) <= 1


@given(st.integers(10, 200), st.integers(0, 99))
def test_a_band_holds_the_next_residual_four_times_in_five(count, seed):
    """Of exchangeable residuals, as many ranks of the next one lie between the ends (Vovk et al. 2005)."""
    residuals = np.random.default_rng(seed).normal(size=count)
    low, high = band(residuals)
    between = (residuals > low).sum() - (residuals >= high).sum() + 1
    assert between / (count + 1) >= 0.8 - 1e-9
    assert between / (count + 1) <= 0.8 + 2 / (count + 1)


def test_a_held_out_window_does_not_tell_itself():
    """What is told of a block stays the same whatever its own waits are."""
    known = windows(1)
    block = blocks(30)
    wait = np.where(block == 2, known.wait + 9, known.wait)
    for estimator in (*ESTIMATORS.values(), no_change):
        before, after = held_out(known, estimator), held_out(replace(known, wait=wait), estimator)
        for end in range(2):
            assert (before[end][block == 2] == after[end][block == 2]).all()
            assert (before[end][block != 2] != after[end][block != 2]).any()


def test_a_record_passes_where_windows_can_be_told_and_only_there():
    good, bad = (record(windows(3, error=error), joint) for error in (0.1, 5.0))
    rng = np.random.default_rng(1)
    unlike = record(replace(windows(4), wait=rng.normal(9, 2, 30)), joint)

    assert good.passes
    assert good.score is not None
    assert good.score < 0.5
    assert not bad.passes
    assert not unlike.passes
    assert not record(replace(windows(5), wait=np.full(30, 9.0)), joint).passes


@pytest.mark.parametrize(
    ("found", "passes"),
    [
        (EstimatorRecord(30, 24, 5.0, 0.75, 8, 9.0), True),
        (EstimatorRecord(30, 23, 5.0, 0.75, 8, 1.0), False),
        (EstimatorRecord(30, 24, 5.01, 0.75, 8, 1.0), False),
        (EstimatorRecord(30, 24, 5.0, 0.751, 8, 1.0), False),
        (EstimatorRecord(30, 30, 1.0, None, 8, 1.0), False),
    ],
)
def test_what_a_record_must_have(found, passes):
    assert found.passes is passes


# --- Prices, and what needs no forecast ---


def test_added_processors_cost_what_the_rate_without_conditions_says(tmp_path):
    path = tmp_path / "rates.toml"
    path.write_text(EXAMPLE)
    price = by_rates(read_rates(path))

    assert price.rate == "Standard"
    assert price.of(26) == Decimal("2734.99")  # 26 * 0.012 * 8766
    assert Price(Decimal("0.125")).of(1) == Decimal("0.13")
    path.write_text('currency = "EUR"\n[[rates]]\nname = "A"\nqueues = ["q"]\ncpu_hour = 1\n')
    with pytest.raises(DefinitionError, match="expected a rate without conditions with a cpu_hour"):
        by_rates(read_rates(path))


def test_what_needs_no_forecast_is_told_or_said_to_be_unknown(make_store):
    jobs = 40
    columns = {
        "job_id": list(range(jobs)), "submit_time": [100 * number for number in range(jobs)],
        "run_time": [50.0] * jobs, "n_procs": [1] * jobs,
    }  # fmt: skip
    unknown = {one.id: one for one in without_forecast(make_store(**columns))}
    users = [f"U{number % 4}" for number in range(jobs)]
    more = {"user_id": users, "req_time": [100.0] * jobs}
    known = {one.id: one for one in without_forecast(make_store(**columns, **more))}

    assert {one.value for one in unknown.values()} == {None}
    assert all(one.text.endswith("is not recorded.") for one in unknown.values())
    assert not any("GPU" in one.text for one in unknown.values())
    assert known["three-users"].value == pytest.approx(0.75)
    assert known["requests"].value == pytest.approx(0.5)
    assert not any(user in one.text for one in known.values() for user in set(users))


def test_idle_gpus_are_told_with_what_was_measured_and_of_a_log_with_gpus_alone(make_store):
    columns = {"job_id": [1, 2, 3], "submit_time": [0, 1, 2], "run_time": [7200.0] * 3, "n_procs": [1] * 3}
    used: dict[str, dict[str, list[float | None]]] = {
        "not measured": {},
        "by job": {"gpu_utilization": [0.0, 0.9, None]},
        "one by one": {"idle_gpus": [1, None, 0]},
    }
    told = {name: without_forecast(make_store(**columns, n_gpus=[2, 2, 1], **more))[0]
            for name, more in used.items()}  # fmt: skip

    assert {one.id for one in told.values()} == {"idle-gpus"}
    assert told["not measured"].text == "How many GPU hours were idle is not recorded."
    assert told["by job"].text.startswith(
        "Of the 2 jobs whose use of GPUs is recorded, some left them idle, for 4 GPU hours;"
    )
    assert told["one by one"].text.startswith("Of 6 GPU hours that are measured one by one, 2 were idle;")
    assert [one.value for one in told.values()] == [None, 4.0, 2.0]


def forecast(before, middle, off=1.2):
    """Return a forecast of a wait of *middle* in the median month that now has *before*, both in s."""
    record_ = EstimatorRecord(30, 27, 2.0, 0.5, 8, off)
    return Forecast(EVERY, 11, before, middle, 32, "joint", record_, 0.9)


@pytest.mark.parametrize(
    ("before", "middle", "said"),
    [
        (36000.0, 7200.0, "would fall to between 1 h 21 min and 2 h 59 min"),
        (36000.0, 36000.0, "would be between 6 h 44 min and 14 h 51 min"),
        (600.0, 36000.0, "would rise to between 6 h 44 min and 14 h 51 min"),
        (0.0, 0.0, "would be between 0 s and 29 s"),
    ],
)
def test_a_direction_is_said_only_where_the_interval_has_no_other(before, middle, said):
    one = forecast(before, middle)
    text = words.effect(CapacityPlan(10, 11, (one,), (), 5, 0, 0), one)

    assert said in text
    assert (
        f"It was {seconds(before)} as recorded: the median of 30 of the log's 32 months of four weeks" in text
    )


@given(st.floats(0, 3e6), st.floats(0, 3e6), st.floats(1, 9))
def test_an_interval_is_around_what_is_predicted_and_ratios_are_of_the_same_months(before, middle, off):
    one = forecast(before, middle, off)
    low, of_middle, high = one.after

    assert 0 <= low <= of_middle == middle <= high
    assert log((high + 60) / (middle + 60)) >= max(log(off), HIDDEN) - 1e-9
    assert [(before + 60) * ratio - 60 for ratio in one.ratios] == pytest.approx(list(one.after), abs=1e-6)


def test_one_is_no_more_than_one():
    none = Refusal(ProcessorRange(1, 1), 1, ())
    plan_ = CapacityPlan(1, 2, (none,), (), 1, 1, 1)

    assert words.jobs_of(ProcessorRange(1, 1)) == "jobs of 1 processor"
    assert words.cost(plan_, Price(Decimal(9))) == "1 more processor would cost 9.00 a year."
    assert "would be with 1 processor instead of 1" in words.sentences(plan_)[0]
    assert list(words.remarks(plan_)) == [
        "1 job larger than the machine was left out.",
        "1 of 1 jobs has no recorded wait: its work counts, its wait does not.",
    ]


def test_a_machine_on_which_a_fifth_is_no_processor_is_told_no_largest_one():
    made_world = replace(made().world, capacity=2)
    found = plan(made_world, 3, capacity_is_stated=True, has_curve=False)

    (reason, *_) = refused(found)[0].reasons
    assert reason.text == "only up to 20 % more processors can be planned for"


# --- The command ---


def run(*words_):
    return CliRunner().invoke(gwa, ["plan", *map(str, words_)], catch_exceptions=False)


def test_the_command_says_first_what_it_can_tell(tmp_path):
    done = run(
        TINY,
        "--price-per-processor-year",
        "90",
        "--csv",
        tmp_path / "curve.csv",
        "-o",
        tmp_path / "page.html",
    )
    page = (tmp_path / "page.html").read_text()
    with (tmp_path / "curve.csv").open() as text:
        rows = list(csv.DictReader(text))

    assert done.exit_code == 0
    assert done.stdout.startswith("Cannot tell what the p95 wait of all jobs")
    assert f"expected at least {MINIMUM_WINDOWS}." in done.stdout.splitlines()[0]
    assert "10 more processors would cost 900.00 a year.\n" in done.stdout
    assert "What needs no forecast:\n" in done.stdout
    assert tuple(rows[0]) == words.COLUMNS
    assert {row["ratio"] for row in rows} == {""}
    assert {row["refused_for"] for row in rows} == {"months"}
    assert '<p class="found-out"><bdi>Cannot tell what the p95 wait ' in page
    assert "What needs no forecast" in page


def test_the_function_says_what_the_command_prints():
    said = package.plan(TINY, "+10%", size="4..8")
    printed = json.loads(run(TINY, "--cpus", "+10%", "--size", "4..8", "--json").stdout)

    assert said == printed
    assert [one["jobs"] for one in said["answers"]] == [{"least": 4, "most": 8}]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--prices", TINY, "--price-per-processor-year", "1"], "expected either --prices or"),
        (["-o", "page.txt"], "expected a name that ends with .html or .json or .pdf"),
        (["--price-per-processor-year", "-1"], "-1"),
        (["--price-per-processor-year", "nan"], "'nan' is no number within 0<=x<=1000000000.0"),
    ],
)
def test_options_that_say_nothing_are_errors_of_usage(options, message):
    done = run(TINY, *options)
    assert done.exit_code == 2
    assert message in done.stderr


@pytest.mark.parametrize(("option", "value"), [("--cpus", "many"), ("--size", "large")])
def test_sizes_that_are_none_are_refused(option, value):
    done = CliRunner().invoke(gwa, ["plan", TINY, option, value])
    assert isinstance(done.exception, ArgumentError) or done.exit_code != 0


def test_the_page_of_an_answer_has_its_picture_and_its_record():
    page = report(told(), "log", Price(Decimal(90)), [])
    facts = {fact.id: fact.value for fact in page.facts()}
    (figure,) = (one for one in page.figures() if one.id == "before-after")
    first = told().outcomes[0]

    assert isinstance(first, Forecast)
    assert page.answer == words.sentences(told())[0]
    assert facts["plan.class0.ratio"] == first.ratios[1]
    assert facts["plan.class0.cover"] == first.record.cover
    assert facts["plan.price"] == 90 * (told().asked - told().processors)
    assert "before and after" in figure.title
    assert {one.id for one in page.figures()} >= {"before-after", "curve-0"}


def test_a_log_of_which_nothing_can_be_replayed_is_refused_with_the_number_of_its_jobs(make_store):
    with pytest.raises(TraceError, match="none of 2 jobs has a known submission, run time and size"):
        planned(make_store(job_id=[1, 2], submit_time=[0, 1], run_time=[None, None], n_procs=[1, 1]), "+20%")


# --- Real logs ---


def all_logs():
    return sorted((LOGS / "swf").glob("*.swf.gz")) if LOGS.exists() else []


SEEN = {"LANL-CM5-1994-4.1-cln": 24, "HPC2N-2002-2.1-cln": 44}
"""The logs of 24 months or more."""


@pytest.mark.slow
@pytest.mark.skipif(not LOGS.exists(), reason="needs the logs of ../shared")
@pytest.mark.parametrize("path", all_logs(), ids=lambda path: path.name.partition(".")[0])
def test_every_real_log_is_refused_with_its_number(path):
    with package.open(path) as trace:
        found: CapacityPlan = planned(trace.store, "+20%")
    months = SEEN.get(path.name.removesuffix(".swf.gz"))

    for one in found.outcomes:
        assert isinstance(one, Refusal)
        assert one.reasons
        assert all(why.found is not None for why in one.reasons)
        if months:
            assert {why.id.partition(".")[0] for why in one.reasons} == {"joint", "replay"}
    assert {value for row in words.rows(found) for value in row[3:-1]} == {None}


def test_the_wait_then_is_the_median_of_the_months_each_changed_as_predicted():
    found, world = told().outcomes[0], made().world
    assert isinstance(found, Forecast)
    jobs = places(world, EVERY)
    was = Windows.of(world, world.starts(), jobs)
    bigger = replace(world, capacity=made().asked)
    tell = ESTIMATORS[found.estimator](was, np.arange(len(was)))
    change = tell(Windows.of(bigger, bigger.starts(), jobs)) - tell(was)
    months = [np.quantile(world.wait[own], 0.95) for own, _ in jobs]

    assert found.before == pytest.approx(np.median(months))
    assert found.middle == pytest.approx(np.median((np.array(months) + 60) * np.exp(change)) - 60)


def test_the_median_month_is_not_that_of_the_mean_ratio():
    """Short waits fall, long ones do not: the mean change of both says nothing of a median."""
    months = np.array([600.0] * 11 + [90000.0] * 10)
    change = np.where(months > 1000, 0.0, -2.3)

    assert median_month(np.log(months + 60) + change) == pytest.approx(660 * exp(-2.3) - 60)


def test_how_far_off_is_the_median_month_of_each_held_out_block():
    known = windows(7)
    block = blocks(30)
    errors = block_errors(known, joint)
    for held in range(8):
        tell = joint(known, np.flatnonzero(block != held))
        medians = [np.median(np.exp(one[block == held])) for one in (tell(known), known.wait)]
        assert errors[held] == pytest.approx(log(medians[0] / medians[1]))
    found = record(known, joint)
    assert found.blocks == 8
    assert found.off == pytest.approx(exp(np.abs(errors).max()))
