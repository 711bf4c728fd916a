"""The characteristics of the papers, on small traces whose answers are known by hand."""

import json
import math
import re
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from gwa.cli import gwa
from gwa.metrics.characteristics import FITTED
from gwa.metrics.papers import minh2010
from gwa.metrics.papers.anoep2009 import CHARACTERISTICS, PRESETS, fitted, shares
from gwa.metrics.papers.anoep2009_users import ranked_users
from gwa.metrics.papers.published import PrintedNumber
from gwa.statistics.distribution import FitError
from gwa.statistics.fit import MINIMUM_OBSERVATIONS, SIGNIFICANCE
from gwa.statistics.mixture import GaussianMixture
from gwa.statistics.sample import Sample

THESIS, TEXT = PRESETS["thesis"], PRESETS["text"]
# Two bags of a, one of b: at 0, 10, 10 s and 1000 s; b at 500 s.
JOBS: dict[str, list[Any]] = {
    "submit_time": [0.0, 10.0, 10.0, 1000.0, 500.0],
    "run_time": [1.0, 3.0, 8.0, 0.0, 60.0],
    "n_procs": [1, 2, 3, 8, 1],
    "user_id": ["a", "a", "a", "a", "b"],
    "status": [1] * 5,
}


def measured(store, name, preset=THESIS):
    return CHARACTERISTICS[name].measure(store, preset)


def test_a_characteristic_is_a_logarithm_of_what_is_at_least_1(make_store):
    found = measured(make_store(**JOBS), "runtime")

    assert found.x.values == pytest.approx(np.log([1, 3, 8, 60]))
    assert (found.base, found.dropped, found.zeros) == ("e", pytest.approx(0.2), pytest.approx(0.25))
    assert found.raw(found.x.values) == pytest.approx([1, 3, 8, 60])


@pytest.mark.parametrize(
    ("name", "raw"),
    [("bag_gap", [500.0]), ("bag_size", [3.0]), ("task_gap", [10.0]), ("task_size", [2.0, 3.0, 8.0])],
)
def test_bags_are_measured_on_the_scale_of_the_preset(name, raw, make_store):
    found = measured(make_store(**JOBS), name)

    assert found.raw(found.x.values) == pytest.approx(raw)


def test_the_variance_in_a_bag_is_that_of_a_population(make_store):
    found = measured(make_store(**JOBS), "variance")

    assert found.raw(found.x.values) == pytest.approx([np.var([1, 3, 8])])


def test_the_day_begins_at_6_or_where_the_preset_says(make_store):
    from dataclasses import replace

    store = make_store(submit_time=[6 * 3600.0 + 1800], user_id=["a"])

    assert measured(store, "daily").x.values.tolist() == [1.0]
    assert measured(store, "daily", replace(THESIS, shift=0.0)).x.values.tolist() == [13.0]


def test_the_text_counts_gaps_between_bags_from_8_to_17_only(make_store):
    hours = [7.0, 9.0, 10.0, 20.0]
    store = make_store(submit_time=[hour * 3600 for hour in hours], user_id=["a"] * 4)

    assert measured(store, "bag_gap", TEXT).x.values == pytest.approx([math.log2(3600)])
    assert measured(store, "bag_gap").x.n == 3


def test_aic_and_bic_are_over_the_same_values_for_every_candidate(make_store):
    store = make_store(run_time=[1.0, 1.0, 2.0, 5.0, 9.0, 40.0], submit_time=[1.0] * 6, n_procs=[1] * 6)
    found = measured(store, "runtime")
    fits = fitted(found)

    assert {fit.n for fit in fits} == {4}
    assert fits["normal"].parameters["mu"] == pytest.approx(found.x.mean())
    assert fits["lognormal"].ks >= found.zeros


def test_shares_of_sequential_jobs_and_of_powers_of_two(make_store):
    assert shares(make_store(**JOBS)) == pytest.approx((0.4, 2 / 3))


def test_dominant_are_the_first_users_below_half(make_store):
    users = ["a"] * 4 + ["b"] * 3 + ["c"] * 2 + ["d"]
    found = ranked_users(make_store(user_id=users))

    assert found.dominant == 1
    assert found.ranks.counts.tolist() == [4, 3, 2, 1]
    with pytest.raises(FitError):
        ranked_users(make_store(user_id=["a", "a"]))


def test_repetitions_are_counted_in_the_order_of_submission(make_store):
    times = [2, 2, 2, 3, 1, 1, 4, 5, 5, 5, 5]
    order = np.random.default_rng(1).permutation(11)
    store = make_store(
        submit_time=[float(order[place]) for place in range(11)],
        run_time=[float(times[order[place]]) for place in range(11)],
        n_procs=[1] * 11,
    )

    assert minh2010.repetitions(store).expand().tolist() == [1, 1, 2, 3, 4]


def test_repetitions_of_labels_join_values_of_one_component(make_store):
    values = [1.0, 2.0, 100.0, 101.0, 102.0, 1.0]
    store = make_store(submit_time=[float(t) for t in range(6)], run_time=values, n_procs=[1] * 6)
    mixture = GaussianMixture((0.5, 0.5), (1.5, 101.0), (1.0, 1.0))
    labels = minh2010.labels("run_time", mixture, Sample.of(values))

    assert minh2010.repetitions(store, labels).expand().tolist() == [1, 2, 3]


def test_groups_of_parallelism_are_labelled_by_popularity(make_store):
    sizes = [4] * 8 + [2] * 8 + [1]
    store = make_store(
        submit_time=[1.0] * 17, run_time=[1.0] * 17, n_procs=sizes, status=[1] * 17, user_id=["a"] * 17
    )

    assert minh2010.groups(store) == {1: [1], 4: [2, 4]}


def test_correlation_is_exact_and_unknown_for_constants(make_store):
    store = make_store(**JOBS)

    expected = np.corrcoef(JOBS["run_time"], JOBS["n_procs"])[0, 1]
    assert minh2010.correlation(store) == pytest.approx(expected, rel=1e-12)
    assert math.isnan(minh2010.correlation(make_store(submit_time=[1.0], run_time=[1.0], n_procs=[1])))


def test_an_empty_selection_has_no_numbers(make_store):
    store = make_store(submit_time=[1.0], user_id=["a"], status=[0])

    assert minh2010.jobs(store, minh2010.YEAR_2010) == 0
    for number in (minh2010.mean_interarrival, minh2010.in_bags, minh2010.spatial, minh2010.correlation):
        assert math.isnan(number(store))
    assert minh2010.squashed_area(store) == 0


def test_a_cell_agrees_to_the_printed_digit():
    assert PrintedNumber("", "", "1.54", 1.5351).agrees
    assert not PrintedNumber("", "", "1.54", 1.5349).agrees
    assert PrintedNumber("", "", "0.299", 0.2996, cut=True).agrees
    assert not PrintedNumber("", "", "0.299", 0.2996).agrees


def run(*words):
    return CliRunner().invoke(gwa, ["fit", *words])


def test_fit_lists_the_characteristics():
    found = run("--list", "--json")

    assert [row["characteristic"] for row in json.loads(found.stdout)] == [*FITTED, "user_rank"]


def test_fit_prints_the_best_first(sample):
    found = run(str(sample / "swf" / "tiny.swf"), "log_runtime", "--json", "--quiet")
    rows = json.loads(found.stdout)

    assert rows[0]["distribution"] == "weibull"
    assert rows[0]["best"] == "KS BIC"
    assert sorted(rows, key=lambda row: (bool(row["remark"]), row["ks"])) == rows
    (collapsed,) = (row for row in rows if row["remark"])
    assert collapsed["distribution"] == "hyperexponential"
    assert "p_naive" not in rows[0]


@pytest.mark.parametrize("name", [*FITTED, "user_rank"])
def test_fit_of_each_characteristic_measures_three_distances(name, sample):
    found = run(str(sample / "swf" / "tiny.swf"), name, "--json", "--naive")
    rows = json.loads(found.stdout)

    assert {"ks", "ad", "cvm", "aic", "bic", "p_naive"} <= rows[0].keys()
    assert all(row["ad"] is None or row["ad"] >= 0 for row in rows)
    assert all(0 <= row["ks"] <= 1 for row in rows)
    values = re.match(r"([\d,]+) values", found.stderr)
    is_little = (
        values
        and int(values[1].replace(",", "")) < MINIMUM_OBSERVATIONS
        and rows[0]["p_naive"] >= SIGNIFICANCE
    )
    assert ("cannot tell distributions apart" if is_little else "describes") in found.stderr


@pytest.mark.parametrize("name", [pytest.param("daily", marks=pytest.mark.slow), "user_rank"])
def test_fit_adds_p_values_when_asked(name, sample):
    rows = json.loads(run(str(sample / "swf" / "tiny.swf"), name, "--json", "--quiet", "--test").stdout)

    assert 0 < rows[0]["p_value"] <= 1
    assert (rows[0]["p_ad"] is None) is (name == "user_rank")


def test_fit_says_why_users_cannot_be_ranked(tmp_path):
    path = tmp_path / "one.swf"
    path.write_text("1 0 0 5 1 -1 -1 1 5 -1 1 7 1 1 1 1 -1 -1\n")
    found = run(str(path), "user_rank")

    assert found.exit_code == 1
    assert "users cannot be ranked" in str(found.exception)


def test_fit_says_what_it_expected(sample):
    assert "expected TRACE and one of runtime" in run(str(sample / "swf" / "tiny.swf"), "colour").stderr
    assert run().exit_code == 2
