# mypy: disable-error-code="no-untyped-call,union-attr"
"""Parquet by month: a folder that opens like any trace, and that other programs read by its columns."""

from pathlib import Path

import duckdb
import pytest

import gwa
from gwa.errors import OutputError, TraceError
from gwa.formats.convert import convert
from gwa.formats.monthly import write
from gwa.formats.open import open_trace

TABLES = ("jobs", "header", "sources", "rejects", "repairs", "source_ids", "dependencies", "provenance")


def content(store):
    return {name: store.rows(f"from {name} order by all") for name in TABLES}


@pytest.mark.parametrize(
    "source",
    [
        "swf/tiny.swf",
        "sge/accounting",
        "google2011/task_events-part-00000-of-00001.csv",
        "condor/history",
        "slurm/sacct-2015.log",
        "gwf/three-trees.gwf",
    ],
)
def test_a_folder_by_month_holds_what_one_file_holds(source, sample, tmp_path):
    one, folder = tmp_path / "one.parquet", tmp_path / "folder.parquet"
    account = convert([sample / source], one)
    assert convert([sample / source], folder, by_month=True) == account
    with open_trace([one]) as whole, open_trace([folder]) as parts:
        assert content(parts) == content(whole)
        assert parts.account == account
        # The jobs stand where they are: nothing was copied.
        assert parts.row("select count(*) from duckdb_tables() where table_name = 'recorded'") == (0,)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.parquet", "one.parquet"]


def test_it_has_all_facts(sample, tmp_path):
    folder = tmp_path / "tiny.parquet"
    convert([sample / "swf" / "tiny.swf"], folder, by_month=True)
    with gwa.open(sample / "swf" / "tiny.swf") as whole, gwa.open(folder) as parts:
        assert parts.facts("jobs") == whole.facts("jobs")
        assert parts.facts("conversion") == whole.facts("conversion")


def test_other_programs_read_a_month_alone(make_store, tmp_path):
    days = [None, -1e17, 0.0, 1_172_707_199.0, 1_172_707_200.0, 1_175_385_599.5]
    store = make_store(submit_time=days, n_procs=[1, 2, 3, 4, 5, 6], header=(("Computer", "Heron"),))
    folder = tmp_path / "a.parquet"
    write(store, folder)
    found = duckdb.sql(
        "select year, month, array_agg(n_procs order by n_procs) from"
        f" read_parquet('{folder}/**/*.parquet', hive_partitioning = true) group by all order by 1, 2"
    ).fetchall()
    assert found == [(0, "00", [1, 2]), (1970, "01", [3]), (2007, "02", [4]), (2007, "03", [5, 6])]
    with gwa.open(folder / "year=2007" / "month=03") as month:
        assert (len(month), month.account.jobs) == (2, 2)
        assert ("Computer", "Heron") in month.store.header


def test_it_takes_no_place_that_is_taken(sample, tmp_path):
    folder = tmp_path / "a.parquet"
    convert([sample / "swf" / "tiny.swf"], folder, by_month=True)
    (folder / "mine.txt").touch()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(OutputError, match=r"a.parquet: holds other things than what is to be written there"):
        convert([sample / "swf" / "tiny.swf"], folder, by_month=True)
    with pytest.raises(OutputError, match=r"b.gwf: only Parquet is written by month"):
        convert([sample / "swf" / "tiny.swf"], tmp_path / "b.gwf", by_month=True)
    assert sorted(tmp_path.rglob("*")) == before


def test_an_earlier_trace_by_months_is_replaced(sample, make_store, tmp_path):
    folder = tmp_path / "a.parquet"
    write(make_store(submit_time=[0.0]), folder)
    convert([sample / "swf" / "tiny.swf"], folder, by_month=True)
    assert not (folder / "year=1970").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


# Elsewhere.


@pytest.mark.parametrize("name", ["folder.parquet", "one.parquet"])
def test_an_address_is_read_where_it_is(name, sample, tmp_path):
    convert([sample / "swf" / "tiny.swf"], tmp_path / name, by_month=name.startswith("folder"))
    with open_trace([tmp_path / name]) as here, open_trace([Path(f"file://{tmp_path}/{name}")]) as there:
        assert content(there) == content(here)
        assert there.account == here.account


@pytest.mark.parametrize("address", ["s3://bucket/a.parquet", "https://localhost/a.parquet"])
def test_without_the_extension_a_message_says_how_to_get_it(address, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(
        TraceError, match="DuckDB's extension httpfs, which reads there, is not installed"
    ) as told:
        open_trace([Path(address)])
    assert str(told.value).startswith(address)
    assert "\n" not in str(told.value)


def test_what_is_not_there_or_of_others_is_an_error_in_a_line(tmp_path):
    with pytest.raises(TraceError, match=r"nowhere.parquet: cannot be read: No files found"):
        open_trace([Path(f"file://{tmp_path}/nowhere.parquet")])
    duckdb.sql("select 1 as submit_time, 2 as run_time").write_parquet(str(tmp_path / "a.parquet"))
    with pytest.raises(TraceError, match=r"a.parquet: was not written by gwa: fetch it"):
        open_trace([Path(f"file://{tmp_path}/a.parquet")])


def test_a_folder_by_month_is_not_written_over_while_it_is_read(sample, tmp_path):
    folder = tmp_path / "folder.parquet"
    convert([sample / "swf/tiny.swf"], folder, by_month=True)
    before = sorted(path.name for path in folder.rglob("*"))

    with pytest.raises(OutputError, match="is read, so it cannot be replaced"):
        convert([folder], folder, by_month=True)

    assert sorted(path.name for path in folder.rglob("*")) == before
