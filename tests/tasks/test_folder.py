"""Folders of tasks: made whole and the same each time, scored as by hand, ranked with ties."""

import json
import shutil
from hashlib import sha256
from itertools import pairwise
from types import ModuleType

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.errors import ArgumentError, OutputError, TraceError
from gwa.tasks import baseline, make
from gwa.tasks.baseline import Baseline, BaselineProblem, baselines, conformal
from gwa.tasks.folder import TaskFolder
from gwa.tasks.measures import HeldOut, area, average_precision, by_class, difference, measures
from gwa.tasks.score import leaderboard, score
from gwa.tasks.task import BY_NAME, folds, splits
from gwa.util import plugins
from tests.conftest import HOME
from tests.program import invoke as run

TINY = str(HOME / "sample_traces" / "swf" / "tiny.swf")


@pytest.fixture(scope="module")
def tasks(tmp_path_factory):
    """Return the folder of the tasks of a small trace."""
    folder = tmp_path_factory.mktemp("made") / "tasks"
    done = run("tasks", "make", TINY, "-o", folder)
    assert done.exit_code == 0, done.output
    return folder


def hashes(folder):
    return {
        path.relative_to(folder).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def write(path, **columns):
    path.parent.mkdir(exist_ok=True)
    pq.write_table(pa.table(columns), path)
    return path


def test_a_folder_has_all_that_its_card_lists_and_labels_apart(tasks):
    assert {path.name for path in tasks.iterdir()} == {"wait", "run_time", "failure"}
    for name in ("wait", "run_time", "failure"):
        card = json.loads((tasks / name / "card.json").read_text())
        listed = {file["@id"]: file["sha256"] for file in card["distribution"]}
        assert listed.items() <= hashes(tasks / name).items()
        assert {"@context", "conformsTo", "recordSet", "name"} <= card.keys()
        rows = pq.read_table(tasks / name / "features.parquet")
        split = np.array(rows["split"].to_pylist())
        own = card["gwa"]
        for part in ("train", "valid", "test"):
            labels = pq.read_table(tasks / name / f"{part}_labels.parquet")
            assert labels["row"].to_pylist() == np.flatnonzero(split == part).tolist()
            assert own["splits"]["jobs"][part] == len(labels) > 0
        assert own["checks"]["rows_with_another_future"] == 50
        assert own["checks"]["planted_gain"] < 0.005 < own["checks"]["gain_of_a_leak"]
        assert not {"wait", "run_time", "status", "label"} & set(rows.column_names)


def test_the_same_trace_makes_the_same_bytes_and_nothing_else_is_replaced(tasks, tmp_path):
    copy = tmp_path / "tasks"
    assert run("tasks", "make", TINY, "-o", copy, "-q").exit_code == 0
    assert hashes(copy) == hashes(tasks)

    assert run("tasks", "make", TINY, "-o", copy, "-q", "--task", "wait").exit_code == 1
    shutil.copytree(copy / "wait" / "baselines", copy / "wait" / "predictions")
    before = hashes(copy)
    again = run("tasks", "make", TINY, "-o", copy, "-q", "--force")
    assert isinstance(again.exception, OutputError)
    assert hashes(copy) == before


def test_a_folder_appears_whole_or_not_at_all(tmp_path, monkeypatch):
    def fails(*_):
        raise TraceError("the disk is full")

    monkeypatch.setattr(make, "readme", fails)
    assert run("tasks", "make", TINY, "-o", tmp_path / "tasks").exit_code == 1
    assert not [path for path in tmp_path.iterdir() if not path.name.startswith(".gwa")]


def test_a_trace_without_a_task_is_refused(tmp_path):
    done = run("tasks", "make", TINY, "-o", tmp_path / "tasks", "--task", "energy")
    assert "energy is not made: the trace does not record it" in str(done.exception)
    assert run("tasks", "make", TINY, "-o", tmp_path / "tasks", "--task", "power").exit_code == 2


def test_that_no_fold_can_be_made_is_told_in_few_words(tmp_path, make_store):
    few = make_store(submit_time=[0, 1, 2], run_time=[1.0] * 3, wait_time=[0.0] * 3, n_procs=[1] * 3)
    with pytest.raises(TraceError, match="no task can be made of it: fold-1/wait is not made") as got:
        make.make(few, "few", tmp_path / "tasks", parts=20)
    assert str(got.value).count(" is not made: ") == 5
    assert str(got.value).endswith("; and 95 more")
    assert not (tmp_path / "tasks").exists()


# Measures, by hand and by scikit-learn.


def held_out(labels, task="run_time", weeks=3):
    size = len(labels)
    columns = {name: np.full(size, np.nan) for name in ("procs", "request", "user")}
    return HeldOut(
        BY_NAME[task], np.asarray(labels, float), np.linspace(0, weeks * 604800 - 1, size), columns
    )


def test_measures_of_quantiles_are_those_computed_by_hand():
    found = measures(held_out([60, 0, 600]), np.array([[0, 60, 120], [0, 60, 60], [0, 0, 540.0]]))

    y, middle, high = np.log([120, 60, 660]), np.log([120, 120, 60]), np.log([180, 120, 600])
    low = np.log([60, 60, 60])
    assert found["mae_log"] == pytest.approx(np.abs(y - middle).mean())
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is the reference")
    three = [
        metrics.mean_pinball_loss(y, q, alpha=level)
        for q, level in ((low, 0.05), (middle, 0.5), (high, 0.95))
    ]
    assert [found[f"pinball_{level}"] for level in (0.05, 0.5, 0.95)] == pytest.approx(three)
    assert found["loss"] == pytest.approx(np.mean(three))
    assert found["coverage_q95"] == found["coverage_q05_q95"] == pytest.approx(2 / 3)
    assert found["within_1_min"] == found["within_factor_2"] == pytest.approx(2 / 3)
    assert found["worst_4_weeks_loss"] is None


def test_measures_of_chances_are_those_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is the reference")
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 2, 500).astype(float), np.round(rng.random(500), 2)
    found = measures(held_out(y, "failure"), np.clip(p, 0.01, 0.99))

    p = np.clip(p, 0.01, 0.99)
    assert found["auc"] == area(y, p) == pytest.approx(metrics.roc_auc_score(y, p))
    assert average_precision(y, p) == pytest.approx(metrics.average_precision_score(y, p))
    assert found["brier"] == pytest.approx(metrics.brier_score_loss(y, p))
    assert found["log_loss"] == pytest.approx(metrics.log_loss(y, p))
    assert area(np.ones(3), np.ones(3)) is average_precision(np.zeros(3), np.ones(3)) is None


def test_a_difference_has_an_interval_by_weeks_and_none_of_one_week():
    test = held_out(np.tile([10.0, 1000.0], 300), weeks=10)
    good, bad = (np.tile([0, value, 5000.0], (600, 1)) for value in (100, 5000))

    found = difference(test, good, bad)
    low, middle, high = (found[name] or 0.0 for name in ("low", "difference", "high"))
    assert low <= middle <= high < 0
    assert difference(test, bad, bad) == {"difference": 0.0, "low": 0.0, "high": 0.0}
    assert difference(held_out([1, 2], weeks=1), good[:2], bad[:2])["low"] is None


def test_a_class_is_told_where_it_has_enough_jobs():
    test = held_out(np.ones(300))
    test.columns["user"][:] = [-1] * 150 + [3] * 100 + [np.nan] * 50
    found = by_class(test, np.tile([0, 1, 0.5 + 1.0], (300, 1)))
    assert {name: one["n"] for name, one in found.items()} == {
        "user: not in the training": 150,
        "user: in the training": 100,
    }


# Forecasts of others.


def rows_of(folder):
    return TaskFolder.read(folder).rows


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.slice(1), "1 of .* rows of the test are missing, such as row"),
        (lambda table: pa.concat_tables([table, table.slice(0, 2)]), "2 rows stand there more than once"),
        (
            lambda table: table.drop_columns("q05"),
            "has the columns row, q50, q95, expected row, q05, q50, q95",
        ),
        (lambda table: table.append_column("x", table["q50"]), "expected row, q05, q50, q95"),
        (lambda table: table.set_column(1, "q05", pa.array([1e9] * len(table))), "have quantiles that cross"),
        (
            lambda table: table.set_column(1, "q05", pa.array([-1.0] * len(table))),
            "is negative or not finite",
        ),
        (
            lambda table: table.set_column(1, "q05", pa.nulls(len(table), pa.float64())),
            "some of the quantiles",
        ),
        (
            lambda table: table.set_column(1, "q05", pa.array(["1"] * len(table))),
            "q05 is of string, expected",
        ),
        (
            lambda table: pa.concat_tables([table, table.slice(0, 1).set_column(0, "row", pa.array([0]))]),
            "1 rows are not of the test, such as row 0",
        ),
    ],
)
def test_what_is_no_forecast_of_the_test_is_refused_with_a_sentence(tasks, tmp_path, change, message):
    good = pq.read_table(tasks / "run_time" / "baselines" / "last.parquet")
    pq.write_table(change(good), tmp_path / "bad.parquet")
    with pytest.raises(ArgumentError, match=message):
        TaskFolder.read(tasks / "run_time").forecast(tmp_path / "bad.parquet")


def test_files_that_are_no_table_or_no_task_are_refused(tasks, tmp_path):
    (tmp_path / "p.parquet").write_text("row,q50")
    with pytest.raises(TraceError, match="cannot be read as Parquet"):
        TaskFolder.read(tasks / "wait").forecast(tmp_path / "p.parquet")
    with pytest.raises(TraceError, match="is not there"):
        TaskFolder.read(tasks / "wait").forecast(tmp_path / "q.parquet")
    with pytest.raises(TraceError, match=r"has no features.parquet, expected the folder of one task"):
        TaskFolder.read(tasks)
    rows = rows_of(tasks / "failure")
    write(tmp_path / "p.parquet", row=rows, p=np.full(rows.size, 1.5))
    with pytest.raises(ArgumentError, match="no probability"):
        TaskFolder.read(tasks / "failure").forecast(tmp_path / "p.parquet")


def test_a_score_says_how_many_rows_are_answered_in_any_order(tasks, tmp_path):
    folder = TaskFolder.read(tasks / "run_time")
    last = pq.read_table(tasks / "run_time" / "baselines" / "last.parquet")
    holes = {name: [None, *last[name].to_pylist()[1:]] for name in ("q05", "q50", "q95")}
    table = pa.table({"row": last["row"], **holes})
    pq.write_table(table.take(np.arange(len(table))[::-1]), tmp_path / "p.parquet")

    found = score(folder, folder.forecast(tmp_path / "p.parquet"))
    assert found["answered"] == pytest.approx(1 - 1 / found["n"])
    assert found["against"]["last"]["difference"] == 0
    done = run("tasks", "score", tasks / "run_time", tmp_path / "p.parquet", "--json")
    assert json.loads(done.stdout) == found
    assert "against request" in run("tasks", "score", tasks / "run_time", tmp_path / "p.parquet").stdout


def test_a_leaderboard_ties_what_is_the_same_and_does_not_rank_what_is_missing(tasks, tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    for copy in (one, other):
        shutil.copytree(tasks / "run_time", copy)
    (one / "predictions").mkdir()
    for name in ("same", "alone"):
        shutil.copy(one / "baselines" / "last.parquet", one / "predictions" / f"{name}.parquet")
    (other / "predictions").mkdir()
    shutil.copy(other / "baselines" / "last.parquet", other / "predictions" / "same.parquet")
    rows = rows_of(one)
    labels = pq.read_table(one / "test_labels.parquet")["label"].to_numpy()
    for copy in (one, other):
        write(copy / "predictions" / "oracle.parquet", row=rows, q05=labels, q50=labels, q95=labels)
        silent = pa.nulls(rows.size, pa.float64())
        write(copy / "predictions" / "silent.parquet", row=rows, q05=silent, q50=silent, q95=silent)

    places = {place.name: place for place in leaderboard([one, other])}
    assert places["oracle"].rank == 1
    assert places["same"].rank == places["last"].rank
    assert (places["last"].rank or 0) > 1
    assert places["same"].ratio == places["last"].ratio
    assert places["silent"].rank == places["train-median"].rank
    assert places["silent"].ratio == places["train-median"].ratio == 1
    assert places["silent"].answered == 0
    assert (places["alone"].rank, places["alone"].logs) == (None, 1)
    assert json.loads(run("tasks", "leaderboard", one, other, "--json").stdout)[0]["forecast"] == "oracle"

    with pytest.raises(ArgumentError, match="of failure, run_time, expected those of one task"):
        leaderboard([one, tasks / "failure"])
    with pytest.raises(ArgumentError, match="named twice"):
        leaderboard([one, one])


# Baselines.


def test_what_is_not_installed_is_said_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(baseline, "find_spec", lambda _: None)
    done = run("tasks", "make", TINY, "-o", tmp_path / "tasks", "--task", "run_time")
    assert done.exit_code == 0
    said = "boosting is left out: it needs sklearn, which `pip install 'gridworkloads[ml]'` installs"
    assert said in done.stderr
    assert not (tmp_path / "tasks" / "run_time" / "baselines" / "boosting.parquet").exists()
    assert said in (tmp_path / "tasks" / "run_time" / "README.md").read_text()


def test_a_baseline_of_another_package_sees_no_label_of_the_test(tmp_path, monkeypatch):
    seen: list[BaselineProblem] = []

    def forecast(problem):
        seen.append(problem)
        return np.tile([1.0, 2.0, 3.0], (problem.rows("test").size, 1))

    module = ModuleType("theirs")
    vars(module)["ours"] = Baseline("ours", "a constant", of_failures=False, forecast=forecast)
    monkeypatch.setattr(plugins, "loaded", lambda group: (module,) if group == "gwa.baselines" else ())
    plugins.modules.cache_clear()
    baselines.cache_clear()
    try:
        assert run("tasks", "make", TINY, "-o", tmp_path / "tasks", "--task", "wait").exit_code == 0
    finally:
        plugins.modules.cache_clear()
        baselines.cache_clear()
    assert (tmp_path / "tasks" / "wait" / "baselines" / "ours.parquet").exists()
    (problem,) = seen
    assert np.isnan(problem.labels[problem.rows("test")]).all()
    assert np.isnan(problem.labels[problem.rows("gap")]).all()
    assert not np.isnan(problem.labels[problem.rows("train")]).any()


def test_a_conformal_shift_covers_what_it_says():
    rng = np.random.default_rng(0)
    held = [rng.standard_normal() <= conformal(np.sort(rng.standard_normal(40)), 0.95) for _ in range(4000)]
    assert 0.94 <= np.mean(held) <= 0.97


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_card_is_loaded_by_the_library_of_croissant_with_its_splits(tasks):
    mlcroissant = pytest.importorskip("mlcroissant", reason="loads Croissant")
    folder = tasks / "run_time"
    data = mlcroissant.Dataset(str(folder / "card.json"))
    records = list(data.records("features"))
    features = pq.read_table(folder / "features.parquet").to_pandas()
    splits = {one["splits/name"]: one["splits/kind"] for one in data.records("splits")}

    assert not data.metadata.ctx.issues.errors
    assert splits == {
        "train": "cr:TrainingSplit",
        "valid": "cr:ValidationSplit",
        "test": "cr:TestSplit",
        "gap": "",
    }
    assert sorted(one["features/row"] for one in records) == sorted(features["row"])
    found = {one["features/row"]: one["features/split"].decode() for one in records}
    assert found == dict(zip(features["row"], features["split"], strict=True))
    assert set(found.values()) <= splits.keys()
    labels = list(data.records("test_labels"))
    assert {one["test_labels/row"] for one in labels} == {row for row, one in found.items() if one == "test"}


# Folds of a rolling origin.


@pytest.fixture(scope="module")
def steady(tmp_path_factory):
    """Return a log of 1,200 short jobs of 5 users: each part of it has jobs that are known in time."""
    rng = np.random.default_rng(45)
    submit = np.cumsum(rng.integers(60, 600, 1200))
    wait, run = rng.integers(0, 300, 1200), rng.integers(10, 900, 1200)
    path = tmp_path_factory.mktemp("steady") / "steady.swf"
    path.write_text(
        "; UnixStartTime: 1000000000\n; MaxProcs: 64\n"
        + "".join(
            f"{n + 1} {submit[n]} {wait[n]} {run[n]} {n % 8 + 1} -1 -1 {n % 8 + 1} 900 -1 1 {n % 5 + 1}"
            " 1 1 1 1 -1 -1\n"
            for n in range(1200)
        )
    )
    return path


@pytest.fixture(scope="module")
def folded(steady, tmp_path_factory):
    """Return the folder of three folds of a task, and that of the whole log."""
    folder = tmp_path_factory.mktemp("folds")
    for name, count in (("folds", 3), ("whole", 1)):
        words = ("tasks", "make", steady, "-o", folder / name, "--folds", count, "--task", "run_time")
        done = run(*words)
        assert done.exit_code == 0, done.output
    return folder


def test_each_fold_is_a_folder_that_learns_from_all_before_its_test(folded):
    folds_of = folded / "folds"
    assert sorted(path.name for path in folds_of.iterdir()) == ["fold-1", "fold-2", "fold-3"]
    whole = pq.read_table(folded / "whole" / "run_time" / "features.parquet").to_pandas()
    tests = []
    for number in (1, 2, 3):
        rows = pq.read_table(folds_of / f"fold-{number}" / "run_time" / "features.parquet").to_pandas()
        test = rows[rows.split == "test"]
        assert rows.submit[rows.split != "test"].max() < test.submit.min()
        same = whole.iloc[: len(rows)]
        assert rows.job_id.tolist() == same.job_id.tolist()
        assert rows.run_last.equals(same.run_last)
        tests.append(test)
    ends = [(test.submit.min(), test.submit.max()) for test in tests]
    assert all(before[1] < after[0] for before, after in pairwise(ends))
    assert ends[-1][1] == whole.submit.max()
    assert sum(map(len, tests)) == pytest.approx(0.75 * len(whole), abs=3)
    card = json.loads((folds_of / "fold-1" / "run_time" / "card.json").read_text())
    assert card["gwa"]["splits"]["rule"].startswith(
        "22%, 3% and 25% of the jobs, by submission; the last 50%"
    )


def test_folds_are_ranked_together_and_made_again_in_place(steady, folded):
    folds_of = folded / "folds"
    done = run("tasks", "leaderboard", *(folds_of / f"fold-{number}" / "run_time" for number in (1, 2, 3)))
    assert done.exit_code == 0
    assert "train-median" in done.output
    before = hashes(folds_of)
    words = ("tasks", "make", steady, "-o", folds_of, "--folds", 3, "--task", "run_time", "-q", "--force")
    again = run(*words)
    assert again.exit_code == 0, again.output
    assert hashes(folds_of) == before


@given(st.integers(2, 20), st.lists(st.integers(0, 50), min_size=100, max_size=300), st.integers(0, 60))
def test_no_fold_learns_what_was_not_known_when_its_test_begins(count, submits, length):
    submit = np.sort(np.array(submits, float))
    known = submit + length
    for shares in folds(count).values():
        split, (valid, test) = splits(submit, known, shares)
        part = submit[: split.size]
        assert (known[: split.size][split == "train"] < valid).all()
        assert (known[: split.size][split == "valid"] < test).all()
        assert (part[split == "test"] >= test).all()
        assert (submit[split.size :] > part.max(initial=-1)).all()
