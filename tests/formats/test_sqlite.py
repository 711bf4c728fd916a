"""SQLite: the archive's own edition, and what strangers have put into one."""

import sqlite3

import pytest

from gwa.errors import TraceError
from gwa.formats.open import open_trace
from gwa.formats.registry import writer
from gwa.store.options import ReadOptions


def sqlite(path, *statements):
    database = sqlite3.connect(path)
    for statement in statements:
        database.execute(statement)
    database.commit()
    database.close()
    return path


def test_the_archives_own_edition_is_read(tmp_path):
    path = sqlite(
        tmp_path / "anon_jobs.db3",
        "create table jobs (JobID int, SubmitTime int, WaitTime int, RunTime int, NProc int,"
        " UsedCPUTime real, UsedMemory real, ReqNProcs int, ReqTime real, ReqMemory real, Status int,"
        " UserID text, VOID text)",
        "insert into jobs values (0, 1136070690, 5, 60, 1, 59.5, 1024, 1, -1, NULL, 1, 'U1', '-1')",
        "insert into jobs values (1, 1136070700, NULL, -1, 0, -1, NULL, 1, 7200.0, -1.0, -1, 'U2', '')",
    )
    with open_trace([path]) as store:
        names = "submit_time, wait_time, run_time, n_procs, average_cpu_time, req_time, req_memory, status"
        assert store.rows(f"select {names}, user_id, vo_id from jobs order by job_id") == [
            (1136070690.0, 5.0, 60.0, 1, 59.5, None, None, 1, "U1", None),
            (1136070700.0, None, None, 0, None, 7200.0, None, None, "U2", None),
        ]
        assert store.account.rows == store.account.jobs == 2


def test_cells_of_any_type_are_kept_or_refused(tmp_path):
    path = sqlite(
        tmp_path / "a.sqlite",
        "create table Jobs (JobID, SubmitTime, RunTime, NProc, UserID)",
        "insert into Jobs values (1, 10, '60', 2.0, 12), (2, '', 60.5, 1, 3.5), (3, 30, 'soon', 1, 'a'),"
        " (4, 1e300, 9223372036854775807, -5, x'ff41'), (5, 50, '1_0', 1, 'b'), (6, 60, 'nan', 1, NULL)",
    )
    with open_trace([path]) as store:
        names = "job_id, submit_time, run_time, n_procs, user_id"
        assert store.rows(f"select {names} from jobs order by job_id") == [
            (1, 10.0, 60.0, 2, "12"),
            (2, None, 60.5, 1, "3.5"),
            (4, None, None, None, "ÿA"),
            (6, 60.0, None, 1, None),
        ]
        assert store.rows("select line, reason, text from rejects") == [
            (3, "run_time is 'soon', expected a number", "3\t30\tsoon\t1\ta"),
            (5, "run_time is '1_0', expected a number", "5\t50\t1_0\t1\tb"),
        ]
        assert store.account.rejected == 2
    with pytest.raises(TraceError, match=r"a.sqlite:3: run_time is 'soon'"):
        open_trace([path], options=ReadOptions(strict=True))


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("create table other (x)", "is a SQLite file without a table Jobs"),
        ("create view Jobs as select 1 as SubmitTime", "its Jobs is not a plain table"),
        ("create virtual table Jobs using fts5(SubmitTime)", "its Jobs is not a plain table"),
        ("create table Jobs (colour, shape)", "is a table of other things"),
        ("create table Jobs (SubmitTime)", "SubmitTime and RunTime at least"),
        ("create table Jobs (SubmitTime, NProc, NProcs)", "its columns NProc and NProcs are the same field"),
        ("create table Jobs (SubmitTime, RunTime)", "no job in it"),
    ],
)
def test_sqlite_of_other_things_is_refused(statement, reason, tmp_path):
    with pytest.raises(TraceError, match=reason):
        open_trace([sqlite(tmp_path / "a.sqlite", statement)])


@pytest.mark.parametrize(
    "statement",
    [
        "update gwa_metadata set value = 'nonsense'",
        "drop table gwa_metadata; create view gwa_metadata as select 'gwa' as key, '{}' as value",
        "create table gwa_dependencies as select 'x' as job_id, 'y' as preceding_job, 'z' as think_time",
        "create view gwa_source_ids as select 1 as job_id, 2 as source_id",
        "drop table gwa_metadata; create table gwa_metadata (a)",
    ],
)
def test_false_notes_in_sqlite_are_refused(statement, make_store, tmp_path):
    path = tmp_path / "a.sqlite"
    writer(path).save(make_store(submit_time=[1.0], run_time=[2.0]), path)
    sqlite(path, *statement.split(";"))
    with pytest.raises(TraceError) as caught:
        open_trace([path])
    assert "\n" not in str(caught.value)


def test_a_sqlite_file_in_use_is_refused(make_store, tmp_path):
    path = tmp_path / "a.sqlite"
    writer(path).save(make_store(submit_time=[1.0], run_time=[2.0]), path)
    (tmp_path / "a.sqlite-wal").write_bytes(b"more")
    with pytest.raises(TraceError, match=r"there is a a.sqlite-wal"):
        open_trace([path])


def test_nothing_is_written_beside_a_sqlite_file(make_store, tmp_path):
    path = tmp_path / "a.sqlite"
    writer(path).save(make_store(submit_time=[1.0], run_time=[2.0]), path)
    before = path.read_bytes()
    open_trace([path]).close()
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["a.sqlite"]
