"""The command sql: it reads the trace only, shows all that the engine says, and needs nothing else."""

import json

import pytest

from tests.conftest import HOME
from tests.program import run

SAMPLE = HOME / "sample_traces" / "swf" / "tiny.swf"


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    """Return a folder with the same trace in several formats."""
    folder = tmp_path_factory.mktemp("traces")
    for name in ("a.duckdb", "a[1].parquet", "a.gwf"):
        assert run("convert", "--quiet", SAMPLE, "-o", name, cwd=folder).returncode == 0
    (folder / "secret.csv").write_text("hidden\n")
    return folder


@pytest.mark.parametrize("name", ["a.duckdb", "a[1].parquet", "a.gwf"])
def test_a_query_reads_the_trace_and_no_other_file(name, traces):
    assert run("sql", name, "select count(*) as n from jobs", cwd=traces).stdout == "n\n1200\n"
    before = {path.name for path in traces.iterdir()}
    for query in (
        "from 'secret.csv'",
        "select content from read_text('secret.csv')",
        "copy jobs to 'out.csv'",
        "attach 'out.duckdb' as other",
        "set enable_external_access = true",
        "export database 'out'",
    ):
        done = run("sql", name, query, cwd=traces)
        assert (done.returncode, done.stdout) == (1, ""), query
        assert done.stderr.startswith("gwa: the query failed: ")
    assert {path.name for path in traces.iterdir()} == before


def test_a_query_that_fails_shows_the_hint_and_the_place(tmp_path):
    message = run("sql", SAMPLE, "select usr_id from jobs", cwd=tmp_path).stderr
    assert message.startswith("gwa: the query failed: Binder Error: ")
    assert '"user_id"' in message
    assert message.splitlines()[-2:] == ["LINE 1: select usr_id from jobs", "               ^^^^^^"]


def test_times_with_a_zone_are_those_of_the_trace(tmp_path):
    query = "select to_timestamp(min(submit_time)) as first, null::timestamptz as none from jobs"
    assert run("sql", SAMPLE, query, cwd=tmp_path).stdout == "first,none\n2025-03-10 00:31:54+01:00,\n"
    answer = json.loads(run("sql", SAMPLE, query, "--json", cwd=tmp_path).stdout)
    assert answer == [{"first": "2025-03-10T00:31:54+01:00", "none": None}]


@pytest.mark.parametrize(
    ("query", "output"),
    [
        ("create temp table t as select 7 as x; from t", "x\n7\n"),
        ("create temp table t as select 7 as x", "Count\n1\n"),
        ("describe header", "column_name"),
        ("pivot (select 1 as a, 2 as b) on a using sum(b)", "1\n2\n"),
        ("select 1 as a, 2 as a where false", "a,a"),
    ],
)
def test_other_statements_are_answered(query, output, tmp_path):
    done = run("sql", SAMPLE, query, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(output)
