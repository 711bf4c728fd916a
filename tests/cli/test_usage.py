"""What all commands have in common: files instead of printing, and the exit status of a wrong word."""

import json
import subprocess

import pytest
from click.testing import CliRunner

from gwa.cli import gwa
from tests import forked, program
from tests.conftest import HOME

TINY = str(HOME / "sample_traces" / "swf" / "tiny.swf")

PRINTING = {
    "facts": ("facts", TINY, "--only", "trace"),
    "sql": ("sql", TINY, "select count(*) as jobs from jobs"),
    "check": ("check", TINY),
    "fit": ("fit", TINY, "runtime", "-q"),
    "model score": ("model", "score", TINY, TINY, "-q"),
    "formats": ("formats", "swf"),
}


def run(*words):
    return CliRunner().invoke(gwa, list(words))


@pytest.mark.parametrize("name", PRINTING)
def test_what_is_printed_is_written_to_a_file_instead(name, tmp_path):
    printed = run(*PRINTING[name])
    written = run(*PRINTING[name], "-o", str(tmp_path / "out"))
    assert printed.exit_code == written.exit_code == 0
    assert (tmp_path / "out").read_text() == printed.stdout != ""
    assert written.stdout == ""


@pytest.mark.parametrize("name", PRINTING)
def test_a_dash_is_standard_output(name):
    assert run(*PRINTING[name], "-o", "-").stdout == run(*PRINTING[name]).stdout


@pytest.mark.parametrize(
    "words",
    [
        ("plan", TINY, "--cpus", "+20%", "--csv", "-"),
        ("advise", TINY, "--csv", "-"),
        ("convert", TINY, "-o", "-"),
        ("cube", TINY, "-o", "-"),
    ],
)
def test_what_is_not_printed_makes_no_file_called_dash(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(*words)
    assert done.exit_code == 2
    assert "'-' is no file or folder" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_result_that_has_a_status_is_written_too(tmp_path):
    done = run("check", TINY, "--fail-on", "trace.jobs>1", "--json", "-o", str(tmp_path / "found.json"))
    assert done.exit_code == 3
    assert json.loads((tmp_path / "found.json").read_text())


def test_an_error_leaves_what_was_there(tmp_path):
    (tmp_path / "out").write_text("earlier")
    assert run("sql", TINY, "select nothing", "-o", str(tmp_path / "out")).exit_code != 0
    assert (tmp_path / "out").read_text() == "earlier"


@pytest.mark.parametrize(
    "words",
    [
        "report TINY --period nonsense",
        "report TINY --sections nosuch",
        "facts TINY --only nosuch",
        "facts TINY --where nonsense",
        "facts TINY --queue nosuch",
        "facts TINY --format nosuch",
        "facts TINY --map nonsense",
        "facts TINY --today nonsense --period last-month",
        "facts TINY --memory nonsense",
        "facts TINY -O foo=1",
        "fit TINY nosuch",
        "model fit TINY nosuch",
        "model fit TINY lublin --arrivals nosuch",
        "model generate nosuch --jobs 5 -o out.swf",
        "model generate lublin -o out.swf",
        "convert TINY -o out.nosuch",
        "convert TINY",
        "compare TINY",
        "fetch nosuch",
        "formats nosuch",
        "advise TINY --user nosuch",
        "check TINY --fail-on nosuch",
        "nosuch",
    ],
)
def test_a_wrong_word_is_an_error_of_usage(words, tmp_path):
    done = program.run(*(TINY if word == "TINY" else word for word in words.split()), cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        ["plan", TINY, "--price-per-processor-year"],
        ["anonymize", TINY, "-o", "out.gwf", "--key", "key", "--k", "2", "--leave-out"],
        ["collect", "slurm", "-o", "out.duckdb", "--timeout"],
        ["fit", TINY, "daily", "--shift"],
    ],
    ids=lambda words: words[0],
)
def test_what_is_no_number_is_within_no_range(words):
    done = run(*words, "nan")
    assert done.exit_code == 2
    assert "'nan' is no number within " in done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_completion_script(shell):
    assert "_GWA_COMPLETE" in run("completion", shell).stdout


def test_commands_are_completed(monkeypatch):
    monkeypatch.setenv("COMP_WORDS", "gwa rep")
    monkeypatch.setenv("COMP_CWORD", "1")
    monkeypatch.setenv("_GWA_COMPLETE", "bash_complete")
    done = subprocess.run(forked.gwa(), capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["plain,report", "plain,report-problem"]
