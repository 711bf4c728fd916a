"""Files are written whole: nothing but `gwa.util.atomic` opens a file that others may see half of."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "gwa"

WRITERS = {
    "util/atomic.py": "it is what writes whole files",
    "util/seal.py": "the seal of a file that appears when it is whole",
    "archive/_worker.py": "in the new site, which takes its place when it is whole",
    "archive/make_site.py": "in the new site",
    "archive/site_state.py": "in the new site",
    "archive/download.py": "in a folder of its own, from which a file is moved when it is whole",
    "archive/explore.py": "in the new site",
    "archive/fetch.py": "the part of a file that appears when it is whole",
    "archive/publish.py": "in the new site",
    "archive/report_excerpts.py": "in the new site",
    "archive/sql_console.py": "in the new site",
    "breakdown/charge/folder.py": "in a new folder, which takes its place when it is whole",
    "evaluation/score_cache.py": "it appends lines; those that are broken off are computed again",
    "formats/continuing.py": "in a scratch folder",
    "formats/export.py": "in a new folder, which takes its place when it is whole",
    "formats/exports/accasim.py": "in the new folder of an export",
    "formats/exports/alea.py": "in the new folder of an export",
    "formats/exports/batsim.py": "in the new folder of an export",
    "formats/exports/opendc.py": "in the new folder of an export",
    "formats/exports/simgrid.py": "in the new folder of an export",
    "formats/exports/wfcommons.py": "in the new folder of an export",
    "formats/collect/logs.py": "in the part of a file that appears when it is whole",
    "formats/collect/sacct.py": "in the part of a file that appears when it is whole",
    "formats/collect/slurm.py": "in the part of a file that appears when it is whole",
    "ingest/bulk_insert.py": "in a scratch folder",
    "ingest/checkpoint.py": "in the part of a checkpoint that appears when it is whole",
    "ingest/inputs.py": "in a scratch folder",
    "ingest/readers/columns.py": "in a scratch folder",
    "ingest/readers/named.py": "in a scratch folder",
    "ingest/readers/table.py": "in a scratch folder",
    "tasks/make.py": "in a new folder, which takes its place when it is whole",
}
"""The modules that write files otherwise, and why nobody sees half of those."""

WRITING = {
    "write_text",
    "write_bytes",
    "touch",
    "mkstemp",
    "mkdtemp",
    "NamedTemporaryFile",
    "TemporaryDirectory",
}


def is_writing_mode(node: ast.expr) -> bool:
    """Whether an argument is the mode of a file that is opened for writing."""
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, str) and set(value) <= set("rwaxbt+") and bool(set(value) & set("wax+"))


def writes(tree: ast.AST) -> Iterator[int]:
    """Yield the lines in which a file is opened for writing, or written at once."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            modes = [*node.args[:2], *(word.value for word in node.keywords if word.arg == "mode")]
            if name in WRITING or (name == "open" and any(map(is_writing_mode, modes))):
                yield node.lineno


MODULES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_files_appear_whole(path):
    lines = list(writes(ast.parse(path.read_text(encoding="utf-8"))))
    assert bool(lines) == (path.relative_to(PACKAGE).as_posix() in WRITERS), lines


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("open('log.txt', 'w')", 1),
        ("open('a', mode='ab')", 1),
        ("open('log.txt')", 0),
        ("path.open('rb')", 0),
        ("Store.open(path, engine)", 0),
        ("gzip.open('b', 'wt')", 1),
        ("path.open('x')", 1),
        ("path.write_text('')", 1),
        ("tempfile.mkdtemp()", 1),
    ],
)
def test_such_writes_are_found(code, count):
    assert len(list(writes(ast.parse(code)))) == count
