"""The Workflow Trace Archive's tables of tasks."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

from gwa.errors import ArgumentError, TraceError, UnknownFormat
from gwa.formats.builtin import parquet, wta
from gwa.formats.convert import convert
from gwa.formats.open import open_trace, recognise
from gwa.ingest.source.head import FileHead
from gwa.store.options import ReadOptions
from gwa.store.schema import NAMES
from tests.mutation import CHANGES, FEW, mutated, outcome

SCHEMA = pa.schema(
    {
        "id": pa.int64(), "type": pa.string(), "ts_submit": pa.int64(), "submission_site": pa.int32(),
        "runtime": pa.int64(), "resource_type": pa.string(), "resource_amount_requested": pa.float64(),
        "parents": pa.list_(pa.int64()), "children": pa.list_(pa.int64()), "user_id": pa.int32(),
        "group_id": pa.int32(), "nfrs": pa.string(), "workflow_id": pa.int64(), "wait_time": pa.int64(),
        "params": pa.string(), "memory_requested": pa.float64(), "network_io_time": pa.int64(),
        "disk_io_time": pa.int64(), "disk_space_requested": pa.float64(), "energy_consumption": pa.int64(),
        "resource_used": pa.int64(),
    }
)  # fmt: skip
NOTHING = {
    "type": "", "submission_site": -1, "resource_type": "core", "resource_amount_requested": -1.0,
    "parents": [], "children": [], "user_id": -1, "group_id": -1, "nfrs": "{}", "workflow_id": -1,
    "wait_time": -1, "params": "{}", "memory_requested": -1.0, "network_io_time": -1, "disk_io_time": -1,
    "disk_space_requested": -1.0, "energy_consumption": -1, "resource_used": -1,
}  # fmt: skip
TASKS = [
    {
        "id": 11, "type": "fastqSplit", "ts_submit": 0, "submission_site": 3, "runtime": 61_500,
        "user_id": -77, "resource_amount_requested": 1.5, "group_id": 4, "workflow_id": 900,
        "wait_time": 2000, "children": [12, 13], "memory_requested": 6.0, "disk_space_requested": 250.0,
    },
    {"id": 12, "type": "map <b>", "ts_submit": 1000, "runtime": 5000, "workflow_id": 900, "parents": [11]},
    {"id": 13, "ts_submit": 1500, "runtime": -1, "workflow_id": 900, "parents": [11, 12, 99]},
    {"id": -5, "ts_submit": 900, "runtime": 0, "resource_amount_requested": 0.0},
]  # fmt: skip


def write(path, tasks=TASKS, schema=SCHEMA):
    rows = [{**NOTHING, **task} for task in tasks]
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema), path)
    return path


@pytest.fixture
def path(tmp_path):
    return write(tmp_path / "part.0.parquet")


FIELDS = (
    "submit_time, wait_time, run_time, n_procs, req_n_procs, req_memory, status, user_id, group_id,"
    " executable_id, orig_site_id, job_structure, job_structure_params, req_local_disk_space"
)


def test_a_task_is_a_job(path):
    with open_trace([path]) as store:
        assert store.rows(
            f"select source_id, {FIELDS} from jobs join source_ids using (job_id) order by job_id"
        ) == [
            ("11", 0, 2, 61.5, 2, 2, None, None, "U-77", "G4", "fastqSplit", "S3", "BoT", "900", 250),
            ("-5", 0.9, None, 0, None, None, None, None, None, None, None, None, "UNITARY", None, None),
            ("12", 1, None, 5, None, None, None, None, None, None, "map <b>", None, "BoT", "900", None),
            ("13", 1.5, None, None, None, None, None, None, None, None, None, None, "BoT", "900", None),
        ]
        assert store.rows("from dependencies order by all") == [(3, 1, None), (4, 1, None), (4, 3, None)]
        assert (store.account.rows, store.account.jobs) == (4, 4)
        assert store.provenance["format"] == "wta"
        assert store.system.relative


def test_a_user_says_the_unit_of_memory_and_that_tasks_completed(path):
    for unit, kilobytes in (("B", 6 / 1024 / 2), ("KB", 3), ("MB", 3 * 1024), ("GB", 3 * 1024**2)):
        with open_trace(
            [path], options=ReadOptions(format_options={"memory_unit": unit, "status": "1"})
        ) as store:
            assert store.rows("select req_memory, status from jobs where executable_id = 'fastqSplit'") == [
                (kilobytes, 1)
            ]
    for options in ({"memory_unit": "stones"}, {"status": "'; drop table jobs; --"}):
        with pytest.raises(ArgumentError, match=f"the option {next(iter(options))} is '.*', expected one of"):
            open_trace([path], options=ReadOptions(format_options=options))


def test_neither_parquet_reader_takes_the_files_of_the_other(path, make_store, tmp_path):
    ours = tmp_path / "ours.parquet"
    parquet.FORMAT.save(make_store(submit_time=[1.0], run_time=[2.0]), ours)
    pq.write_table(
        pa.table({"id": [1], "runtime": [5], "submit": [1], "SubmitTime": [1.0]}), tmp_path / "other.parquet"
    )
    names = {"part.0.parquet": "wta", "ours.parquet": "parquet", "other.parquet": "parquet"}
    for name, known in names.items():
        head = FileHead.of(tmp_path / name)
        assert recognise(head).name == known
        assert (wta.mismatch(head) is None) == (known == "wta")
        assert (parquet.mismatch(head) is None) == (known == "parquet")
    with pytest.raises(TraceError, match="has times in milliseconds"):
        open_trace([path], "parquet")
    with pytest.raises(TraceError, match="is not a table of tasks: it lacks id, resource_amount_requested"):
        open_trace([ours], "wta")


def test_the_folder_of_a_trace_is_read(tmp_path):
    write(tmp_path / "tasks" / "schema-1.0" / "part.0.parquet", TASKS[:2])
    write(tmp_path / "tasks" / "schema-1.0" / "part.1.parquet", TASKS[2:])
    flows = pa.table({"id": [900], "ts_submit": [0], "task_count": [3], "critical_path_length": [2]})
    (tmp_path / "workflows" / "schema-1.0").mkdir(parents=True)
    pq.write_table(flows, tmp_path / "workflows" / "schema-1.0" / "part.0.parquet")
    (tmp_path / "workload" / "schema-1.0").mkdir(parents=True)
    (tmp_path / "workload" / "schema-1.0" / "generic_information.json").write_text(
        json.dumps({"workflows": [900]})
    )
    with open_trace([tmp_path]) as store:
        assert store.account.jobs == 4
        assert store.rows("select count(*) from dependencies") == [(3,)]
    with pytest.raises(UnknownFormat):
        open_trace([tmp_path / "workflows"])


def test_other_types_and_columns_that_are_not_there(tmp_path):
    types = {
        "resource_used": pa.string(),
        "parents": pa.string(),
        "ts_submit": pa.float64(),
        "user_id": pa.string(),
    }
    schema = pa.schema(
        {field.name: types.get(field.name, field.type) for field in SCHEMA if field.name != "nfrs"}
    )
    task = {
        "id": 1,
        "ts_submit": 1500.0,
        "runtime": 10,
        "parents": "[]",
        "user_id": "x",
        "resource_used": "node",
    }
    write(tmp_path / "a.parquet", [task], schema)
    needed = ("id", "ts_submit", "runtime", "wait_time", "resource_amount_requested", "workflow_id")
    short = pa.schema([SCHEMA.field(name) for name in needed])
    write(tmp_path / "b.parquet", [{"id": 2, "ts_submit": 2000, "runtime": 10}], short)
    for name, user in (("a", "Ux"), ("b", None)):
        with open_trace([tmp_path / f"{name}.parquet"]) as store:
            assert store.rows("select run_time, user_id from jobs") == [(0.01, user)]


def test_values_that_cannot_be_are_missing_and_counted(tmp_path):
    huge = {
        "runtime": 2**63 - 1,
        "wait_time": -(2**63),
        "resource_amount_requested": float("nan"),
        "ts_submit": 2**62,
    }
    with open_trace([write(tmp_path / "a.parquet", [{"id": 1, **huge}, *TASKS[1:]])]) as store:
        assert store.rows("select count(*) from jobs where run_time > 1e9") == [(0,)]
        assert store.rows("select sum(jobs) from repairs where name = 'invalid value'") == [(5,)]
        assert store.account.jobs == 4


def test_a_table_without_rows_and_a_file_that_is_none_are_refused(tmp_path, path):
    with pytest.raises(TraceError, match="no job in it"):
        open_trace([write(tmp_path / "empty.parquet", [])])
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(UnknownFormat):
        open_trace([path])


def test_it_is_written_as_gwf(path, tmp_path):
    convert([path], tmp_path / "a.gwf")
    with open_trace([tmp_path / "a.gwf"]) as store, open_trace([path]) as source:
        order = f"select {', '.join(NAMES)} from jobs order by job_id"
        assert store.rows(order) == source.rows(order)


@given(changes=CHANGES)
@FEW
def test_any_change_is_read_or_refused(changes, tmp_path):
    path = write(tmp_path / "good.parquet")
    path.write_bytes(mutated(path.read_bytes(), changes))
    outcome(None, path)


def test_every_field_is_as_a_few_lines_of_python_say(path):
    def known(value):
        return None if value == -1 else value

    expected = []
    for row in pq.read_table(path).to_pylist():
        amount = known(row["resource_amount_requested"])
        expected.append(
            (
                str(row["id"]),
                row["ts_submit"] / 1000,
                None if known(row["wait_time"]) is None else row["wait_time"] / 1000,
                None if known(row["runtime"]) is None else row["runtime"] / 1000,
                int(-(-amount // 1)) or None if amount is not None else None,
            )
        )
    fields = "source_id, submit_time, wait_time, run_time, n_procs"
    with open_trace([path]) as store:
        found = store.rows(f"select {fields} from jobs join source_ids using (job_id)")
    assert sorted(found) == sorted(expected)
