"""
Members of the families that are found by looking, each the text of a file called ``ours``.

They stand in a copy of gwa, or in a package that adds them by entry points.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.conftest import HOME

SECTION = '''
from gwa.analysis.base import Chapter, analysis
from gwa.report.document import Figure

@analysis("Section of ours", Chapter.SIZES, facts=("ours",))
def ours(store):
    """What is ours."""
    yield Figure(id="ours", title="Rings", plot="ours", data={}, alt="Rings.")
'''

FINDING = '''
from gwa.analysis.finding import finding

@finding("trace.jobs", section="data-quality")
def ours(facts):
    """Said always."""
    return 1.0, "Something is ours."
'''

FIGURE = '''
def draw(canvas, data):
    """Draw a line."""
    canvas.add_axes((0.1, 0.1, 0.8, 0.8)).plot([0, 1], [0, 1])
'''

MODEL = '''
from gwa.models.families.lublin import Lublin

class Ours(Lublin):
    """A model of ours."""

    name = "ours"
'''

ARRIVALS = '''
from gwa.models.arrivals.renewal import Poisson

class Ours(Poisson):
    """A process of ours."""

    name = "ours"
'''

DISTRIBUTION = '''
from gwa.statistics.distributions import Lognormal

class Ours(Lognormal):
    """A distribution of ours."""

    name = "ours"
'''

MEASURE = '''
from gwa.evaluation.measure import DIFFERENCE, Aspect, measure

@measure("Measure of ours", Aspect.USERS, DIFFERENCE)
def ours(workload):
    """A number."""
    return 1.0
'''

READER = "from gwa.ingest.readers.columns import batches\n"

OUTPUT = '''
HELP = "An output of ours."

def render(edition):
    """Return a text."""
    return "ours"
'''

COMMAND = '''
import click

@click.command(name="ours")
def command():
    """Do something of ours."""
    click.echo("ours")
'''

CONVERTER = """/* ---
title = "Jobs of ours"
files = ["*.ours"]
delimiter = ","
first = '^ours,'
notes = "made up"

[columns]
mark = "varchar"
begin = "double"
seconds = "double"
--- */
select begin as submit_time, seconds as run_time, 1 as n_procs from source
"""


def copy_of_gwa(folder: Path) -> Path:
    """Copy gwa with all that it ships into *folder*, without byte code, and return it."""
    for name in ("gwa", "converters", "templates"):
        shutil.copytree(HOME / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def install(folder: Path, points: Mapping[str, str]) -> None:
    """Let the package gwa-ours in *folder* have an entry point for each group, as installers note them."""
    notes = folder / "gwa_ours-1.0.dist-info"
    notes.mkdir(exist_ok=True)
    (notes / "METADATA").write_text("Metadata-Version: 2.1\nName: gwa-ours\nVersion: 1.0\n")
    (notes / "entry_points.txt").write_text(
        "".join(f"[{group}]\nours = {value}\n" for group, value in points.items())
    )


def python(folder: Path, *words: object) -> "subprocess.CompletedProcess[str]":
    """Run Python in *folder*, with what stands there before all that is installed."""
    return subprocess.run(
        [sys.executable, *map(str, words)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(folder), str(HOME)))},
        cwd=folder, check=False, capture_output=True, text=True,
    )  # fmt: skip


def said(done: "subprocess.CompletedProcess[str]") -> list[dict[str, object]]:
    """Return the rows that a command printed as JSON."""
    assert done.returncode == 0, done.stderr
    rows: list[dict[str, object]] = json.loads(done.stdout)
    return rows
