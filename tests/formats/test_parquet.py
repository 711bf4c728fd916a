"""Parquet: what gwa writes for others, and what it reads of theirs."""

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gwa.errors import TraceError
from gwa.formats.open import open_trace
from gwa.formats.registry import writer
from gwa.store.account import Account
from gwa.store.schema import GWF_NAMES
from tests.formats.some_jobs import JOBS


def write_parquet(path: Path, **columns):
    pq.write_table(pa.table(columns), path)
    return path


def test_parquet_has_the_fields_as_columns_and_the_rest_in_its_metadata(make_store, tmp_path):
    path = tmp_path / "trace.parquet"
    writer(path).save(make_store(**JOBS), path)
    file = pq.ParquetFile(path)

    assert file.schema_arrow.names == [*GWF_NAMES]
    assert b"gwa" in file.metadata.metadata
    assert file.metadata.row_group(0).column(1).compression == "ZSTD"
    assert file.read()["submit_time"].to_pylist() == [None, 1e9, 1e9 + 5, 1e9 + 5]
    assert file.read()["job_id"].to_pylist() == [2, 3, 1, 4]


def test_parquet_of_gwa_is_not_copied(make_store, tmp_path):
    path = tmp_path / "trace.parquet"
    writer(path).save(make_store(**JOBS), path)
    with open_trace([path]) as store:
        assert store.rows("select count(*) from duckdb_tables() where table_name = 'recorded'") == [(0,)]


def test_parquet_of_others_is_read_by_the_names_of_any_edition(tmp_path):
    path = write_parquet(
        tmp_path / "a.parquet",
        JobID=[7, 8, 9],
        SubmitTime=[dt.datetime(2020, 1, 1, tzinfo=dt.UTC), None, dt.datetime(2020, 1, 2, tzinfo=dt.UTC)],
        runtime=[dt.timedelta(seconds=90), None, dt.timedelta(0)],
        NProc=[4, -1, 2],
        UsedCPUTime=[1.5, -1.0, float("nan")],
        UserID=[12.0, None, -1.0],
        GroupID=["g", "-1", ""],
        colour=["red", "blue", "green"],
    )
    with open_trace([path]) as store:
        names = "job_id, submit_time, run_time, n_procs, average_cpu_time, user_id, group_id"
        assert store.rows(f"select {names} from jobs order by 1") == [
            (7, 1577836800.0, 90.0, 4, 1.5, "12", "g"),
            (8, None, None, None, None, None, None),
            (9, 1577923200.0, 0.0, 2, None, None, None),
        ]
        assert dict(store.rows("select name, jobs from repairs")) == {
            "columns not read": 3,
            "invalid value": 1,
            "no time": 1,
        }
        assert store.account == Account(3, 3, 0, 0, 0)
        assert not store.system.relative


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"a": [1], "b": [2]}, r"is a table of other things \(a, b\); expected columns named as in GWF"),
        ({"user_id": [1], "submit_time": [2], "form": ["a"]}, "is a table of other things"),
        ({"submit_time": [1], "n_procs": [4], "state": ["F"]}, "SubmitTime and RunTime at least"),
        ({"submit_time": ["noon"], "run_time": [1]}, "SubmitTime is VARCHAR, expected numbers"),
        ({"submit_time": [1.0], "run_time": [1], "UserID": [[1, 2]]}, r"UserID is BIGINT\[\], expected text"),
        ({"submit_time": [1.0], "run_time": [1], "UserID": [b"\xff"]}, "UserID is BLOB, expected text"),
        ({"RunTime": [1.0], "run_time": [2.0]}, "RunTime and run_time are the same field"),
    ],
)
def test_parquet_of_other_things_is_refused(columns, reason, tmp_path):
    with pytest.raises(TraceError, match=reason):
        open_trace([write_parquet(tmp_path / "a.parquet", **columns)])


def test_columns_that_are_no_fields_are_named(tmp_path):
    path = write_parquet(tmp_path / "a.parquet", submit_time=[1.0], run_time=[2.0], cores=[4], colour=[3])
    with open_trace([path]) as store:
        assert store.rows("select name, meaning, jobs from repairs") == [
            ("columns not read", "cores, colour: no fields of GWF have these names", 1)
        ]


def test_parquet_that_was_changed_is_cleaned_and_counted_anew(make_store, tmp_path):
    path = tmp_path / "trace.parquet"
    writer(path).save(make_store(**JOBS), path)
    table = pq.read_table(path)
    times = table.column("run_time").to_pylist()
    place = table.column_names.index("run_time")
    changed = table.slice(0, 3).set_column(place, "run_time", [[-7e9, *times[1:3]]])
    pq.write_table(changed, path)
    with open_trace([path]) as store:
        assert store.account == Account(3, 3, 0, 0, 0)
        assert ("invalid value", 1) in store.rows("select name, jobs from repairs")
        assert store.sample("run_time").values.min() >= 0


@pytest.mark.parametrize(
    "note", [b"", b"{", b"[]", b'{"header": 3}', b'{"provenance": {"account.jobs": "x"}}', b"\xff"]
)
def test_parquet_with_a_false_note_is_refused_in_a_line(note, make_store, tmp_path):
    path = tmp_path / "trace.parquet"
    writer(path).save(make_store(**JOBS), path)
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({b"gwa": note}), path)
    with pytest.raises(TraceError, match=r"note on the trace is damaged|cannot be read"):
        open_trace([path])
