"""Published tables that need a word of their publisher are read without one of the user."""

import pyarrow.parquet as pq
import pytest

from gwa.formats.open import open_trace
from gwa.formats.tables.known import known_table, known_tables
from gwa.store.options import ReadOptions
from tests.conftest import LOGS

TODAY = LOGS / "today"
OPENDC = ["opendc/surf_week-v5-tasks.parquet", "opendc-testres/trace-v2.1/tasks.parquet"]

MUSTANG = """\
user_ID,group_ID,submit_time,start_time,end_time,wallclock_limit,job_status,node_count
7,1,2011-10-25 06:53:00-06:00,2011-10-25 06:53:10-06:00,2011-10-25 07:53:10-06:00,02:00:00,COMPLETED,3
"""


@pytest.mark.parametrize("name", known_tables())
def test_a_known_table_is_recognised_by_its_columns(name):
    table = known_tables()[name]
    assert known_table([*table.columns, "another"]) == table
    assert all(known_table(table.columns - {column}) != table for column in table.columns)
    assert table.source


def test_what_is_known_is_taken_and_what_is_stated_comes_first(tmp_path):
    path = tmp_path / "mustang.csv"
    path.write_text(MUSTANG)
    with open_trace([path]) as store:
        assert store.rows("select n_procs, n_nodes, req_time, wait_time from jobs") == [(72, 3, 7200.0, 10.0)]
        assert "LANL Mustang" in str(store.rows("select meaning from repairs"))
    with open_trace([path], None, ReadOptions(format_options={"map": "procs=node_count*2"})) as store:
        assert store.rows("select n_procs, n_nodes from jobs") == [(6, 3)]


@pytest.mark.parametrize("name", OPENDC)
def test_tasks_of_opendc_are_those_of_the_file(name):
    path = TODAY / name
    if not path.exists():
        pytest.skip(f"needs {path}")
    wanted = sorted(
        (
            task["submission_time"].timestamp()
            if hasattr(task["submission_time"], "timestamp")
            else task["submission_time"] / 1000,
            task["duration"] / 1000,
            task["cpu_count"],
            task["mem_capacity"] * 1024 / task["cpu_count"],
        )
        for task in pq.read_table(path).to_pylist()
    )
    with open_trace([path]) as store:
        found = store.rows(
            "select submit_time, run_time, n_procs, req_memory, wait_time from jobs order by all"
        )
    assert [row[:4] for row in found] == [pytest.approx(row, rel=1e-12) for row in wanted]
    assert {row[4] for row in found} == {None}


def test_tasks_of_workflows_are_a_bag_for_each_workflow(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text(
        "WorkflowID, JobID, SubmitTime, RunTime, NProcs, ReqNProcs, Dependencies\n"
        "7, 1, 0, 5, 1, 1, \n7, 2, 3, 6, 2, 2, 1\n"
    )
    with open_trace([path]) as store:
        found = store.rows(
            "select submit_time, run_time, n_procs, job_structure_params from jobs order by all"
        )
    assert found == [(0.0, 5.0, 1, "7"), (3.0, 6.0, 2, "7")]
