"""The cube: its sums are those of the jobs, for any selection and at any grain."""

import json
from datetime import date

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from pyarrow import parquet

import gwa
from gwa.analysis.explorer import explorer
from gwa.breakdown import cube as cubes
from gwa.breakdown.cube import GRAINS, MAXIMUM_CELLS, Grain, cube
from gwa.breakdown.held import held
from gwa.cli.cube import command
from gwa.cli.sample import command as sample_command
from gwa.errors import TraceError
from gwa.metrics.window import window
from gwa.store.engines.spark_sql import to_spark_sql
from tests.breakdown.test_breakdown import ZONE, is_unfinished, jobs

DAY = 86_400
EPOCH = date(1970, 1, 1)


@pytest.fixture(params=[1, 2])
def logged(request, make_store):
    frame = jobs(request.param)
    columns = {str(name): [None if pd.isna(x) else x for x in frame[name]] for name in frame}
    return make_store(ZONE, **columns), frame


def local_day(seconds: pd.Series) -> pd.Series:
    """Return the days since 1970 by the clock of Berlin."""
    local = pd.to_datetime(seconds, unit="s", utc=True).dt.tz_convert("Europe/Berlin")
    return (local.dt.tz_localize(None).dt.normalize() - pd.Timestamp(EPOCH)).dt.days


def choices(rng: np.random.Generator, cells: pd.DataFrame) -> dict[str, set[object]]:
    """Return values of some columns that a reader might choose."""
    columns = [
        "users", "projects", "queues", "outcome", "sizes", "requests", "day", "wait", "hour", "gpu_types",
        "qos",
    ]  # fmt: skip
    chosen = [str(name) for name in rng.permutation(columns) if name in cells][: rng.integers(1, 4)]
    picked = {}
    for name in chosen:
        values = rng.permutation(cells[name].dropna().unique().astype(object))
        picked[name] = set(values[: rng.integers(1, 8)].tolist())
    return picked


def chosen(frame: pd.DataFrame, picked: dict[str, set[object]]) -> pd.DataFrame:
    """Return the rows whose values are chosen, in all columns."""
    for name, values in picked.items():
        frame = frame[frame[name].isin(values)]
    return frame


def outcome_of(frame: pd.DataFrame) -> pd.Series:
    told = frame.status.map({1: "completed", 0: "failed", 5: "cancelled"})
    told = told.mask(frame.status.isin([0, 5]) & (frame.state == "TIMEOUT"), "limit")
    return told.mask(is_unfinished(frame), "running").fillna("unknown")


def span(name: str) -> range:
    """Return the numbers of processors of a class such as "17 to 64"."""
    low, _, high = name.partition(" to ")
    return range(int(low), int(high or low) + 1)


def described(frame: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the jobs under the names that the cube has for what they are."""
    names = cells.sizes.dropna().unique()
    waits = frame.wait_time.where(frame.wait_time >= 1)
    return frame.assign(
        users=frame.user_id, projects=frame.project_id, queues=frame.queue_id, qos=frame.qos,
        gpu_types=frame.gpu_type, outcome=outcome_of(frame), day=local_day(frame.submit_time),
        hour=pd.to_datetime(frame.submit_time, unit="s", utc=True).dt.tz_convert("Europe/Berlin").dt.hour,
        sizes=frame.n_procs.map(lambda n: next((name for name in names if n in span(name)), None)),
        requests=frame.req_time.map(
            {300.0: "to 10 min", 3600.0: "to 1 h", 40_000.0: "to 24 h", 400_000.0: "more than 72 h"}
        ),
        wait=np.floor(2 * np.log2(waits)).mask(frame.wait_time.between(0, 0.999), -1),
    )  # fmt: skip


def test_sums_of_jobs_are_those_of_the_jobs_for_any_selection(logged):
    store, frame = logged
    cells = cube(store).jobs.to_pandas()
    table = described(frame, cells)
    rng = np.random.default_rng(7)
    for _ in range(50):
        picked = choices(rng, cells)
        mine, truth = chosen(cells, picked), chosen(table, picked)
        ran = truth[truth.run_time >= 0]
        assert mine.jobs.sum() == len(truth), picked
        assert mine.cpu_seconds.sum() == pytest.approx((ran.run_time * ran.n_procs).sum(), rel=1e-12)
        assert mine.gpu_seconds.sum() == pytest.approx((ran.run_time * ran.n_gpus).sum(), rel=1e-12)


def test_sums_of_usage_are_what_was_held_in_the_days_of_any_selection(logged):
    store, frame = logged
    cells = cube(store).usage.to_pandas()
    ends = frame.submit_time + frame.wait_time.fillna(0) + frame.run_time.fillna(0)
    start = frame.submit_time + frame.wait_time.fillna(0)
    end = (start + frame.run_time).mask(is_unfinished(frame), max(frame.submit_time.max(), ends.max()))
    table = described(frame, cells).assign(start=start, end=end)
    table = table[table.end >= table.start]
    rng = np.random.default_rng(8)
    for _ in range(50):
        picked = choices(rng, cells)
        days = picked.pop("day", None) or set(cells.day.unique().tolist())
        mine, truth = chosen(cells[cells.day.isin(days)], picked), chosen(table, picked)
        expected = 0.0
        for day in days:
            since = pd.Timestamp(EPOCH) + pd.Timedelta(days=int(str(day)))
            first, last = (
                (since + pd.Timedelta(days=more)).tz_localize("Europe/Berlin").timestamp() for more in (0, 1)
            )
            inside = np.clip(np.minimum(truth.end, last) - np.maximum(truth.start, first), 0, None)
            expected += float((inside * truth.n_procs).sum())
        assert mine.cpu_seconds.sum() == pytest.approx(expected, rel=1e-9)


def test_what_is_held_while_the_load_is_known_is_the_fact_and_the_mean_of_busy_processors(sample):
    with gwa.open(sample / "swf" / "tiny.swf") as trace:
        cells, facts = trace.cube().usage.to_pandas(), trace.facts()
        first, last = window(trace.store).period or (0, 0)
        cpus = trace.system.cpus or 0
    assert cells[cells.known].cpu_seconds.sum() == pytest.approx(facts["usage.cpu_seconds"], rel=1e-12)
    by_outcome = cells[cells.known].groupby("outcome").cpu_seconds.sum()
    for name, seconds in by_outcome.items():
        assert facts[f"usage.outcomes.{name}"] == pytest.approx(seconds, rel=1e-12)
    busy = facts["utilization.mean"]
    assert isinstance(busy, float)
    assert facts["usage.cpu_seconds"] == pytest.approx(busy * cpus * (last - first), rel=2e-3)


def test_of_a_period_usage_is_what_lies_in_it(sample):
    with gwa.open(sample / "swf" / "tiny.swf") as trace:
        part = trace.filter(period="2025-03-14..2025-03-17")
        cells, found = part.cube().usage.to_pandas(), held(part.store)
        whole = trace.cube().usage.to_pandas()
    assert found is not None
    days = {(date(2025, 3, day) - EPOCH).days for day in (14, 15, 16, 17)}
    assert set(cells.day) == days
    assert cells.cpu_seconds.sum() == pytest.approx(whole[whole.day.isin(days)].cpu_seconds.sum(), rel=1e-12)
    assert cells.cpu_seconds.sum() == pytest.approx(found.amounts["cpu_seconds"], rel=1e-12)


@pytest.mark.parametrize("grain", GRAINS, ids=str)
def test_every_grain_has_the_same_sums(logged, grain, monkeypatch):
    store, _ = logged
    finest = cube(store)
    monkeypatch.setattr(cubes, "GRAINS", (grain,))
    coarser = cube(store)
    for table, other in ((finest.jobs, coarser.jobs), (finest.usage, coarser.usage)):
        assert other.num_rows <= table.num_rows
        for name in {"jobs", "cpu_seconds", "gpu_seconds", "node_seconds"} & set(table.schema.names):
            sums = [sum(cells[name].to_pylist()) for cells in (table, other)]
            assert sums[1] == pytest.approx(sums[0], rel=1e-12)


@pytest.mark.parametrize("grain", [GRAINS[0], GRAINS[4], GRAINS[6]], ids=str)
def test_days_have_the_seconds_of_the_clock_and_those_that_are_known(logged, grain, monkeypatch):
    store, _ = logged
    monkeypatch.setattr(cubes, "GRAINS", (grain,))
    days = cube(store).days.to_pandas()
    first, last = window(store).period or (0.0, 0.0)
    assert days.known_seconds.sum() == pytest.approx(last - first, rel=1e-12)
    assert (days.known_seconds <= days.seconds).all()
    assert (days.accounted_seconds <= days.known_seconds).all()
    zone = "Europe/Berlin"
    for row in days.itertuples():
        begin, end = (
            (pd.Timestamp(EPOCH) + pd.Timedelta(days=int(day))).tz_localize(zone).timestamp()
            for day in (row.day, row.day + grain.days)
        )
        assert row.seconds <= end - begin
        if days.day.min() < row.day < days.day.max():
            assert row.seconds == end - begin


def test_what_is_held_outside_gaps_is_the_mean_outside_them(tmp_path):
    log = tmp_path / "sample.sacct"
    CliRunner().invoke(sample_command, ["-o", str(log)])
    with gwa.open(log) as trace:
        made, facts = (
            trace.cube(),
            trace.facts("utilization.known_busy") | trace.facts("capacity.unaccounted"),
        )
    days, usage = made.days.to_pandas(), made.usage.to_pandas()
    gaps = days.known_seconds.sum() - days.accounted_seconds.sum()
    assert gaps == pytest.approx(facts["capacity.unaccounted_seconds"], rel=1e-12)
    assert gaps > 5 * DAY
    held = usage[usage.known & usage.accounted].cpu_seconds.sum()
    assert held / days.accounted_seconds.sum() == pytest.approx(facts["utilization.known_busy"], rel=1e-12)


def test_a_large_log_has_coarser_cells(logged, monkeypatch):
    store, _ = logged
    monkeypatch.setattr(cubes, "MAXIMUM_CELLS", 40)
    made = cube(store)
    assert made.jobs.num_rows + made.usage.num_rows <= MAXIMUM_CELLS
    assert made.grain != GRAINS[0]
    assert set(made.jobs["users"].to_pylist()) <= {"*", None} | {f"u{n}" for n in range(30)}
    assert all((day + 3) % made.grain.days == 0 for day in made.jobs["day"].to_pylist())


@pytest.mark.parametrize(("maximum", "some"), [(300, 350), (700, 350)])
def test_the_grain_is_the_first_with_few_enough_cells(logged, maximum, some, monkeypatch):
    """Some jobs show that a grain is too fine, and cells of one grain are made of those of a finer one."""
    store, _ = logged
    expected, grains = [], (GRAINS[0], *GRAINS[2:5], *GRAINS[7:])
    for grain in grains:
        monkeypatch.setattr(cubes, "GRAINS", (grain,))
        expected.append(cube(store))
    few = (one for one in expected if one.jobs.num_rows + one.usage.num_rows <= maximum)
    first = next(few, expected[-1])
    monkeypatch.setattr(cubes, "GRAINS", grains)
    monkeypatch.setattr(cubes, "MAXIMUM_CELLS", maximum)
    monkeypatch.setattr(cubes, "SOME_JOBS", some)

    made = cube(store)
    assert made.grain == first.grain
    assert made.jobs.equals(first.jobs)
    assert made.usage.equals(first.usage)


def test_spark_can_make_the_cube(logged, monkeypatch):
    store, _ = logged
    asked: list[str] = []
    keep = store.database.keep

    def recording_keep(name: str, select: str) -> None:
        asked.append(select)
        keep(name, select)

    monkeypatch.setattr(store.database, "keep", recording_keep)
    cube(store)
    translated = [to_spark_sql(sql) for sql in asked]
    assert any("EXPLODE(SEQUENCE(" in sql for sql in translated)


def test_jobs_without_times_are_counted_and_hold_nothing_at_any_time(make_store):
    store = make_store(user_id=["a", "b"], run_time=[10.0, 20.0], n_procs=[1, 2])
    made = cube(store)
    assert made.jobs["jobs"].to_pylist() == [1, 1]
    assert made.jobs["day"].to_pylist() == [None, None]
    assert made.usage.num_rows == 0


def test_the_command_writes_both_tables_and_how_fine_they_are(sample, tmp_path):
    done = CliRunner().invoke(command, [str(sample / "swf" / "tiny.swf"), "-o", str(tmp_path / "cube")])
    assert "600 cells of jobs, 495 of usage: by day, at most 1000 names of a kind" in done.output
    assert sum(parquet.read_table(tmp_path / "cube" / "jobs.parquet")["jobs"].to_pylist()) == 1200
    assert Grain(**json.loads((tmp_path / "cube" / "grain.json").read_text())) == GRAINS[0]


def test_times_that_lie_thousands_of_years_apart_are_no_days(make_store):
    store = make_store(
        submit_time=[0.0, 1e5, 1e11], wait_time=[0.0] * 3, run_time=[10.0] * 3, n_procs=[1] * 3
    )
    with pytest.raises(TraceError, match="more than a century apart"):
        cube(store)
    assert explorer(store, {}) is None
