"""Breakdowns by every dimension, against the same computed by pandas from the jobs."""

import json
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from gwa.breakdown import quantiles
from gwa.breakdown.breakdown import RANKINGS, breakdown
from gwa.breakdown.charge.rates import from_table
from gwa.breakdown.dimensions import by_name, dimensions, recorded
from gwa.breakdown.views import tables
from gwa.metrics import ranked_values, whole
from gwa.store.engines.spark_sql import to_spark_sql
from tests.conftest import thinned
from tests.util.members import install, python

BEGIN = 1_729_990_000
"""27 October 2024, 00:46 in UTC: the clocks of Berlin go back fourteen minutes later."""

ZONE = (("Times", "Unix seconds, UTC"), ("TimeZoneString", "Europe/Berlin"), ("MaxProcs", "64"))

NAMED = {
    "users": "user_id", "groups": "group_id", "projects": "project_id", "queues": "queue_id",
    "partitions": "partition_id", "qos": "qos", "applications": "executable_id",
    "arrays": "job_structure_params", "sites": "last_run_site_id", "gpu_types": "gpu_type",
}  # fmt: skip


def jobs(seed: int, size: int = 400) -> pd.DataFrame:
    """Return jobs with all that a log may record, and with gaps in everything."""
    rng = np.random.default_rng(seed)

    def gaps(values: np.ndarray, share: float = 0.1) -> list[object]:
        return [
            None if lost else value
            for value, lost in zip(values.tolist(), rng.random(size) < share, strict=True)
        ]

    def names(letter: str, many: int) -> list[object]:
        return gaps(np.array([f"{letter}{n}" for n in (rng.random(size) ** 2 * many).astype(int)], object))

    def texts(of: list[str]) -> list[object]:
        return gaps(rng.choice(of, size).astype(object))

    status = rng.choice([1, 1, 1, 0, 5], size)
    return pd.DataFrame({
        "submit_time": np.sort(rng.uniform(BEGIN, BEGIN + 70 * 86_400, size)).round().tolist(),
        "wait_time": gaps(rng.lognormal(6, 3, size).round()),
        "run_time": gaps(np.where(rng.random(size) < 0.1, 0, rng.lognormal(7, 2, size)).round()),
        "n_procs": gaps(2 ** rng.integers(0, 6, size), 0.05),
        "average_cpu_time": gaps(rng.uniform(0, 3000, size).round()),
        "req_time": gaps(rng.choice([300.0, 3600.0, 40_000.0, 400_000.0], size)),
        "status": gaps(status), "state": texts(["COMPLETED", "FAILED", "TIMEOUT"]),
        "n_gpus": gaps(rng.choice([0.0, 0.5, 4.0], size)),
        "n_nodes": gaps(rng.integers(1, 5, size)),
        "energy": gaps(rng.uniform(0, 1e7, size).round(), 0.5), "gpu_type": texts(["a100", "v100"]),
        "user_id": names("u", 30), "group_id": names("g", 3), "project_id": names("p", 12),
        "queue_id": names("q", 2),
        "partition_id": names("n", 2), "qos": names("s", 2), "executable_id": names("x", 60),
        "job_structure_params": names("a", 90), "last_run_site_id": names("t", 2),
        "gpu_utilization": gaps(rng.uniform(0, 1, size).round(3)),
        "idle_gpus": gaps(rng.integers(0, 5, size)),
    })  # fmt: skip


LOGGED = ((1, 10_000), (2, 10_000), (3, 0), (4, 0))
"""The seeds of logs, odd ones of which are sorted in memory, and up to how many jobs one is small."""


@pytest.fixture(scope="module", params=LOGGED, ids=str)
def logged(request, make_shared_store):
    """Return a store and its jobs; those of a very large log are looked for by bins, in the engine."""
    seed, small = request.param
    frame = jobs(seed)
    with pytest.MonkeyPatch.context() as patch:
        for module in (ranked_values, whole):
            patch.setattr(module, "SMALL_TRACE", small)
        patch.setattr(quantiles, "SORTED_AT_ONCE", 10**9 if seed % 2 else 0)
        yield make_shared_store(ZONE, **columns_of(frame)), frame


def columns_of(frame: pd.DataFrame) -> dict[str, list[object]]:
    """Return the columns of jobs as a store takes them."""
    return {str(name): [None if pd.isna(x) else x for x in frame[name]] for name in frame}


def keyed(frame: pd.DataFrame, name: str) -> pd.Series:
    """Return the class of each job by a dimension."""
    if name in NAMED:
        return frame[NAMED[name]]
    local = pd.to_datetime(frame.submit_time, unit="s", utc=True).dt.tz_convert("Europe/Berlin")
    if name == "months":
        return local.dt.strftime("%Y-%m")
    if name == "hours":
        return local.dt.strftime("%H:00")
    if name == "weekdays":
        return local.dt.strftime("%a")
    if name == "requests":
        names = {300: "to 10 min", 3600: "to 1 h", 40_000: "to 24 h", 400_000: "more than 72 h"}
        return frame.req_time.map(names)
    states = frame.state.str.upper()
    if name == "outcomes":
        bad = frame.status.isin([0, 5])
        of_status = frame.status.map({1: "completed", 0: "failed", 5: "cancelled"})
        told = of_status.mask(bad & (states == "TIMEOUT"), "time limit")
        return told.mask(is_unfinished(frame), "running").fillna("unknown")
    raise AssertionError(name)


def is_unfinished(frame: pd.DataFrame) -> pd.Series:
    """Return which jobs had started, and not ended, when the log did."""
    return frame.run_time.isna() & frame.status.isna() & (frame.wait_time >= 0) & (frame.n_procs >= 1)


def core_seconds(frame: pd.DataFrame, whole: pd.DataFrame) -> pd.Series:
    """Return processors times run time; of jobs that had not ended, until the log did."""
    ends = whole.submit_time + whole.wait_time.fillna(0) + whole.run_time.fillna(0)
    until = max(whole.submit_time.max(), ends.max()) - frame.submit_time - frame.wait_time
    run_time = frame.run_time.mask(is_unfinished(frame), until)
    return (run_time * frame.n_procs).where((frame.n_procs >= 1) & (run_time >= 0))


def of_class(group: pd.DataFrame, outcomes: pd.Series, whole: pd.DataFrame) -> dict[str, object]:
    """Return the measures of the jobs of a class."""
    ran = group[(group.run_time >= 0) & (group.n_procs >= 1)]
    cpu = ran.run_time * ran.n_procs
    waits = group.wait_time[group.wait_time >= 0]
    everything = whole[(whole.run_time >= 0) & (whole.n_procs >= 1)]
    expected: dict[str, object] = {
        "jobs": len(group),
        "jobs_share": len(group) / len(whole),
        "cpu_seconds": cpu.sum(),
        "cpu_share": cpu.sum() / (everything.run_time * everything.n_procs).sum(),
        "gpu_seconds": (group.n_gpus * group.run_time.where(group.run_time >= 0)).sum(),
        "node_seconds": (group.n_nodes * group.run_time.where(group.run_time >= 0)).sum(),
        "energy": group.energy.sum() if group.energy.notna().any() else None,
        "wait_median": waits.quantile(0.5) if len(waits) else None,
        "wait_p95": waits.quantile(0.95) if len(waits) else None,
        "runtime_median": ran.run_time.quantile(0.5) if len(ran) else None,
        "wait_median_weighted": weighted(group.assign(cpu=core_seconds(group, whole)), 0.5),
        "wait_p95_weighted": weighted(group.assign(cpu=core_seconds(group, whole)), 0.95),
    }
    for name, word in (
        ("failed", "failed"),
        ("limit", "time limit"),
        ("cancelled", "cancelled"),
        ("completed", "completed"),
    ):
        expected[f"{name}_cpu_seconds"] = cpu[outcomes.loc[ran.index] == word].sum()
    known = ran[(ran.run_time > 0) & ran.average_cpu_time.notna()]
    known = known[known.average_cpu_time <= np.maximum(known.run_time * 1.05, known.run_time + 1)]
    given = (known.run_time * known.n_procs).sum()
    expected["efficiency_cpu"] = (known.average_cpu_time * known.n_procs).sum() / given if given else None
    return expected


def numeric(value: object) -> float:
    """Return a value, nan for none."""
    return float("nan") if value is None else float(str(value))


def weighted(group: pd.DataFrame, share: float) -> float | None:
    """Return the least wait such that jobs up to it have a share of the core-hours."""
    known = group[(group.wait_time >= 0) & group.cpu.notna()].sort_values("wait_time")
    total = Decimal(int(known.cpu.sum()))
    if not total:
        return None
    upto = Decimal(0)
    for wait, cpu in zip(known.wait_time, known.cpu, strict=True):
        upto += Decimal(int(cpu))
        if upto >= Decimal(str(share)) * total:
            return float(wait)
    raise AssertionError


@pytest.mark.parametrize(
    ("logged", "name"),
    thinned(
        LOGGED,
        [*NAMED, "months", "hours", "weekdays", "requests", "outcomes"],
        kept=lambda logged, _: logged in LOGGED[1:3],
    ),
    indirect=["logged"],
    ids=str,
)
def test_every_measure_of_every_dimension_is_that_of_pandas(logged, name):
    store, frame = logged
    keys, outcomes = keyed(frame, name), keyed(frame, "outcomes")
    records = breakdown(store, by_name(name), "by_cpu")
    assert records is not None
    assert records.rows
    for row in records.rows:
        expected = of_class(frame[keys == row["id"]], outcomes, frame)
        found = {key: numeric(row[key]) for key in expected}
        assert found == pytest.approx(
            {key: numeric(x) for key, x in expected.items()}, rel=1e-12, nan_ok=True
        )
    if not by_name(name).is_ranked:
        assert {row["id"] for row in records.rows} == set(keys.dropna())


@pytest.mark.parametrize(("logged", "ranking"), thinned(LOGGED, RANKINGS), indirect=["logged"], ids=str)
def test_lists_have_the_largest_classes_first(logged, ranking):
    store, _ = logged
    if ranking == "by_cost":
        rate = {"name": "All", "cpu_hour": 0.01, "gpu_hour": 1}
        store = store.filtered("true")  # other tests share the store, to which nothing is stated
        store.stated = {"rates": from_table({"currency": "EUR", "rates": [rate]})}
    for dimension in recorded(store):
        records = breakdown(store, dimension, ranking)
        assert records is not None
        if dimension.is_ranked:
            amounts = [numeric(row[RANKINGS[ranking].measure] or 0) for row in records.rows]
            assert amounts == sorted(amounts, reverse=True)
            assert len(amounts) <= store.top


def test_classes_are_added_up_in_cells_of_which_there_are_three_kinds(make_store, monkeypatch):
    store = make_store(ZONE, **columns_of(jobs(1)))  # one of which nothing was asked before
    kept: dict[str, str] = {}
    keep = store.keep
    monkeypatch.setattr(store, "keep", lambda name, sql: kept.setdefault(name, sql) and keep(name, sql))
    for one in recorded(store):
        breakdown(store, one, "by_cpu")
    cells = {name: sql for name, sql in kept.items() if name.startswith("cells_of_")}
    assert {*cells} == {"cells_of_users", "cells_of_months", "cells_of_sizes"}
    assert all(to_spark_sql(sql) for sql in kept.values())


def test_a_log_without_something_has_no_breakdown_by_it(make_store):
    store = make_store(submit_time=[0.0, 10.0], user_id=["a", "b"], run_time=[5.0, None], n_procs=[1, 1])

    assert {one.name for one in recorded(store)} >= {"users", "sizes"}
    assert breakdown(store, by_name("projects"), "by_cpu") is None
    assert breakdown(store, by_name("users"), "by_gpu") is None
    records = breakdown(store, by_name("users"), "by_cpu")
    assert records is not None
    first, second = records.rows
    assert "wait_median" not in first
    assert "failed_cpu_seconds" not in first
    assert (first["cpu_seconds"], second["cpu_seconds"]) == (5, 0)
    assert second["runtime_median"] is None


def test_names_of_dimensions_and_measures_are_their_own():
    names = [one.name for one in dimensions()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("months", [36, 40])
def test_a_table_of_many_months_shows_the_last(make_store, months):
    days = [pd.Timestamp(2020 + month // 12, month % 12 + 1, 15, tz="UTC") for month in range(months)]
    store = make_store(
        ZONE,
        submit_time=[day.timestamp() for day in days],
        run_time=[3600.0] * months,
        n_procs=[1] * months,
    )
    (table,) = tables(store, "months")
    assert [row[0] for row in table.rows] == [f"{day:%Y-%m}" for day in days[-36:]]
    assert str(table.note) == ("The last 36 of 40." if months > 36 else "")


OURS = """
from gwa.breakdown.dimensions import Classes, Dimension
from gwa.breakdown.measures import Measure
from gwa.breakdown.views import View
from gwa.words.message import message

parity = Dimension(
    "parities", message("Processors"), "parities", ("n_procs",),
    lambda store: Classes("case when n_procs % 2 = 0 then 'even' else 'odd' end"),
)
longest = Measure("longest", message("Run time"), "seconds", sql="max(run_time)", minor=False)
of_longest = View("longest-of-parities", "parities", "parities", ("by_jobs",), ("longest",))
"""


def test_a_package_adds_a_dimension_a_measure_and_a_view_by_an_entry_point_each(tmp_path, sample):
    (tmp_path / "ours.py").write_text(OURS)
    install(tmp_path, {"gwa.dimensions": "ours", "gwa.measures": "ours", "gwa.views": "ours"})
    log = sample / "swf" / "tiny.swf"
    told = python(tmp_path, "-m", "gwa", "facts", log, "--only", "parities", "--quiet")

    rows = json.loads(told.stdout)["parities.by_cpu"]
    assert {row["id"] for row in rows} == {"even", "odd"}
    assert all(row["longest"] > 0 for row in rows)
    report = python(
        tmp_path, "-m", "gwa", "report", log, "--sections", "parities", "--lang", "de", "-o", "out"
    )
    assert report.returncode == 0, report.stderr
    (path,) = (tmp_path / "out").glob("*.html")
    page = path.read_text()
    assert ">even<" in page
    assert 'data-name="longest-of-parities"' in page
    assert {"Prozessoren", "Laufzeit"} <= set(re.findall("[A-Z][a-z]+", page))


def test_hours_before_1970_by_the_log_s_clock_are_hours(make_store):
    header = (("Times", "Unix seconds, UTC"), ("TimeZoneString", "America/New_York"))
    store = make_store(header, user_id=["a", "b"], submit_time=[0.0, 20_000.0], n_procs=[1, 1])

    found = {}
    for name in ("hours", "weekdays", "months"):
        records = breakdown(store, by_name(name), "by_jobs")
        assert records is not None
        found[name] = [row["id"] for row in records.rows]
    assert found == {
        "hours": ["00:00", "19:00"],
        "weekdays": ["Wed", "Thu"],
        "months": ["1969-12", "1970-01"],
    }
