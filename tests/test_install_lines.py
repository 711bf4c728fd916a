"""What tells people to install gwa names our distribution; `gwa` on PyPI is a program of others."""

import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator

import pytest

from gwa.util.version import DISTRIBUTION
from tests.conftest import HOME

PROJECT = tomllib.loads((HOME / "pyproject.toml").read_text())
NAME = PROJECT["project"]["name"]
EXTRAS = PROJECT["project"]["optional-dependencies"]

INSTALL = re.compile(
    r"\b(?:(?:uv )?pip3? install|uv tool (?:install|run --from)|uv add|pipx (?:install|run)|uvx(?: --from)?"
    r"|(?:conda|mamba|micromamba|spack) install)\b(?P<what>[^#`\n]*)"
)
"""A command that installs packages, and what follows it on its line."""

HINT = re.compile(rf"([\w{{}}.-]+)\[(?:{'|'.join(EXTRAS)})\]")
"""A distribution with one of our extras in brackets."""

WITH_VALUE = {"--extra", "--python", "--resolution", "--only-binary", "--requirement", "-r", "-c", "-n"}
"""Options whose next word names no package."""

PACKAGE = re.compile(r"([A-Za-z{][\w{}.-]*?)(?:\[[\w,-]+\])?(?:[=<>~!@].*)?")


def words(line: str) -> Iterator[str]:
    """Yield the words that may name packages; another command ends them."""
    parts = iter(re.split(r"&&|\|\||;", line)[0].split())
    for word in parts:
        if word in WITH_VALUE:
            next(parts, None)
        elif not word.startswith("-"):
            yield word.strip("'\"").replace("{DISTRIBUTION}", DISTRIBUTION)


def packages(text: str) -> list[str]:
    """Return the names of the packages that the lines of *text* say to install."""
    named = [word for line in INSTALL.finditer(text) for word in words(line["what"])]
    bare = [PACKAGE.fullmatch(word) for word in named if "/" not in word]
    hinted = [name.replace("{DISTRIBUTION}", DISTRIBUTION) for name in HINT.findall(text)]
    return [found[1] for found in bare if found] + hinted


def dependencies() -> set[str]:
    """Return the names of all that the project itself installs for its tests."""
    groups = [*PROJECT["dependency-groups"].values(), *EXTRAS.values(), PROJECT["project"]["dependencies"]]
    return {re.split(r"[^\w-]", one)[0] for group in groups for one in group}


def tracked() -> Iterator[tuple[str, str]]:
    """Yield the names and contents of all text files that are kept in the repository, but for this one."""
    git = shutil.which("git")
    if git is None or not (HOME / ".git").exists():
        pytest.skip("needs the repository, which lists its files")
    listed = subprocess.run([git, "ls-files", "-z"], cwd=HOME, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        path = HOME / name
        if path.is_file() and name != "tests/test_install_lines.py":
            content = path.read_bytes()
            if b"\0" not in content:
                yield name, content.decode("utf-8", "replace")


def test_every_line_that_installs_gwa_names_our_distribution():
    found = {name: named for name, text in tracked() if (named := packages(text))}
    wrong = {name: set(named) - {NAME} - dependencies() for name, named in found.items()}

    assert {name: others for name, others in wrong.items() if others} == {}
    ours = {name for name, named in found.items() if NAME in named}
    assert {"README.md", "docs/how-to/notebooks.md", "docs/how-to/spark.md"} <= ours
    assert "gwa/store/engines/spark.py" in ours


@pytest.mark.parametrize(
    "line",
    [
        "pip install gwa",
        "pip3 install --upgrade 'gwa>=1'",
        "uv tool install gwa        # or",
        "pipx install gwa && gwa --help",
        "uvx --from gwa gwa --help",
        "conda install -c conda-forge gwa",
        "it is not installed: pip install 'gwa[spark]'",
        "needs the extra gwa[notebook]",
        "uv pip install --python build/x gwa==0.1.0",
    ],
)
def test_another_name_is_found(line):
    assert packages(line)[0] == "gwa"


def test_a_command_or_a_file_is_no_package():
    assert packages("pip install --quiet --requirement pyproject.toml --extra spark") == []
    assert packages("pip install /wheels/*.whl && useradd gwa") == []
    assert packages(f"pip install {NAME} # not gwa") == [NAME]


def test_the_name_in_messages_is_that_of_the_project():
    assert DISTRIBUTION == NAME
    assert set(PROJECT["project"]["scripts"]) == {"gwa"}
