r"""
The report as LaTeX: ``report.tex`` compiles, and each section is a file to be taken into a paper.

Text from logs is escaped and can never be a command. Each figure is a PDF; numbers are written as on
the page, and tables break over pages. A paper takes in ``preamble.tex`` and the sections that it wants.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import jinja2

from gwa.errors import DefinitionError
from gwa.report.document import Figure, Report
from gwa.report.drawing import draw_all
from gwa.report.html import printable, summary, templates, words
from gwa.report.language import Language

SPECIAL: Final = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_\allowbreak{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    '"': r"\textquotedbl{}",
    "|": r"\textbar{}",
    "-": r"{-}",
    "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
    "\N{MINUS SIGN}": r"\ensuremath{-}",
    "\N{MULTIPLICATION SIGN}": r"\ensuremath{\times}",
    "\N{DIVISION SIGN}": r"\ensuremath{\div}",
    "\N{MIDDLE DOT}": r"\textperiodcentered{}",
    "\N{HORIZONTAL ELLIPSIS}": r"\ldots{}",
    "\N{EN DASH}": r"\textendash{}",
    "\N{EM DASH}": r"\textemdash{}",
    "\N{LESS-THAN OR EQUAL TO}": r"\ensuremath{\leq}",
    "\N{GREATER-THAN OR EQUAL TO}": r"\ensuremath{\geq}",
    "\N{ALMOST EQUAL TO}": r"\ensuremath{\approx}",
    "\N{RIGHTWARDS ARROW}": r"\ensuremath{\rightarrow}",
    "\N{REPLACEMENT CHARACTER}": "?",
    "\N{SQUARE ROOT}": r"\ensuremath{\surd}",
    **{letter: rf"\ensuremath{{\{name}}}" for letter, name in (
        ("α", "alpha"), ("β", "beta"), ("γ", "gamma"), ("λ", "lambda"), ("μ", "mu"), ("σ", "sigma"),
        ("τ", "tau"), ("π", "pi"), ("Δ", "Delta"), ("Σ", "Sigma"), ("∞", "infty"), ("±", "pm"), ("∑", "sum"),
    )},
    **{raised: rf"\textsuperscript{{{plain}}}" for raised, plain in zip(
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True
    )},
}  # fmt: skip
"""How LaTeX writes a letter that it would not read as one, or that plain fonts lack."""

_SPECIAL: Final = re.compile("[" + re.escape("".join(SPECIAL)) + "]")


class Tex(str):
    """Text that is LaTeX already."""

    __slots__ = ()


def latex(
    report: Report,
    *,
    drawings: Mapping[str, str] | None = None,
    overrides: Path | None = None,
    language: Language | None = None,
) -> Mapping[str, str | bytes]:
    """
    Return *report* as the files of a folder, by their names: sections, figures, preamble, ``report.tex``.

    Its figures are drawn unless they come as *drawings*. A template in the folder *overrides*, such as
    ``latex/section.tex``, takes the place of ours; their words are those of a *language*, else English.
    """
    from gwa.report.pdf import pages

    names = figure_names(report)
    environment = _environment(overrides, words(report.zone, language or Language()))
    try:
        template = environment.get_template("latex/section.tex")
        files: dict[str, str | bytes] = {
            f"sections/{section.id}.tex": template.render(section=section, drawn=names)
            for section in report.sections
        }
        files["preamble.tex"] = environment.get_template("latex/preamble.tex").render()
        main = environment.get_template("latex/report.tex").render(report=report, summary=summary(report))
    except jinja2.TemplateError as error:
        raise DefinitionError(f"templates: {error.message}") from error
    shown = report.figures()
    drawn = pages(shown, drawings or draw_all(shown, language or Language()))
    return files | {names[name]: content for name, content in drawn.items()} | {"report.tex": main}


def figure_names(report: Report) -> dict[str, str]:
    """Return for the id of each figure its file, which is called by its section and itself."""
    return {
        block.id: f"figures/{file_name(section.id, block.id)}.pdf"
        for section in report.sections
        for block in section.blocks
        if isinstance(block, Figure)
    }


def file_name(section: str, figure: str) -> str:
    """
    Return what the file of a *figure* of a *section* is called, in letters that any system and TeX take.

    >>> file_name("waits", "waits"), file_name("estimates", "waste by user")
    ('waits', 'estimates-waste-by-user')
    """
    name = figure if figure == section or figure.startswith(f"{section}-") else f"{section}-{figure}"
    return re.sub(r"[^A-Za-z0-9-]+", "-", name)


def _environment(overrides: Path | None, filters: Mapping[str, Callable[..., Any]]) -> jinja2.Environment:
    """Return what fills in the templates; whatever is placed is escaped unless it is LaTeX already."""
    environment = jinja2.Environment(  # noqa: S701 - there is no HTML in it; *finalize* escapes
        loader=templates(overrides),
        undefined=jinja2.StrictUndefined,
        finalize=escaped,
        trim_blocks=True,
        lstrip_blocks=True,
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
    )
    environment.filters |= {**filters, "tex": Tex}
    environment.globals |= filters
    return environment


def escaped(value: object) -> str:
    r"""
    Return *value* as LaTeX that shows it.

    >>> escaped("50 % of \\input{x}"), escaped(Tex("\\par"))
    ('50 \\% of \\textbackslash{}input\\{x\\}', '\\par')
    """
    if isinstance(value, Tex):
        return value
    text = str(printable(str(value), paper=True)).replace("\n", " ").replace("\r", " ")
    return _SPECIAL.sub(lambda letter: SPECIAL[letter[0]], text)
