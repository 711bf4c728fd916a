"""What `gwa convert` does with what it is given: nothing is lost, nothing is written over, all is said."""

import gzip
import hashlib
import os
import random
import re
import shutil
import tarfile

import duckdb
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from gwa.cli import gwa as program
from gwa.errors import GwaError, OutputError, TraceError, UnknownFormat
from gwa.formats.append import append
from gwa.formats.convert import convert
from gwa.formats.open import open_trace, recognise
from gwa.ingest.source.head import FileHead
from tests.conftest import HOME, LOGS, examples
from tests.killing import run as program_run
from tests.mutation import CHANGES, FEW, mutated, told

HEADER = "; UnixStartTime: 1000000000\n; MaxProcs: 8\n"
ROW = "{0} {0} 0 5 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n"
LOG = HEADER + "".join(map(ROW.format, range(1, 4)))


def run(*words, status=0):
    """Run gwa in this process and return what it says."""
    done = CliRunner().invoke(program, [str(word) for word in words])
    said = f"{done.output}{done.exception or ''}"
    assert bool(done.exit_code) == bool(status), said
    return said


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.swf"
    path.write_text(LOG)
    return path


# Input and output are never the same file.

NAMES = {
    "itself": lambda log: log,
    "another way to it": lambda log: log.parent / "." / ".." / log.parent.name / log.name,
    "a symbolic link": lambda log: _linked(log, "link.swf", os.symlink),
    "a hard link": lambda log: _linked(log, "hard.swf", os.link),
}


def _linked(log, name, link):
    link(log, log.with_name(name))
    return log.with_name(name)


@pytest.mark.parametrize("kind", NAMES)
def test_a_log_is_never_written_over(kind, log):
    out = NAMES[kind](log)
    digest = hashlib.sha256(log.read_bytes()).hexdigest()
    with pytest.raises(OutputError, match="is read, so it cannot be written to"):
        convert([log], out)
    assert "is read, so it cannot be written to" in run("convert", log, "-o", out, status=1)
    assert hashlib.sha256(log.read_bytes()).hexdigest() == digest


def test_a_part_of_a_trace_is_never_written_over(log, tmp_path):
    part = tmp_path / "part.swf"
    part.write_text(HEADER + ROW.format(9))
    for sources in ([log, part], [tmp_path], [tmp_path / "*.swf"]):
        with pytest.raises(OutputError, match="is read, so it cannot be written to"):
            convert(sources, part)
    assert part.read_text() == HEADER + ROW.format(9)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.swf", "part.swf"]


def test_a_store_is_not_appended_to_itself(log, tmp_path):
    store = tmp_path / "a.duckdb"
    append([log], store)
    before = store.read_bytes()
    copy = tmp_path / "copy.duckdb"
    shutil.copy(store, copy)
    with pytest.raises(OutputError, match="is read, so it cannot be written to"):
        append([copy, store], store)
    assert store.read_bytes() == before


def test_files_may_be_written_over_as_soon_as_they_are_read_no_more(log, tmp_path):
    convert([log], tmp_path / "a.gwf")
    convert([tmp_path / "a.gwf"], tmp_path / "b.gwf")
    convert([log], tmp_path / "a.gwf")


COMMANDS = {
    "report": ("a.json", ["report", "{}", "--json", "-o", "."]),
    "model fit": ("a.json", ["model", "fit", "{}", "lublin", "-o", "a.json"]),
    "anonymize": ("a.gwf", ["anonymize", "{}", "-o", "a.gwf", "--key", "key"]),
    "generate": ("a.gwf", ["model", "generate", "{}", "--jobs", "9", "--seed", "1", "-o", "a.gwf"]),
    "strings": ("a.toml", ["report", "{}", "--sections", "overview", "--strings", "a.toml", "-o", "."]),
}


@pytest.mark.parametrize("kind", COMMANDS)
def test_no_command_writes_to_what_it_reads(kind, tmp_path, monkeypatch, sample):
    name, words = COMMANDS[kind]
    monkeypatch.chdir(tmp_path)
    for file in (name, "b.swf"):
        shutil.copy(sample / "swf" / "tiny.swf", file)
    if kind == "generate":
        run("model", "fit", "b.swf", "lublin", "-o", name, "--force")
    before = (tmp_path / name).read_bytes()
    assert "is read" in run(*(word.format(name) for word in words), status=1)
    assert (tmp_path / name).read_bytes() == before


# What was given and not read is named and counted.


@pytest.fixture
def folder(log, tmp_path):
    """Return a folder with a log, a note, a log of an unknown kind, an archive and an empty file."""
    folder = tmp_path / "logs"
    folder.mkdir()
    shutil.move(log, folder / "a.swf")
    (folder / "README.md").write_text("# Logs\n\nThese are logs.\n")
    (folder / "other.log").write_text("".join(f"job {number} ran well\n" for number in range(100)))
    (folder / "empty.log").touch()
    with tarfile.open(folder / "b.tar", "w") as archive:
        archive.add(folder / "a.swf")
    return folder


@pytest.mark.parametrize("name", ["a.duckdb", "a.parquet", "a.sqlite", "a.gwf"])
def test_files_that_are_not_read_are_named_and_counted(name, folder, tmp_path):
    out = tmp_path / name
    said = run("convert", folder, "-o", out)
    assert "3 jobs from " in said
    assert "in files not read" in said
    for file in ("README.md", "other.log", "b.tar"):
        assert file in said
    assert said.rstrip().endswith(f"notes: gwa check {out}\nnext: gwa report {out}")
    with open_trace([out]) as store:
        account = store.account
        account.check()
        assert account.jobs == 3
        assert f"from {account.rows - account.skipped:,} rows" in said
        assert account.skipped > 103
        assert account.rows == account.skipped + 5
        if not name.endswith(".gwf"):
            rows = store.rows("select file, rows, skipped from sources order by file")
            assert [row for row in rows if row[0] != "b.tar"] == [
                ("README.md", 3, 3), ("a.swf", 5, None), ("empty.log", 0, 0), ("other.log", 100, 100),
            ]  # fmt: skip
    found = run("check", out)
    for file in ("README.md", "other.log", "b.tar"):
        assert file in found


def test_files_that_are_not_read_stay_counted_when_logs_are_appended(folder, tmp_path):
    out, more = tmp_path / "a.duckdb", tmp_path / "more.swf"
    more.write_text(HEADER + ROW.format(9))
    first, _ = append([folder], out)
    assert append([folder], out) == (first, [folder / "a.swf"])
    second, _ = append([more], out)
    assert (second.jobs, second.skipped) == (4, first.skipped)
    with open_trace([out]) as store:
        assert store.rows("select count(*) from sources where skipped is not null") == [(4,)]


def test_a_folder_without_logs_blames_the_file_that_is_most_like_one(tmp_path):
    (tmp_path / "README.md").write_text("# Logs\n")
    (tmp_path / "jobs.txt").write_text("".join(f"{'1 ' * 17}\n" for _ in range(9)))
    with pytest.raises(UnknownFormat, match=r"none of 2 files is a trace; .*jobs.txt.*swf: has 17 columns"):
        open_trace([tmp_path])


def test_a_folder_of_several_formats_names_a_file_of_each(folder, sample):
    shutil.copy(sample / "sge" / "accounting", folder)
    with pytest.raises(
        UnknownFormat, match=r"different formats \(sge such as accounting, swf such as a\.swf\)"
    ):
        open_trace([folder])


def test_a_store_of_an_earlier_version_has_sources_without_skipped_files(log, tmp_path):
    convert([log], tmp_path / "a.duckdb")
    with duckdb.connect(tmp_path / "a.duckdb") as database:
        database.execute("alter table sources drop column skipped")
    with open_trace([tmp_path / "a.duckdb"]) as store:
        assert store.rows("select file, skipped from sources") == [("log.swf", None)]
        assert store.account.skipped == 0


# What is missing is said at once.


def test_a_cut_log_is_said_to_be_cut(tmp_path):
    whole = LOG + "".join(map(ROW.format, range(4, 3000)))
    (tmp_path / "a.swf.gz").write_bytes(gzip.compress(whole.encode())[:5000])
    said = run("convert", tmp_path / "a.swf.gz", "-o", tmp_path / "a.gwf")
    assert "cut file (1): a.swf.gz breaks off: its end is missing" in said
    assert "a.swf.gz breaks off" in run("check", tmp_path / "a.gwf", status=1)


def test_a_gap_between_parts_is_told_from_parts_that_were_not_given(sample, tmp_path):
    text = (sample / "google2011" / "task_events-part-00000-of-00001.csv").read_text()
    lines = text.splitlines(keepends=True)
    for number in (0, 1, 3):
        path = tmp_path / f"part-{number:05}-of-00006.csv"
        path.write_text("".join(lines[number * len(lines) // 4 : (number + 1) * len(lines) // 4]))
    said = run("convert", *sorted(tmp_path.glob("*.csv")), "-o", tmp_path / "a.gwf")
    assert re.search(
        r"gap in parts \(1\): parts between those that were given are missing, such as .*part-00002", said
    )
    assert re.search(
        r"missing part \(2\): parts of a table were not given, such as .*part-00004-of-00006", said
    )


def test_a_part_that_is_no_trace_is_not_missing_as_well(sample, tmp_path):
    data = next((sample / "google2011").glob("task_events*")).read_bytes()
    for number in (0, 1, 2):
        content = b"hello\n" if number == 1 else data + b"\n" * number
        (tmp_path / f"task_events-part-{number:05}-of-00003.csv").write_bytes(content)
    with open_trace([tmp_path]) as store:
        names = {name for (name,) in store.rows("select name from repairs")}
    assert "file not read" in names
    assert not names & {"gap in parts", "missing part"}


def test_a_name_alone_makes_no_trace(tmp_path, sample):
    """The content is recognised, or refused, whatever the name promises."""
    (tmp_path / "notes.swf").write_text("The cluster was down on Monday.\nSee the wiki.\n")
    with pytest.raises(UnknownFormat, match="not a trace"):
        open_trace([tmp_path / "notes.swf"])
    (tmp_path / "other.swf").write_bytes((sample / "sge" / "accounting").read_bytes())
    assert recognise(FileHead.of(tmp_path / "other.swf")).name == "sge"


READ_FAILS = """
import errno, os, sys
from pathlib import Path
from gwa.ingest.source import compressed
from gwa.formats.convert import convert
class Failing:
    def readinto(self, view):
        raise OSError(errno.EIO, os.strerror(errno.EIO))
    def close(self):
        pass
begin = compressed._HashingFile.__init__
opened = []
def begin_failing(self, path):
    begin(self, path)
    opened.append(path)
    if len(opened) > int(sys.argv[3]):
        self.file = Failing()
compressed._HashingFile.__init__ = begin_failing
convert([Path(sys.argv[1])], Path(sys.argv[2]))
"""


@pytest.mark.parametrize("reads", [0, 1])
@pytest.mark.parametrize("name", ["out.duckdb", "out.gwf"])
def test_a_disk_that_fails_while_a_log_is_read_is_said_of_the_log(name, reads, log, tmp_path):
    done = program_run(READ_FAILS, log, tmp_path / name, reads)
    told = f"gwa.errors.TraceError: {log}: input/output error"
    assert done.stderr.decode().splitlines()[-1] == told
    assert not (tmp_path / name).exists()


DISK_IS_FULL = """
import resource, signal, sys
from pathlib import Path
from gwa.formats.convert import convert
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, resource.RLIM_INFINITY))
convert([Path(sys.argv[1])], Path(sys.argv[2]))
"""


def test_a_store_that_does_not_fit_on_the_disk_is_no_output(log, tmp_path):
    """The engine writes most of it when it is closed, and says nothing then."""
    convert([log], tmp_path / "log.gwf")
    for source in (log, tmp_path / "log.gwf"):
        done = program_run(DISK_IS_FULL, source, tmp_path / "out.duckdb")
        assert "OutputError" in done.stderr.decode().splitlines()[-1]
        assert not (tmp_path / "out.duckdb").exists()


def test_jobs_of_nothing_but_a_status_are_no_trace(tmp_path):
    path = tmp_path / "sacct.txt"
    head = "JobID|JobName|Partition|Account|AllocCPUS|State|ExitCode\n"
    path.write_text(head + "".join(f"{number}|a|short|x|1|COMPLETED|0:0\n" for number in range(1, 9)))
    with pytest.raises(TraceError, match=r"none of its 8 jobs has a submit time or a run time; ask sacct"):
        open_trace([path])


def test_some_jobs_of_nothing_but_a_status_are_counted(log, tmp_path):
    log.write_text(LOG + "4 -1 -1 -1 -1 -1 -1 -1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n")
    assert "no time (1): jobs have neither a submit time nor a run time" in run(
        "convert", log, "-o", tmp_path / "a.gwf"
    )


# A log that has grown.


@pytest.mark.parametrize("kind", ["swf", "gwf"])
def test_a_log_that_has_grown_is_appended_without_counting_jobs_twice(kind, tmp_path):
    short, grown = tmp_path / f"short.{kind}", tmp_path / f"grown.{kind}"
    rows = [ROW.format(number) for number in range(1, 10)]
    running = rows[4].replace(" 0 5 1 ", " 0 -1 1 ")
    for path, lines in ((short, [*rows[:4], running]), (grown, rows)):
        (tmp_path / "a.swf").write_text(HEADER + "".join(lines))
        convert([tmp_path / "a.swf"], path)
    append([short], tmp_path / "a.duckdb")
    account, _ = append([grown], tmp_path / "a.duckdb")
    assert (account.jobs, account.folded) == (9, 5)
    with open_trace([tmp_path / "a.duckdb"]) as store, open_trace([grown]) as whole:
        fields = "job_id, submit_time, run_time, user_id"
        assert store.rows(f"select {fields} from jobs order by all") == whole.rows(
            f"select {fields} from jobs order by all"
        )
        assert ("repeated jobs", 5) in store.rows("select name, jobs from repairs")


def test_jobs_of_one_number_that_differ_are_all_kept(tmp_path):
    for name, user in (("a.swf", 1), ("b.swf", 2)):
        (tmp_path / name).write_text(HEADER + f"1 1 0 5 1 -1 -1 1 -1 -1 1 {user} 1 -1 -1 -1 -1 -1\n")
    with open_trace([tmp_path / "a.swf", tmp_path / "b.swf"]) as store:
        assert store.account.jobs == 2


# Tables of numbers are not logs.


@given(data=st.data(), highest=st.sampled_from([1, 9, 1000, 10**6]), fractions=st.booleans())
@examples(30)
def test_eighteen_columns_of_numbers_are_no_swf(data, highest, fractions, tmp_path):
    generator = random.Random(data.draw(st.integers(0, 10**6)))
    draw = (lambda: generator.random() * highest) if fractions else (lambda: generator.randint(-1, highest))
    path = tmp_path / "matrix.txt"
    path.write_text("".join(" ".join(str(draw()) for _ in range(18)) + "\n" for _ in range(60)))
    with pytest.raises(UnknownFormat, match="not a trace"):
        open_trace([path])


@pytest.mark.skipif(not (LOGS / "swf").is_dir(), reason="real logs are not here")
def test_real_logs_of_any_edition_are_swf(tmp_path):
    for path in sorted((LOGS / "swf").iterdir()):
        (tmp_path / "log.txt").write_bytes(path.read_bytes())
        assert recognise(FileHead.of(tmp_path / "log.txt")).name == "swf", path.name


# Names of files that are not UTF-8.


@pytest.fixture
def latin(log):
    """Return a log whose name is Latin-1."""
    path = log.with_name(os.fsdecode(b"caf\xe9.swf"))
    try:
        log.rename(path)
    except OSError:
        pytest.skip("this disk has names of UTF-8 only")
    return path


@pytest.mark.parametrize("name", ["a.duckdb", "a.gwf", "a.parquet"])
def test_a_log_with_a_name_that_is_no_utf8_is_read(name, latin, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    assert "3 jobs" in run("convert", latin, "-o", out / name)
    with open_trace([out / name]) as store:
        assert store.account.jobs == 3
    shutil.copy(latin, latin.with_name(os.fsdecode(b"\xff.swf")))
    with open_trace(sorted(tmp_path.glob("*.swf"))) as store:
        assert [name for (name,) in store.rows("select name from repairs")] == ["duplicate file"]


def test_what_databases_cannot_open_is_said_in_a_line(latin, tmp_path):
    convert([latin], tmp_path / "a.parquet")
    path = tmp_path / os.fsdecode(b"\xe9.parquet")
    (tmp_path / "a.parquet").rename(path)
    with pytest.raises(TraceError, match="its name is not UTF-8, which databases cannot open: rename it"):
        open_trace([path])
    with pytest.raises(OutputError, match="its name is not UTF-8, expected another one"):
        convert([latin], tmp_path / os.fsdecode(b"out\xe9.gwf"))


# Every row of everything that is given is accounted for.

SAMPLES = HOME / "sample_traces"


@given(
    name=st.sampled_from(sorted(path.name for path in SAMPLES.iterdir())),
    others=st.dictionaries(
        st.sampled_from(["README.md", "notes.txt", "x.csv", "data.bin", "z.tar", "empty"]),
        st.one_of(
            st.binary(max_size=400),
            st.text(st.characters(codec="utf-8"), max_size=400).map(str.encode),
            st.just(b"name,age\nann,31\n"),
        ),
        max_size=4,
    ),
    changes=CHANGES,
)
@FEW
def test_rows_of_all_files_of_a_folder_add_up(name, others, changes, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mixed")
    for path in (SAMPLES / name).iterdir():
        if path.name not in {"expected.gwf", "system.toml", "README.md"}:
            (folder / path.name).write_bytes(mutated(path.read_bytes(), changes))
    for file, content in others.items():
        (folder / file).write_bytes(content)
    try:
        store = open_trace([folder])
    except GwaError as error:
        told(error)
        return
    with store:
        account = store.account
        account.check()
        files = dict(store.rows("select file, max(skipped) from sources group by file"))
        duplicates = store.row("select count(*) from repairs where name = 'duplicate file'")[0]
        assert len(files) + duplicates >= len(list(folder.iterdir()))
        ((rows, skipped),) = store.rows("select sum(rows), coalesce(sum(skipped), 0) from sources")
        assert (rows, skipped) == (account.rows, account.skipped)
        for file, lines in files.items():
            if lines:
                assert any(
                    file in meaning or "more files" in meaning
                    for (meaning,) in store.rows("select meaning from repairs where name = 'file not read'")
                )
