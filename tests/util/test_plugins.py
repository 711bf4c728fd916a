"""Members of families: those of a copied gwa are found by looking, those of others by entry points."""

import json
import re
from pathlib import Path

import pytest

from tests.util.members import (
    ARRIVALS,
    COMMAND,
    CONVERTER,
    DISTRIBUTION,
    FIGURE,
    FINDING,
    MEASURE,
    MODEL,
    OUTPUT,
    READER,
    SECTION,
    copy_of_gwa,
    install,
    python,
    said,
)

# A file in a folder.

FOLDERS = {
    "gwa/analysis/sections": SECTION,
    "gwa/analysis/findings": FINDING,
    "gwa/report/figures": FIGURE,
    "gwa/report/outputs": OUTPUT,
    "gwa/models/families": MODEL,
    "gwa/models/arrivals": ARRIVALS,
    "gwa/evaluation/measures": MEASURE,
    "gwa/ingest/readers": READER,
    "gwa/statistics": DISTRIBUTION,
    "gwa/cli": COMMAND,
    "gwa/cli/model": COMMAND,
}

LISTED = """
import json
from gwa.analysis.base import analyses
from gwa.analysis.finding import rules
from gwa.cli import gwa
from gwa.evaluation.measure import measures
from gwa.formats.registry import converters
from gwa.ingest.batch import find_reader
from gwa.models.arrival_process import processes
from gwa.models.base import models
from gwa.report.drawing import kinds
from gwa.report.output import outputs
from gwa.statistics.distribution import distributions
print(json.dumps({
    "gwa/analysis/sections": [one.id for one in analyses()],
    "gwa/analysis/findings": [one.id for one in rules()],
    "gwa/report/figures": kinds(),
    "gwa/report/outputs": list(outputs()),
    "gwa/models/families": list(models()),
    "gwa/models/arrivals": list(processes()),
    "gwa/evaluation/measures": [one.id for one in measures()],
    "gwa/ingest/readers": [find_reader(name).__module__ and name for name in ("columns", "ours")],
    "gwa/statistics": list(distributions()),
    "gwa/cli": list(gwa.list_commands(None)),
    "gwa/cli/model": list(gwa.get_command(None, "model").list_commands(None)),
    "converters": [one.name for one in converters()],
}))
"""


def test_there_is_no_list_to_edit(tmp_path):
    copy = copy_of_gwa(tmp_path)
    for folder, text in FOLDERS.items():
        (copy / folder / "ours.py").write_text(text)
    (copy / "converters" / "ours.sql").write_text(CONVERTER)
    done = python(copy, "-c", LISTED)

    assert done.returncode == 0, done.stderr
    families = json.loads(done.stdout)
    assert families.keys() == {*FOLDERS, "converters"}
    for folder, names in families.items():
        assert names.count("ours") == 1, folder
        assert len(names) > 1, folder
    assert python(copy, "-m", "gwa", "ours").stdout == "ours\n"


# An installed package.

POINTS = {
    "gwa.converters": "gwa_ours.converters",
    "gwa.sections": "gwa_ours.sections.ours",
    "gwa.findings": "gwa_ours.findings",
    "gwa.figures": "gwa_ours.figures.ours",
    "gwa.models": "gwa_ours.models",
    "gwa.distributions": "gwa_ours.distributions",
    "gwa.commands": "gwa_ours.commands",
}


@pytest.fixture
def package(tmp_path):
    """Return a folder with a package that adds to gwa, and a log of its format."""
    files = {
        "__init__.py": "",
        "converters/__init__.py": "",
        "converters/ours.sql": CONVERTER,
        "sections/ours.py": SECTION,
        "findings.py": FINDING,
        "figures/ours.py": FIGURE,
        "models.py": MODEL,
        "distributions.py": DISTRIBUTION,
        "commands.py": COMMAND,
    }
    for name, text in files.items():
        path = tmp_path / "gwa_ours" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    install(tmp_path, POINTS)
    lines = [f"ours,{1e9 + 60 * number:.0f},{number * number % 997 + 1}\n" for number in range(200)]
    (tmp_path / "a.ours").write_text("".join(lines))
    return tmp_path


def test_an_installed_package_adds_formats_and_models(package):
    formats = said(python(package, "-m", "gwa", "formats", "--json"))
    models = said(python(package, "-m", "gwa", "model", "list", "--json"))

    assert {"name": "ours", "format": "Jobs of ours", "files": "*.ours", "can": "read"} in formats
    assert [one["about"] for one in models if one["name"] == "ours"] == ["A model of ours."]


def test_an_installed_package_adds_sections_findings_and_figures(package):
    words = ("report", "a.ours", "--html", "--json", "-o", "out", "--sections", "overview,ours,data-quality")
    done = python(package, "-m", "gwa", *words)

    assert done.returncode == 0, done.stderr
    page, data = (Path(package, line) for line in done.stdout.splitlines())
    report = json.loads(data.read_text())
    assert [one["title"] for one in report["sections"] if one["id"] == "ours"] == ["Section of ours"]
    assert "Something is ours." in [one["text"] for one in report["findings"]]
    assert "<svg" in page.read_text()


def test_an_installed_package_adds_distributions(package):
    rows = said(python(package, "-m", "gwa", "fit", "a.ours", "runtime", "--every", "--json"))

    assert "ours" in [one["distribution"] for one in rows]


def test_an_installed_package_adds_commands(package):
    helped = python(package, "-m", "gwa", "--help").stdout

    assert python(package, "-m", "gwa", "ours").stdout == "ours\n"
    assert re.search(r"^Others:\n(  .*\n)*  ours +Do something of ours\.$", helped, re.MULTILINE)


ASKING = {
    "gwa.converters": ("formats",),
    "gwa.sections": ("facts", "a.ours"),
    "gwa.findings": ("report", "a.ours", "--json", "--sections", "overview"),
    "gwa.figures": ("report", "a.ours", "--html", "--sections", "run-times"),
    "gwa.models": ("model", "list"),
    "gwa.distributions": ("fit", "a.ours", "runtime", "--every"),
    "gwa.commands": ("ours",),
}
"""For each group a command that needs its members."""

BROKEN = {
    "nowhere": "cannot be loaded: ModuleNotFoundError: ",
    "gwa_ours.findings:ours": "is gwa_ours.findings:ours, expected the name of a module",
}


@pytest.mark.parametrize("value", BROKEN)
@pytest.mark.parametrize("group", ASKING)
def test_a_broken_entry_point_is_an_error_in_a_line_that_names_its_package(group, value, package):
    install(package, {"gwa.converters": "gwa_ours.converters", group: value})
    done = python(package, "-m", "gwa", *ASKING[group], *(["--quiet"] if "a.ours" in ASKING[group] else []))

    assert done.returncode == 1, done.stdout
    assert done.stderr.startswith(f"gwa: gwa-ours: its entry point 'ours' in {group} {BROKEN[value]}")
    assert done.stderr.count("\n") == 1
