"""The examples of every `--help` run word for word in an empty folder, where only gwa is installed."""

import inspect
import re

import click
import pytest

from gwa.cli import gwa
from tests.program import as_reader

NEEDS = {
    "simulate": "an experiment, such as those of a checkout",
    "site": "a folder that describes an archive",
    "fetch": "a network",
    "measure": "what another program measured",
}
"""Commands whose examples need more than gwa, and what."""

QUICK = {
    "gwa",
    "convert",
    "facts",
    "sql",
    "formats",
    "sample",
    "completion",
    "report-problem",
    "model generate",
}
"""Commands whose examples take a few seconds; those of the others are run with the slow tests."""

FILE = re.compile(r"[\w/-]+\.(?:sacct|swf|gwf|duckdb|json|md|sql|key|toml|parquet)(?:\.gz)?")


def groups(command, name):
    """Yield the names and helps of *command* and of those below it."""
    yield name, command.help or ""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            assert found is not None
            # A former name has the examples of the new one.
            if not found.hidden:
                yield from groups(found, f"{name} {below}")


def lines(text):
    """Return the examples in the text of a help."""
    examples = re.split(r"^Examples?:$", inspect.cleandoc(text), flags=re.MULTILINE)[1:]
    return re.findall(r"^  (gwa .*)$", "".join(examples), re.MULTILINE)


EXAMPLES = {name: lines(text) for name, text in groups(gwa, "gwa") if lines(text)}


def first(name):
    """Return the command that *name* belongs to: `model` of `gwa model fit`."""
    return [*name.split(), "gwa"][1 if " " in name else 0]


RUN = [
    pytest.param(name, marks=() if name in QUICK else pytest.mark.slow, id=name.replace(" ", "-"))
    for name in EXAMPLES
    if first(name) not in NEEDS
]


@pytest.mark.parametrize("name", RUN)
def test_the_examples_of_a_command_run_in_an_empty_folder(name, tmp_path):
    folder = tmp_path / "empty"
    folder.mkdir()
    for line in EXAMPLES[name]:
        as_reader(["sh", "-c", line], tmp_path, folder)


@pytest.mark.parametrize("name", [name for name in EXAMPLES if first(name) not in NEEDS])
def test_an_example_reads_only_what_those_before_it_wrote(name):
    made, folders = set[str](), set[str]()
    for line in EXAMPLES[name]:
        assert "sample_traces" not in line
        read, _, wrote = re.sub(r"(?:-o|--key|--strings|>) ", "\0", line).partition("\0")
        assert {file for file in FILE.findall(read) if file.partition("/")[0] not in folders} <= made, line
        made |= set(FILE.findall(wrote))
        folders |= set(re.findall(r"-o ([\w-]+)$", line))


def test_every_command_has_examples_but_those_that_need_more():
    names = {name for name, _ in groups(gwa, "gwa")}
    assert {name for name in names if first(name) not in NEEDS} <= EXAMPLES.keys()
    assert {first(name) for name in names} == {first(name) for name in EXAMPLES}
    assert set(NEEDS) <= {first(name) for name in EXAMPLES}
