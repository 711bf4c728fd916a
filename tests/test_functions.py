"""What the commands do, as functions: the same as the commands, and tables in memory as traces."""

import json
from decimal import Decimal
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import gwa
from gwa.cli import gwa as program
from tests.conftest import HOME
from tests.mutation import FEW

TINY = HOME / "sample_traces" / "swf" / "tiny.swf"


def command(*words):
    """Return what a command prints."""
    done = CliRunner().invoke(program, [*map(str, words), "--quiet"])
    assert done.exit_code in {0, 1}, done.stderr
    return done.stdout


# The same as the commands.


def test_the_bound_of_a_wait():
    found = gwa.wait(TINY, procs=4, time=7200.0)
    sentences = found.pop("sentences")
    words = ("wait", TINY, "--procs", 4, "--time", "2h")
    assert found == json.loads(command(*words, "--json"))
    assert sentences == command(*words).strip().splitlines()


def test_a_fitted_model_and_what_it_generates(tmp_path):
    fitted = gwa.fit(TINY, "lublin")
    fitted.save(tmp_path / "mine.json")
    command("model", "fit", TINY, "lublin", "-o", tmp_path / "theirs.json")
    assert (tmp_path / "mine.json").read_bytes() == (tmp_path / "theirs.json").read_bytes()
    assert fitted.parameters == json.loads((tmp_path / "mine.json").read_text())["parameters"]
    command("model", "generate", tmp_path / "mine.json", "--jobs", 400, "--seed", 3, "-o", tmp_path / "x.gwf")
    with gwa.open(tmp_path / "x.gwf") as theirs:
        for model in (fitted, tmp_path / "mine.json"):
            with gwa.generate(model, jobs=400, seed=3) as mine:
                assert mine.frame().equals(theirs.frame())


def test_the_scores_of_a_workload(tmp_path):
    command("model", "generate", "lublin", "--jobs", 800, "--seed", 2, "-o", tmp_path / "x.swf")
    with gwa.open(tmp_path / "x.swf") as made:
        card = gwa.score(TINY, made)
    theirs = json.loads(command("model", "score", TINY, tmp_path / "x.swf", "--json"))
    pd.testing.assert_frame_equal(card, pd.DataFrame(theirs), check_dtype=False)
    assert card.attrs["summary"].startswith("Of ")


def test_the_answer_about_a_changed_machine():
    found = gwa.whatif(TINY, "cpus +20%", "scheduler fcfs")
    assert "Not validated against this log: " in found.pop("sentences")[0]
    assert found == json.loads(command("whatif", TINY, "--cpus", "+20%", "--scheduler", "fcfs", "--json"))


def test_the_problems_of_a_trace(sample):
    path = sample / "slurm" / "jobs.sacct"
    path = path if path.exists() else next((sample / "slurm").iterdir())
    assert gwa.check(path).to_dict("records") == json.loads(command("check", path, "--json"))


RATES = {
    "currency": "EUR",
    "rates": [
        {"name": "GPUs", "partitions": ["gpu"], "cpu_hour": 0, "gpu_hour": 0.55},
        {"name": "Standard", "cpu_hour": 0.012, "gpu_hour": 0.4},
    ],
}


def test_charges_are_those_of_the_statements(tmp_path):
    (tmp_path / "rates.toml").write_text(
        'currency = "EUR"\n'
        '[[rates]]\nname = "GPUs"\npartitions = ["gpu"]\ncpu_hour = 0\ngpu_hour = 0.55\n'
        '[[rates]]\nname = "Standard"\ncpu_hour = 0.012\ngpu_hour = 0.4\n'
    )
    command("sample", "-o", tmp_path / "x.sacct")
    words = ("--rates", tmp_path / "rates.toml", "--no-pdf")
    command("charge", tmp_path / "x.sacct", *words, "--period", "2025-10", "-o", tmp_path / "october")
    with gwa.open(tmp_path / "x.sacct") as trace:
        lines = gwa.charge(trace, RATES, "2025-10")
        assert lines.equals(gwa.charge(trace, tmp_path / "rates.toml", "2025-10"))
        again = gwa.charge(trace, RATES, "2025-10..2025-11", against=[tmp_path / "october"])
        with pytest.raises(gwa.ArgumentError, match="x is filtered, expected a whole trace"):
            gwa.charge(trace.filter("n_procs > 1"), RATES, "2025-10")
    theirs = pd.read_csv(tmp_path / "october" / "summary.csv", dtype=str, keep_default_na=False)
    assert lines.amount.sum() == lines.attrs["total"] == sum(map(Decimal, theirs.amount))
    for name in ("quantity", "rate", "amount"):
        assert lines[name].tolist() == list(map(Decimal, theirs[name]))
    assert lines.project.fillna("").tolist() == theirs.project.tolist()
    assert [moment.isoformat() for moment in lines["to"]] == theirs["to"].tolist()
    assert set(again["from"].astype(str)) == {"2025-11-01 00:00:00+00:00"}


def test_a_conversion_and_its_account(tmp_path):
    account = gwa.convert(TINY, tmp_path / "mine.parquet")
    command("convert", TINY, "-o", tmp_path / "theirs.parquet")
    with gwa.open(tmp_path / "mine.parquet") as mine, gwa.open(tmp_path / "theirs.parquet") as theirs:
        assert account == mine.account
        assert mine.frame().equals(theirs.frame())


def test_a_comparison_is_a_report(tmp_path):
    with gwa.generate("lublin", jobs=1000, seed=1) as made:
        report = gwa.compare([TINY, made], names=["log", "model"])
        with pytest.raises(gwa.ArgumentError, match="2 traces are compared, expected as many names"):
            gwa.compare([TINY, made], names=["log"])
    (page,) = report.write(tmp_path, "html")
    assert "model" in page.read_text()


def test_the_means_of_an_experiment(tmp_path):
    path = HOME / "experiments" / "example.toml"
    means = gwa.simulate(path, tmp_path / "mine", repetitions=2)
    theirs = command("simulate", path, "-o", tmp_path / "theirs", "--repetitions", 2, "--jobs", 1, "--json")
    pd.testing.assert_frame_equal(means, pd.DataFrame(json.loads(theirs)), check_dtype=False)


def test_the_sample_is_that_of_the_command(tmp_path):
    command("sample", "swf", "-o", tmp_path / "sample.swf")
    with gwa.sample("swf") as mine, gwa.open(tmp_path / "sample.swf") as theirs:
        assert mine.frame().equals(theirs.frame())


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: gwa.sample("pbs"), "there is no sample 'pbs', expected one of slurm, swf"),  # type: ignore[arg-type]
        (lambda: gwa.fit(TINY, "lubin"), "there is no model 'lubin', expected one of"),
        (lambda: gwa.fit(TINY, "lublin", arrivals="often"), "there are no arrivals 'often'"),
        (lambda: gwa.generate("lublin"), "expected either jobs or days"),
        (lambda: gwa.generate("lublin", jobs=1, days=1), "expected either jobs or days"),
        (lambda: gwa.generate("lublin", jobs=9, utilization=0.5), "a utilization needs cpus"),
        (lambda: gwa.generate("no-file.json", jobs=9), "no-file.json"),
        (lambda: gwa.whatif(TINY), "nothing is changed"),
        (lambda: gwa.whatif(TINY, "cores +20%"), "'cores \\+20%' is not a change, expected one such as"),
        (lambda: gwa.wait(TINY, procs=0), "a job of 0 processors: expected 1 to 48"),
        (lambda: gwa.wait(TINY, queue="nigh"), "there is no queue 'nigh'"),
        (lambda: gwa.wait(TINY, method="guess"), "there is no method 'guess', the nearest are"),
        (lambda: gwa.fetch("kth"), "kth"),
        (lambda: gwa.charge(TINY, {"rates": []}, "2025-03"), "currency"),
        (lambda: gwa.charge(TINY, RATES, "yesterday"), "yesterday"),
        (lambda: gwa.charge(TINY, "no-rates.toml", "2025-03"), "no-rates.toml"),
        (lambda: gwa.open([]), "no file was given"),
        (lambda: gwa.open(TINY, system={"cores": 4}), "cores"),
        (lambda: gwa.open(TINY, system={"zone": "Mars/Olympus"}), "zone"),
        (lambda: gwa.open(TINY, system={"cpus": "many"}), "cpus"),
    ],
)
def test_what_is_asked_wrongly(call, said):
    with pytest.raises(gwa.GwaError, match=said):
        call()


# Tables in memory.

SHOWN = "submit_time, wait_time, run_time, n_procs, user_id, status"
JOBS = {
    "user": ["ada", "bob", None],
    "submit": ["2026-01-05T08:00:00Z", "2026-01-05T09:00:00Z", "2026-01-05T09:30:00Z"],
    "start": ["2026-01-05T08:10:00Z", "2026-01-05T09:00:00Z", "2026-01-05T10:00:00Z"],
    "end": ["2026-01-05T09:10:00Z", "2026-01-05T09:05:00Z", "2026-01-05T11:00:00Z"],
    "cores": [4, 1, 16],
    "state": ["COMPLETED", "FAILED", "COMPLETED"],
}


def kinds_of(frame):
    """Yield a table of pandas as each kind of table."""
    yield frame
    yield frame.set_index(frame.columns[0], drop=False)
    yield pl.from_pandas(frame)
    yield pa.Table.from_pandas(frame, preserve_index=False)
    yield duckdb.from_arrow(pa.Table.from_pandas(frame, preserve_index=False))


def test_tables_of_all_libraries_are_traces(tmp_path):
    frame = pd.DataFrame(JOBS)
    frame.to_csv(tmp_path / "jobs.csv", index=False)
    dated = frame.assign(**{name: pd.to_datetime(frame[name]) for name in ("submit", "start", "end")})
    with gwa.open(tmp_path / "jobs.csv") as trace:
        expected = trace.store.rows(f"select {SHOWN} from jobs order by job_id")
    for table in (*kinds_of(frame), *kinds_of(dated)):
        with gwa.open(table) as trace:
            assert trace.store.rows(f"select {SHOWN} from jobs order by job_id") == expected
            assert trace.name == "table"
            folder = trace.store.scratch.parent
        assert not list(folder.glob("*/table.parquet"))


def test_a_table_that_holds_no_jobs_is_refused():
    for table in kinds_of(pd.DataFrame({"colour": ["red"], "size": [3]})):
        with pytest.raises(gwa.TraceError, match=r"^the table: ") as refused:
            gwa.open(table)
        assert "gwa-" not in str(refused.value)


def test_a_trace_goes_through_a_table_and_back():
    with gwa.open(TINY) as trace:
        frame = trace.frame()
        for table in (frame, trace.arrow(), pl.from_arrow(trace.arrow())):
            with gwa.open(table) as again:
                assert again.frame()[["submit_time", "run_time", "n_procs"]].equals(
                    frame[["submit_time", "run_time", "n_procs"]]
                )


@FEW
@given(
    submit=st.integers(1_000_000_000, 1_900_000_000),
    wait=st.integers(0, 10**6),
    run=st.none() | st.integers(0, 10**6),
)
def test_moments_are_those_of_the_seconds(submit, wait, run):
    table = pa.table(
        {
            "submit_time": pa.array([float(submit)]),
            "wait_time": pa.array([float(wait)]),
            "run_time": pa.array([None if run is None else float(run)], pa.float64()),
            "n_procs": pa.array([2.0]),
        }
    )
    with gwa.open(table, system={"zone": "Asia/Tokyo"}) as trace:
        pandas, arrow, polars = trace.jobs("pandas"), trace.jobs("arrow"), trace.jobs("polars")
    (row,) = arrow.to_pylist()
    assert row["submit_time"].timestamp() == submit
    assert row["start_time"].timestamp() == submit + wait
    assert (row["end_time"] and row["end_time"].timestamp()) == (None if run is None else submit + wait + run)
    assert str(row["submit_time"].tzinfo) == "Asia/Tokyo"
    assert pandas["start_time"][0].timestamp() == submit + wait
    assert polars["start_time"][0].timestamp() == submit + wait


def test_relative_times_stay_seconds():
    table = pd.DataFrame({"submit_time": [0.0, 5.0], "wait_time": 1.0, "run_time": 60.0, "n_procs": 1.0})
    with gwa.open(table) as trace:
        assert trace.system.relative
        assert trace.jobs()["start_time"].tolist() == [1.0, 6.0]
        with pytest.raises(gwa.ArgumentError, match="there is no kind 'rows'"):
            trace.jobs("rows")  # type: ignore[call-overload]


def test_a_breakdown_is_the_fact_as_a_table():
    with gwa.open(TINY) as trace:
        for dimension in ("users", "sizes"):
            rows: Any = trace.facts(f"{dimension}.by_cpu")[f"{dimension}.by_cpu"]
            frame = trace.breakdown(dimension)
            assert frame.to_dict("records") == pd.DataFrame(rows).to_dict("records")
        by_jobs = trace.breakdown("users", by="jobs")
        assert by_jobs.jobs.is_monotonic_decreasing
        with pytest.raises(gwa.ArgumentError, match="there is no dimension 'colours'"):
            trace.breakdown("colours")
        with pytest.raises(gwa.ArgumentError, match="there is no order 'size'"):
            trace.breakdown("users", by="size")
        with pytest.raises(gwa.TraceError, match="does not record users by energy"):
            trace.breakdown("users", by="energy")
