"""
Extract the texts that a report can have, and renew the catalogues of languages with them: `make messages`.

Python is read as syntax, not run: the texts are those of `message` and `plural`, the titles, labels and notes
of the parts of a document, and the docstrings of sections and findings, which reports print.
"""

import ast
import re
from collections.abc import Iterator
from inspect import cleandoc
from io import BytesIO
from pathlib import Path
from typing import Any, Final, TypeGuard

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po
from jinja2.ext import babel_extract

from gwa.evaluation.measure import Aspect
from gwa.ingest.cleaning import cleaning_repairs
from gwa.metrics.alert_rules import RULES, TEXTS
from gwa.simulation.architectures import ARCHITECTURES
from gwa.simulation.scheduling import SCHEDULERS
from gwa.simulation.selection import SELECTIONS
from gwa.store.repairs import repair_message

HOME: Final = Path(__file__).parent.parent
LANGUAGES: Final = HOME / "templates" / "languages"

SKIPPED: Final = {
    "Fact": (0, 1, 3),
    "Column": (0, 2),
    "Table": (0,),
    "table_of": (0, 2, 3),
    "FactTable": (0,),
    "Attachment": (0, 2, 3),
    "Note": (1,),
    "Answer": (0,),
    "AnswerRow": (2, 3),
    "analysis": (),
    "finding": None,
    "Facts": (),
    **dict.fromkeys(
        (
            "bars",
            "cdf",
            "density",
            "gantt",
            "groups",
            "heatmap",
            "lines",
            "lorenz",
            "series",
            "spark",
            "strips",
        ),
        (0,),
    ),
    "message": (),
    "note_of": (),
    "facts_of": (),
    "FitError": (),
    "within_sentence": (),
    "Resource": (0, 2, 3, 4, 5, 6, 7, 8),
    "Field": (0, 1, 2, 3),
    "measure": (1, 2),
}
"""Calls whose texts are shown, and the places of arguments that are no texts; None for all places."""

NAMES: Final = {
    "aliases",
    "unit",
    "zone",
    "id",
    "key",
    "facts",
    "needs",
    "section",
    "plot",
    "shape",
    "level",
    "darkest",
}
"""Arguments by name that are no texts either."""

WORDS: Final = (
    "users", "groups", "projects", "queues", "jobs", "processors", "memory", "time", "user", "group",
    "queue", "size", "hour", "day", "week", "month", "quarter of an hour", "an hour", "a day", "a week",
    "a month", "a quarter of an hour", "requested", "used", "running", "waiting", "submitted", "started",
    "ended", "completed", "failed", "cancelled", "unknown", "undefined", "all", "sequential", "parallel",
    "account", "accounts", "rises", "falls", "real", "longer", "exponential", "hyper-exponential", "normal",
    "lognormal", "makespan", "Fraction of jobs", "Running and waiting", "Completed", "Failed", "Cancelled",
    "Sequential", "Parallel", "Unknown", "15 min", "30 min", "1 h", "6 h", "24 h", "168 h", "1 day",
    "1 week", "even shares", "submits", "uses", "CPU", "2 to 4",
    "inferred: the most processors ever busy at once", "stated in the header",
    "stated in the header (MaxProcs)", "Mean make-span", "same user", "same user and group",
    "alike in six attributes", "one job array", "Users", "Projects", "Queues", "User", "Groups", "yes",
    "no", "equal", *ARCHITECTURES.values(), *SELECTIONS.values(), *SCHEDULERS.values(),
    *sorted({repair_message(meaning).template for _, meaning in cleaning_repairs()}),
    *(aspect.value for aspect in Aspect), *(getattr(rule, name) for rule in RULES for name in TEXTS),
)  # fmt: skip
"""Words that are names in the code, too, or belong to a room that knows no report."""

PROSE: Final = re.compile(r"[A-Za-z]")


def python_texts(source: str) -> Iterator[tuple[str, ...]]:
    """Yield the texts of a module: one English text, or two where there is a plural."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            yield from _of_call(node)
        elif isinstance(node, ast.FunctionDef) and _is_printed(node):
            yield from ((text,) for text in paragraphs(ast.get_docstring(node) or "", node))
        elif isinstance(node, ast.ClassDef) and any(getattr(base, "id", "") == "Enum" for base in node.bases):
            yield from (
                (text,) for text in _constants(ast.Module(node.body[1:], [])) if node.name.endswith("Chapter")
            )


def paragraphs(docstring: str, node: ast.FunctionDef) -> list[str]:
    """Return the help of a section by paragraph, the rule of a finding as one."""
    if any("finding" in ast.unparse(each) for each in node.decorator_list):
        return [" ".join(docstring.split())] if docstring else []
    return [" ".join(part.split()) for part in cleandoc(docstring).split("\n\n") if part]


def _is_printed(node: ast.FunctionDef) -> bool:
    names = [ast.unparse(getattr(each, "func", each)) for each in node.decorator_list]
    return bool({"analysis", "finding"} & set(names))


def _of_call(node: ast.Call) -> Iterator[tuple[str, ...]]:
    """Yield the texts that a call shows."""
    name = getattr(node.func, "id", "")
    if name in {"plural", "_plural"}:
        if texts := tuple(text for argument in node.args[:2] for text in _constants(argument)):
            yield texts
    elif name in SKIPPED:
        for argument in _shown(node, name):
            yield from ((text,) for text in _constants(argument))


def _shown(node: ast.Call, name: str) -> list[ast.expr]:
    """Return the arguments of a call that are shown."""
    skipped = SKIPPED[name]
    if name in {"message", "note_of", "FitError"}:
        return node.args[:1]
    if name == "facts_of":
        rows = (each.elts for argument in node.args[1:] for each in ast.walk(argument) if _is_row(each))
        return [row[2] for row in rows] + [one.value for one in node.keywords]
    shown = [one.value for one in node.keywords if one.arg not in NAMES]
    if skipped is None:
        return shown
    return [argument for place, argument in enumerate(node.args) if place not in skipped] + shown


def _is_row(node: ast.AST) -> TypeGuard[ast.Tuple]:
    """Whether a node is a row of a fact: the end of its id, value, label and unit."""
    return isinstance(node, ast.Tuple) and len(node.elts) == 4


def _constants(node: ast.AST) -> Iterator[str]:
    """Yield the strings in an expression, but not those in the calls and comparisons in it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and PROSE.search(node.value):
        yield node.value
    if isinstance(node, ast.Call | ast.Subscript | ast.Compare | ast.JoinedStr):
        return
    children = [node.body, node.orelse] if isinstance(node, ast.IfExp) else ast.iter_child_nodes(node)
    for child in children:
        yield from _constants(child)


def template_texts(path: Path) -> Iterator[tuple[str, ...]]:
    """Yield the texts of a template of Jinja; those of LaTeX have other brackets."""
    options = {"trim_blocks": "true"}
    if path.suffix == ".tex":
        options |= LATEX
    for _, _, texts, _ in babel_extract(BytesIO(path.read_bytes()), ["_", "_n"], [], options):
        yield tuple(text for text in (texts if isinstance(texts, tuple) else (texts,)) if text)


LATEX: Final = {
    "block_start_string": "<%", "block_end_string": "%>",
    "variable_start_string": "<<", "variable_end_string": ">>",
    "comment_start_string": "<#", "comment_end_string": "#>",
}  # fmt: skip


def sources() -> Iterator[Path]:
    """Yield the files that have texts, in an order: those of some rooms, and all that make messages."""
    named = list(_of_rooms())
    others = sorted(set((HOME / "gwa").rglob("*.py")).difference(named))
    yield from named
    yield from (path for path in others if MAKES_MESSAGES.search(path.read_text(encoding="utf-8")))
    yield from sorted((HOME / "templates").glob("*.html"))
    yield from sorted((HOME / "templates" / "latex").glob("*.tex"))


MAKES_MESSAGES: Final = re.compile(
    r"^ *from gwa\.words\.message import .*\b(message|plural)\b|^class \w*Chapter\(|raise FitError\(",
    re.MULTILINE,
)


def _of_rooms() -> Iterator[Path]:
    for folder in (
        "gwa/analysis",
        "gwa/report",
        "gwa/words",
        "gwa/breakdown",
        "gwa/metrics",
        "gwa/store",
        "gwa/evaluation/measures",
        "gwa/evaluation/experiments",
    ):
        yield from sorted((HOME / folder).rglob("*.py"))
    yield HOME / "gwa" / "evaluation" / "standings.py"


def template() -> Catalog:
    """Return the texts of a report as a template for languages."""
    catalogue = Catalog(project="gwa", charset="utf-8")
    for path in sources():
        texts = (
            template_texts(path) if path.suffix != ".py" else python_texts(path.read_text(encoding="utf-8"))
        )
        for found in texts:
            where = [(path.relative_to(HOME).as_posix(), None)]
            catalogue.add(found if len(found) > 1 else found[0], locations=where)  # type: ignore[arg-type]
    for word in WORDS:
        catalogue.add(word)
    return catalogue


def as_text(catalogue: Catalog) -> bytes:
    """Return a catalogue as a file without anything that changes by itself."""
    content = BytesIO()
    write_po(content, catalogue, width=110, omit_header=False, sort_output=False, include_lineno=False)
    lines = content.getvalue().decode().splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith(CHANGING)]
    return "".join(kept).encode()


CHANGING: Final = (
    '"POT-Creation',
    '"PO-Revision',
    '"Generated-By',
    '"Last-Transl',
    '"Report-Msgid',
    "# ",
    "#\n",
)


def renew(path: Path, texts: Catalog) -> bytes:
    """Return the catalogue of a language with all *texts*, those that are gone left out."""
    with path.open("rb") as lines:
        catalogue: Any = read_po(lines, locale=path.stem)
    catalogue.update(texts, no_fuzzy_matching=True)
    catalogue.obsolete.clear()
    return as_text(catalogue)


def main() -> None:
    """Write the template, and renew the catalogue of each language."""
    texts = template()
    (LANGUAGES / "messages.pot").write_bytes(as_text(texts))
    for path in sorted(LANGUAGES.glob("*.po")):
        path.write_bytes(renew(path, texts))


if __name__ == "__main__":
    main()
