"""The shape of the code: rooms on floors, imports that point down, and no circles."""

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "gwa"

# From the ground up. A room imports from the floors below its own, never from its own floor or above.
FLOORS = (
    "errors",
    "util",
    "statistics simulation words",
    "store report",
    "ingest metrics",
    "breakdown",
    "formats",
    "models",
    "evaluation",
    "analysis",
    "archive requests trace",
    "functions",
    "assistant gym tasks",
    "cli __init__",
    "__main__",
)
# Arrays in, arrays out: everything that these rooms may import besides the standard library.
PURE = {
    "statistics": {"gwa.errors", "gwa.util.plugins", "gwa.util.units", "numpy", "scipy"},
    "simulation": {
        "gwa.errors",
        "gwa.util.compiled",
        "gwa.util.plugins",
        "gwa.util.units",
        "numba",
        "numpy",
        "scipy",
    },
}

FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms.split()}


def dotted(path: str) -> str:
    """Return the name by which a module is imported: gwa.store.engines.base."""
    return f"gwa.{path.removesuffix('.py').replace('/', '.')}".removesuffix(".__init__")


SOURCES = {
    dotted(path.relative_to(PACKAGE).as_posix()): path.read_text() for path in sorted(PACKAGE.rglob("*.py"))
}


def room_of(module: str) -> str:
    """Return the room of a module: the folder, or the loose module, directly in gwa/."""
    return [*module.split("."), "__init__"][1]


def imports(tree: ast.AST) -> Iterator[str]:
    """Yield the dotted name of everything imported in *tree*: at load, when called, or by a type checker."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def modules_used(source: str) -> set[str]:
    """Return the modules of gwa that *source* imports."""
    names = {name for name in imports(ast.parse(source)) if name.split(".")[0] == "gwa"}
    return {name if name in SOURCES else name.rpartition(".")[0] for name in names}


def modules_named(source: str) -> set[str]:
    """Return the modules of gwa that *source* names in strings, by which `plugins` and others find them."""
    nodes = ast.walk(ast.parse(source))
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return {text.partition(":")[0] for text in texts} & SOURCES.keys() - {"gwa"}


def upward(module: str, source: str) -> set[str]:
    """Return the modules that *module* imports or names on its own floor or above, outside its own room."""
    room = room_of(module)
    used = {name for name in modules_used(source) | modules_named(source) if room_of(name) != room}
    return {name for name in used if FLOOR[room_of(name)] >= FLOOR[room]}


def test_every_room_has_a_floor() -> None:
    assert {room_of(module) for module in SOURCES} == FLOOR.keys()


def test_imports_point_down() -> None:
    found = {module: upward(module, source) for module, source in SOURCES.items()}
    assert not {module: above for module, above in found.items() if above}


def test_an_import_that_points_up_is_found() -> None:
    assert upward("gwa.store.store", "def read():\n    from gwa.formats.open import open_trace") == {
        "gwa.formats.open"
    }
    assert upward("gwa.store.store", "from gwa.report.document import Report") == {"gwa.report.document"}
    assert upward("gwa.store.store", "from gwa import __version__") == {"gwa"}
    assert upward("gwa.store.store", "X = 'gwa.analysis.base:analyses'") == {"gwa.analysis.base"}
    assert upward("gwa.store.store", "from gwa.errors import GwaError") == set()


def circle(sources: dict[str, str]) -> list[str]:
    """Return the modules of a circle of imports, or none."""
    try:
        TopologicalSorter({name: modules_used(text) for name, text in sources.items()}).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


def test_imports_make_no_circle() -> None:
    assert not circle(SOURCES)


def test_a_circle_is_found() -> None:
    one, other = "gwa.store.store", "gwa.store.schema"
    at_load = "from gwa.store.store import Store"
    for text in (at_load, f"def read():\n    {at_load}", f"if TYPE_CHECKING:\n    {at_load}"):
        assert set(circle({one: "from gwa.store.schema import FIELDS", other: text})) == {one, other}


@pytest.mark.parametrize("module", [module for module in SOURCES if room_of(module) in PURE])
def test_pure_rooms_import_numbers_only(module: str) -> None:
    room, tree = room_of(module), ast.parse(SOURCES[module])
    others = {name.split(".")[0] for name in imports(tree)} - sys.stdlib_module_names - {"gwa"}
    own = {name for name in modules_used(SOURCES[module]) if room_of(name) != room}
    assert others | own <= PURE[room]


def test_the_floor_of_the_house_is_clear() -> None:
    found = {path.name for path in PACKAGE.iterdir() if path.name != "__pycache__"}
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert found == rooms | {
        "__init__.py",
        "__main__.py",
        "errors.py",
        "functions.py",
        "trace.py",
        "py.typed",
    }


def test_nothing_lies_on_the_top_level() -> None:
    """A page that somebody wrote while trying a command was committed once."""
    git, home = shutil.which("git"), PACKAGE.parent
    if git is None or not (home / ".git").exists():
        pytest.skip("this is no checkout")
    done = subprocess.run([git, "ls-files"], cwd=home, capture_output=True, text=True, check=True)
    found = {path for path in done.stdout.splitlines() if "/" not in path and not path.startswith(".")}
    assert found == {"CHANGELOG.md", "CITATION.cff", "LICENSE", "Makefile", "README.md", "pyproject.toml"}


def test_everything_is_finished() -> None:
    assert not [module for module, text in SOURCES.items() if re.search("TODO|FIXME", text)]


def test_only_the_command_line_prints() -> None:
    assert {room_of(module) for module, text in SOURCES.items() if "print" in names_used(text)} <= {"cli"}


def names_used(source: str) -> set[str]:
    """Return the names of variables and functions in *source*."""
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
