"""What is kept of an earlier gwa is not used by another one: whatever file of it changes."""

import json

import pytest

from tests.conftest import HOME
from tests.util.members import MODEL, copy_of_gwa, install, python

FOLDERS = sorted({path.parent for path in (HOME / "gwa").rglob("*.py")})
CHANGED = [
    *(max(folder.glob("*.py")) for folder in FOLDERS),
    *sorted((HOME / "gwa").rglob("*.toml")),
    HOME / "converters" / "swf.sql",
    HOME / "templates" / "latex" / "report.tex",
]
"""A file of each folder, and all that are not code."""

PROGRAMS = """
import json, sys
from gwa.util.fingerprint import program
found = [program()]
for path in sys.argv[1:]:
    with open(path, "a") as file:
        file.write("\\n")
    program.cache_clear()
    found.append(program())
print(json.dumps(found))
"""

NO_CHANGE = """
from pathlib import Path
import gwa
from gwa.util.fingerprint import program
before = program()
folder = Path(gwa.__file__).parent / "simulation" / "__pycache__"
folder.mkdir(exist_ok=True)
for name in ("some.cpython-311.pyc", "some.loop-1.py311.nbi", "some.loop-1.py311.1.nbc"):
    (folder / name).write_bytes(b"compiled")
program.cache_clear()
print(program() == before)
"""


@pytest.fixture
def copy(tmp_path):
    return copy_of_gwa(tmp_path)


def change(copy, name):
    """Append a harmless line to a file of a copied gwa."""
    with (copy / "gwa" / name).open("a") as file:
        file.write("\n# changed\n")


def test_any_changed_file_is_another_program(copy):
    rooms = {path.relative_to(HOME / "gwa").parts[0] for path in FOLDERS if path != HOME / "gwa"}
    changed = [copy / path.relative_to(HOME) for path in CHANGED]
    done = python(copy, "-c", PROGRAMS, *changed)

    assert done.returncode == 0, done.stderr
    programs = json.loads(done.stdout)
    assert len(set(programs)) == len(programs) == 1 + len(CHANGED)
    assert rooms >= {"store", "statistics", "simulation", "report", "ingest", "metrics", "formats", "models"}
    assert rooms >= {"evaluation", "analysis", "archive", "cli", "util"}


def test_what_is_compiled_is_no_change(copy):
    done = python(copy, "-c", NO_CHANGE)

    assert (done.stdout, done.stderr) == ("True\n", "")


def test_a_changed_file_of_a_package_that_adds_to_gwa_is_another_program(tmp_path):
    (tmp_path / "gwa_ours").mkdir()
    files = [tmp_path / "gwa_ours" / name for name in ("__init__.py", "model.py", "helper.py")]
    for file in files:
        file.write_text(MODEL)
    install(tmp_path, {"gwa.models": "gwa_ours.model"})
    done = python(tmp_path, "-c", PROGRAMS, *files)

    assert done.returncode == 0, done.stderr
    assert len(set(json.loads(done.stdout))) == 4


# The commands that keep results.


def test_simulations_are_done_again_by_another_program(copy, sample):
    (copy / "test.toml").write_text(
        'title = "T"\npolicies = ["easy", "fcfs"]\nclusters = [{ name = "c", processors = 128 }]\n'
        f'[[workloads]]\nname = "w"\ntrace = "{sample / "swf" / "tiny.swf"}"\n'
    )

    def simulated():
        done = python(copy, "-m", "gwa", "simulate", "test.toml", "-o", "out", "--jobs", "1")
        assert done.returncode == 0, done.stderr
        return next(line for line in done.stderr.splitlines() if " runs, of which " in line)

    assert simulated() == "2 runs, of which 2 were done now"
    assert simulated() == "2 runs, of which 0 were done now"
    change(copy, "statistics/numeric.py")
    assert simulated() == "2 runs, of which 2 were done now"


def test_scores_are_found_again_by_another_program(copy, sample):
    def scores():
        words = (sample / "swf" / "tiny.swf", "--models", "dacosta", "--seeds", "1", "-o", "out")
        done = python(copy, "-m", "gwa", "model", "rank", *words)
        assert done.returncode == 0, done.stderr
        lines = (copy / "out" / "scores.jsonl").read_text().splitlines()
        return sum("answer" in line for line in lines)

    count = scores()
    assert count > 0
    assert scores() == count
    change(copy, "metrics/bags.py")
    assert scores() == 2 * count


SITE = """
[archive]
title = "Archive"
about = "Traces for tests."

[[trace]]
id = "made"
title = "Made"
system = "s"
provider = "p"
licence = "CC0-1.0"
citation = "c"
year = 2009
preset = "lublin"
jobs = 60
seed = 3
"""


def test_traces_of_a_site_are_made_again_by_another_program(copy):
    (copy / "site").mkdir()
    (copy / "site" / "archive.toml").write_text(SITE)

    def built():
        done = python(copy, "-m", "gwa", "site", "build", "site", "-o", "public", "--jobs", "1")
        assert done.returncode == 0, done.stderr
        return done.stderr.splitlines()[0]

    assert built() == "public: 1 traces made, 0 unchanged"
    assert built() == "public: 0 traces made, 1 unchanged"
    change(copy, "words/formatting.py")
    assert built() == "public: 1 traces made, 0 unchanged"


CONVERTED = """
import sys
from pathlib import Path
from gwa.formats.convert import convert
from gwa.ingest import staging
whole, read, stop = staging.read_file, [], int(sys.argv[1])
def counted(*words):
    if len(read) == stop:
        raise KeyboardInterrupt
    read.append(words)
    return whole(*words)
staging.read_file = counted
try:
    convert([Path(word) for word in sys.argv[2:]], Path("out.duckdb"))
except KeyboardInterrupt:
    pass
print(len(read))
"""


def test_an_interrupted_conversion_begins_again_by_another_program(copy):
    names = [f"{number}.swf" for number in range(5)]
    for number, name in enumerate(names):
        (copy / name).write_text(f"{number} {number} 5 60 2 -1 -1 2 60 -1 1 1 1 1 1 1 -1 -1\n")

    def read_until(stop):
        done = python(copy, "-c", CONVERTED, stop, *names)
        assert done.returncode == 0, done.stderr
        return int(done.stdout)

    assert read_until(2) == 2
    assert read_until(2) == 2, "the third and the fourth"
    change(copy, "ingest/cleaning.py")
    assert read_until(99) == 5
    assert not (copy / "out.duckdb.rows").exists()
