"""
The words of a report in another language.

English stands in the code, where it is used; a `gwa.words.message.Message` keeps its template and arguments.
A language is a catalogue of gettext, ``languages/CODE.po`` next to the templates or in the folder of a theme,
made from ``languages/messages.pot``. What has no translation stays English. Names, the cells of tables that
are no messages, and the ids of facts are never translated. An English report does not import Babel.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import ceil
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Final, TypeVar

from gwa.errors import DefinitionError
from gwa.report import document
from gwa.report.explorer import Explorer, WaitingBar
from gwa.report.lead import Hours, Lead
from gwa.util.assets import asset
from gwa.words.message import Message, Number, Verbatim
from gwa.words.unit import Value

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from babel import Locale
    from babel.messages.catalog import Catalog

T = TypeVar("T")
Part = TypeVar("Part", bound="DataclassInstance")
Told = TypeVar("Told", bound=Hours)

LABELS: Final = {"xlabel", "ylabel", "label", "reference", "rows", "columns", "places"}
"""Where the data of a figure hold words."""

MAXIMUM_BYTES: Final = 2_000_000
"""A larger file is none of texts of a report, of which there are some 100 kB."""

ENGLISH: Final = "en"
TEMPLATE: Final = "languages/messages.pot"

Phrases = Mapping[str, tuple[str, ...]]
"""Translations by the English template: one, or one for each plural form."""


ENGLISH_RULE: Final = "(n != 1)"
"""The plural form of English, which most languages of Europe share, as gettext writes it."""


@cache
def _plural_form(rule: str) -> Callable[[int], int]:
    """Return what gives the plural form of a count by a rule of gettext."""
    from gettext import c2py

    return c2py(rule)


@dataclass(frozen=True)
class Language:
    """A language called *code*: its *phrases*, *signs* of numbers by the English ones, *rule* of plurals."""

    code: str = ENGLISH
    phrases: Phrases = field(default_factory=dict, repr=False)
    signs: Mapping[str, str] = field(default_factory=dict, repr=False)
    rule: str = ENGLISH_RULE

    def __call__(self, text: str) -> str:
        """
        Return *text* in this language, or as it is.

        >>> from gwa.words.message import message
        >>> german = Language("de", {"{n} of {all} wait.": ("Von {all} warten {n}.",)}, {".": ",", ",": "."})
        >>> german(message("{n} of {all} wait.", n=Number("1.5"), all=Number("2,000"))), german("Jobs")
        ('Von 2.000 warten 1,5.', 'Jobs')
        """
        if self.code == ENGLISH or isinstance(text, Verbatim):
            return text
        if isinstance(text, Number):
            return "".join(self.signs.get(sign, sign) for sign in text)
        if isinstance(text, Message):
            return self._filled(text)
        return self.phrases[text][0] if text in self.phrases else text

    def _filled(self, text: Message) -> str:
        """Return a message in this language, its arguments first."""
        forms = self.phrases.get(text.template)
        if not forms and not text.arguments:
            return text[:]
        english = (text.template, text.plural)[int(text.quantity != 1) if text.plural else 0]
        template = (
            forms[_plural_form(self.rule)(ceil(text.quantity)) if len(forms) > 1 else 0] if forms else english
        )
        if not text.arguments:
            return template
        return template.format(
            **{
                name: self(value) if isinstance(value, str) else value
                for name, value in text.arguments.items()
            }
        )

    def own(self, value: T) -> T | str:
        """Return a message or a number in this language, anything else as it is: other strings are names."""
        return self(value) if isinstance(value, Message | Number) else value


def read_language(code: str, theme: Path | None = None) -> Language:
    """Return the language called *code*, of the folder *theme* or ours; raise `DefinitionError` for none."""
    if code == ENGLISH:
        return Language()
    if not re.fullmatch(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*", code):
        raise DefinitionError(f"--lang {code[:40]}: not a language code, expected one such as de or pt-BR")
    name = f"languages/{code}.po"
    places = [*([theme / name] if theme else []), Path(str(asset("templates"))) / name]
    file = next(filter(Path.is_file, places), None)
    if file is None:
        raise DefinitionError(
            f"--lang {code}: no file {' or '.join(map(str, places))};"
            " --strings FILE.po writes the texts to translate"
        )
    catalogue, locale = _catalogue(file), _locale(code)
    symbols = locale.number_symbols.get("latn", {}) if locale else {}
    signs = {
        english: symbols[kind] for english, kind in ((",", "group"), (".", "decimal")) if kind in symbols
    }
    phrases = (_months(locale) if locale else {}) | _phrases(catalogue, file)
    return Language(code, phrases, signs, catalogue.plural_expr)


def template() -> str:
    """Return the texts to translate, as a template of gettext."""
    return Path(str(asset("templates")), TEMPLATE).read_text(encoding="utf-8")


def _locale(code: str) -> "Locale | None":
    """Return what Babel knows of numbers and months in a language, if anything."""
    from babel import Locale, UnknownLocaleError

    try:
        return Locale.parse(code, sep="-")
    except (UnknownLocaleError, ValueError):
        return None


def _months(locale: "Locale") -> dict[str, tuple[str, ...]]:
    """Return the short names of months by the English ones."""
    from babel import Locale

    english, other = (one.months["stand-alone"]["abbreviated"] for one in (Locale("en"), locale))
    return {english[month]: (other[month],) for month in english}


def _catalogue(file: Path) -> "Catalog":
    """Return the catalogue in a *file*; raise `DefinitionError` for a bad one."""
    from babel.messages.pofile import PoFileError, read_po

    if file.stat().st_size > MAXIMUM_BYTES:
        raise DefinitionError(f"{file}: larger than {MAXIMUM_BYTES:,} bytes, expected a language of gwa")
    try:
        with file.open("rb") as lines:
            return read_po(lines, abort_invalid=True)
    except PoFileError as error:
        line = f":{error.lineno + 1}" if error.lineno >= 0 else ""
        raise DefinitionError(f"{file}{line}: {error.args[0]}, expected a .po file of gettext") from error
    except (LookupError, ValueError, TypeError) as error:
        raise DefinitionError(f"{file}: {error}, expected a .po file of gettext") from error


def _phrases(catalogue: "Catalog", file: Path) -> dict[str, tuple[str, ...]]:
    """Return the translations; raise `DefinitionError` for one with other places than the English text."""
    phrases = {}
    for entry in catalogue:
        texts, english = _forms(entry.string), _forms(entry.id)
        if not entry.id or entry.fuzzy or not all(texts):
            continue
        known = set().union(*(places(text) or () for text in english))
        for text in texts if known else ():
            found = places(text)
            if found is None or found - known:
                names = ", ".join(sorted(known))
                raise DefinitionError(
                    f"{file}: {english[0][:60]!r}: its translation has other places than {names}"
                )
        phrases[english[0]] = texts
    return phrases


def _forms(text: str | Sequence[str | None] | None) -> tuple[str, ...]:
    """Return a text of a catalogue as its plural forms; one that is missing is empty."""
    forms = [text] if text is None or isinstance(text, str) else text
    return tuple(form or "" for form in forms)


def places(text: str) -> set[str] | None:
    """
    Return the names of the places of a template; None where it is none.

    >>> sorted(places("{user} has {n} jobs.")), places("{"), places("{a.b}"), places("{0}")
    (['n', 'user'], None, None, None)
    """
    try:
        parts = [part for part in Formatter().parse(text) if part[1] is not None]
    except ValueError:
        return None
    simple = all(
        name.isidentifier() and not spec and not change for _, name, spec, change in parts if name is not None
    )
    return {name for _, name, _, _ in parts if name} if simple else None


def translated(report: document.Report, translate: Callable[[str], str]) -> document.Report:
    """Return *report* with all words of its own translated."""
    findings = tuple(
        _texts(finding, translate, "text", "rule", "advice", "action", "stake") for finding in report.findings
    )
    sections = tuple(_section(section, translate) for section in report.sections)
    texts = _texts(report, translate, "title", "subtitle", "overline", "period", "answer")
    answers = tuple(_answer(answer, translate) for answer in report.answers)
    explorer = report.explorer and _explorer(report.explorer, translate)
    lead = report.lead and _lead(report.lead, translate)
    credits_ = tuple(_texts(credit, translate, "label") for credit in report.credits)
    return replace(
        texts, sections=sections, findings=findings, answers=answers, explorer=explorer, lead=lead,
        credits=credits_,
    )  # fmt: skip


def _explorer(explorer: Explorer, translate: Callable[[str], str]) -> Explorer:
    """Return what a page filters with its headings translated, and the names of classes that are no names."""
    choices = (_texts(choice, translate, "heading", "title") for choice in explorer.choices)
    named = (
        replace(choice, names=tuple(map(translate, choice.names))) if choice.has_own_order else choice
        for choice in choices
    )
    outcomes = {name: translate(text) for name, text in explorer.outcomes.items()}
    sentences = {name: tuple(map(translate, texts)) for name, texts in explorer.sentences.items()}
    lists = tuple(
        replace(
            _texts(one, translate, "title", "said"),
            rows=tuple(_texts(row, translate, "label", "text") for row in one.rows),
        )
        for one in explorer.lists
    )
    return replace(
        explorer, choices=tuple(named), outcomes=outcomes, sentences=sentences, lists=lists,
        waiting=explorer.waiting and _waiting(explorer.waiting, translate),
    )  # fmt: skip


def _waiting(bar: WaitingBar, translate: Callable[[str], str]) -> WaitingBar:
    """Return what was true while jobs waited with its words translated."""
    return replace(
        bar,
        parts=tuple((name, share, translate(text)) for name, share, text in bar.parts),
        said=tuple(map(translate, bar.said)),
        names=tuple((name, translate(label)) for name, label in bar.names),
        values={name: translate(text) for name, text in bar.values.items()},
    )


def _lead(lead: Lead, translate: Callable[[str], str]) -> Lead:
    """Return what a page says first with its words translated."""
    return replace(
        _texts(_hours(lead, translate), translate, "heading"),
        columns=tuple(map(translate, lead.columns)),
        rows=tuple(_texts(row, translate, "note") for row in lead.rows),
        gpus=lead.gpus and _hours(lead.gpus, translate),
    )


def _hours(hours: Told, translate: Callable[[str], str]) -> Told:
    return replace(
        _texts(hours, translate, "sentence", "basis"),
        clauses=tuple(_texts(clause, translate, "text") for clause in hours.clauses),
        captions=tuple(_texts(caption, translate, "text", "label") for caption in hours.captions),
    )


def _figure(figure: document.Figure, translate: Callable[[str], str]) -> document.Figure:
    """Return *figure* with its words translated, those that are drawn as well."""
    data = {name: _figure_data(value, translate, name) for name, value in figure.data.items()}
    return replace(_texts(figure, translate, "title", "alt", "note"), data=data)


def _answer(answer: document.Answer, translate: Callable[[str], str]) -> document.Answer:
    picture = answer.picture and _figure(answer.picture, translate)
    return replace(_texts(answer, translate, "question", "text", "number", "caption"), picture=picture)


def _texts(part: Part, translate: Callable[[str], str], *names: str) -> Part:
    """Return a *part* of a report with the texts in the fields *names* translated."""
    return replace(part, **{name: translate(getattr(part, name)) for name in names})


def _section(section: document.Section, translate: Callable[[str], str]) -> document.Section:
    help_text = "\n\n".join(map(translate, section.help.split("\n\n")))
    blocks = tuple(_block(block, translate) for block in section.blocks)
    return replace(_texts(section, translate, "title", "chapter"), help=help_text, blocks=blocks)


def _block(block: document.Block, translate: Callable[[str], str]) -> document.Block:
    match block:
        case document.Note():
            return _texts(block, translate, "text")
        case document.Facts():
            return replace(_texts(block, translate, "title"), facts=_facts(block.facts, translate))
        case document.FactTable():
            rows = tuple((translate(name), _facts(facts, translate)) for name, facts in block.rows)
            columns = tuple(map(translate, block.columns))
            return replace(_texts(block, translate, "title", "note"), columns=columns, rows=rows)
        case document.Table():
            return _table(block, translate)
        case document.Attachment():
            return _texts(block, translate, "title")
        case document.Figure():
            return _figure(block, translate)


def _table(block: document.Table, translate: Callable[[str], str]) -> document.Table:
    """Return a table with its heads translated, and the cells that are messages."""
    heads = tuple(_texts(column, translate, "label") for column in block.columns)
    rows = tuple(
        tuple(translate(cell) if isinstance(cell, Message) else cell for cell in row) for row in block.rows
    )
    return replace(_texts(block, translate, "title", "note"), columns=heads, rows=rows)


def _facts(facts: tuple[document.Fact, ...], translate: Callable[[str], str]) -> tuple[document.Fact, ...]:
    return tuple(_texts(fact, translate, "label", "help", "text") for fact in facts)


def _figure_data(value: Value, translate: Callable[[str], str], name: str) -> Value:
    """Return the part *name* of the data of a figure with its labels translated."""
    if isinstance(value, str):
        return translate(value) if name in LABELS or isinstance(value, Message) else value
    if isinstance(value, Mapping):
        return {key: _figure_data(part, translate, key) for key, part in value.items()}
    if isinstance(value, list | tuple) and any(isinstance(part, str | Mapping) for part in value):
        return [_figure_data(part, translate, name) for part in value]
    return value
