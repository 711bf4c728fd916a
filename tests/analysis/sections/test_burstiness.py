"""Burstiness: entropy, dispersion and correlations, against numpy and scipy."""

import gzip
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gwa
from gwa.analysis.base import analyses
from gwa.report.document import Report
from gwa.store.store import Store
from tests.analysis.sections.blocks import ABSOLUTE, DAY, START, facts
from tests.conftest import examples


def test_arrivals_at_random_have_the_entropy_of_a_poisson_process(section, make_store):
    rng = np.random.default_rng(5)
    times = np.sort(rng.uniform(0, 60 * DAY, 20_000)).tolist()
    made = section("burstiness", make_store(ABSOLUTE, submit_time=[START + time for time in times]))
    found = facts(made)

    for scale in (900, 3600, 86400):
        assert found[f"burstiness.temporal.{scale}s"] == pytest.approx(
            found[f"burstiness.poisson.{scale}s"], abs=0.002
        )
    assert found["burstiness.dispersion.900s"] == pytest.approx(1, abs=0.1)


@examples(25)
@given(st.lists(st.integers(0, 400_000), min_size=2, max_size=60))
def test_entropy_and_dispersion_are_those_of_all_intervals(moments):
    with Store.create() as store:
        store.begin(["job_id", "submit_time"])
        store.insert("recorded", [(number, float(moment)) for number, moment in enumerate(moments)])
        found = facts(next(one for one in analyses() if one.id == "burstiness").section(store))
    arrived = np.array(moments) - min(moments)
    for scale in (900, 21600):
        counts = np.bincount(arrived // scale)
        if len(counts) == 1:
            assert f"burstiness.temporal.{scale}s" not in found
            continue
        share = counts[counts > 0] / counts.sum()
        expected = -(share * np.log(share)).sum() / math.log(len(counts))
        assert found[f"burstiness.temporal.{scale}s"] == pytest.approx(expected, abs=1e-9)
        full = np.bincount(arrived // 900)
        whole = np.bincount(arrived // scale)[: len(full) // (scale // 900)]
        if len(whole) > 1 and whole.sum():
            expected = whole.var(ddof=1) / whole.mean()
            assert found[f"burstiness.dispersion.{scale}s"] == pytest.approx(expected)


def test_what_one_job_does_not_define_is_not_called_unrecorded(section, make_store):
    store = make_store(user_id=["a"], submit_time=[START], run_time=[60.0], n_procs=[2])
    said = Report("", "", (section("burstiness", store),)).facts()
    empty = {fact.id: fact.text for fact in said if fact.value is None}

    assert empty["correlation.runtime_procs"] == "undefined"


def test_the_correlation_of_nearly_equal_run_times_is_not_lost(section, make_store):
    store = make_store(
        submit_time=[START + k for k in range(5)],
        run_time=[9e7, 9e7 + 1, 9e7 + 2, 9e7 + 3, 5.0],
        n_procs=[1, 2, 3, 4, 0],
    )
    found = facts(section("burstiness", store))

    assert found["correlation.runtime_procs"] == pytest.approx(1, abs=1e-12)
    assert found["correlation.runtime_procs_rank"] == pytest.approx(1, abs=1e-12)


@examples(25)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5)), min_size=3, max_size=40))
def test_correlations_are_those_of_scipy(jobs):
    from scipy import stats

    times, procs = np.array(jobs, dtype=float).T
    with Store.create() as store:
        store.begin(["job_id", "submit_time", "run_time", "n_procs"])
        store.insert("recorded", [(place, 5.0, float(time), size) for place, (time, size) in enumerate(jobs)])
        found = facts(next(one for one in analyses() if one.id == "burstiness").section(store))
    if np.ptp(times) == 0 or np.ptp(procs) == 0:
        assert found.get("correlation.runtime_procs") is None
        return
    assert found["correlation.runtime_procs"] == pytest.approx(stats.pearsonr(times, procs)[0])
    assert found["correlation.runtime_procs_rank"] == pytest.approx(stats.spearmanr(times, procs)[0])


def only_completed(path, target):
    """Write the jobs of status 1, as Minh and Wolters (2010) selected them."""
    with gzip.open(path, "rt") as source, gzip.open(target, "wt", 1) as kept:
        for line in source:
            fields = line.split()
            if line.startswith(";") or (fields[10] == "1" and float(fields[3]) >= 0 and int(fields[4]) > 0):
                kept.write(line)


@pytest.mark.logs
@pytest.mark.parametrize(
    ("name", "temporal", "spatial", "correlation"),
    [
        ("HPC2N-2002-2.1-cln", (0.813, 0.832, 0.850, 0.896, 0.935), 0.2996, -0.0622),
        ("LLNL-Thunder-2007-1.1-cln", (0.895, 0.899, 0.904, 0.923, 0.941), 0.3305, 0.2302),
    ],
)
def test_burstiness_is_as_published(name, temporal, spatial, correlation, logs, tmp_path):
    """Minh and Wolters (2010), figure 6, tables V and VI; HPC2N's correlation by allocated processors."""
    target = tmp_path / "completed.swf.gz"
    only_completed(logs / "swf" / f"{name}.swf.gz", target)
    with gwa.open(target) as trace:
        found = facts(trace.report(only=["burstiness"]).sections[0])

    scales = (900, 1800, 3600, 21600, 86400)
    assert [found[f"burstiness.temporal.{scale}s"] for scale in scales] == pytest.approx(temporal, abs=6e-4)
    spatial_id = "burstiness.spatial_requested" if name.startswith("HPC2N") else "burstiness.spatial"
    assert found[spatial_id] == pytest.approx(spatial, abs=1e-4)
    assert found["correlation.runtime_procs"] == pytest.approx(correlation, abs=6e-5)
