"""The store: what it holds, what it shows, and which files it does not believe."""

import signal

import duckdb
import numpy as np
import pytest

from gwa.errors import OutputError, TraceError
from gwa.formats.convert import convert
from gwa.formats.open import open_trace
from gwa.formats.registry import writer
from gwa.store.account import Account
from gwa.store.engines.config import Engine
from gwa.store.options import ReadOptions
from gwa.store.schema import FIELDS, NAMES
from gwa.store.store import TABLES, Store
from tests.killing import run

JOBS: dict[str, list[object]] = {
    "submit_time": [1e9, 1e9 + 60, None],
    "wait_time": [None, 30.0, 0.0],
    "run_time": [100.0, 50.0, None],
    "n_procs": [2, 4, 1],
    "user_id": ["a", "b", None],
}


@pytest.fixture
def written(make_store, tmp_path):
    path = tmp_path / "trace.duckdb"
    writer(path).save(make_store((("Computer", "Heron"),), **JOBS), path)
    return path


def changed(path, *statements):
    with duckdb.connect(str(path)) as database:
        for statement in statements:
            database.execute(statement)
    return path


def test_shows_all_fields_whatever_is_recorded(make_store):
    store = make_store(**JOBS)
    assert [(row[0], row[1]) for row in store.rows("describe jobs")] == [
        (field.name, field.sql) for field in FIELDS
    ]
    assert store.rows("select job_id, user_id, vo_id from jobs") == [
        (1, "a", None),
        (2, "b", None),
        (3, None, None),
    ]
    assert [name for name in NAMES if store.has(name)] == ["job_id", *JOBS]


def test_knows_which_jobs_ran_and_when(make_store):
    store = make_store(**JOBS)
    assert store.rows("select start_time, end_time, cpu_seconds from ran order by 1") == [
        (1e9, 1e9 + 100, 200.0),
        (1e9 + 90, 1e9 + 140, 200.0),
    ]
    assert store.system.cpus == 6
    assert store.system.cpus_inferred


def test_samples_are_values_with_counts(make_store):
    sample = make_store(submit_time=[5.0, 1.0, 5.0, None]).sample("submit_time")
    assert (sample.values.tolist(), sample.counts.tolist()) == ([1.0, 5.0], [1, 2])


@pytest.mark.parametrize(("most", "error"), [(1100, 2**-16), (300, 2**-11), (20, 2**-6)])
def test_samples_of_too_many_values_are_rounded(make_store, monkeypatch, most, error):
    monkeypatch.setattr("gwa.store.queries.MAXIMUM_DISTINCT", most)
    exact = [0.0, 1.0, 7.0, *(100_000.0 + number for number in range(1, 2000))]
    sample = make_store(used_memory=exact).sample("used_memory")

    assert sample.n == len(exact)
    assert sample.values.size <= most
    np.testing.assert_allclose(sample.expand(), exact, rtol=error)
    assert np.array_equal(sample.values, np.rint(sample.values))
    assert set(sample.values[:3]) == {0, 1, 7}


@pytest.mark.parametrize(("most", "different", "exact"), [(300, 5000, 0), (3000, 5000, 1), (300, 250, 1)])
def test_values_that_are_far_too_many_are_not_counted_before_they_are_rounded(
    make_store, monkeypatch, most, different, exact
):
    monkeypatch.setattr("gwa.store.queries.MAXIMUM_DISTINCT", most)
    store = make_store(used_memory=[float(number % different) for number in range(20_000)])
    arrays, asked = store.arrays, []

    def noting(sql):
        asked.append(sql)
        return arrays(sql)

    monkeypatch.setattr(store, "arrays", noting)

    assert store.sample("used_memory").values.size <= most
    assert sum("scale" not in query for query in asked) == exact


def test_what_was_asked_once_is_asked_again_of_other_jobs(make_store):
    store, asked = make_store(run_time=[float(number % 3) for number in range(9)]), []

    def count():
        asked.append(store)
        return store.row("select count(*) from jobs")[0]

    assert [store.once("count", count), store.once("count", count), len(asked)] == [9, 9, 1]
    assert store.sample("run_time").counts.tolist() == store.sample("run_time").counts.tolist() == [3, 3, 3]
    part = store.filtered("run_time > 0")
    assert part.sample("run_time").values.tolist() == [1, 2]
    store.show(f"select * from ({store._jobs}) as whole where run_time > 1")  # noqa: SLF001 - the view
    assert [store.once("count", count), len(asked)] == [3, 2]
    assert store.sample("run_time").values.tolist() == [2]


VIEWS = ("jobs", "all_jobs", "ran", "all_ran")


@pytest.mark.parametrize("where", ["made", "opened", "part"])
def test_settled_jobs_are_those_that_were_shown(where, make_store, written):
    store = make_store(**JOBS) if where == "made" else Store.open(written)
    part = store.filtered("n_procs > 1", (1e9, 1e9 + 30)) if where == "part" else store
    shown = [part.rows(f"select * from {name} order by job_id") for name in VIEWS]

    part.settle()

    assert [part.rows(f"select * from {name} order by job_id") for name in VIEWS] == shown
    views = {name for (name,) in part.rows("select view_name from duckdb_views() where temporary")}
    assert views.isdisjoint(VIEWS)
    assert part.filtered("n_procs > 2").rows("select n_procs from jobs") == ([] if part.period else [(4,)])


def test_jobs_that_cannot_be_settled_are_shown_as_before(make_store):
    store = make_store(**JOBS)
    shown = store.rows("select * from jobs order by job_id")
    store.connection.execute("create or replace temp view ran as select error('no') as job_id")

    with pytest.raises(duckdb.Error, match="no"):
        store.settle()

    assert store.rows("select * from jobs order by job_id") == shown
    assert ("all_jobs",) in store.rows("select view_name from duckdb_views() where temporary")


def test_rows_sorted_in_a_subquery_stay_so_for_windows(make_store):
    store = make_store(**JOBS)
    rows = "select (i * 7919) % 400009 as place, i % 3 as kind from range(400009) as t(i)"
    source, window = store.sorted_rows(rows, "place")

    steps = f"select place - lag(place) over w as step, kind from {source} window w as ({window})"

    assert store.rows(f"select step, count(*) as n from ({steps}) as s group by step order by step") == [
        (1, 400008),
        (None, 1),
    ]


def test_many_jobs_are_not_settled(make_store, monkeypatch):
    monkeypatch.setattr("gwa.store.store.SMALL_TRACE", 2)
    store = make_store(**JOBS)

    store.settle()

    assert ("ran",) in store.rows("select view_name from duckdb_views() where temporary")


def test_gives_frames_arrays_and_arrow(make_store):
    store = make_store(**JOBS)
    assert store.frame("select user_id from jobs").user_id.tolist()[:2] == ["a", "b"]
    assert store.arrow("select n_procs from jobs").to_pydict() == {"n_procs": [2, 4, 1]}
    assert store.arrays("select n_procs from jobs")["n_procs"].tolist() == [2, 4, 1]
    assert store.arrow().num_columns == len(FIELDS)


def test_inserts_many_rows_at_once_and_odd_ones(make_store):
    store = make_store(**JOBS)
    store.insert("rejects", [(None, None, "why", "'; drop table rejects; --")] * 20_000)
    store.insert("rejects", [])
    assert store.rows("select count(*), count(file), max(text) from rejects") == [
        (20_000, 0, "'; drop table rejects; --")
    ]


def test_an_account_that_does_not_add_up_is_refused(make_store):
    with pytest.raises(TraceError, match="does not add up"):
        make_store(**JOBS).set_account(Account(4, 3, 0, 0, 0))


def test_lives_in_scratch_space_that_goes_with_it(make_store):
    store = make_store(**JOBS)
    folder = store.scratch
    assert folder.is_dir()
    store.close()
    assert not folder.exists()


def test_engine_limits_are_obeyed(written):
    for store in (
        Store.create(None, Engine("4GB", 1)),
        open_trace([written], options=ReadOptions(engine=Engine("4GB", 1))),
    ):
        with store:
            assert store.rows("select current_setting('threads')") == [(1,)]
            assert store.rows("select current_setting('memory_limit')")[0][0].startswith("3.0 GiB")
            assert str(store.scratch) in store.rows("select current_setting('temp_directory')")[0][0]


def test_what_it_spills_goes_to_its_scratch_space():
    with Store.create(None, Engine("120MB", 2)) as store:
        store.connection.execute(
            "create table much as select range as n, md5(range::varchar) as text from range(1_000_000)"
        )
        (first,) = store.row("select text from much order by text limit 1 offset 999999")
        assert first.startswith("fffff")


# Files.


def test_a_file_is_of_the_version_that_others_read(written):
    with duckdb.connect(str(written), read_only=True) as database:
        ((tags,),) = database.execute(
            "select tags from duckdb_databases() where database_name = 'trace'"
        ).fetchall()
    assert tags["storage_version"].startswith("v1.0.0")
    assert not written.with_name("trace.duckdb.wal").exists()


def test_only_what_is_recorded_takes_room(make_store, tmp_path):
    path = tmp_path / "a.duckdb"
    store = make_store(**JOBS, vo_id=["v"] * 3, project_id=[None] * 3)
    writer(path).save(store, path)
    with open_trace([path]) as again:
        assert [row[0] for row in again.rows("describe recorded")] == ["job_id", *JOBS]
        assert again.rows("from jobs order by job_id") == store.rows("from jobs order by job_id")


def test_is_opened_for_reading_only(written):
    before = written.read_bytes()
    with open_trace([written], options=ReadOptions(system={"cpus": 99})) as store:
        assert store.system.cpus == 99
        with pytest.raises(duckdb.Error, match="read-only"):
            store.connection.execute("delete from recorded")
    assert written.read_bytes() == before


def test_a_store_that_is_open_elsewhere_is_not_replaced(written, make_store):
    written.with_name("trace.duckdb.wal").write_bytes(b"unwritten changes")
    with pytest.raises(
        OutputError, match=r"another program has it open, or broke off: there is a trace.duckdb.wal"
    ):
        writer(written).save(make_store(**JOBS), written)


SPY = """
drop table header;
create schema s;
create table s.header (position integer, key varchar, value varchar);
create view header as select 1 as position, filename as key, content as value from read_text('/etc/hostname');
"""


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("drop view jobs", None),
        ("create view mine as select 1", None),
        ("drop table rejects", "it lacks rejects.file"),
        ("alter table header drop column value", "it lacks header.value"),
        ("alter table header alter key type integer using 1", "it lacks header.key"),
        ("alter table recorded alter run_time type varchar", "its run_time is VARCHAR"),
        ("create macro count_of(x) as 7", "it defines count_of"),
        ("drop view jobs; drop table recorded", "it has no jobs"),
        (SPY, "it lacks header.key"),
    ],
)
def test_only_plain_tables_of_the_right_kind_are_believed(statement, reason, written):
    changed(written, statement)
    if reason is None:
        with open_trace([written]) as store:
            assert store.rows("select count(*) from jobs") == [(3,)]
    else:
        with pytest.raises(TraceError, match=f"is a DuckDB file but no store of gwa: {reason}"):
            open_trace([written])


def test_a_view_of_jobs_in_a_file_is_never_run(written):
    changed(
        written,
        "create or replace view jobs as select 1 / 0 as job_id, content from read_text('/etc/hostname')",
    )
    with open_trace([written]) as store:
        assert store.rows("select sum(n_procs) from jobs") == [(7,)]


def test_constants_in_a_file_are_text_and_nothing_else(written):
    changed(
        written,
        "insert into provenance values ('constant.vo_id', '''x'' || (select 1)')",
        "insert into provenance values ('constant.req_time', 'abc'), ('constant.nonsense', '1')",
    )
    with open_trace([written]) as store:
        assert store.rows("select distinct vo_id, req_time from jobs") == [("'x' || (select 1)", None)]


def test_another_duckdb_file_is_no_store(tmp_path):
    path = changed(tmp_path / "other.duckdb", "create table t as select 1 as x")
    with pytest.raises(TraceError, match="is a DuckDB file but no store of gwa: it lacks"):
        open_trace([path])


@pytest.mark.parametrize("damage", [b"", b"\x00" * 20, b"x" * 5000])
def test_what_only_looks_like_a_store_is_refused_in_a_line(damage, tmp_path):
    path = tmp_path / "false.duckdb"
    path.write_bytes(b"12345678DUCK" + damage)
    with pytest.raises(TraceError) as caught:
        open_trace([path])
    assert "\n" not in str(caught.value)


def test_all_tables_travel(written):
    with open_trace([written]) as store:
        for name in TABLES:
            store.rows(f"from {name}")
        assert store.header == (("Computer", "Heron"),)
        assert store.is_read_only


KILLED = """
import sys
from pathlib import Path
from gwa.formats.convert import convert
from tests.killing import kill_when
log, out = Path(sys.argv[1]), Path(sys.argv[2])
def has_begun(event, arguments):
    return any(out.parent.glob(".*.part"))
def ends(event, arguments):
    return event == "os.rename" and Path(arguments[1]) == out
kill_when({"begin": has_begun, "end": ends}[sys.argv[3]])
convert([log], out)
"""


@pytest.mark.parametrize(
    ("suffix", "when"),
    [
        (".gwf", "begin"),
        (".duckdb", "begin"),
        (".gwf", "end"),
        (".parquet", "end"),
        (".sqlite", "end"),
        (".duckdb", "end"),
    ],
)
def test_a_killed_conversion_leaves_the_earlier_output(suffix, when, tmp_path):
    log, out = tmp_path / "a.swf", tmp_path / f"out{suffix}"
    line = "{0} {0} 5 60 2 -1 -1 2 60 -1 1 1 1 1 1 1 -1 -1\n"
    log.write_text("".join(line.format(number) for number in range(1, 8_000)))
    out.write_bytes(b"earlier")
    done = run(KILLED, log, out, when)

    assert done.returncode == -signal.SIGKILL, done.stderr
    assert out.read_bytes() == b"earlier"
    convert([log], out)
    with open_trace([out]) as store:
        assert store.rows("select count(*) from jobs") == [(7_999,)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.swf", out.name]
