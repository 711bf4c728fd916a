# mypy: disable-error-code="no-untyped-call,operator"
"""What each section costs is counted by the engine, and counting changes nothing."""

import csv
import io
import subprocess
import sys

import gwa
from gwa.analysis.profile import COLUMNS, counted_queries, section_costs


def test_rows_and_queries_are_those_of_the_engine(make_store):
    store = make_store(run_time=[float(number) for number in range(1000)])
    assert store.known["run_time"] == 1000  # a query that is made once for all samples
    with counted_queries(store) as cost:
        store.row("select count(*) from jobs where run_time >= 0")
        store.sample("run_time")
        store.keep("few", "select * from jobs limit 10")
        store.keep("few", "select * from jobs limit 10")
    assert (cost.queries, cost.bytes > 0) == (4, True)
    assert cost.rows == 3000
    before = cost.queries
    store.row("select count(*) from jobs")
    assert cost.queries == before


def test_each_section_is_explained_and_its_facts_stay(sample):
    with gwa.open(sample / "swf" / "tiny.swf") as trace:
        before = trace.facts("jobs")
        found = {row[0]: row for row in section_costs(trace.store, "jobs")}
        assert trace.facts("jobs") == before
    assert len(found) > 3
    assert all(len(row) == len(COLUMNS) for row in found.values())
    assert found["run-times"][2] >= 1200


def test_the_command_line_prints_a_table(sample):
    command = [
        sys.executable,
        "-m",
        "gwa",
        "facts",
        "--explain",
        "--only",
        "trace",
        str(sample / "swf" / "tiny.swf"),
    ]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["section"] for row in rows] == ["overview"]
    assert rows[0]["engine"] == "duckdb"
