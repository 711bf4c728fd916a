"""The shape of the code: rooms on floors, imports that point down, and no circles."""

import ast
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
    "archive trace",
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


def imports(tree: ast.AST, *, at_load: bool = False) -> Iterator[str]:
    """Yield the dotted name of everything imported in *tree*; only what loading it imports, if *at_load*."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif not (at_load and is_deferred(node)):
            yield from imports(node, at_load=at_load)


def is_deferred(node: ast.AST) -> bool:
    """Whether what *node* imports is imported when it is called, or only by a type checker."""
    is_for_types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    return is_for_types or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def modules_used(source: str, *, at_load: bool = False) -> set[str]:
    """Return the modules of gwa that *source* imports."""
    names = {name for name in imports(ast.parse(source), at_load=at_load) if name.split(".")[0] == "gwa"}
    return {name if name in SOURCES else name.rpartition(".")[0] for name in names}


def upward(module: str, source: str) -> set[str]:
    """Return the modules that *module* imports from its own floor or from above, outside its own room."""
    room = room_of(module)
    used = {name for name in modules_used(source) if room_of(name) != room}
    return {name for name in used if FLOOR[room_of(name)] >= FLOOR[room]}


@pytest.mark.parametrize("module", SOURCES)
def test_imports_point_down(module: str) -> None:
    assert room_of(module) in FLOOR, f"place {room_of(module)} in FLOORS"
    assert not upward(module, SOURCES[module])


def test_an_import_that_points_up_is_found() -> None:
    assert upward("gwa.store.store", "def read():\n    from gwa.formats.open import open_trace") == {
        "gwa.formats.open"
    }
    assert upward("gwa.store.store", "from gwa.report.document import Report") == {"gwa.report.document"}
    assert upward("gwa.store.store", "from gwa import __version__") == {"gwa"}
    assert upward("gwa.store.store", "from gwa.errors import GwaError") == set()


def circle(sources: dict[str, str]) -> list[str]:
    """Return the modules of a circle of imports, or none."""
    try:
        TopologicalSorter(
            {name: modules_used(text, at_load=True) for name, text in sources.items()}
        ).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


def test_imports_make_no_circle() -> None:
    assert not circle(SOURCES)


def test_a_circle_is_found() -> None:
    one, other = "gwa.store.store", "gwa.store.schema"
    sources = {one: "from gwa.store.schema import FIELDS", other: "from gwa.store.store import Store"}
    assert set(circle(sources)) == {one, other}


@pytest.mark.parametrize("module", [module for module in SOURCES if room_of(module) in PURE])
def test_pure_rooms_import_numbers_only(module: str) -> None:
    room, tree = room_of(module), ast.parse(SOURCES[module])
    others = {name.split(".")[0] for name in imports(tree)} - sys.stdlib_module_names - {"gwa"}
    own = {name for name in modules_used(SOURCES[module]) if room_of(name) != room}
    assert others | own <= PURE[room]


def test_the_floor_of_the_house_is_clear() -> None:
    found = {path.name for path in PACKAGE.iterdir() if path.name != "__pycache__"}
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert found == rooms | {"__init__.py", "__main__.py", "errors.py", "trace.py", "py.typed"}


@pytest.mark.parametrize("module", SOURCES)
def test_everything_is_finished(module: str) -> None:
    assert "TODO" not in SOURCES[module]
    assert "FIXME" not in SOURCES[module]
    for node in ast.walk(ast.parse(SOURCES[module])):
        if isinstance(node, ast.Name) and node.id == "print":
            assert room_of(module) == "cli", f"line {node.lineno}: only the command line prints"
