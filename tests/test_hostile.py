"""Whatever bytes come in: jobs and an account that adds up, or an error in one line."""

import gzip
import random
import subprocess
import sys

import duckdb
import pytest
from hypothesis import given

from gwa.errors import ArgumentError, TraceError
from gwa.formats.convert import convert
from gwa.formats.open import open_trace
from gwa.formats.registry import writer
from gwa.report.output import write
from gwa.trace import Trace
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


# Files that are not logs.


@pytest.mark.parametrize("name", ["a.swf", "a.gwf", "a.parquet", "a.sqlite", "a.duckdb", "a.log"])
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n",
        b"; Version: 2.2\n# Comment\n",
        b"\x00\x01\x02\x03" * 5000,
        random.Random(1).randbytes(5000),
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
        "os.chdir(sys.argv[1])\n"
        "if os.geteuid() == 0:\n    os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "open_trace([Path('a.swf')])"
    )
    tmp_path.chmod(0o755)
    done = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == "gwa.errors.TraceError: a.swf: permission denied"


def test_a_format_that_does_not_exist(tmp_path):
    (tmp_path / "a.swf").write_text(SAMPLE)
    with pytest.raises(ArgumentError, match="there is no format 'cobol'"):
        open_trace([tmp_path / "a.swf"], "cobol")
    with pytest.raises(ArgumentError, match="names no format to write"):
        convert([tmp_path / "a.swf"], tmp_path / "a.docx")


# Logs with something wrong in them.

ODD = {
    "NUL bytes": (SAMPLE.encode().replace(b"\n7 ", b"\n\x00\x00\x00\n7 "), 29, 0),
    "bytes that are not UTF-8": (SAMPLE.encode().replace(b" long", b" l\xe9ng\xff"), 29, 0),
    "UTF-16": (SAMPLE.encode("utf-16"), 29, 0),
    "UTF-8 with a mark": (SAMPLE.encode("utf-8-sig"), 29, 0),
    "line ends of Windows": (SAMPLE.replace("\n", "\r\n").encode(), 29, 0),
    "line ends of old Macs": (SAMPLE.replace("\n", "\r").encode(), 29, 0),
    "a line of two megabytes": (SAMPLE.encode() + b"7 " * (1 << 20) + b"\n" + SWF.format(30).encode(), 30, 1),
    "no end of line": (SAMPLE.rstrip("\n").encode(), 29, 0),
    "half a line": (SAMPLE.encode() + b"30 30 5 6", 29, 1),
    "a second header": ((SAMPLE + SAMPLE.replace("Version", "Note")).encode(), 29, 0),
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


# Stores and times of other programs.


def test_an_account_that_is_no_number_is_told(tmp_path):
    (tmp_path / "a.swf").write_text(SAMPLE)
    convert([tmp_path / "a.swf"], tmp_path / "a.duckdb")
    for text in ("many", "", "-1", "1.5", "9" * 5000, "٣"):
        with duckdb.connect(tmp_path / "a.duckdb") as database:
            database.execute("delete from provenance where key = 'account.rows'")
            database.execute("insert into provenance values ('account.rows', ?)", [text])
        with pytest.raises(TraceError, match="expected a number"):
            open_trace([tmp_path / "a.duckdb"])


def test_a_report_on_the_last_years_of_the_calendar_is_made(tmp_path):
    late = (221_876_927_999, 221_876_928_000, 253_402_300_700, 253_402_300_799)
    lines = "".join(
        f"{100 + n} {stamp} 3200000000 3200000000 2{' -1' * 13}\n" for n, stamp in enumerate(late)
    )
    (tmp_path / "a.swf").write_text(SAMPLE.replace("1000000000", "0") + lines)
    with Trace(open_trace([tmp_path / "a.swf"]), "late") as trace:
        assert trace.store.row("select max(submit_time) from jobs") == (late[0],)
        report = trace.report()
        assert not report.failed
        write(report, tmp_path, "late", ["html"])
