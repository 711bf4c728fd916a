"""
The words of a report in another language.

English stands in the code, where it is used, and is the key. A language is one file, ``languages/CODE.toml``
beside the templates or in the folder of a theme, with a line ``"English" = "translation"`` for each text.
Numbers with their units are ``{}`` in both; a translator writes ``{name}`` for a name in the midst of a
sentence, and ``{1}`` before ``{0}`` where the order is another. What has no translation stays English. Names,
the cells of tables and the ids of facts are never translated.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from gwa.errors import DefinitionError
from gwa.report.document import (
    Answer,
    Attachment,
    Block,
    Fact,
    Facts,
    FactTable,
    Figure,
    Note,
    Report,
    Section,
    Table,
    Value,
    Verbatim,
)
from gwa.util.assets import asset
from gwa.util.toml import TomlFile

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")

PLACE: Final = re.compile(r"\{(\d*|name)\}")
"""Where a text has something that varies."""

UNITS: Final = r"CPU hours|CPU seconds|CPU years|per day|per hour|days?|years?|times"
"""The units that are words; others, such as min and KB, are written alike in all languages."""

NUMBER: Final = (
    r"(?:\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::\d\d)?)?"
    r"|(?:[<>][ \N{NO-BREAK SPACE}])?[+−-]?\d(?:[\d,.:]*\d)?(?:e[+-]?\d+)?(?: × 10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?"
    rf"(?: ?%| (?:{UNITS}|s|min|h|[KMGTPE]B)(?!\w))?)"
)
NUMBERS: Final = re.compile(rf"(?<!\w){NUMBER}(?: {NUMBER})*")
UNIT: Final = re.compile(rf"(?<=\d )(?:{UNITS})(?!\w)")

LABELS: Final = {"xlabel", "ylabel", "label", "reference", "rows", "columns", "places"}
"""Where the data of a figure hold words."""

MAXIMUM_BYTES: Final = 2_000_000
"""A larger file is none of texts of a report, of which there are some 100 kB."""

MAX_PATTERN_TEXT: Final = 2000
"""Longer texts are some log's, and looked up as a whole only."""

HEADER: Final = """\
# Every text of a report, with its translation; one that is empty stays English. {} is a number with its unit.
# Write {name} in place of a name in a sentence, in both, and {1} and {0} where the order is another.
"""


@dataclass(frozen=True)
class Language:
    """A language called *code*: its *phrases* by the English ones, and the texts that it was *asked* for."""

    code: str = "en"
    phrases: Mapping[str, str] = field(default_factory=dict)
    asked: dict[str, str] = field(default_factory=dict)

    def __call__(self, text: str) -> str:
        """
        Return *text* in this language, or as it is.

        >>> german = Language("de", {"{} of {} wait for {}.": "Von {1} warten {0} {2}.", "days": "Tage"})
        >>> german("3 of 216 wait for 3.2 days."), german("Jobs")
        ('Von 216 warten 3 3.2 Tage.', 'Jobs')
        """
        if isinstance(text, Verbatim):
            return text
        key = NUMBERS.sub("{}", text)
        if not any(map(str.isalpha, key)):
            return self.number(text)
        translation = self.phrases.get(key, "")
        values = NUMBERS.findall(text)
        if not translation or len(PLACE.findall(key)) != len(values):
            key, translation, values = self._named(text) or (key, "", values)
        self.asked[key] = translation
        return _filled(translation, list(map(self.number, values))) if translation else text

    def number(self, text: str) -> str:
        """Return a number as it is written, its unit in this language."""
        return UNIT.sub(lambda unit: self(unit[0]), text)

    def _named(self, text: str) -> tuple[str, str, list[str]] | None:
        """Return the phrase that *text* is but for names in it, its translation, and what its places hold."""
        for pattern, key in self._patterns if len(text) < MAX_PATTERN_TEXT else ():
            if match := pattern.fullmatch(text):
                return key, self.phrases[key], list(match.groups())
        return None

    @cached_property
    def _patterns(self) -> list[tuple[re.Pattern[str], str]]:
        """The pattern of each phrase with names, the longest phrases first."""
        keys = sorted((key for key in self.phrases if "{name}" in key), key=len, reverse=True)
        return [(_pattern(key), key) for key in keys]

    def toml(self) -> str:
        """Return all texts that were asked for, and their translations, as a file of a language."""
        lines = (f"{_quoted(key)} = {_quoted(translation)}\n" for key, translation in self.asked.items())
        return HEADER + "".join(lines)


ENGLISH: Final = "en"


def read_language(code: str, theme: Path | None = None) -> Language:
    """Return the language called *code*, of the folder *theme* or ours; raise `DefinitionError` for none."""
    name = f"languages/{code}.toml"
    if code == ENGLISH:
        return Language()
    if not re.fullmatch(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*", code):
        raise DefinitionError(
            f"--lang {code[:40]}: is no code of a language, expected one such as de or pt-BR"
        )
    places = [*([theme / name] if theme else []), Path(str(asset("templates"))) / name]
    file = next(filter(Path.is_file, places), None)
    if file is None:
        raise DefinitionError(
            f"--lang {code}: there is no {' or '.join(map(str, places))};"
            " --strings FILE.toml writes what to translate"
        )
    return Language(code, _phrases(file))


def _phrases(file: Path) -> dict[str, str]:
    """Return the translations in a language file; raise `DefinitionError` for a bad one."""
    phrases = dict(TomlFile.read(file, "a language of gwa", MAXIMUM_BYTES).data)
    for key, text in phrases.items():
        if not isinstance(text, str):
            raise DefinitionError(f"{file}: {key[:60]!r}: expected a text in quotes")
        count = len(PLACE.findall(key))
        if any(place >= count for place in _places(text)):
            raise DefinitionError(f"{file}: {key[:60]!r}: has {count} places, its translation asks for more")
    return phrases


def _pattern(key: str) -> re.Pattern[str]:
    """Return the pattern of texts that are *key* with numbers and names in its places."""
    parts = PLACE.split(key)
    parts[::2] = map(re.escape, parts[::2])
    parts[1::2] = ["(.+?)" if place == "name" else f"({NUMBERS.pattern})" for place in parts[1::2]]
    return re.compile("".join(parts), re.DOTALL)


def _places(translation: str) -> list[int]:
    """Return which of the values stands in each place of a translation; one without a number is the next."""
    return [int(place) if place.isdigit() else n for n, place in enumerate(PLACE.findall(translation))]


def _filled(translation: str, values: list[str]) -> str:
    """Return a translation with *values* in its places."""
    order = iter(_places(translation))
    return PLACE.sub(lambda _: values[next(order)], translation)


def _quoted(text: str) -> str:
    """Return *text* as TOML writes it."""
    clean = text.encode("utf-8", "replace").decode("utf-8")
    return json.dumps(clean, ensure_ascii=False).replace("\x7f", "\\u007f")


def translated(report: Report, translate: Callable[[str], str]) -> Report:
    """Return *report* with all words of its own translated."""
    findings = tuple(_texts(finding, translate, "text", "rule", "advice") for finding in report.findings)
    sections = tuple(_section(section, translate) for section in report.sections)
    texts = _texts(report, translate, "title", "subtitle", "overline")
    answers = tuple(_answer(answer, translate) for answer in report.answers)
    return replace(texts, sections=sections, findings=findings, answers=answers)


def _answer(answer: Answer, translate: Callable[[str], str]) -> Answer:
    picture = answer.picture and _texts(answer.picture, translate, "title", "alt")
    is_word = not any(map(str.isdigit, answer.number))
    number = translate(answer.number) if is_word else answer.number
    return replace(_texts(answer, translate, "question", "text"), number=number, picture=picture)


def _texts(part: T, translate: Callable[[str], str], *names: str) -> T:
    """Return a *part* of a report with the texts in the fields *names* translated."""
    return replace(part, **{name: translate(getattr(part, name)) for name in names})


def _section(section: Section, translate: Callable[[str], str]) -> Section:
    help_text = "\n\n".join(map(translate, section.help.split("\n\n")))
    blocks = tuple(_block(block, translate) for block in section.blocks)
    return replace(_texts(section, translate, "title", "chapter"), help=help_text, blocks=blocks)


def _block(block: Block, translate: Callable[[str], str]) -> Block:
    match block:
        case Note():
            return _texts(block, translate, "text")
        case Facts():
            return replace(_texts(block, translate, "title"), facts=_facts(block.facts, translate))
        case FactTable():
            rows = tuple((translate(name), _facts(facts, translate)) for name, facts in block.rows)
            columns = tuple(map(translate, block.columns))
            return replace(_texts(block, translate, "title", "note"), columns=columns, rows=rows)
        case Table():
            heads = tuple(_texts(column, translate, "label") for column in block.columns)
            return replace(_texts(block, translate, "title", "note"), columns=heads)
        case Attachment():
            return _texts(block, translate, "title")
        case Figure():
            data = {name: _figure_data(value, translate, name) for name, value in block.data.items()}
            return replace(_texts(block, translate, "title", "alt", "note"), data=data)


def _facts(facts: tuple[Fact, ...], translate: Callable[[str], str]) -> tuple[Fact, ...]:
    return tuple(_texts(fact, translate, "label", "help", "text") for fact in facts)


def _figure_data(value: Value, translate: Callable[[str], str], name: str) -> Value:
    """Return the part *name* of the data of a figure with its labels translated."""
    if isinstance(value, str):
        return translate(value) if name in LABELS else value
    if isinstance(value, Mapping):
        return {key: _figure_data(part, translate, key) for key, part in value.items()}
    if isinstance(value, list | tuple) and any(isinstance(part, str | Mapping) for part in value):
        return [_figure_data(part, translate, name) for part in value]
    return value
