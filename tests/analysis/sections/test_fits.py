"""Fitted distributions: what is fitted, how it is called, and what is said of it."""

from typing import Any

import numpy as np
import pytest

from gwa.analysis.sections.fits import fits
from gwa.metrics.characteristics import FITTED, bootstrap
from gwa.metrics.papers.anoep2009 import PRESETS
from gwa.report.document import Figure
from gwa.store.store import Store
from tests.analysis.sections.blocks import facts, tables


def test_a_tail_is_what_the_distribution_leaves(make_store):
    times = [float(2**n) for n in range(1, 12)] * 5
    store = make_store(submit_time=[60.0 * n for n in range(55)], run_time=times, n_procs=[1] * 55)
    tail = next(
        block
        for block in fits.section(store).blocks
        if isinstance(block, Figure) and block.id == "fit-runtime-ccdf"
    )
    data: Any = tail.data
    curve = data["lines"][0]

    assert curve["x"] == pytest.approx([2**n for n in range(1, 11)])
    assert curve["y"] == pytest.approx([1 - n / 11 for n in range(1, 11)], rel=1e-4)


def jobs(rng, number):
    """Jobs whose run times are lognormal, whose gaps are exponential, and whose requests are few."""
    waits = np.rint(rng.weibull(0.6, number) * 500)
    return {
        "submit_time": np.cumsum(np.rint(rng.exponential(300, number))).tolist(),
        "wait_time": waits.tolist(),
        "run_time": np.rint(rng.lognormal(7, 1.5, number)).tolist(),
        "n_procs": [1] * number,
        "req_time": rng.choice([600.0, 3600.0, 7200.0], number).tolist(),
        "used_memory": np.rint(rng.lognormal(12, 1, number)).tolist(),
    }


@pytest.fixture(scope="module")
def fitted():
    """The section on fits of a trace whose distributions are known."""
    columns = jobs(np.random.default_rng(11), 3000)
    with Store.create() as store:
        store.begin(["job_id", *columns])
        names = [row[0] for row in store.rows("describe recorded")]
        rows = {"job_id": list(range(3000)), **columns}
        store.insert("recorded", list(zip(*(rows[name] for name in names), strict=True)))
        return columns, fits.section(store)


def test_times_are_fitted_as_they_are_recorded(fitted):
    columns, made = fitted
    found = facts(made)
    run = np.array(columns["run_time"])

    assert found["fit.runtime.lognormal.mu"] == pytest.approx(np.log(run[run > 0]).mean(), rel=1e-9)
    assert found["fit.runtime.best_bic"] == "lognormal"
    assert found["fit.gap.exponential.ks"] < 0.03 < found["fit.gap.lognormal.ks"]
    assert found["fit.gap.exponential.rate"] == pytest.approx(1 / 300, rel=0.1)
    assert found["fit.wait.best_bic"] == "weibull"
    assert found["fit.wait.zeros"] == pytest.approx(np.mean(np.array(columns["wait_time"]) == 0))
    response = run + np.array(columns["wait_time"])
    assert found["fit.response.normal.mu"] == pytest.approx(response[response > 0].mean())
    assert found["fit.memory.lognormal.mu"] == pytest.approx(12, abs=0.1)
    assert found["fit.requested.n"] == 3000
    assert found["fit.runtime.lognormal.p_value"] > 0.05  # the best, and true


def test_logarithms_are_called_so(fitted):
    columns, made = fitted
    found, titles = facts(made), [block.title for block in tables(made).values()]
    logs = np.log(np.array(columns["run_time"])[np.array(columns["run_time"]) >= 1])

    assert found["fit.log_runtime.normal.mu"] == pytest.approx(logs.mean(), rel=1e-9)
    assert found["fit.log_requested.normal.mu"] == pytest.approx(
        np.log2(columns["req_time"]).mean(), rel=1e-9
    )
    assert {"Run time", "Logarithm of run time, natural", "Logarithm of requested time, to base 2"} <= {
        *titles
    }


def test_no_naive_p_value_is_shown_and_what_is_degenerate_is_not_ranked(fitted):
    _, made = fitted
    found, shown = facts(made), tables(made)

    assert not [name for name in found if "naive" in name]
    assert not [column.label for column in shown["fit-runtime"].columns if "naive" in column.label]
    assert found["fit.log_runtime.hyperexponential.degenerate"] == "its phases are one"
    remarks = {row[0]: row[-1] for row in shown["fit-log-runtime"].rows}
    assert remarks["Hyper-exponential"] == "not ranked: its phases are one"
    assert not any(text for name, text in remarks.items() if name != "Hyper-exponential")


def test_power_laws_are_stated_with_their_test(fitted):
    _, made = fitted
    found = facts(made)
    rows = {row[0]: row for row in tables(made)["power-laws"].rows}

    assert {"Run time", "Time between jobs", "Memory used per processor"} <= rows.keys()
    for name, title in (("runtime", "Run time"), ("gap", "Time between jobs")):
        assert (found[f"tail.{name}.p_value"] <= 0.05) == (rows[title][-1] == "refuted")
        assert found[f"tail.{name}.values"] >= 50


@pytest.mark.parametrize(
    ("values", "directions"),
    [([1.0, 2.0, 7.0], ("nearest", "up", "down")), ([0.0, 2.0, 7.0], ("nearest", "down"))],
)
def test_what_was_recorded_as_0_was_not_rounded_up(values, directions, make_store):
    store = make_store(submit_time=[1.0, 2.0, 3.0], run_time=values, n_procs=[1] * 3)
    for name in ("runtime", "log_runtime"):
        measured = FITTED[name].measure(store, PRESETS["thesis"])
        assert bootstrap(measured).directions == directions
