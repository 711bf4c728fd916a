"""``gwa report-problem``: enough to reproduce a problem, and nothing that a log says of people."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.cli.report_problem import masked
from tests.cli.test_cli import SAMPLE
from tests.program import run

REFUSED = "2 0 mueller /home/secret 10"


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "heron-accounting.swf"
    path.write_text(SAMPLE.read_text() + REFUSED + "\n")
    return path


def test_refused_lines_keep_their_shape_only(log, tmp_path):
    done = run("report-problem", log, "-q", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "- swf" in done.stdout
    assert "1,200 jobs" in done.stdout
    assert "1 rejected" in done.stdout
    assert "5 columns, expected 18: 9 9 xxxxxxx /xxxx/xxxxxx 99" in done.stdout
    assert not any(name in done.stdout for name in ("mueller", "secret", "heron"))


def test_a_log_of_no_known_format_is_shown_by_its_shape(tmp_path):
    (tmp_path / "heron.txt").write_text("Owner|Secret\nmueller|4711\n")
    done = run("report-problem", "heron.txt", "-q", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "UnknownFormat: LOG: not a trace\n" in done.stdout
    assert "xxxxx|xxxxxx\nxxxxxxx|9999\n" in done.stdout
    assert not any(name in done.stdout for name in ("mueller", "4711", "Secret", "heron"))


@pytest.mark.parametrize("data", [b"", b"\0\1\2" * 999, b"\x1f\x8b broken"])
def test_what_is_no_text_is_told_without_lines(data, tmp_path):
    (tmp_path / "log").write_bytes(data)
    done = run("report-problem", "log", "-q", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "### Error" in done.stdout
    assert "```" not in done.stdout


def test_without_a_log_only_versions_are_printed(tmp_path):
    done = run("report-problem", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "duckdb" in done.stdout
    assert "###" not in done.stdout.replace("### Versions", "", 1)


@given(st.text())
def test_what_is_masked_keeps_no_letter_or_digit(text):
    shape = masked(text)

    assert len(shape) == len(text)
    assert set(shape) <= {"x", "9", *string.punctuation, " "}
