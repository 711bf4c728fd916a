"""What counts as a change of a function: its code and the names that it uses, not comments or neighbours."""

import pytest

from tests.reach.digests import ENVIRONMENT, EVERYTHING, Checkout

TABLES = """
from gwa.words import shout
LIMIT = 3
NAMES = {"a": LIMIT}
OTHER = 1
def say(name):
    return shout(name)
GREETING = say("hello")
"""
WORDS = """
def shout(word):
    return word.upper()
"""
USE = '''
"""Says something."""
import gwa.tables as tables
from functools import cache
from gwa.tables import GREETING, NAMES
from gwa.loops import run

def look_up(name):
    return NAMES[name]

def greet():
    return GREETING

def of_module():
    return tables.OTHER

def alone():
    def inner():
        return 1
    return inner()

def simulate():
    return compiled(run)(1)

class Box:
    """A box."""
    size = 1

    def fill(self):
        return self.size

    @property
    def content(self):
        return 1

def boxed():
    return Box()
'''
LOOPS = """
def run(steps):
    return step(steps)
def step(steps):
    return steps + 1
"""
SOURCES = {"tables": TABLES, "words": WORDS, "use": USE, "loops": LOOPS}
FUNCTIONS = ("look_up", "greet", "of_module", "alone", "simulate", "Box.fill", "Box.content", "boxed")


@pytest.fixture
def home(tmp_path):
    """Return the folder of a small checkout."""
    (tmp_path / "gwa").mkdir()
    (tmp_path / "templates").mkdir()
    for name, text in SOURCES.items():
        (tmp_path / "gwa" / f"{name}.py").write_text(text)
    (tmp_path / "templates" / "page.html").write_text("<p>")
    return tmp_path


def digests(home, memory=None):
    checkout = Checkout(home, memory)
    return {name: checkout.digest(f"gwa/use.py:{name}") for name in FUNCTIONS}


def edit(home, name, old, new):
    path = home / "gwa" / f"{name}.py"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("file", "old", "new", "changed"),
    [
        ("use", "return 1\n    return inner", "return 2\n    return inner", {"alone"}),
        ("use", "def alone", "# A remark.\n\n\ndef alone", set()),
        ("use", "import gwa.tables", "import json\nimport gwa.tables", set()),
        ("use", '"""Says something."""', '"""Says another thing."""', set()),
        ("use", "import GREETING, NAMES", "import NAMES as GREETING, NAMES", {"greet"}),
        ("use", "size = 1", "size = 2", {"boxed"}),
        ("use", "return self.size", "return -self.size", {"Box.fill"}),
        ("tables", "LIMIT = 3", "LIMIT = 4", {"look_up"}),
        ("tables", "OTHER = 1", "OTHER = 2", {"of_module"}),
        ("tables", "OTHER = 1", "OTHER = 1\nNEW = 1", set()),
        ("words", "upper", "lower", {"greet"}),
        ("loops", "steps + 1", "steps + 2", {"simulate"}),
    ],
)
def test_a_change_is_one_of_whoever_uses_it(file, old, new, changed, home):
    before = digests(home)
    edit(home, file, old, new)
    after = digests(home)

    assert all(before.values())
    assert {name for name in FUNCTIONS if before[name] != after[name]} == changed


def test_a_function_that_is_gone_is_not_as_it_was(home):
    before = Checkout(home).signature(["gwa/use.py:alone", "gwa/use.py:greet"])
    edit(home, "use", "def alone", "def another")

    assert Checkout(home).digest("gwa/use.py:alone") == 0
    assert Checkout(home).signature(["gwa/use.py:greet", "gwa/use.py:alone"]) != before


@pytest.mark.parametrize("piece", ["templates/page.html", "templates/", "gwa/", ENVIRONMENT])
def test_files_and_folders_are_pieces(piece, home):
    before = Checkout(home)
    (home / "templates" / "page.html").write_text("<b>")
    (home / "gwa" / "use.py").write_text(USE)
    changed = {
        name
        for name in ("templates/page.html", "templates/", "gwa/")
        if Checkout(home).digest(name) != before.digest(name)
    }

    assert before.digest(piece) != 0
    assert changed == {"templates/page.html"}


def test_a_new_file_changes_its_folder_and_everything(home):
    before = Checkout(home)
    known = before.digest("templates/"), before.digest(EVERYTHING)
    (home / "templates" / "__pycache__").mkdir()
    assert (Checkout(home).digest("templates/"), Checkout(home).digest(EVERYTHING)) == known

    (home / "templates" / "new.html").write_text("")
    assert Checkout(home).digest("templates/") != known[0]
    assert Checkout(home).digest(EVERYTHING) != known[1]


def test_what_is_kept_of_modules_changes_nothing(home, tmp_path):
    memory = tmp_path / "kept" / "modules"
    first = digests(home, memory)
    assert memory.exists()
    assert digests(home, memory) == first
    edit(home, "tables", "LIMIT = 3", "LIMIT = 5")
    assert digests(home, memory) == digests(home)

    memory.write_bytes(b"no pickle")
    assert digests(home, memory) == digests(home)


def test_a_module_that_is_none_is_left_out(home):
    (home / "gwa" / "broken.py").write_text("def")
    assert Checkout(home).digest("gwa/broken.py:f") == 0
    assert Checkout(home).digest("gwa/use.py:alone") != 0
