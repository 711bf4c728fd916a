"""The rows of commands: found by looking, listed by who needs them, and found by their former names, too."""

import re
from types import ModuleType

import click
import pytest
from click.testing import CliRunner

from gwa.cli import gwa
from gwa.cli._commands import GROUP, Group, Purpose
from gwa.errors import DefinitionError
from gwa.util import plugins
from tests.conftest import HOME

TINY = str(HOME / "sample_traces" / "swf" / "tiny.swf")
CONTEXT = click.Context(gwa)
COMMANDS = {name: gwa.get_command(CONTEXT, name) for name in gwa.list_commands(CONTEXT)}
FORMER = {name for name, command in COMMANDS.items() if command and command.hidden}


def run(*words):
    """Return what a command printed, and its status."""
    return CliRunner().invoke(gwa, list(words))


def listed():
    """Return the names of commands by the headings of ``gwa --help``."""
    parts = re.split(r"^(\w+):\n", run("--help").stdout.partition("Options:\n")[2], flags=re.MULTILINE)[1:]
    return {
        head: re.findall(r"^  (\S+)", body, re.MULTILINE)
        for head, body in zip(parts[::2], parts[1::2], strict=True)
    }


# By who needs them.


def test_help_lists_every_command_once_below_what_it_is_for():
    found = listed()

    assert list(found) == [purpose.value for purpose in Purpose]
    assert sorted(name for names in found.values() for name in names) == sorted(COMMANDS.keys() - FORMER)
    assert {"convert", "formats", "fetch", "check", "sql", "sample"} <= set(found["Read"])
    assert {"report", "facts", "compare", "advise", "charge", "wait"} <= set(found["Report"])
    assert {"whatif", "simulate"} <= set(found["Plan"])
    assert set(found["Model"]) == {"fit", "model", "tasks"}
    assert {"site", "export", "anonymize", "cube"} <= set(found["Publish"])
    assert set(found["Others"]) == {"completion", "report-problem"}


def test_what_commands_do_stands_in_one_column():
    rows = re.findall(r"^  ([a-z-]+ +)[A-Z]", run("--help").stdout.partition("Read:\n")[2], re.MULTILINE)
    assert len(rows) == len(COMMANDS) - len(FORMER)
    assert len(set(map(len, rows))) == 1


def added(monkeypatch, name="ours", **said):
    """Let another package add a command called *name*, in a module that also says *said*."""
    module = ModuleType("theirs")
    vars(module).update({"command": click.Command(name, callback=lambda: click.echo("theirs")), **said})
    monkeypatch.setattr(plugins, "loaded", lambda group: (module,) if group == GROUP else ())


@pytest.mark.parametrize(
    ("said", "heading"),
    [
        ({"PURPOSE": Purpose.PLAN}, "Plan"),
        ({"PURPOSE": "Publish"}, "Publish"),
        ({"PURPOSE": "Something else"}, "Others"),
        ({"PURPOSE": None}, "Others"),
        ({}, "Others"),
    ],
)
def test_a_command_of_another_package_is_listed_below_what_it_says(said, heading, monkeypatch):
    added(monkeypatch, **said)

    assert "ours" in listed()[heading]
    assert run("ours").stdout == "theirs\n"


@pytest.mark.parametrize("name", ["report", "report-problem", "generate"])
def test_a_command_of_another_package_with_a_name_of_gwas_own_is_an_error(name, monkeypatch):
    added(monkeypatch, name)

    assert re.match(rf"theirs: its command has the name of gwa's own '{name}'", str(run("--help").exception))
    assert run(name, "--help").exit_code == 0


def test_a_module_without_a_command_is_an_error(monkeypatch):
    added(monkeypatch, command="nothing")

    with pytest.raises(DefinitionError, match="theirs: has no command, expected one of click"):
        gwa.list_commands(CONTEXT)


@pytest.mark.parametrize("name", ["report_problem", "_common", "__init__", "nosuch", "", "list"])
def test_what_is_no_name_of_a_command_is_none(name):
    assert run(name).exit_code == 2
    assert gwa.get_command(CONTEXT, name) is None


# One door for models.


def test_the_room_of_models_has_its_commands():
    model = COMMANDS["model"]
    assert isinstance(model, click.Group)
    assert model.list_commands(CONTEXT) == ["fit", "generate", "list", "rank", "score", "split"]


ROOM = {"generate": "generate", "score": "score", "leaderboard": "rank"}
"""The commands of ``gwa model`` by their former names."""

WORDS = {
    "generate": ("lublin", "--jobs", "150", "--seed", "3", "-o", "made.gwf"),
    "score": (TINY, TINY),
    "leaderboard": (TINY, "--models", "dacosta", "--seeds", "1", "-o", "ranked", "-q"),
}


def test_former_names_are_those_that_are_known_and_documented():
    assert ROOM.keys() == FORMER
    for page in (HOME / "docs" / "reference" / "command-line.md").read_text(), run("model", "--help").stdout:
        text = " ".join(page.split())
        assert all(f"gwa {old}" in text and f"gwa model {new}" in text for old, new in ROOM.items())


@pytest.mark.parametrize("old", ROOM)
def test_a_former_name_prints_and_writes_the_same_bytes(old, tmp_path, monkeypatch):
    done, files = [], []
    for words in ((old,), ("model", ROOM[old])):
        folder = tmp_path / words[0]
        folder.mkdir()
        monkeypatch.chdir(folder)
        done.append(run(*words, *WORDS[old]))
        # The note of what was written has another salt in each folder.
        written = [path for path in folder.rglob("*.*") if path.name != ".gwa-written"]
        files.append({path.relative_to(folder): path.read_bytes() for path in written})

    assert done[0].exit_code == done[1].exit_code == 0
    assert done[0].output_bytes == done[1].output_bytes != b""
    assert done[0].stderr_bytes == done[1].stderr_bytes
    assert files[0] == files[1]
    assert bool(files[0]) == ("-o" in WORDS[old])


@pytest.mark.parametrize("old", ROOM)
def test_a_former_name_has_the_same_help_and_is_not_listed(old):
    helps = [run(*words, "--help").stdout.partition("\n") for words in ((old,), ("model", ROOM[old]))]

    assert helps[0][2] == helps[1][2] != ""
    assert helps[0][0].startswith(f"Usage: gwa {old} ")
    assert helps[1][0].startswith(f"Usage: gwa model {ROOM[old]} ")
    assert old not in [name for names in listed().values() for name in names]


# Which one was meant.


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("reprot",), "No such command 'reprot'. Did you mean report"),
        (("Facts",), "Did you mean facts"),
        (("report_problem",), "Did you mean report-problem"),
        (("site", "biuld"), "Did you mean build?"),
        (("model", "genrate"), "Did you mean generate?"),
        (("tasks", "mak"), "Did you mean make?"),
    ],
)
def test_an_unknown_command_is_answered_with_the_nearest(words, said):
    done = run(*words)
    assert done.exit_code == 2
    assert said in done.stderr


def test_nothing_is_proposed_for_what_is_near_to_nothing():
    done = run("xyzzy")
    assert done.stderr.endswith("No such command 'xyzzy'.\n")


def test_each_group_of_commands_says_which_one_was_meant():
    groups = [command for command in COMMANDS.values() if isinstance(command, click.Group)]
    assert {"site", "model", "tasks"} <= {group.name for group in groups}
    assert all(isinstance(group, Group) for group in groups)


def test_a_format_is_explained_by_its_command_and_notes_are_asked_for():
    short, whole = run("formats", "slurm").stdout, run("formats", "slurm", "--notes").stdout
    command = next(line for line in short.splitlines() if line.startswith("    sacct"))
    assert command in whole
    assert len(short.splitlines()) < 10 < len(whole.splitlines())
    assert short.rstrip().endswith("gwa formats slurm --notes")


def test_columns_that_can_be_mapped_are_explained_at_once():
    assert run("formats", "table").stdout == run("formats", "table", "--notes").stdout
