"""SQL of an assistant: what reads the trace answers, anything else is refused, nothing goes on for ever."""

import time
from pathlib import Path

import duckdb
import pytest

from gwa.assistant.sql import MAXIMUM_ROWS, ask
from gwa.errors import QueryError
from gwa.formats.open import open_trace
from tests.conftest import HOME

TINY = HOME / "sample_traces" / "swf" / "tiny.swf"

HOSTILE = [
    "select * from read_csv('/etc/passwd')",
    "select * from read_text('/etc/passwd')",
    "select * from read_blob('/etc/passwd')",
    "select * from read_parquet('x.parquet')",
    "select * from read_json('x.json')",
    "select * from '/etc/passwd'",
    "select * from 'x.parquet'",
    'select * from "/etc/passwd"',
    "select * from glob('/**')",
    "select * from sniff_csv('/etc/passwd')",
    "select * from duckdb_settings()",
    "select * from duckdb_secrets()",
    "select * from pragma_database_list()",
    "select * from information_schema.tables",
    "select * from sqlite_master",
    "select * from query('select 1')",
    "select * from query_table('rejects')",
    "select current_setting('temp_directory')",
    "select getvariable('home')",
    "select getenv('HOME')",
    "select (select max(content) from read_text('/etc/passwd')) from jobs",
    "with x as (select * from read_csv('/etc/passwd')) select * from x",
    "select * from jobs where run_time = (select count(*) from read_csv('/etc/passwd'))",
    "select * from jobs union all select * from read_csv('/etc/passwd')",
    "select * from json_execute_serialized_sql(json_serialize_sql('select 1'))",
    "drop table recorded",
    "delete from recorded",
    "insert into rejects values (1)",
    "update jobs set run_time = 0",
    "create table x as select * from jobs",
    "create macro f(x) as x",
    "copy jobs to '/tmp/x.csv'",
    "export database '/tmp/x'",
    "attach '/tmp/x.db' as x",
    "install httpfs",
    "load httpfs",
    "set memory_limit = '1PB'",
    "pragma database_list",
    "call duckdb_tables()",
    "explain analyze select * from jobs",
    "describe jobs",
    "show tables",
    "select 1; select 2",
    "select 1; drop table recorded",
    "",
    ";",
    "not SQL at all",
    "select * from jobs limit (",
    "select * from recorded",
    "select * from jobs, x.y",
]


@pytest.fixture(scope="module")
def store():
    with open_trace([TINY]) as opened:
        yield opened


@pytest.mark.parametrize("query", HOSTILE)
def test_what_is_hostile_is_refused(query, store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(QueryError) as refused:
        ask(store, query)
    assert "\n" not in str(refused.value)
    assert "root:" not in str(refused.value)
    assert not list(tmp_path.iterdir())
    assert ask(store, "select count(*) from jobs")["rows"] == [[1200]]


def test_a_query_that_takes_too_long_is_stopped(store):
    begun = time.monotonic()
    with pytest.raises(QueryError, match=r"took longer than 0.5 s"):
        ask(
            store,
            "select count(*) from jobs a, jobs b, jobs c, jobs d where a.run_time + b.run_time > 1",
            0.5,
        )
    assert time.monotonic() - begun < 60
    assert ask(store, "select count(*) from jobs")["rows"] == [[1200]]


def test_rows_and_texts_are_bounded(store):
    found = ask(store, "select job_id, repeat('x', 100000) as text from jobs order by job_id")
    assert len(found["rows"]) == MAXIMUM_ROWS
    assert found["has_more_rows"]
    assert max(len(text) for _, text in found["rows"]) <= 2000
    with pytest.raises(QueryError, match="has 30,008 characters"):
        ask(store, "select 1" + " " * 30_000)


def test_what_memory_does_not_hold_is_told():
    from gwa.store.engines.config import Engine
    from gwa.store.options import ReadOptions

    with open_trace([TINY], None, ReadOptions(engine=Engine("400MB"))) as small:
        with pytest.raises(QueryError):
            ask(small, "select list(repeat('x', 10000000)) from jobs a, jobs b")
        assert ask(small, "select count(*) from jobs")["rows"] == [[1200]]


def test_the_tables_of_a_trace_answer(store):
    found = ask(
        store,
        "select user_id, count(*) as jobs, to_timestamp(min(start_time)) as first, list(n_procs)[:2] as some,"
        " {'a': 1} as pair, 1.5::decimal(3, 1) as exact, 'nan'::double as nothing from ran group by all"
        " order by jobs desc, user_id limit 1",
    )
    expected = duckdb.execute("select 1").fetchall()
    assert expected == [(1,)]
    ((user, jobs, first, some, pair, exact, nothing),) = found["rows"]
    assert found["columns"] == ["user_id", "jobs", "first", "some", "pair", "exact", "nothing"]
    assert (user[:1], pair, exact, nothing) == ("U", {"a": 1}, "1.5", None)
    assert jobs > 0
    assert first[:2] == "20"
    assert len(some) == 2
    for table in ("header", "sources", "rejects", "repairs", "dependencies", "source_ids"):
        assert ask(store, f"select count(*) from {table}")["columns"]


def test_nothing_of_the_machine_is_told_by_errors(store):
    for query in ("select nothing from jobs", "select * from nowhere", "select error('x') from jobs"):
        with pytest.raises(QueryError) as failed:
            ask(store, query)
        assert str(Path.home()) not in str(failed.value)
        assert str(store.scratch) not in str(failed.value)
