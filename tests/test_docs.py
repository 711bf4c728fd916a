"""The documentation says what is true: commands run, links lead somewhere, facts are those that there are."""

import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

import gwa
from gwa.analysis.base import families
from gwa.cli import gwa as program
from gwa.report.as_json import as_json
from gwa.report.json_schema import facts_schema, report_schema
from gwa.util import plugins
from tests.conftest import LOGS, thinned
from tests.facts_reference import kept, logs, rows, samples, whole
from tests.program import as_reader

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
TINY = ROOT / "sample_traces" / "swf" / "tiny.swf"
PAGES = sorted(path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "formats")
NOTEBOOKS = [path for path in PAGES if path.parent.name == "notebooks" and path.name != "index.md"]
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```", re.DOTALL | re.MULTILINE)
KEPT = {row["id"]: row for row in kept()}
FACTS, REPORT = (Draft202012Validator(schema) for schema in (facts_schema(families()), report_schema()))

WHOLE_SCRIPTS = {"every-night.md", "monthly.md"}
"""Pages whose script needs a cluster; test_every_night.py and test_monthly.py run it with a made one."""

OF_A_CHECKOUT = {"synthetic.md", "simulate.md"}
"""Pages that use the experiments of a checkout."""

QUICK = {
    *(
        Path("docs/how-to", f"{name}.md")
        for name in ("assistant", "export", "fetch", "own-converter", "simulate")
    ),
    Path("README.md"),
    Path("docs/tutorials/slurm.md"),
    Path("docs/notebooks/first-look.md"),
}
"""Pages whose blocks take seconds, and the first steps; those of the others are run with the slow tests."""

OF_PACKAGES = {"own-section.md", "own-command.md"}
"""Pages whose Python is a module of a package; a test below runs it as one."""


def blocks(page: Path) -> list[tuple[str, str]]:
    """Return the blocks of a page that are run, with their languages."""
    return BLOCK.findall(page.read_text())


# --- Blocks ---


SCRIPTS = [page for page in (README, *PAGES) if blocks(page) and page.name not in WHOLE_SCRIPTS | OF_PACKAGES]


def is_quick(page: Path) -> bool:
    return page.relative_to(ROOT) in QUICK


@pytest.mark.parametrize("page", thinned(SCRIPTS, kept=is_quick), ids=lambda page: page.stem)
def test_the_blocks_of_a_page_run_one_after_the_other(page, tmp_path):
    """They read what those before them wrote, so that they are one test."""
    folder = tmp_path / "empty"
    folder.mkdir()
    for name in ("sample_traces", "experiments") if page.name in OF_A_CHECKOUT else ():
        shutil.copytree(ROOT / name, folder / name)
    for language, text in blocks(page):
        as_reader(["sh", "-ec", text] if language == "sh" else [sys.executable, "-c", text], tmp_path, folder)


def commands(text: str) -> Iterator[list[str]]:
    """Yield the words behind each ``gwa`` that begins a command of a shell."""
    text = re.sub(r"<<'?(\w+)'?$.*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE).replace("\\\n", " ")
    for line in text.splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
        lexer.whitespace_split = True
        command: list[str] = []
        for word in [*lexer, ";"]:
            if set(word) <= set("|&;<>()"):
                if command[:1] == ["gwa"]:
                    yield command[1:]
                command = []
            else:
                command.append(word)


@pytest.mark.parametrize("page", SCRIPTS, ids=lambda page: page.stem)
def test_the_commands_of_a_page_exist_with_their_options(page):
    for words in (words for language, text in blocks(page) if language == "sh" for words in commands(text)):
        # With its settings: the options of help that a command first finds are kept.
        context, rest = click.Context(program, **program.context_settings), words
        while isinstance(context.command, click.Group) and not rest[0].startswith("-"):
            _, command, rest = context.command.resolve_command(context, rest)
            assert command is not None
            context = click.Context(command, parent=context)
        context.command.make_parser(context).parse_args(rest)


def test_a_section_of_ones_own_is_as_the_page_says(make_store):
    (_, text), _ = blocks(ROOT / "docs" / "how-to" / "own-section.md")
    names: dict[str, Any] = {"__name__": "my_package.night_jobs"}
    exec(text, names)  # noqa: S102 - the page is ours
    analysis = names["night_jobs"]
    store = make_store(submit_time=[3600.0, 7200.0, 50000.0], run_time=[1.0] * 3, n_procs=[1] * 3)
    (facts,) = analysis.section(store).blocks

    assert analysis.id == "night-jobs"
    assert [(fact.id, fact.value) for fact in facts.facts] == [("night.jobs", 2)]


def test_a_command_of_ones_own_is_as_the_page_says(monkeypatch):
    ((_, text),) = blocks(ROOT / "docs" / "how-to" / "own-command.md")
    module = ModuleType("my_package.longest")
    exec(text, vars(module))  # noqa: S102 - the page is ours
    monkeypatch.setattr(plugins, "loaded", lambda group: (module,) if group == "gwa.commands" else ())
    helped, done = (CliRunner().invoke(program, words) for words in (["--help"], ["longest", str(TINY)]))

    assert "longest" in helped.stdout.partition("Report:\n")[2].partition("\n\n")[0]
    assert (done.exit_code, float(done.stdout)) == (0, 143267.0)


@pytest.mark.parametrize("page", thinned(NOTEBOOKS, kept=is_quick), ids=lambda page: page.stem)
def test_a_notebook_runs(page, tmp_path):
    """Its cells, one after the other, as a kernel runs them."""
    cells = re.findall(r"^```\{code-cell\}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    assert len(cells) > 2
    as_reader([sys.executable, "-c", "\n".join(cells)], tmp_path, tmp_path)


# --- Pages and links ---


def test_the_readme_is_short():
    assert len(README.read_text().splitlines()) <= 120


def links(page: Path) -> Iterator[str]:
    """Yield the links of a page to files, without their anchors."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not re.match(r"[a-z]+:", target) and not target.startswith("#"):
            yield target.partition("#")[0]


@pytest.mark.parametrize("page", [README, *PAGES], ids=lambda page: page.stem)
def test_links_lead_to_files(page):
    assert [target for target in links(page) if not (page.parent / target).exists()] == []


def test_the_architecture_names_every_room_and_only_what_there_is():
    page = (ROOT / "docs" / "ARCHITECTURE.md").read_text()
    rooms = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert sorted(rooms) == sorted(path.parent.name for path in (ROOT / "gwa").glob("*/__init__.py"))

    picture = (ROOT / "docs" / "house.svg").read_text()
    assert set(rooms) < set(re.findall(r'font-weight="600"[^>]*>(\w+)<', picture))

    paths = re.findall(r"`((?:gwa|tests|converters|templates)/[\w./]+)`", page)
    written = [path for path in paths if "NAME" not in path and not path.startswith("gwa/_data")]
    assert len(written) > 20
    assert not [path for path in written if not (ROOT / path).exists()]


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("sphinx") is None, reason="needs `make .venv/docs`")
def test_the_documentation_builds_without_a_warning_and_without_a_dead_link(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", "docs", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr

    ids = {path: set(re.findall(r'\bid="([^"]+)"', path.read_text())) for path in tmp_path.rglob("*.html")}
    dead = []
    for page in ids:
        for target in re.findall(r'<a [^>]*href="([^":]*)"', page.read_text()):
            file, _, anchor = target.partition("#")
            path = (page.parent / file).resolve() if file else page
            if not path.exists() or (anchor and anchor not in ids.get(path, {anchor})):
                dead.append(f"{page.name}: {target}")
    assert len(ids) > 60
    assert dead == []


# --- Facts ---


def unknown(report: gwa.Report) -> list[str]:
    """Return the facts of a report that the reference has not, or with another unit."""
    return [row["id"] for row in rows(report) if KEPT.get(row["id"], {}).get("unit") != row["unit"]]


@pytest.mark.parametrize(
    "folder",
    thinned(samples(), kept=lambda folder: folder.name in {"gwf", "google2011", "kubernetes", "slurm-json"}),
    ids=lambda folder: folder.name,
)
def test_every_fact_of_a_sample_is_in_the_reference_and_what_is_printed_fits_its_schema(folder):
    with gwa.open(logs(folder)) as trace:
        report = whole(trace.store)
    facts = json.loads(json.dumps({fact.id: fact.value for fact in report.facts()}))

    assert unknown(report) == [], "if it is meant, run python -m tests.facts_reference"
    assert [error.message for error in REPORT.iter_errors(json.loads(as_json(report)))] == []
    assert [error.message for error in FACTS.iter_errors(facts)] == []


def test_every_fact_of_the_reference_has_a_definition():
    assert [row["id"] for row in KEPT.values() if not row["what"] or not row["section"]] == []
    assert len(KEPT) > 400


@pytest.mark.slow
@pytest.mark.skipif(not LOGS.exists(), reason="needs the logs of ../shared")
@pytest.mark.parametrize("path", sorted((LOGS / "swf").glob("*.swf.gz")), ids=lambda path: path.name)
def test_every_fact_of_a_real_log_is_in_the_reference(path):
    with gwa.open(path) as trace:
        assert unknown(whole(trace.store)) == []
