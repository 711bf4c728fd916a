"""Processes for SQL of others: limits hold inside a function, errors leave nothing open."""

import time
from contextlib import suppress
from datetime import date, datetime, timedelta, timezone

import pytest

from gwa.errors import QueryError
from gwa.formats.open import open_trace
from gwa.formats.registry import writer
from gwa.store.confined import SIZES, Confined
from gwa.store.engines.config import Engine
from gwa.store.options import ReadOptions
from tests.conftest import HOME

TINY = HOME / "sample_traces" / "swf" / "tiny.swf"


@pytest.fixture(scope="module")
def confined():
    with open_trace([TINY]) as store, Confined(store) as processes:
        yield processes


def value(confined, sql):
    ((found,),) = confined.rows(f"select {sql}").rows
    return found


@pytest.mark.skipif(not SIZES.exists(), reason="only Linux limits the addresses of a process")
def test_one_function_gets_no_more_memory_than_is_allowed():
    options = ReadOptions(engine=Engine("500MB"))
    with open_trace([TINY], None, options) as store, Confined(store) as small:
        for sql in (
            "length(repeat('x', 3000000000))",
            "length(lpad('x', 2000000000, 'y'))",
            "length(list_resize([1], 400000000))",
            "bit_count(bitstring('1', 2000000000))",
        ):
            with pytest.raises(QueryError, match=r"Out of Memory|needed more than|Memory"):
                value(small, sql)
            assert value(small, "count(*) from jobs") == 1200


def test_one_function_gets_no_more_time_than_is_allowed_and_others_need_not_wait(confined):
    slow = (
        "select length(list_sort(list_transform(range(20000000), lambda x: hash(x)))::varchar) from range(50)"
    )
    assert value(confined, "count(*) from jobs") == 1200, (
        "it runs, so that no start of a process is what takes long"
    )
    begun = time.monotonic()
    with pytest.raises(QueryError, match=r"took longer than 0\.2 s"):
        confined.rows(slow, None, 0.2)
    assert time.monotonic() - begun < 20
    assert value(confined, "count(*) from jobs") == 1200


def test_what_ends_its_process_is_an_error_and_the_next_query_has_another():
    with open_trace([TINY]) as store, Confined(store) as processes:
        assert value(processes, "1") == 1
        processes.interrupt()
        with pytest.raises(QueryError, match="ended its process"):
            value(processes, "1")
        assert value(processes, "count(*) from jobs") == 1200


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("to_timestamp(1e12)", "33658-09-27 03:46:40+02"),
        ("'290000-01-01'::date", "290000-01-01"),
        ("'infinity'::date", "infinity"),
        ("'-infinity'::timestamp", "-infinity"),
        ("'infinity'::timestamptz", "infinity"),
        ("'0044-03-15 (BC)'::date", "0044-03-15 (BC)"),
        ("'9999-12-31'::date", date(9999, 12, 31)),
        ("'2025-03-10 00:31:54.5'::timestamp", datetime(2025, 3, 10, 0, 31, 54, 500000)),  # noqa: DTZ001 - as there
        ("to_timestamp(1741563114)", datetime(2025, 3, 10, 0, 31, 54, tzinfo=timezone(timedelta(hours=1)))),
        ("'2020-01-01 00:00:00.123456789'::timestamp_ns", "2020-01-01 00:00:00.123456789"),
        ("interval '1 month 3 days'", "1 month 3 days"),
        ("['infinity'::date, '2020-01-01', null]", ["infinity", date(2020, 1, 1), None]),
        ("{'a \"b': 'infinity'::date, 'c': 1.5}", {'a "b': "infinity", "c": pytest.approx(1.5)}),
        ("map {'a': to_timestamp(1e12)}", {"a": "33658-09-27 03:46:40+02"}),
        ("null::timestamptz", None),
        ("'24:00:00'::time", "24:00:00"),
    ],
)  # fmt: skip
def test_a_moment_is_what_the_engine_says(sql, expected, confined):
    assert value(confined, sql) == expected


@pytest.mark.parametrize(
    "sql",
    [
        "select to_timestamp(1e300)", "select make_date(300000, 1, 1)", "select error('x')", "select 1 / 0 +",
        "select '2020-99-01'::date", "select strptime('x', '%Y')", "select nothing from jobs",
        "select make_timestamp(9223372036854775807)", "select 1::tinyint + 1000::tinyint", "select $1",
        "select chr(-1)", "select [1][9223372036854775807:9223372036854775807] + 'x'",
        "select decode('\\xff'::blob)",
    ],
)  # fmt: skip
def test_an_error_leaves_nothing_open(sql, confined):
    with suppress(QueryError):  # a value is as good
        confined.rows(sql, 3)
    assert confined.rows("select job_id, to_timestamp(submit_time) from jobs order by 1", 2).rows[0][0] == 1
    assert value(confined, "count(*) from ran") == 1179


@pytest.mark.parametrize("suffix", [".duckdb", ".parquet", ".sqlite", ".gwf"])
def test_each_kind_of_trace_is_read_there_and_no_other_file(suffix, tmp_path):
    path = tmp_path / f"trace{suffix}"
    with open_trace([TINY]) as store:
        write = writer(path).write
        assert write
        write(store, path)
    (tmp_path / "other.csv").write_text("canary\n")
    with open_trace([path]) as store, Confined(store) as processes:
        assert value(processes, "count(*) from jobs") == 1200
        assert (
            value(processes, "sum(cpu_seconds) from ran") == store.row("select sum(cpu_seconds) from ran")[0]
        )
        assert processes.rows("from header").rows == store.rows("from header")
        assert sorted(processes.numbers("select job_id from jobs where n_procs > 40")) == [
            job for (job,) in store.rows("select job_id from jobs where n_procs > 40 order by 1")
        ]
        copy = f"copy jobs to '{tmp_path}/copy.csv'"
        for sql in (f"from '{tmp_path}/other.csv'", "from glob('/*')", "set threads = 1", copy):
            with pytest.raises(QueryError) as refused:
                processes.rows(sql)
            assert "canary" not in str(refused.value)
    assert not (tmp_path / "copy.csv").exists()
