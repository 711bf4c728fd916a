"""SQL of others reads and changes the tables that it is about, and nothing else."""

import duckdb
import pytest

from gwa.errors import DefinitionError
from gwa.store.engines.restricted import check_change, check_query, lock, parser

TABLES = ("source", "recorded", "header")

QUERIES = (
    "select * from source",
    "with s as (select * from source), t as materialized (from s) select * from S join t using (a)",
    "select *, (select max(a) from recorded) from source, unnest([1, 2]) as u(x), (select x + 1) as l",
    "with recursive t(x) as (select 1 union all select x + 1 from t where x < 3) select * from t, source",
    "from source where a in (select a from recorded) union all by name values (1)",
    "select list_transform([1], lambda x: x + 1), row_number() over (order by a), year(now()) from source",
    "select * from (pivot source on a in (1, 2) using sum(b)), range(3) -- ; end",
)
FOREIGN = (
    "from read_text('/etc/hostname')",
    "from 'secret.csv'",
    'select * from "secret.csv"',
    "select * from secret.csv",
    'with "secret.csv" as (select 1) select * from (select 1), (from "secret.csv")',
    "select (select content from read_blob('/etc/hostname')) from source",
    "select * from source where exists (from glob('/etc/*'))",
    "from source join parquet_metadata('a.parquet') on true",
    "from query('select 1')",
    "from query_table('secret.csv')",
    "from (describe 'secret.csv')",
    "from (show databases)",
    "from duckdb_settings()",
    "from information_schema.tables",
    "with a as (from sniff_csv('a.csv')) from a",
    "select * from source order by (select count(*) from read_csv('a.csv'))",
    "values ((select count(*) from other))",
)
STATEMENTS = (
    "copy source to 'out.csv'",
    "attach 'other.duckdb'",
    "set memory_limit = '1TB'",
    "pragma database_list",
    "install httpfs",
    "create table t as select 1",
    "drop table source",
    "select 1; select 2",
    "select 1; copy source to 'out.csv'",
    "explain select 1",
    "export database 'folder'",
    "select from from",
    "",
)
CHANGES = (
    "update recorded set a = 1 where b is null",
    "update recorded set a = w.a from (select b, min(a) as a from source group by b) as w where w.b = a",
    "delete from recorded where a in (select a from source)",
    "insert into header select 1, 'Key', max(a) from source",
    "insert into header by name select 1 as position -- comment",
)
FOREIGN_CHANGES = (
    "update other set a = 1",
    "update recorded set a = (select content from read_text('/etc/hostname'))",
    "delete from recorded where a in (from 'secret.csv')",
    "insert into header select * from read_csv('a.csv')",
    "insert into other select 1",
    "delete from recorded using 'secret.csv' as s where s.a = recorded.a",
    "with x as (insert into other values (1) returning *) from x",
)


@pytest.fixture(scope="module")
def database():
    with parser() as connection:
        yield connection


@pytest.mark.parametrize("sql", QUERIES)
def test_queries_of_tables_are_allowed(sql, database):
    check_query(database, sql, TABLES)
    check_change(database, sql, TABLES)


@pytest.mark.parametrize("sql", FOREIGN)
def test_queries_of_anything_else_are_refused(sql, database):
    for check in (check_query, check_change):
        with pytest.raises(DefinitionError, match="expected only header, recorded, source"):
            check(database, sql, TABLES)


@pytest.mark.parametrize("sql", STATEMENTS)
def test_other_statements_are_refused(sql, database):
    for check in (check_query, check_change):
        with pytest.raises(DefinitionError, match=r"is not a query|has 2 statements|has 0 statements"):
            check(database, sql, TABLES)


@pytest.mark.parametrize("sql", CHANGES)
def test_changes_of_tables_are_allowed_where_they_are_expected(sql, database):
    check_change(database, sql, TABLES)
    with pytest.raises(DefinitionError, match="is not a query"):
        check_query(database, sql, TABLES)


@pytest.mark.parametrize("sql", FOREIGN_CHANGES)
def test_changes_of_anything_else_are_refused(sql, database):
    with pytest.raises(DefinitionError, match="expected only"):
        check_change(database, sql, TABLES)


def test_a_change_within_a_query_is_no_query(database):
    with pytest.raises(DefinitionError, match="changes tables"):
        check_query(database, "with x as (insert into recorded values (1) returning *) from x", TABLES)


def test_a_locked_database_reads_its_files_only(tmp_path):
    with duckdb.connect(str(tmp_path / "a.duckdb")) as database:
        for name in ("own's", "other"):
            path = str(tmp_path / f"{name}.parquet").replace("'", "''")
            database.execute(f"copy (select 7 as a) to '{path}'")
        lock(database, [str(tmp_path / "own's.parquet")])
        own = str(tmp_path / "own's.parquet")
        assert database.execute("from read_parquet($path)", {"path": own}).fetchall() == [(7,)]
        for sql in (
            f"from '{tmp_path / 'other.parquet'}'",
            "from read_text('/etc/hostname')",
            f"copy (select 1) to '{tmp_path / 'out.csv'}'",
            f"attach '{tmp_path / 'b.duckdb'}'",
            "set memory_limit = '1TB'",
            "set enable_external_access = true",
        ):
            with pytest.raises(duckdb.Error, match=r"disabled|locked|Cannot"):
                database.execute(sql)
        assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != ".wal") == [
            "a.duckdb", "other.parquet", "own's.parquet",
        ]  # fmt: skip
