"""Spark gives what DuckDB gives. What needs Java and pyspark is slow, and skipped without them."""

import importlib.util
import json
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gwa
from benchmarks.spark import differences
from gwa.analysis.base import MadeWhen, analyses
from gwa.analysis.build import build
from gwa.analysis.comparison.compare import compare
from gwa.breakdown.cube import cube
from gwa.errors import EngineError, TraceError
from gwa.formats.monthly import write as write_months
from gwa.formats.open import open_trace
from gwa.formats.registry import writer
from gwa.metrics.timeline import exact_sum
from gwa.report.as_json import as_json
from gwa.store.engines.config import Engine
from gwa.store.engines.spark import Spark, missing_requirement
from gwa.store.engines.spark_sql import referenced_tables, to_spark_sql
from gwa.store.options import ReadOptions
from gwa.store.store import Store
from gwa.store.subset import Subset
from gwa.util import interrupts
from tests.analysis.test_every_analysis import DEGENERATE, LARGE, SOME
from tests.conftest import HOME, examples

TINY = HOME / "sample_traces" / "swf" / "tiny.swf"
CASES = {"everything": SOME, **DEGENERATE, **{f"many, {name}": case for name, case in LARGE.items()}}


def on_spark(test):
    """Mark a test that needs Spark."""
    return pytest.mark.slow(
        pytest.mark.skipif(bool(missing_requirement()), reason=missing_requirement() or "")(test)
    )


def opened(path, engine="spark"):
    """Return the store of a trace in Parquet, which *engine* is asked about."""
    return open_trace([path], options=ReadOptions(engine=Engine(threads=2, name=engine)))


def gwa_says(*words):
    return subprocess.run([sys.executable, "-m", "gwa", *words], capture_output=True, text=True, check=False)


# What needs no Spark.


@pytest.mark.parametrize(
    ("query", "translated"),
    [
        ("from jobs", "SELECT * FROM jobs"),
        ("select 7 // 2 as n", "SELECT 7 DIV 2 AS n"),
        ("select 'it''s \\ so' as s", r"SELECT 'it\'s \\ so' AS s"),
        (
            "select lag(a) over w - a as x from t window w as (order by a)",
            "SELECT (LAG(a) OVER w) - a AS x FROM t WINDOW w AS (ORDER BY a NULLS LAST)",
        ),
    ],
)
def test_translates(query, translated):
    assert to_spark_sql(query) == translated


@pytest.mark.parametrize("words", ["drop table jobs", "select 1; select 2", "select (", "'", ""])
def test_asks_spark_nothing_but_queries(words):
    with pytest.raises(EngineError):
        to_spark_sql(words)


def test_knows_which_tables_a_query_reads():
    assert referenced_tables(
        "with a as (from jobs) select * from a join (select * from ran) as b using (x)"
    ) == {
        "jobs",
        "ran",
    }


def test_queries_on_the_tables_beside_the_jobs_are_interrupted(monkeypatch):
    registered: list[interrupts.Interruptible] = []
    interrupted = []
    monkeypatch.setattr(interrupts, "register", registered.append)
    connection: Any = SimpleNamespace(interrupt=lambda: interrupted.append(True))
    session: Any = None
    spark = Spark(session, connection, {"header"})
    for work in registered:
        work.interrupt()
    assert interrupted == [True]
    del spark


@pytest.mark.parametrize("module", ["pyspark", "sqlglot"])
def test_says_how_to_get_what_is_not_installed(module, monkeypatch, tmp_path):
    found = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == module else found(name))
    with gwa.open(TINY) as trace:
        trace.save(tmp_path / "tiny.parquet")

    with pytest.raises(EngineError, match=r"pip install 'gridworkloads\[spark\]'"):
        gwa.open(tmp_path / "tiny.parquet", engine="spark")


def test_says_that_java_is_missing(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: True)
    monkeypatch.setenv("JAVA_HOME", "nowhere")

    assert "Java 17" in str(missing_requirement())


def test_spark_reads_parquet_only():
    done = gwa_says("facts", TINY, "--engine", "spark")

    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert "gwa convert it to .parquet first" in line


def test_spark_reads_parquet_of_gwa_only(tmp_path):
    with gwa.open(TINY) as trace:
        trace.frame()[["job_id", "submit_time", "run_time"]].to_parquet(tmp_path / "other.parquet")

    with pytest.raises(TraceError, match="convert it first"):
        gwa.open(tmp_path / "other.parquet", engine="spark")


def test_spark_reads_no_addresses():
    done = gwa_says("facts", "s3://bucket/trace.parquet", "--engine", "spark")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "gwa: s3://bucket/trace.parquet: is an address, Spark reads what its workers see in a folder\n"
    )


@pytest.mark.parametrize("name", ["mysql", "spark:", "spark://host", "spark://a b:7077", "spark://h:7077/x"])
def test_refuses_what_is_no_engine(name):
    done = gwa_says("facts", TINY, "--engine", name)

    assert done.returncode == 2
    assert "expected duckdb, spark or spark://HOST:PORT" in " ".join(done.stderr.replace("│", " ").split())


# What does.


@on_spark
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_analysis_is_the_same(case, make_store, tmp_path):
    path = tmp_path / "trace.parquet"
    writer(path).save(make_store(**CASES[case]), path)
    every = [one.id for one in analyses() if one.made is MadeWhen.ALWAYS or one.id == "fits"]

    with opened(path, "duckdb") as one, opened(path) as other:
        reports = [json.loads(as_json(build(store, "", only=every, strict=True))) for store in (one, other)]

    assert list(differences(reports[0], reports[1])) == []


@on_spark
def test_the_cube_has_the_same_cells(slurm_sample, tmp_path):
    path = tmp_path / "trace.parquet"
    with gwa.open(slurm_sample) as trace:
        trace.save(path)

    with opened(path, "duckdb") as one, opened(path) as other:
        made, same = cube(one), cube(other)

    assert made.grain == same.grain
    for name in ("jobs", "usage", "days"):
        cells, others = (sorted(getattr(of, name).to_pylist(), key=str) for of in (made, same))
        assert cells == others, name
        assert cells


@on_spark
def test_a_folder_by_month_a_part_and_a_comparison_are_the_same(tmp_path):
    folder = tmp_path / "by [month] {x}* o'k.parquet"
    with gwa.open(TINY) as trace:
        write_months(trace.store, folder)
    subset = Subset(where="n_procs > 1 and user_id <> 'it''s'")
    reports = []
    for engine in ("duckdb", "spark"):
        with gwa.open(folder, engine=engine) as trace:
            part = trace.filter(subset)
            compared = compare([("all", trace.store), ("part", part.store)])
            reports.append([json.loads(as_json(one)) for one in (part.report(["overview"]), compared)])

    assert list(differences(reports[0], reports[1])) == []


@on_spark
@examples(5)
@given(st.lists(st.floats(0, 1e9) | st.integers(0, 10**9).map(float), min_size=200, max_size=400))
def test_numbers_are_the_same(tmp_path_factory, values):
    """What queries do with numbers: floor, round, compare, cast to decimals, sum, sort."""
    path = tmp_path_factory.mktemp("numbers") / "trace.parquet"
    with Store.create() as store:
        store.begin(["job_id", "run_time", "submit_time", "n_procs"])
        rows = [(place, value, value / 3, place % 7) for place, value in enumerate(values)]
        store.insert("recorded", [(row[0], row[2], row[1], row[3]) for row in rows])
        writer(path).save(store, path)

    with opened(path, "duckdb") as one, opened(path) as other:
        for expression in (
            "run_time",
            "floor(run_time / 900.0)",
            "submit_time - lag(submit_time) over (order by submit_time, job_id)",
            "run_time / greatest(n_procs, 1)",
            "case when run_time < 10.0 then round(run_time * 100.0) / 100.0 else round(run_time) end",
        ):
            samples = [store.sample(expression) for store in (one, other)]
            assert np.array_equal(samples[0].values, samples[1].values)
            assert np.array_equal(samples[0].counts, samples[1].counts)
        for expression in (exact_sum("run_time"), exact_sum("run_time * n_procs"), "max(submit_time)"):
            sums = [store.row(f"select {expression} as x from jobs")[0] for store in (one, other)]
            assert sums[0] == pytest.approx(sums[1], rel=1e-15, abs=1e-6)


@on_spark
def test_answers_have_the_same_shapes(make_store, tmp_path):
    path = tmp_path / "trace.parquet"
    writer(path).save(make_store(**SOME), path)

    with opened(path, "duckdb") as one, opened(path) as other:
        query = "select job_id, user_id, wait_time from jobs order by job_id"
        assert one.rows(query) == other.rows(query)
        assert one.frame(query).equals(other.frame(query))
        assert one.arrow(query).to_pylist() == other.arrow(query).to_pylist()
        arrays = [store.arrays(query) for store in (one, other)]
        for name in arrays[0]:
            values, same = (np.ma.asarray(found[name]) for found in arrays)
            assert (values.dtype, values.tolist()) == (same.dtype, same.tolist())
        assert other.rows("select min(job_id), min(job_id) from jobs") == [(1, 1)]
        assert other.header == one.header
        assert other.known == one.known


@on_spark
def test_views_are_a_stores_own(make_store, tmp_path):
    for name, size in (("one", 1), ("two", 2)):
        path = tmp_path / f"{name}.parquet"
        writer(path).save(make_store(run_time=[1.0] * size), path)

    with opened(tmp_path / "one.parquet") as one, opened(tmp_path / "two.parquet") as two:
        assert [len(store.rows("select * from jobs")) for store in (one, two)] == [1, 2]
        one.keep("few", "select job_id from jobs")
        two.keep("few", "select job_id from jobs")
        one.drop("few")
        assert two.row("select count(*) from few") == (2,)
        with pytest.raises(EngineError, match="few"):
            one.rows("select * from few")
        part = two.filtered("job_id = 1")
        part.keep("few", "select job_id from jobs")
        assert [store.row("select count(*) from few") for store in (part, two)] == [(1,), (2,)]
        assert [store.row("select count(*) from ran") for store in (part, two)] == [(0,), (0,)]
        assert (part.header, part.account) == (two.header, two.account)


@on_spark
def test_says_in_one_line_what_is_wrong(tmp_path):
    with gwa.open(TINY) as trace:
        trace.save(tmp_path / "tiny.parquet")

    for words in (("--where", "no_such > 1"), ("--where", "1; drop table jobs")):
        done = gwa_says("facts", tmp_path / "tiny.parquet", "--engine", "spark", *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert len(done.stderr.splitlines()) == 1
    done = gwa_says("facts", tmp_path / "tiny.parquet", "--engine", "spark", "--only", "trace")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["trace.jobs"] == 1200
