"""What `gwa convert` does with what it is given: nothing is lost, nothing is written over, all is said."""

import hashlib
import os
import shutil

import pytest
from click.testing import CliRunner

from gwa.cli import gwa as program
from gwa.errors import OutputError
from gwa.formats.append import append
from gwa.formats.convert import convert
from tests.conftest import HOME

HEADER = "; UnixStartTime: 1000000000\n; MaxProcs: 8\n"
ROW = "{0} {0} 0 5 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n"
LOG = HEADER + "".join(map(ROW.format, range(1, 4)))


def run(*words, status=0):
    """Run gwa in this process and return what it says."""
    done = CliRunner().invoke(program, [str(word) for word in words])
    said = done.output if done.exception is None or done.exit_code == 2 else str(done.exception)
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
    "report": ("a.json", ["report", "{}", "--json", "--sections", "overview", "-o", "."]),
    "model fit": ("a.json", ["model", "fit", "{}", "lublin", "-o", "a.json"]),
    "anonymize": ("a.gwf", ["anonymize", "{}", "-o", "a.gwf", "--key", "key"]),
    "generate": ("a.gwf", ["generate", "{}", "--jobs", "9", "--seed", "1", "-o", "a.gwf"]),
    "strings": ("a.toml", ["report", "{}", "--sections", "overview", "--strings", "a.toml", "-o", "."]),
}


@pytest.mark.parametrize("kind", COMMANDS)
def test_no_command_writes_to_what_it_reads(kind, tmp_path, monkeypatch, sample):
    name, words = COMMANDS[kind]
    monkeypatch.chdir(tmp_path)
    for file in (name, "b.swf"):
        shutil.copy(sample / "swf" / "tiny.swf", file)
    if kind == "generate":
        run("model", "fit", "b.swf", "lublin", "-o", name)
    before = (tmp_path / name).read_bytes()
    assert "is read" in run(*(word.format(name) for word in words), status=1)
    assert (tmp_path / name).read_bytes() == before
