"""Whatever bytes come in: jobs and an account that adds up, or an error in one line."""

import gzip
import os
import sqlite3
import subprocess
import sys

import pytest
from hypothesis import given

from gwa.errors import OutputError, TraceError, UnknownFormat
from gwa.formats.convert import convert
from gwa.formats.open import open_trace
from gwa.formats.registry import writer
from gwa.store.options import ReadOptions
from tests.mutation import CHANGES, FEW, MANY, VALUES, mutated, outcome

SWF = "{0} {0} 5 60 2 -1 -1 2 60 -1 1 1 1 1 1 1 -1 -1\n"
SAMPLE = "; Version: 2.2\n; UnixStartTime: 1000000000\n; MaxProcs: 64\n; Queue: 1 long\n" + "".join(
    map(SWF.format, range(1, 30))
)


@pytest.fixture
def given_file(tmp_path):
    """Return a function that reads bytes as a log."""

    def judge(data, name="a.swf"):
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return outcome(None, path)

    return judge


# Files that are no logs.


@pytest.mark.parametrize("name", ["a.swf", "a.gwf", "a.parquet", "a.sqlite", "a.duckdb", "a.log"])
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n",
        b"; Version: 2.2\n# Comment\n",
        b"\x00\x01\x02\x03" * 5000,
        os.urandom(5000),
        b"<html></html>",
        b"\xff\xfe",
    ],
    ids=["empty", "blank", "comments", "binary", "random", "page", "mark"],
)
def test_what_is_no_log_is_told_in_a_line(data, name, given_file):
    assert isinstance(given_file(data, name), str)


def test_places_that_are_no_files(tmp_path):
    for path, reason in ((tmp_path, "directory|folder"), (tmp_path / "nowhere.swf", "no such file")):
        with pytest.raises(TraceError, match=reason):
            open_trace([path])
    (tmp_path / "loop.swf").symlink_to(tmp_path / "loop.swf")
    with pytest.raises(TraceError, match="too many levels of symbolic links"):
        open_trace([tmp_path / "loop.swf"])


def test_a_file_that_may_not_be_read(tmp_path):
    path = tmp_path / "a.swf"
    path.write_text(SAMPLE)
    path.chmod(0)
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom gwa.formats.open import open_trace\n"
        "if os.geteuid() == 0:\n    os.setgid(65534); os.setuid(65534)\n"
        "open_trace([Path(sys.argv[1])])"
    )
    for folder in [tmp_path, *tmp_path.parents][:4]:
        folder.chmod(0o755)
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == f"gwa.errors.TraceError: {path}: permission denied"


def test_a_format_that_does_not_exist(tmp_path):
    (tmp_path / "a.swf").write_text(SAMPLE)
    with pytest.raises(UnknownFormat, match="there is no format 'cobol'"):
        open_trace([tmp_path / "a.swf"], "cobol")
    with pytest.raises((UnknownFormat, OutputError)):
        convert([tmp_path / "a.swf"], tmp_path / "a.docx")


# Logs with something wrong in them.

ODD = {
    "NUL bytes": (SAMPLE.encode().replace(b"\n7 ", b"\n\x00\x00\x00\n7 "), 29, 0),
    "bytes that are no UTF-8": (SAMPLE.encode().replace(b" long", b" l\xe9ng\xff"), 29, 0),
    "UTF-16": (SAMPLE.encode("utf-16"), 29, 0),
    "UTF-8 with a mark": (SAMPLE.encode("utf-8-sig"), 29, 0),
    "line ends of Windows": (SAMPLE.replace("\n", "\r\n").encode(), 29, 0),
    "line ends of old Macs": (SAMPLE.replace("\n", "\r").encode(), 29, 0),
    "a line of two megabytes": (SAMPLE.encode() + b"7 " * (1 << 20) + b"\n" + SWF.format(30).encode(), 30, 1),
    "no end of line": (SAMPLE.rstrip("\n").encode(), 29, 0),
    "half a line": (SAMPLE.encode() + b"30 30 5 6", 29, 1),
    "a second header": ((SAMPLE + SAMPLE.replace("Version", "Note")).encode(), 58, 0),
    "quotes": (SAMPLE.encode() + b'30 "30 5 60 2 -1 -1 2 60 -1 1 1 1 1 1 1 -1" -1\n', 29, 1),
    "a sheet's separators": (SAMPLE.encode() + SWF.format(30).replace(" ", ",").encode(), 29, 1),
}


@pytest.mark.parametrize("kind", ODD)
def test_odd_lines_cost_no_other_line(kind, given_file):
    data, jobs, rejected = ODD[kind]
    account = given_file(data)
    assert (account.jobs, account.rejected) == (jobs, rejected)


@pytest.mark.parametrize("keep", [40, 100, 200, -1, -4, -9])
def test_compressed_data_that_breaks_off(keep, given_file):
    packed = gzip.compress(SAMPLE.encode(), 0)
    account = given_file(packed[:keep], "a.swf.gz")
    if isinstance(account, str):
        assert keep < 150
    else:
        assert account.rejected >= 1
        assert account.jobs == min(29, account.rows - 4 - account.rejected)


@pytest.mark.parametrize("place", range(18))
def test_any_value_in_any_column_is_kept_repaired_or_refused(place, given_file):
    lines = []
    for number, value in enumerate(VALUES):
        cells = SWF.format(100 + number).split()
        cells[place] = value
        lines.append(" ".join(cells) + "\n")
    account = given_file(SAMPLE + "".join(lines))
    assert account.rows == 4 + 29 + len(VALUES)
    assert account.jobs >= 29


DIGITS = "9" * 5000
HEADERS = (
    f"MaxProcs: {DIGITS}", "MaxProcs: 0", "MaxProcs: ,", "Processors: -5", f"UnixStartTime: {DIGITS}",
    "UnixStartTime: 1e400", f"TimeZone: {DIGITS}",
    "TimeZoneString: ../../etc/passwd", "TimeZoneString: Europe",
    "TimeZoneString: \x01", f"Queue: {DIGITS} x", "Queue: 1 '; drop table jobs; --", "Encoding: percent",
    "Account: jobs 99", "Times: Unix seconds, UTC", "a" * 3000 + ": b",
)  # fmt: skip


@pytest.mark.parametrize("line", HEADERS, ids=lambda line: line[:24])
def test_any_header_is_survived(line, tmp_path):
    path = tmp_path / "a.swf"
    path.write_text(f"; {line}\n{SAMPLE}")
    with open_trace([path]) as store:
        assert store.account.jobs == 29
        assert (store.system.cpus or 0) >= 0
        assert store.system.timezone.key
        for suffix in (".gwf", ".swf", ".parquet"):
            out = tmp_path / f"out{suffix}"
            writer(out).save(store, out)
            with open_trace([out]) as again:
                assert again.rows("select queue_id from jobs") == store.rows("select queue_id from jobs")


# Mutations of good files; those of logs are in `test_every_converter`.

WRITTEN = (".gwf", ".gwf.gz", ".parquet", ".sqlite", ".duckdb")


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """Return a good file of each format."""
    folder = tmp_path_factory.mktemp("good")
    (folder / "a.swf").write_text(SAMPLE)
    found = {}
    with open_trace([folder / "a.swf"]) as store:
        for suffix in WRITTEN:
            out = folder / f"a{suffix}"
            writer(out).save(store, out)
            found[suffix] = out.read_bytes()
    return found


@pytest.mark.parametrize("suffix", WRITTEN)
@given(changes=CHANGES)
@FEW
def test_what_gwa_writes_with_any_change_is_read_or_refused(suffix, changes, good, tmp_path):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(mutated(good[suffix], changes))
    outcome(None, path)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", WRITTEN)
@given(changes=CHANGES)
@MANY
def test_what_gwa_writes_with_many_changes_is_read_or_refused(suffix, changes, good, tmp_path):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(mutated(good[suffix], changes))
    outcome(None, path)


# SQLite of strangers.


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
        ("create view Jobs as select 1 as SubmitTime", "its Jobs is no plain table"),
        ("create virtual table Jobs using fts5(SubmitTime)", "its Jobs is no plain table"),
        ("create table Jobs (colour, shape)", "is a table of other things"),
        ("create table Jobs (SubmitTime, NProc, NProcs)", "its columns NProc and NProcs are the same field"),
        ("create table Jobs (SubmitTime)", "no job in it"),
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
