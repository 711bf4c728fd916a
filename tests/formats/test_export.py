"""How a log is exported, of every format: what `gwa formats NAME` prints first."""

import shlex

import pytest
from click.testing import CliRunner

from gwa.archive.public_traces import public_traces
from gwa.cli import gwa as program
from gwa.formats.converter import EXAMPLE, definition
from gwa.formats.registry import all_formats

EVERY = pytest.mark.parametrize("one", all_formats(), ids=lambda one: one.name)


def commands(one):
    """Return the words of each command that exports a log of a format."""
    lines = one.export.strip().splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=line.startswith("#")))]


@EVERY
def test_says_by_which_commands_a_log_is_exported(one):
    assert commands(one)
    for line in one.export.strip().splitlines():
        assert line == line.strip() != ""


@EVERY
def test_prints_them_first_each_on_a_line_by_itself(one):
    printed = CliRunner().invoke(program, ["formats", one.name]).output.splitlines()
    assert printed[:4] == [one.title, "", "To export:", ""]
    lines = one.export.strip().splitlines()
    assert printed[4 : 4 + len(lines)] == [f"    {line}" for line in lines]
    assert printed[4 + len(lines)] == ""


@EVERY
def test_what_gwa_itself_does_is_said_as_it_does_it(one):
    for words in commands(one):
        if words[:2] == ["gwa", "fetch"]:
            assert next(key for key in words[2:] if not key.startswith("--")) in public_traces()
        elif words[0] == "gwa":
            assert words[1] == "convert"
            assert "-o" in words


def test_a_definition_of_a_users_own_may_have_none():
    without = "".join(line for line in EXAMPLE.splitlines(keepends=True) if not line.startswith("export"))
    assert definition("own.sql", without, str).export == ""
    assert definition("own.sql", EXAMPLE, str).export == "our_accounting --csv > jobs.csv"
