"""A store is the same with any number of threads: its jobs, what was refused, and their order."""

import pytest

from gwa.errors import GwaError
from gwa.formats.open import open_trace
from gwa.ingest import in_flight, pipeline
from gwa.store.engines import duckdb as engine
from gwa.store.engines.config import Engine
from gwa.store.options import ReadOptions
from tests.campaign.cases import case
from tests.conftest import HOME

SAMPLES = HOME / "sample_traces"

TABLES = (
    "recorded", "dependencies", "repairs", "rejects", "header", "sources", "source_ids", "raw_ids",
    "measured",
)  # fmt: skip
"""What a store keeps."""

APART = {"expected.gwf", "system.toml", "README.md"}
"""Files of a sample that are not the log."""

HEADER = "; UnixStartTime: 1000000000\n; MaxProcs: 8\n"
ROW = "{0} 0 0 {1} 1 -1 -1 1 -1 -1 1 1 1 -1 {2} -1 -1 -1\n"

PODS = (
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,"
    "creation_time,deletion_time,scheduled_time\n"
)


@pytest.fixture(autouse=True)
def parallel(monkeypatch):
    """Let the engine use all its threads for a few thousand rows, too, and cut small logs into blocks."""
    own = engine.limit_threads

    def limit(database, given):
        own(database, given)
        if (given.threads or 1) > 1:
            database.execute("pragma verify_parallelism")

    monkeypatch.setattr(engine, "limit_threads", limit)
    monkeypatch.setattr(pipeline, "SMALL_SOURCE", 0)
    monkeypatch.setattr(in_flight, "MINIMUM_BYTES", 1)
    monkeypatch.setattr(in_flight, "ROWS_OF_GROUP", 5)
    monkeypatch.setattr(in_flight, "LINES_BEYOND", 1)


def tables(paths, threads):
    """Return all rows of all tables of the trace in *paths*, in the order in which they lie, as text."""
    with open_trace(paths, None, ReadOptions(engine=Engine(threads=threads))) as store:
        assert store.row("select current_setting('threads')") == (threads,)
        made = {name for (name,) in store.rows("select table_name from duckdb_tables()")}
        store.connection.execute("pragma disable_verify_parallelism")
        store.connection.execute("set threads = 1")
        return {name: [*map(repr, store.rows(f"from {name}"))] for name in TABLES if name in made}


def check_order(paths):
    """Assert that two numbers of threads make what one makes."""
    one = tables(paths, 1)
    assert one["recorded"]
    for threads in (2, 7):
        assert tables(paths, threads) == one


def tables_or_error(paths, threads):
    """Return the tables of a trace, or in their place why it is refused."""
    try:
        return tables(paths, threads)
    except GwaError as error:
        return str(error)


@pytest.mark.parametrize("name", sorted(path.name for path in SAMPLES.iterdir()))
def test_a_sample_is_the_same_with_any_number_of_threads(name):
    check_order([path for path in sorted((SAMPLES / name).iterdir()) if path.name not in APART])


def test_a_log_of_many_jobs_is_the_same(slurm_sample):
    check_order([slurm_sample])


def test_jobs_whose_numbers_repeat_have_the_same_ones(tmp_path, monkeypatch):
    """Five numbers come again and again, all submitted at once: only the order of rows tells jobs apart."""
    monkeypatch.setattr(in_flight, "ROWS_OF_GROUP", 3000)
    path = tmp_path / "repeated.swf"
    path.write_text(HEADER + "".join(ROW.format(n % 5 + 1, n + 1, n % 3) for n in range(20_000)))
    check_order([path])
    with open_trace([path]) as store:
        assert store.rows("select run_time from jobs order by job_id limit 3") == [(1.0,), (6.0,), (11.0,)]


def test_jobs_that_have_no_numbers_have_those_of_their_submission_in_the_whole_log(tmp_path):
    """Pods come in no order of submission, so that each block of the log has early and late ones."""
    path = tmp_path / "openb_pod_list_made.csv"
    pod = "openb-pod-{0:04},12000,16384,1,1000,,LS,Succeeded,{1},{2},{1}\n"
    submitted = [n * 7919 % 997 // 4 for n in range(500)]
    path.write_text(PODS + "".join(pod.format(n * 13 % 500, t, t + n) for n, t in enumerate(submitted)))
    check_order([path])
    with open_trace([path]) as store:
        jobs = "select submit_time, source_id from jobs inner join source_ids using (job_id) order by job_id"
        found = store.rows(jobs)
    expected = sorted((float(t), f"openb-pod-{n * 13 % 500:04}") for n, t in enumerate(submitted))
    assert found == expected


@pytest.mark.slow
@pytest.mark.parametrize("share", range(20))
def test_damaged_logs_are_the_same(tmp_path, share):
    """Four hundred logs as `tests.campaign` damages them, of each a store or a refusal; each twice."""
    for number in range(share * 20, share * 20 + 20):
        given = case(number, 61, tmp_path / str(number))
        given.write()
        expected = tables_or_error([given.given], 1)
        for threads in (1, 2, 3, 7, 16) * 2:
            assert tables_or_error([given.given], threads) == expected, f"{number}, {threads} threads"
