"""What people read has no quaint forms, and one spelling."""

import re
from pathlib import Path

import pytest

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
    for number, line in enumerate(text.splitlines(), 1):
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
