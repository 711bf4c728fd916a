"""The list of functions: each that the engine has is on it with a reason, or is refused by its name."""

import pytest

from gwa.errors import DefinitionError
from gwa.store.engines.functions import BARE, FUNCTIONS, GROUPS, TABLE_FUNCTIONS, TYPES
from gwa.store.engines.restricted import check_condition, check_query, check_statements, parser

WORDS = {"!", "->", "<>", "!=", "cube", "grouping", "grouping_id", "rollup"}
"""What the parser knows by itself."""

ORDINARY = r"""
select strftime(to_timestamp(submit_time), '%Y-%m') as month, count(*) from jobs group by all order by 1

select date_trunc('day', to_timestamp(submit_time)) + interval '1 day', time_bucket(interval '15 minutes',
to_timestamp(submit_time)) from jobs

select extract(hour from to_timestamp(submit_time) at time zone 'Europe/Berlin'), dayname(current_date) from
jobs

select quantile_cont(wait_time, [0.5, 0.95]), median(run_time), approx_quantile(run_time, 0.9) from jobs

select percentile_cont(0.5) within group (order by wait_time), mode(queue_id) from jobs

select user_id, sum(n_procs * run_time) filter (where n_procs > 1) / 3600.0 as h from jobs group by 1 having
h > 1 order by h desc limit 10

select row_number() over w, lag(submit_time, 1) over w, sum(n_procs) over (order by submit_time rows between
10 preceding and current row) from jobs window w as (partition by user_id order by submit_time)

select * from jobs qualify row_number() over (partition by user_id order by run_time desc) = 1

select regexp_extract(executable_id, '(\w+)\.sh', 1), executable_id ~ 'x', upper(user_id) || '-' ||
lpad(job_id::varchar, 5, '0'), split_part(user_id, '@', 1), user_id ilike 'u%', 'a' similar to 'a|b' from
jobs

select list_transform([1, 2], lambda x: x + 1), [x * 2 for x in [1, 2] if x > 1], list_sort([2, 1])[1],
list_aggregate([1, 2], 'sum'), unnest([1, 2]), {'a': 1}.a, map {'a': 1}['a'], len([1])

select cast(run_time as decimal(18, 3)), try_cast('x' as integer), 1::double, n_procs::varchar[] from
(select 1.5 as run_time, [1] as n_procs)

select case when n_procs > 1 then 'parallel' else 'serial' end as kind, coalesce(queue_id, 'none'),
nullif(n_procs, 0), greatest(n_procs, 1), if(n_procs > 1, 1, 2), ifnull(wait_time, 0) from jobs

select corr(run_time, n_procs), stddev(run_time), histogram(n_procs), arg_max(user_id, run_time),
string_agg(distinct user_id, ', ' order by user_id), any_value(user_id), approx_count_distinct(user_id) from
jobs

select n_procs, grouping(n_procs), count(*) from jobs group by rollup (n_procs)

select a.job_id from jobs a asof join jobs b on a.submit_time >= b.submit_time limit 1

select * from (pivot jobs on status in (1, 0) using count(*) group by user_id)

select width from (select floor(log2(n_procs)) as width, random() as r, hash(user_id) from jobs) using
sample 3

select user_id as user from jobs group by user

select columns('.*_time'), * exclude (job_id) replace (round(run_time, 1) as run_time) from jobs limit 1

select json_extract_string('{"a": 1}', '$.a'), '{"a": 1}'::json ->> 'a', to_json([1]) from jobs

with recursive t(x) as (select 1 union all select x + 1 from t where x < 3) select sum(x) from t

select epoch(date '2020-01-01'), age(date '2020-01-01', date '2019-01-01'), 'é' collate nocase = 'É',
printf('%.1f', 1.25), format('{}', 1), md5('a'), bar(1, 0, 10, 5), ln(2), sqrt(2), 7 // 2, 7 % 2, 2 ** 3
""".strip().split("\n\n")
"""Queries as operators and researchers write them."""

DANGEROUS = (
    "json_serialize_plan('select 1')", "json_serialize_sql('select 1')", "current_setting('threads')",
    "getvariable('x')", "getenv('HOME')", "system.main.getvariable('x')", '"GetVariable"(\'x\')',
    "'x'.getvariable()",
    "list_transform([1], x -> getvariable('x'))", "list_transform([1], lambda x: getvariable('x'))",
    "sum(1) over (order by sleep_ms(1))", "nextval('s')",
    "write_log('x')", "list_aggregate([1], 'write_log')", "list_aggregate([1], user_id)",
    "current_schema",
    "version()", "pg_sleep(1)", "in_search_path('a', 'b')",
    "index_key({'table': 'jobs'}, 'x')", "stats(1)",
    "x'aa'::geometry", "'jobs'::regclass", "try_cast(1 as variant)", "1::main.nothing",
    "invoke(lambda x: x, 1)",
    "cast_to_type('1', getvariable('x'))", "case when true then current_query() end", "txid_current()",
)  # fmt: skip


@pytest.fixture(scope="module")
def database():
    with parser() as connection:
        yield connection


@pytest.fixture(scope="module")
def names(database):
    found = database.execute("select distinct lower(function_name) from duckdb_functions()").fetchall()
    return {name for (name,) in found}


def test_what_is_on_the_list_is_there_and_once(names):
    assert FUNCTIONS - names == WORDS - {"!="}
    assert sum(map(len, GROUPS.values())) == len(FUNCTIONS)


def test_each_other_function_is_refused_by_its_name(names, database):
    others = sorted(name for name in names - FUNCTIONS - TABLE_FUNCTIONS if name.isidentifier())
    assert len(others) > 500
    for name in others:
        call = f"\"{name}\"('x')"
        for sql, check in ((f"{call} = 1", check_condition), (f"select {call} from jobs", check_query)):
            with pytest.raises(DefinitionError, match=rf"{name}.*not (allowed|on the list)"):
                check(database, sql, ("jobs",))
        with pytest.raises(DefinitionError, match=name):
            check_query(database, f"select * from {call}", ("jobs",))


def test_functions_of_files_and_settings_are_none_of_the_list(names):
    words = (
        "read_",
        "file",
        "csv",
        "parquet",
        "glob",
        "setting",
        "getvar",
        "env",
        "serialize",
        "secret",
        "duckdb",
    )
    assert [name for name in FUNCTIONS if any(word in name for word in words)] == ["parse_filename"]
    assert not {name for name in names if name.startswith("__internal")} & FUNCTIONS


@pytest.mark.parametrize("sql", ORDINARY)
def test_what_is_ordinary_is_allowed(sql, database):
    check_query(database, sql, ("jobs",))
    check_statements(database, sql)


@pytest.mark.parametrize("expression", DANGEROUS)
def test_what_is_dangerous_is_refused_wherever_it_stands(expression, database):
    for sql in (
        f"select {expression} from jobs",
        f"select 1 from jobs order by {expression}",
        f"with a as (select {expression} as b from jobs) select * from a",
        f"select * from jobs where exists (select {expression})",
        f"values ({expression})",
    ):
        with pytest.raises(DefinitionError, match=r"the SQL uses|syntax error|not a query"):
            check_query(database, sql, ("jobs",))
        with pytest.raises(DefinitionError):
            check_statements(database, sql)
    with pytest.raises(DefinitionError):
        check_condition(database, f"({expression}) is null", ("jobs",))


def test_a_name_that_is_nearly_right_is_told():
    with (
        parser() as database,
        pytest.raises(DefinitionError, match=r"qantile\(\).*similar ones are quantile"),
    ):
        check_query(database, "select qantile(1)", ())


def test_bare_names_are_those_that_the_engine_has(database):
    for name in BARE:
        assert database.execute(f"select {name}").fetchall()


def test_types_are_those_of_the_engine(database):
    known = {name.lower() for (name,) in database.execute("select type_name from duckdb_types()").fetchall()}
    assert TYPES - known <= {"nchar"}


@pytest.mark.parametrize(
    "sql",
    [
        "set threads = 1", "copy jobs to 'x.csv'", "attach 'x'", "pragma version", "create macro f(x) as x",
        "create table t as select 1", "insert into jobs select 1",
        "with x as (delete from jobs returning *) from x",
        "create temp table t as select getvariable('x')",
        "create temp table t as select getvariable/* ( */ ('x')",
        "explain select \"getvariable\" -- (\n ('x')", "pivot jobs on queue_id using current_setting ('x')",
        "from (pivot jobs on getvariable('x') using count(*))", "from read_csv('x')", "call pragma_version()",
        "select 1; set threads = 1", "", " -- nothing", "select from from", "load httpfs",
        "describe select version()",
    ],
)  # fmt: skip
def test_what_a_user_types_is_checked_too(sql, database):
    with pytest.raises(DefinitionError):
        check_statements(database, sql)


@pytest.mark.parametrize(
    "sql",
    [
        "describe jobs", "summarize jobs", "show tables", "explain select count(*) from jobs; select 1",
        "create temp table t as select 7 as x; from t", "pivot (select 1 as a, 2 as b) on a using sum(b)",
        "from duckdb_columns()", "from information_schema.tables",
        "create or replace temp view v as from jobs; from v",
    ],
)  # fmt: skip
def test_what_a_user_needs_is_allowed(sql, database):
    check_statements(database, sql)
