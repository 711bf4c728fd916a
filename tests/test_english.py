"""What people read has no quaint forms, and one spelling."""

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from gwa.cli import gwa
from tests.conftest import HOME
from tests.messages import template

BANNED = {
    r"[Nn]obody": "no job, no user, no one; or the passive",
    r"[Ww]hoever": "a user who, a job that",
    r"anew": "again",
    r"[Aa]nd the like": "and similar ones",
    r"[Uu]tili[s]ation": "utilization",
    r"[Ww]here nobody": "where no",
    r"(?<!as )[Bb]eside it stands": "next to it is",
    r"[Ww]hen such a sentence is written": "why am I seeing this?",
}
"""What is not written, as patterns of whole words, and what is written instead."""

KINDS = {".py", ".html", ".sql", ".js", ".css", ".md", ".toml", ".tex"}
PLACES = ("gwa", "templates", "converters", "docs", "README.md", "CHANGELOG.md", "site")


def texts():
    """Return all files with prose that people read."""
    for place in PLACES:
        root = HOME / place
        for path in [root] if root.is_file() else sorted(root.rglob("*")):
            if path.is_file() and path.suffix in KINDS and "node_modules" not in path.parts:
                yield path


def hits(text):
    """Yield the lines of a text with what is not written, each with its number."""
    for number, line in enumerate(text.replace('"nobody"', "an account of systems").splitlines(), 1):
        for pattern, instead in BANNED.items():
            if re.search(rf"\b{pattern}\b", line):
                yield f"{number}: {line.strip()} (write: {instead})"


SHOWN = {
    r"Said (where|whenever)": "Shown if",
    r"(Least|Greatest|Fewest) (?!alike)[a-z]+": "Minimum, Maximum",
}
"""What the texts of a report do not say either, which its own extractor finds."""


def test_no_text_of_a_report_is_quaint():
    texts = [entry.id if isinstance(entry.id, str) else entry.id[0] for entry in template() if entry.id]

    assert [text for text in texts for pattern in SHOWN if re.search(rf"^{pattern}\b", text)] == []


def test_nothing_quaint_is_written():
    found = [
        f"{Path(path).relative_to(HOME)}:{hit}"
        for path in texts()
        for hit in hits(path.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "Nobody says so.",
        "files are made anew",
        "CPU hours and the like",
        "mean utilisation",
        "for whoever asks",
    ],
)
def test_what_is_quaint_is_found(text):
    assert list(hits(text))


def test_words_are_spelt_right():
    """The words of prose and code, by codespell; what it does not know is in pyproject.toml."""
    command = [sys.executable, "-m", "codespell_lib", *PLACES, "Makefile"]
    done = subprocess.run(command, cwd=HOME, capture_output=True, text=True, check=False)
    assert done.stdout == ""
    assert done.returncode == 0, done.stderr


HELP = re.compile(
    r"\b(so many|tells?|told|such an?|greatest|nothing but|is no|are no|by itself|say of|says of|the like)\b"
)
"""What helps of commands do not say, as too few readers would understand it."""


def commands(group, name="gwa"):
    """Yield the names and commands of a group, and of the groups in it."""
    context = click.Context(group)
    for part in group.list_commands(context):
        one = group.get_command(context, part)
        yield f"{name} {part}", one
        if isinstance(one, click.Group):
            yield from commands(one, f"{name} {part}")


def test_helps_are_plain_english():
    texts = {
        (name, option.name): option.help or ""
        for name, one in commands(gwa)
        for option in one.params
        if isinstance(option, click.Option)
    }
    texts |= {(name, ""): one.help or "" for name, one in commands(gwa)}
    assert {name: text for name, text in texts.items() if HELP.search(text)} == {}
    assert [name for name, text in texts.items() if not text] == []
