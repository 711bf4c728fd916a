"""Files, folders, patterns and standard input as one trace."""

import subprocess

import pytest

import gwa
from gwa.errors import GwaError
from gwa.ingest.inputs import expand
from tests import forked

HEADER = "; UnixStartTime: 1000000000\n; MaxProcs: 8\n"
ROW = "{0} {0} 0 5 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n"


@pytest.fixture
def folder(tmp_path):
    for number in (1, 2, 3):
        (tmp_path / f"part-{number}.swf").write_text(HEADER + ROW.format(number))
    (tmp_path / "README.txt").write_text("These are logs.\n")
    (tmp_path / ".hidden.swf").write_text(HEADER + ROW.format(9))
    return tmp_path


def test_a_folder_is_one_trace_and_what_is_no_log_is_passed_over(folder):
    with gwa.open(folder) as trace:
        assert len(trace) == 3


def test_a_pattern_is_one_trace(folder):
    with gwa.open(folder / "part-[12].swf") as trace:
        assert len(trace) == 2


def test_several_files_are_one_trace(folder):
    with gwa.open([folder / "part-3.swf", folder / "part-1.swf"]) as trace:
        assert len(trace) == 2


def test_the_same_file_twice_is_read_once(folder):
    (folder / "copy.swf").write_bytes((folder / "part-1.swf").read_bytes())
    with gwa.open([folder / "part-1.swf", folder / "copy.swf"]) as trace:
        assert len(trace) == 1
        assert trace.store.rows("select name, jobs from repairs") == [("duplicate file", 1)]


def test_standard_input_is_a_source(folder):
    done = subprocess.run(
        [*forked.gwa(), "facts", "-", "--only", "trace.jobs"],
        input=HEADER + ROW.format(1), cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert '"trace.jobs": 1' in done.stdout


@pytest.mark.parametrize(("name", "said"), [("empty", "is an empty folder"), ("no-*.swf", "matches no file")])
def test_nothing_is_an_error(name, said, tmp_path):
    (tmp_path / "empty").mkdir()

    with pytest.raises(GwaError, match=said):
        expand([tmp_path / name])


def test_files_of_different_formats_are_refused(folder, sample):
    with pytest.raises(GwaError, match="different formats"):
        gwa.open([folder / "part-1.swf", sample / "swf" / "expected.gwf"])


def test_a_definition_of_ones_own_is_a_format(tmp_path):
    (tmp_path / "my.sql").write_text(
        '/* ---\ntitle = "Mine"\nnotes = "mine"\nfiles = ["*.csv"]\ndelimiter = ","\n'
        '[columns]\nmoment = "double"\ntook = "double"\n--- */\n'
        "select moment as submit_time, took as run_time, 1 as n_procs from source\n"
    )
    (tmp_path / "log.csv").write_text("1,5\n2,6\n")
    with gwa.open(tmp_path / "log.csv", format=str(tmp_path / "my.sql")) as trace:
        assert trace.facts("jobs.runtime.mean") == {"jobs.runtime.mean": 5.5}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("select 1", "expected a TOML header"),
        ("/* ---\ntitle = 1\n--- */\nselect 1", "columns: is missing"),
        ("/* ---\ncolour = 1\n--- */\nselect 1", "my.sql:2: colour: unknown key"),
        ("/* ---\ntitle = \n--- */\nselect 1", r"my\.sql:2: Invalid value"),
    ],
)
def test_a_wrong_definition_is_explained(text, said, tmp_path):
    (tmp_path / "my.sql").write_text(text)
    (tmp_path / "log.csv").write_text("1,5\n")

    with pytest.raises(GwaError, match=said):
        gwa.open(tmp_path / "log.csv", format=str(tmp_path / "my.sql"))


@pytest.mark.parametrize("select", ["select nonsense from source", "select moment as nonsense from source"])
def test_a_select_that_cannot_be_is_explained(select, tmp_path):
    (tmp_path / "my.sql").write_text(
        f'/* ---\ntitle = "Mine"\nnotes = "mine"\nfiles = ["*.csv"]\n[columns]\n'
        f'moment = "double"\n--- */\n{select}\n'
    )
    (tmp_path / "log.csv").write_text("1\n")

    with pytest.raises(GwaError, match=r"^my\.sql:.*nonsense"):
        gwa.open(tmp_path / "log.csv", format=str(tmp_path / "my.sql"))
