"""What holds for every model and every preset, found by looking."""

import json
import re
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

import gwa
from gwa.errors import ModelError
from gwa.metrics.quality import problems
from gwa.models.base import models, parse_model, presets
from gwa.models.files import read, text, write
from gwa.models.generate import GenerationRequest, generate_store
from gwa.models.pacing import reach_utilization, utilization
from gwa.models.parameters import described
from gwa.models.streams import Extent
from gwa.report.language import read_language
from gwa.store.schema import BY_NAME

MODELS = pytest.mark.parametrize("kind", models().values(), ids=lambda kind: kind.name)
PRESETS = pytest.mark.parametrize("preset", presets().values(), ids=lambda preset: preset.name)


def made(one, seed=1, **extent):
    """Return the jobs of a workload as one block."""
    blocks = list(GenerationRequest(one, Extent(**(extent or {"jobs": 200})), seed).blocks())
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


@pytest.mark.parametrize("length", [float("nan"), float("inf"), 0.0, -1.0])
def test_a_workload_without_an_end_is_refused(length):
    with pytest.raises(ModelError, match="expected a number above 0"):
        Extent(days=length)


@MODELS
def test_says_what_it_is_and_has_a_preset(kind):
    assert kind.about().endswith(".")
    assert kind.source
    assert kind.title[0].isupper()
    # Of networks there is none: their weights are nothing to be read.
    assert kind.extra == "deep" or any(isinstance(preset.model, kind) for preset in presets().values())


@MODELS
def test_every_number_has_a_meaning(kind):
    for name, (hint, quantity) in described(kind).items():
        assert quantity or hint not in {int, float, str}, name


@PRESETS
def test_survives_json(preset, tmp_path):
    said = json.loads(text(preset.model, {"preset": preset.name}))
    write(preset.model, tmp_path / "model.json", {})

    assert parse_model(said) == preset.model == read(tmp_path / "model.json")
    assert said["source"]
    assert all(said["meanings"].values())


@PRESETS
def test_the_same_seed_makes_the_same_jobs_and_another_others(preset):
    one, again, other = made(preset.model), made(preset.model), made(preset.model, seed=2)

    assert all(np.array_equal(one[name], again[name]) for name in one)
    assert not np.array_equal(one["run_time"], other["run_time"])


@PRESETS
def test_a_short_workload_is_the_beginning_of_a_long_one(preset):
    short, long = made(preset.model, jobs=150), made(preset.model, jobs=20_000)

    assert all(np.array_equal(short[name], long[name][:150]) for name in short)


@PRESETS
def test_jobs_are_in_order_whole_and_valid(preset):
    jobs = made(preset.model, jobs=20_000)

    assert (np.diff(jobs["submit_time"]) >= 0).all()
    assert (jobs["n_procs"] >= 1).all()
    for name, column in jobs.items():
        field = BY_NAME[name]
        if not field.is_text:
            known = column[~np.isnan(column.astype(float))]
            assert (known == np.rint(known)).all()
            assert field.low is None or known.min() >= field.low
            assert field.high is None or known.max() <= field.high


@PRESETS
def test_days_cut_where_they_end(preset):
    end = made(preset.model, jobs=2000)["submit_time"][-1] + 0.5
    jobs = made(preset.model, days=end / 86400)["submit_time"]
    longer = made(preset.model, jobs=jobs.size + 1)["submit_time"]

    assert jobs.size >= 2000
    assert jobs.max() < end <= longer[-1]


@PRESETS
def test_a_store_says_that_it_is_synthetic(preset):
    with generate_store(GenerationRequest(preset.model, Extent(jobs=200), 7)) as store:
        header = dict(store.header)

        assert store.account.jobs == 200
        assert header["Synthetic"]
        assert header["Seed"] == "7"
        assert (
            parse_model({"model": preset.model.name, "parameters": json.loads(header["Parameters"])})
            == preset.model
        )
        assert not [problem for problem in problems(store) if problem.level == "error"]


@PRESETS
def test_pace_stretches_the_time_between_jobs(preset):
    span = made(preset.model, jobs=3000)["submit_time"][-1]
    slower = made(preset.model.scale_gaps(3.0), jobs=3000)["submit_time"][-1]

    assert slower / span == pytest.approx(3.0, rel=0.5)


@PRESETS
def test_meets_a_utilization_within_two_percent(preset):
    """Of as many processors as keep the longest job from outlasting all others."""
    jobs = made(preset.model, 3, jobs=3000)
    cpus = max(int((jobs["run_time"] * jobs["n_procs"]).sum() / jobs["run_time"].max()), 1)
    order = reach_utilization(GenerationRequest(preset.model, Extent(jobs=3000), 3), max(cpus, 4), 0.2)

    assert utilization(order, max(cpus, 4)) == pytest.approx(0.2, rel=0.02)
    assert max(block["n_procs"].max() for block in order.blocks()) <= max(cpus, 4)


@pytest.mark.parametrize(
    "kind", [kind for kind in models().values() if kind.package], ids=lambda kind: kind.name
)
def test_a_fit_says_in_a_sentence_what_it_needs(kind, make_store, monkeypatch):
    monkeypatch.setattr("gwa.models.base.find_spec", lambda _: None)
    store = make_store(**SAME | {"run_time": [float(n) for n in range(300)]})

    with pytest.raises(ModelError) as told:
        kind.fit(store)
    assert str(told.value) == (
        f"{kind.name}: a fit needs {kind.package}, expected `pip install 'gridworkloads[{kind.extra}]'`"
    )
    assert kind.missing() == str(told.value)


SAME = {"submit_time": [5.0] * 300, "run_time": [60.0] * 300, "n_procs": [1] * 300, "user_id": ["u"] * 300}


@MODELS
@pytest.mark.parametrize(
    "columns",
    [
        SAME,
        SAME | {"submit_time": [float(60 * n) for n in range(300)]},
        SAME | {"submit_time": [float(n * n) for n in range(300)], "run_time": [0.0] * 300},
    ],
    ids=["at once", "like clockwork", "of no length"],
)
def test_a_degenerate_trace_is_refused_in_words(kind, columns, make_store):
    """Those of other languages, too: the reason stands on pages."""
    with pytest.raises(ModelError, match="expected") as told:
        kind.fit(make_store(**columns))
    german = read_language("de")(told.value.args[0])
    assert "erwartet" in german
    assert not re.search(r"\b(expected|jobs that|values|gaps|distribution|different)\b", german)


def test_presets_and_models_are_listed_once():
    assert len({(preset.title, preset.source) for preset in presets().values()}) == len(presets())


@pytest.mark.parametrize("extent", [{}, {"jobs": 0}, {"days": -1.0}, {"jobs": 1, "days": 1.0}])
def test_an_extent_is_jobs_or_days(extent):
    with pytest.raises(ModelError, match="expected"):
        Extent(**extent)


def test_impossible_targets_name_the_parameter():
    order = GenerationRequest(presets()["lublin"].model, Extent(jobs=100), 1)
    for cpus, target, said in (
        (0, 0.5, "cpus is 0"),
        (128, 1.5, "utilization is 1.5"),
        (128, 0.0, "utilization"),
    ):
        with pytest.raises(ModelError, match=said):
            reach_utilization(order, cpus, target)
    with pytest.raises(ModelError, match="utilization is 1, which this workload does not reach"):
        reach_utilization(order, 100_000, 1.0)
    with pytest.raises(ModelError, match="seed is -1"):
        replace(order, seed=-1)


@PRESETS
@pytest.mark.slow
def test_memory_stays_flat(preset):
    """A block is made at a time: the largest of a long workload is no larger than that of a shorter one."""
    sizes = [block["submit_time"].size for block in islice(preset.model.blocks(np.random.default_rng(1)), 20)]

    assert max(sizes) < 5_000_000


@MODELS
@pytest.mark.logs
@pytest.mark.slow
@pytest.mark.parametrize("log", ["KTH-SP2-1996-2.1-cln", "NASA-iPSC-1993-3.1-cln", "alea-wagap-2013"])
def test_a_real_log_is_fitted(kind, log, logs):
    if missing := kind.missing():
        pytest.skip(missing)
    with gwa.open(logs / "swf" / f"{log}.swf.gz") as trace:
        fitted = kind.fit(trace.store)

    assert kind.parsed(fitted.plain()) == fitted
    assert made(fitted, jobs=500)["run_time"].size == 500
