"""SQL of an assistant: what reads the trace answers, anything else is refused, nothing goes on for ever."""

import time
from pathlib import Path

import duckdb
import pytest

from gwa.assistant.sql import MAXIMUM_ROWS, ask
from gwa.errors import QueryError
from gwa.formats.open import open_trace
from gwa.store.confined import Confined
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
    # Files by other names, in other places of a query, and behind signs that hide them.
    "FROM '/etc/passwd'",
    "from read_csv_auto('/etc/passwd') select *",
    "select * from read_ndjson_objects('/etc/passwd')",
    "select * from parquet_metadata('x.parquet')",
    "select * from parquet_schema('/etc/passwd')",
    "select * from parquet_file_metadata('x.parquet')",
    "select * from parquet_kv_metadata('x.parquet')",
    "select * from read_duckdb('/tmp/x.duckdb')",
    "select * from sqlite_scan('/tmp/x.db', 'x')",
    "select * from 'https://example.org/x.csv'",
    "select * from read_csv('https://example.org/x.csv')",
    "select * from 's3://bucket/x.parquet'",
    "select * from/**/read_text/**/('/etc/passwd')",
    "select * from READ_TEXT\t('/etc/passwd')",
    "select * from \"read_text\"('/etc/passwd')",
    "select * from main.read_text('/etc/passwd')",
    "select * from system.main.read_text('/etc/passwd')",
    "select -- all\n* from /* jobs */ '/etc/passwd'",
    "select * from jobs lateral join read_text('/etc/passwd') on true",
    "select * from jobs, lateral (select * from read_text('/etc/passwd'))",
    "select * from jobs where exists (from glob('/*'))",
    "select case when true then (from read_text('/etc/passwd') select content) end",
    "select list_transform([1], x -> (select max(content) from read_text('/etc/passwd')))",
    "select list_transform([1], lambda x: (select max(content) from read_text('/etc/passwd')))",
    "select (with recursive t as (select * from read_text('/etc/passwd')) select content from t)",
    "with jobs as materialized (from read_text('/etc/passwd')) select * from jobs",
    "select * from (pivot read_csv('/etc/passwd') on x using count(*))",
    "pivot '/etc/passwd' on x using count(*)",
    "unpivot '/etc/passwd' on columns(*) into name n value v",
    "select * from jobs order by (select content from read_text('/etc/passwd'))",
    "select count(*) filter (where (select true from read_text('/etc/passwd'))) from jobs",
    "select sum(run_time) over (partition by (select content from read_text('/etc/passwd'))) from jobs",
    "select * from jobs qualify (select true from read_text('/etc/passwd'))",
    "select * from jobs limit (select length(content) from read_text('/etc/passwd'))",
    "values ((select content from read_text('/etc/passwd')))",
    'table "/etc/passwd"',
    "select \uff0a from jobs",
    "select * from \uff52ead_text('/etc/passwd')",
    "select * from 'jobs\x00'",
    "select\u00a0* from '/etc/passwd'\u200b",
    # The machine, the engine and its settings.
    "select * from duckdb_functions()",
    "select * from duckdb_databases()",
    "select * from duckdb_temporary_files()",
    "select * from duckdb_memory()",
    "select * from duckdb_variables()",
    "select * from pg_catalog.pg_settings",
    "select * from information_schema.columns",
    "select * from which_secret('s3://x', 's3')",
    "select * from pragma_storage_info('jobs')",
    "select * from summary((select * from read_text('/etc/passwd')))",
    "set temp_directory = '/tmp'",
    "reset all",
    "set variable x = (select content from read_text('/etc/passwd'))",
    "pragma enable_profiling",
    "checkpoint",
    "vacuum",
    "begin",
    "use memory",
    "attach ':memory:' as x",
    "detach x",
    "install httpfs from 'https://example.org'",
    "load '/tmp/x.duckdb_extension'",
    "import database '/tmp/x'",
    "copy (select * from jobs) to '/tmp/x.parquet' (format parquet)",
    "copy jobs from '/etc/passwd'",
    "create temp table x as from jobs",
    "create secret x (type s3)",
    "create view jobs as select 1",
    "alter table recorded rename to x",
    "truncate recorded",
    "merge into recorded using jobs on true when matched then delete",
    "prepare x as select 1",
    "execute x",
    "deallocate x",
    "explain select * from jobs",
    "summarize jobs",
    "describe select * from '/etc/passwd'",
    "comment on table jobs is 'x'",
    "select * from jobs; copy jobs to '/tmp/x.csv'",
    "select 1 /* ; */; pragma version",
    "with x as (delete from recorded returning *) select * from x",
    "with x as (insert into rejects values (1) returning *) select * from x",
]


@pytest.fixture(scope="module")
def store():
    with open_trace([TINY]) as opened, Confined(opened) as confined:
        yield confined


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


@pytest.mark.parametrize(
    "query",
    [
        "with recursive t(x) as (select 1 union all select x + 1 from t) select max(x) from t",
        "select count(*) from range(1000000000000) a, range(1000) b where a.range % 7 = b.range",
        "select sum(length(md5(range::varchar))) from generate_series(1, 100000000000) as t(range)",
        "select count(*) from jobs a, jobs b, jobs c where a.user_id || b.user_id || c.user_id ~ '(U+)+'",
    ],
)
def test_what_never_ends_is_stopped(query, store):
    begun = time.monotonic()
    with pytest.raises(QueryError, match=r"took longer than 0.3 s|failed: Out of Memory"):
        ask(store, query, 0.3)
    assert time.monotonic() - begun < 60
    assert ask(store, "select count(*) from jobs")["rows"] == [[1200]]


@pytest.mark.parametrize(
    "query",
    [
        "select repeat('x', 1000000000000)",
        "select list_sort(range(100000000000))",
        "select array_agg(repeat('x', 1000000)) from range(100000)",
        "select string_agg(a.user_id || repeat('x', 100000), ',') from jobs a, jobs b",
        # Twice and more of what the engine may use, in a piece that cannot be interrupted.
        "select lpad('x', 200000000, 'y') from jobs",
        "select bitstring('1', 2000000000) from jobs",
    ],
)
def test_what_would_fill_the_memory_is_refused(query):
    from gwa.store.engines.config import Engine
    from gwa.store.options import ReadOptions

    options = ReadOptions(engine=Engine("400MB"))
    with open_trace([TINY], None, options) as opened, Confined(opened) as small:
        with pytest.raises(QueryError) as refused:
            ask(small, query, 1.0)
        assert "\n" not in str(refused.value)
        assert str(opened.scratch) not in str(refused.value)
        assert ask(small, "select count(*) from jobs")["rows"] == [[1200]]


def test_a_long_nest_is_refused_and_harms_nothing(store):
    nest = "select " + "(" * 5_000 + "1" + ")" * 5_000
    with pytest.raises(QueryError):
        ask(store, nest)
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

    options = ReadOptions(engine=Engine("400MB"))
    with open_trace([TINY], None, options) as opened, Confined(opened) as small:
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
    assert (user[:1], pair, exact, nothing) == ("U", {"a": 1}, 1.5, None)
    assert jobs > 0
    assert first[:2] == "20"
    assert len(some) == 2
    for table in ("header", "sources", "rejects", "repairs", "dependencies", "source_ids"):
        assert ask(store, f"select count(*) from {table}")["columns"]


def test_exact_numbers_are_numbers_where_these_are_as_exact(store):
    found = ask(
        store,
        "select 12::decimal(9, 6), -0.1::decimal(3, 1), 12345678901234567890123456789::decimal(38, 0),"
        " 1234567890123456789.123::decimal(38, 3), sum(n_procs), sum(cpu_seconds) from ran",
    )
    assert found["rows"][0][:4] == [12, -0.1, 12345678901234567890123456789, "1234567890123456789.123"]
    assert all(isinstance(one, int) for one in found["rows"][0][4:])


def test_nothing_of_the_machine_is_told_by_errors(store):
    for query in ("select nothing from jobs", "select * from nowhere", "select error('x') from jobs"):
        with pytest.raises(QueryError) as failed:
            ask(store, query)
        assert str(Path.home()) not in str(failed.value)
        assert store.view.spill not in str(failed.value)
