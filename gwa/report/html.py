"""
The report as one HTML file that needs nothing else: no server, no network, no second file.

Templates only place what is given to them. Numbers are written by `gwa.words.formatting`; figures stand
on the page as their data, which its script draws; which of them stand side by side is decided here.
"""

import json
import re
from base64 import b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from gwa.errors import DefinitionError
from gwa.report import document
from gwa.report.as_json import plain
from gwa.report.drawing import draw_all, image_address, kinds, to_draw
from gwa.report.grid import grid, is_number
from gwa.report.language import Language
from gwa.report.layout import chapters, in_view, rows_by_section, silent
from gwa.report.printable import clean
from gwa.report.strip import strip
from gwa.util.assets import asset
from gwa.words.formatting import brief, show
from gwa.words.message import Number, message, plural
from gwa.words.unit import Value

HEADLINES = (
    "trace.jobs",
    "trace.users",
    "trace.cpus",
    "trace.cpu_seconds",
)
"""The facts that stand in the head of the page; those of the first section stand in for missing ones."""

OF_TRACE = ("trace.jobs", "trace.users", "trace.cpus")
"""Those of a page that says first what became of hours."""

CHANGED = "changed"
"""The answer that such a page says of what changed."""

SCRIPTS = ("report", "draw", "figures")
"""The scripts of a page, which it has as one: each has names of its own."""

EXPLORING = ("cells", "chapters", "explorer")
"""Those of a page that filters itself, before the parts of the last one."""

STYLES = ("report", "explorer", "lead", "print")
"""The style sheets of a page, in their order."""

KINDS = "static/figures/"
"""Where the script of each kind of figure stands that the page draws itself, called as the kind."""

PARTS = "static/explorer/"
"""Where the script of each part of the first screen stands that filters itself, called as the part."""


IN_SCRIPT = {ord("<"): r"\u003c", ord(">"): r"\u003e", ord("&"): r"\u0026"}
"""How JSON writes what would end the element of a page that holds it, or begin another."""

MAXIMUM_WORD = 80
"""A longer word is cut on paper."""

CONTROLS = (set(range(32)) - set(b"\t\n\r")) | set(range(127, 160)) | set(range(0xD800, 0xE000))
"""Characters that a name in a log may have but a page may not: control characters and surrogates."""

PERCENT = re.compile(r"(?<=\d) (?=%)")
"""The space between a number and its percent sign."""

UNPRINTABLE = dict.fromkeys(CONTROLS, "\N{REPLACEMENT CHARACTER}")


CAUTIONS = {"data-quality"}
"""The sections whose findings make conclusions unsafe."""

UNSAFE = {"too-small"}
"""Findings of other sections that do so."""

ORIGIN = {
    "sources": message("sources"),
    "account": message("account of rows"),
    "rows": message("rows"),
    "jobs": message("jobs"),
    "folded": message("merged into jobs of other rows"),
    "rejected": message("refused"),
    "comments": message("comments"),
    "skipped": message("skipped"),
    "commands": message("commands"),
    "versions": message("versions"),
    "converted by gwa": message("converted by gwa"),
    "format": message("format"),
}
"""What the page calls that of which a report was made, by the keys of its JSON."""

MAXIMUM_ACTIONS = 3
"""Things to do next that the first screen names."""

OTHERS_IN_VIEW = 3
"""Findings that the first screen has besides those; more are opened on demand."""

MAXIMUM_HEADLINES = 2
"""Sentences at the head of a section."""


def html(
    report: document.Report,
    *,
    overrides: Path | None = None,
    above: Sequence[tuple[str, str]] = (),
    language: Language | None = None,
) -> str:
    """
    Return *report* as the text of an HTML page; links to pages *above* it, by title, lead out of it.

    The page draws its figures itself; those of a kind that it has no script for are drawn here. A template,
    script or style sheet in the folder *overrides* takes the place of the shipped one of that name; it can
    extend that one as ``gwa/report.html``. The words of templates are those of a *language*, else English.
    """
    own = set(kinds_on_page(overrides)).intersection(kinds())
    svgs = draw_all((one for one in to_draw(report) if one.plot not in own), language or Language())
    marked = {name: Markup(svg) for name, svg in svgs.items()}  # noqa: S704 - drawn by us
    return page(report, marked, overrides=overrides, above=above, language=language)


def kinds_on_page(overrides: Path | None = None) -> list[str]:
    """
    Return the kinds of figures that a page draws itself, with the scripts in the folder *overrides*, sorted.

    >>> " ".join(kinds_on_page())
    'bars cdf density gantt groups heatmap lines lorenz series shares spark strips'
    """
    return _scripts_in(KINDS, overrides)


def _scripts_in(folder: str, overrides: Path | None) -> list[str]:
    """Return the names of the scripts in a *folder* of templates, sorted."""
    scripts = (name for name in templates(overrides).list_templates() if name.startswith(folder))
    return sorted(name.removeprefix(folder).removesuffix(".js") for name in scripts)


def page(
    report: document.Report,
    drawings: Mapping[str, Markup],
    *,
    overrides: Path | None = None,
    above: Sequence[tuple[str, str]] = (),
    language: Language | None = None,
    paper: bool = False,
) -> str:
    """
    Return *report* as a page that draws the figures that do not come as *drawings*.

    On *paper* all do, and there is nothing to click; a brief report has only what is in view.
    """
    places = findings_by_place(report, paper=paper)
    parts = chapters(report, places["said"])
    layout = rows_by_section(report, parts, drawings, places["said"], places["in_view"])
    is_brief = paper and report.is_brief
    exploring: tuple[str, ...] = ()
    if report.explorer and not paper:
        exploring = (*EXPLORING, *(f"explorer/{name}" for name in _scripts_in(PARTS, overrides)))
    return filled(
        "report.html",
        overrides=overrides,
        language=language or Language(),
        zone=report.zone,
        paper=paper,
        scripts=(*SCRIPTS, *exploring, *(f"figures/{kind}" for kind in kinds_on_page(overrides))),
        report=report,
        summary=summary(report, is_led=bool(report.lead and report.answers)),
        others_in_view=OTHERS_IN_VIEW,
        chapters=in_view(parts, layout, places["said"]) if is_brief else parts,
        is_brief=is_brief,
        unrecorded=silent(report),
        layout=layout,
        drawings=drawings,
        above=above,
        **places,
        **explored(report),
    )


def filled(
    template: str,
    *,
    overrides: Path | None,
    language: Language,
    zone: str | None,
    paper: bool,
    scripts: Sequence[str] = (),
    **variables: object,
) -> str:
    """
    Return the page that a *template* makes of *variables*, with our style sheets and *scripts* in it.

    Raise `DefinitionError` where a template in the folder *overrides* is wrong.
    """
    environment = _environment(overrides, words(zone, language), paper=paper)
    try:
        script = Markup("").join(_source(environment, f"static/{name}.js") for name in scripts)
        return environment.get_template(template).render(
            styles=Markup("").join(_source(environment, f"static/{name}.css") for name in STYLES),
            script=script,
            script_hash=b64encode(sha256(script.encode()).digest()).decode(),
            language=language.code,
            paper=paper,
            origin_names={key: language(text) for key, text in ORIGIN.items()},
            **variables,
        )
    except jinja2.TemplateSyntaxError as error:
        raise DefinitionError(f"{error.filename or error.name}:{error.lineno}: {error.message}") from error
    except (jinja2.TemplateNotFound, jinja2.UndefinedError) as error:
        raise DefinitionError(f"templates: {error.message}") from error


def findings_by_place(report: document.Report, *, paper: bool = False) -> dict[str, Any]:
    """
    Return the findings by where they stand: cautions, what to do first, others, and those of sections.

    First comes what most is at stake in; where nothing known is, the order is that of the findings. No
    section says what is in view above; on *paper* that is all. Where a page says first what became of hours,
    all others stand in their sections.
    """
    cautions = [found for found in report.findings if _is_caution(found)]
    to_do = [found for found in report.findings if found.action and found not in cautions]
    first = sorted(to_do, key=lambda found: found.priority)[:MAXIMUM_ACTIONS]
    above = [*cautions, *first]
    others = (
        [] if report.lead and report.answers else [found for found in report.findings if found not in above]
    )
    in_view = [*above, *(others if paper else others[:OTHERS_IN_VIEW])]
    texts = (*(one.text for one in report.answers if one.id == CHANGED), *(found.text for found in in_view))
    return {
        "cautions": cautions, "to_do": first, "remarkable": others,
        "said": headlines_by_section(report, texts), "in_view": texts,
    }  # fmt: skip


def explored(report: document.Report) -> dict[str, Any]:
    """Return what the part of the page that filters itself is made of; nothing where the report has none."""
    explorer = report.explorer
    if explorer is None:
        return {}
    is_without_ends = not explorer.budget.get("is_told", True)
    still = strip(explorer.course, has_ends=not is_without_ends) if explorer.course else ""
    return {
        "is_without_ends": is_without_ends,
        "explorer_about": plain(explorer),
        "first_picture": Markup(still),  # noqa: S704 - drawn by us
        "first_image": Markup(image_address(still) if still else ""),  # noqa: S704 - drawn by us
        "explorer_cells": b64encode(explorer.cells).decode(),
        "outcomes": list(explorer.outcomes.items()),
    }


def summary(report: document.Report, *, is_led: bool = False) -> list[document.Fact]:
    """
    Return the most important numbers, for the head of the page; none where it answers one question.

    A page that *is led* by what became of hours has those of the trace alone.
    """
    if report.answer and not report.answers:
        return []
    facts = {fact.id: fact for fact in report.facts()}
    numbers = {name: fact for name, fact in facts.items() if is_number(fact.value)}
    if "trace.cpus_inferred" in facts and facts["trace.cpus_inferred"].value:
        numbers.pop("trace.cpus", None)  # a lower bound is no size
    first = report.sections[0].blocks if report.sections else ()
    first_ids = [fact.id for block in first if isinstance(block, document.Facts) for fact in block.facts]
    ids = OF_TRACE if is_led else dict.fromkeys([*HEADLINES, *first_ids])
    return [numbers[name] for name in ids if name in numbers][: len(HEADLINES)]


def _is_caution(found: document.Finding) -> bool:
    """Return whether a finding makes conclusions unsafe."""
    return found.section in CAUTIONS or found.id in UNSAFE


def headlines_by_section(report: document.Report, above: Collection[str]) -> dict[str, list[str]]:
    """Return for each section what is seen in it: its first findings that do not stand *above* it."""
    found = {
        section.id: [one.text for one in report.findings if one.section == section.id]
        for section in report.sections
    }
    return {
        name: [text for text in texts if text not in above][:MAXIMUM_HEADLINES]
        for name, texts in found.items()
    }


def templates(overrides: Path | None) -> jinja2.BaseLoader:
    """Return the loader of templates: of the folder *overrides* first; ours are also called ``gwa/NAME``."""
    shipped = str(asset("templates"))
    chain = [str(overrides), shipped] if overrides else [shipped]
    return jinja2.ChoiceLoader(
        [jinja2.FileSystemLoader(chain), jinja2.PrefixLoader({"gwa": jinja2.FileSystemLoader(shipped)})]
    )


def words(zone: str | None, language: Language) -> dict[str, Callable[..., Any]]:
    """
    Return the functions of templates: ``_`` and ``_n`` (by a count) translate words, others format values.

    Times of day are those of *zone*, and words those of *language*.
    """
    return {
        "_": language,
        "_n": lambda one, many, count: language(plural(one, many, count)),
        "base64": lambda text: b64encode(text.encode()).decode(),
        "embedded": embedded,
        "exact": exact,
        "grid": lambda block: grid(
            block,
            lambda value, unit: language.own(brief(value, unit, zone)),
            lambda text: language(Number(text)),
        ),
        "paragraphs": lambda text: text.split("\n\n"),
        "prose": prose,
        "show": lambda value, unit="": language.own(show(value, unit, zone)),
    }


def prose(text: str) -> str:
    r"""
    Return *text* with percent signs that stay on the line of their number.

    >>> prose("half of 5 % of them")
    'half of 5\xa0% of them'
    """
    return PERCENT.sub("\N{NO-BREAK SPACE}", text)


def _environment(
    overrides: Path | None, filters: Mapping[str, Callable[..., Any]], *, paper: bool
) -> jinja2.Environment:
    """Return a Jinja environment that escapes everything and has these *filters*."""
    environment = jinja2.Environment(
        loader=templates(overrides),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=partial(printable, paper=paper),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= filters
    environment.globals |= filters
    return environment


def exact(value: Value) -> str:
    """
    Return *value* as JSON, with all its digits: what is copied and exported.

    >>> exact(0.1 + 0.2), exact(None), exact(float("nan"))
    ('0.30000000000000004', 'null', 'null')
    """
    return json.dumps(plain(value))


def embedded(data: Value) -> Markup:
    r"""
    Return *data* as JSON that can stand in an element of a page: no name in it can end that element.

    >>> print(embedded(["</script>"]))
    ["\u003c/script\u003e"]
    """
    return Markup(json.dumps(clean(plain(data)), separators=(",", ":")).translate(IN_SCRIPT))  # noqa: S704 - safe there


def printable(value: object, *, paper: bool = False) -> object:
    """
    Return text without the characters that no page can show; what is already markup as it is.

    On *paper* a very long word is cut: it takes minutes to typeset.
    """
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    text = value.translate(UNPRINTABLE)
    return re.sub(rf"(\S{{{MAXIMUM_WORD}}})\S+", r"\1…", text) if paper else text


def _source(environment: jinja2.Environment, name: str) -> Markup:
    """Return a style sheet or script unchanged: it is ours, and not a template."""
    if environment.loader is None:  # pragma: no cover - it has one
        raise jinja2.TemplateNotFound(name)
    return Markup(environment.loader.get_source(environment, name)[0])  # noqa: S704 - our own file
