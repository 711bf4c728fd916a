"""The shape of the code: imports point one way, and everything stays small."""

import ast
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "gwa"

# From the ground up. A module imports from its own line or those above it, and never in a circle.
LAYERS = (
    "errors assets schema blocks account engine numbers",
    "statistics simulation",
    "figures readers output progress summary engines",
    "seam system",
    "store",
    "recipe reading kept gwftext metadata timeline ranking quality part",
    "cleaning",
    "tally",
    "rows",
    "ingest",
    "formats",
    "definition",
    "anonymize bags sources characteristics",
    "convert",
    "append",
    "models",
    "studies",
    "analysis findings",
    "report",
    "comparison",
    "archive",
    "trace explain",
    "terminal",
    "cli __init__ __main__",
)
# Arrays in, arrays out: all that these may import besides the standard library.
PURE = {
    "statistics": {"errors", "numpy", "scipy"},
    "simulation": {"errors", "numba", "numpy", "scipy"},
}
MOST_LINES = 300
MOST_LINES_OF_A_FUNCTION = 45

LEVEL = {unit: level for level, line in enumerate(LAYERS) for unit in line.split()}
MODULES = {path.relative_to(PACKAGE).as_posix(): path.read_text() for path in sorted(PACKAGE.rglob("*.py"))}


def unit_of(module: str) -> str:
    """Return the part of gwa that a module belongs to: itself, or the package that holds it."""
    return module.split("/", maxsplit=1)[0].removesuffix(".py")


def imports(text: str) -> Iterator[str]:
    """Yield the dotted name of all that a module imports, also inside functions and for types only."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def units_used(module: str) -> set[str]:
    """Return the other parts of gwa that a module uses; its bare version is free to all."""
    names = (name.split(".") for name in imports(MODULES[module]) if name != "gwa.__version__")
    return {name[1] if len(name) > 1 else "__init__" for name in names if name[0] == "gwa"} - {
        unit_of(module)
    }


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_down(module: str) -> None:
    unit = unit_of(module)
    assert unit in LEVEL, f"place {unit} in LAYERS"
    assert not {used for used in units_used(module) if LEVEL[used] > LEVEL[unit]}


def test_imports_make_no_circle() -> None:
    graph: dict[str, set[str]] = {}
    for module in MODULES:
        graph.setdefault(unit_of(module), set()).update(units_used(module))
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("module", [module for module in MODULES if unit_of(module) in PURE])
def test_pure_parts_import_numbers_only(module: str) -> None:
    others = {name.split(".")[0] for name in imports(MODULES[module])} - sys.stdlib_module_names - {"gwa"}
    assert others | units_used(module) <= PURE[unit_of(module)]


@pytest.mark.parametrize(
    "path", sorted((PACKAGE.parent / "benchmarks").rglob("*.py")), ids=lambda path: path.stem
)
def test_benchmarks_are_small(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= MOST_LINES


@pytest.mark.parametrize("module", MODULES)
def test_everything_is_small_and_finished(module: str) -> None:
    text = MODULES[module]
    assert len(text.splitlines()) <= MOST_LINES
    assert "TODO" not in text
    assert "FIXME" not in text
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < MOST_LINES_OF_A_FUNCTION, node.name
        if isinstance(node, ast.Name) and node.id == "print":
            assert unit_of(module) == "cli", f"line {node.lineno}: only the command line prints"
