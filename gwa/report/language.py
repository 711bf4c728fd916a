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
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Final

from gwa.errors import DefinitionError
from gwa.report.document import (
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

LONGEST: Final = 2000
"""Longer texts are some log's, and looked up as a whole only."""

HEAD: Final = """\
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
        said = self.phrases.get(key, "")
        values = NUMBERS.findall(text)
        if not said or len(PLACE.findall(key)) != len(values):
            key, said, values = self._named(text) or (key, "", values)
        self.asked[key] = said
        return _filled(said, list(map(self.number, values))) if said else text

    def number(self, text: str) -> str:
        """Return a number as it is written, its unit in this language."""
        return UNIT.sub(lambda unit: self(unit[0]), text)

    def _named(self, text: str) -> tuple[str, str, list[str]] | None:
        """Return the phrase that *text* is but for names in it, its translation, and what its places hold."""
        for pattern, key in self._patterns if len(text) < LONGEST else ():
            if found := pattern.fullmatch(text):
                return key, self.phrases[key], list(found.groups())
        return None

    @cached_property
    def _patterns(self) -> list[tuple[re.Pattern[str], str]]:
        """What finds each phrase with names, those with most words of their own first."""
        keys = sorted((key for key in self.phrases if "{name}" in key), key=len, reverse=True)
        return [(_pattern(key), key) for key in keys]

    def toml(self) -> str:
        """Return all texts that were asked for, and their translations, as a file of a language."""
        lines = (f"{_quoted(key)} = {_quoted(said)}\n" for key, said in self.asked.items())
        return HEAD + "".join(lines)


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
    """Return what a file of a language says, checked."""
    try:
        said = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DefinitionError(f"{file}: {error}") from error
    for key, text in said.items():
        if not isinstance(text, str):
            raise DefinitionError(f"{file}: {key[:60]!r}: expected a text in quotes")
        here = len(PLACE.findall(key))
        if any(place >= here for place in _places(text)):
            raise DefinitionError(f"{file}: {key[:60]!r}: has {here} places, its translation asks for more")
    return said


def _pattern(key: str) -> re.Pattern[str]:
    """Return what finds the texts that are *key* with numbers and names in its places."""
    parts = PLACE.split(key)
    parts[::2] = map(re.escape, parts[::2])
    parts[1::2] = ["(.+?)" if place == "name" else f"({NUMBERS.pattern})" for place in parts[1::2]]
    return re.compile("".join(parts), re.DOTALL)


def _places(said: str) -> list[int]:
    """Return which of the values stands in each place of a translation; one without a number is the next."""
    return [int(place) if place.isdigit() else n for n, place in enumerate(PLACE.findall(said))]


def _filled(said: str, values: list[str]) -> str:
    """Return a translation with *values* in its places."""
    order = iter(_places(said))
    return PLACE.sub(lambda _: values[next(order)], said)


def _quoted(text: str) -> str:
    """Return *text* as TOML writes it."""
    clean = text.encode("utf-8", "replace").decode("utf-8")
    return json.dumps(clean, ensure_ascii=False).replace("\x7f", "\\u007f")


def translated(report: Report, say: Callable[[str], str]) -> Report:
    """Return *report* with all words of its own as *say* says them."""
    findings = tuple(
        replace(one, text=say(one.text), rule=say(one.rule), advice=say(one.advice))
        for one in report.findings
    )
    sections = tuple(_section(one, say) for one in report.sections)
    return replace(
        report,
        title=say(report.title),
        subtitle=say(report.subtitle),
        sections=sections,
        findings=findings,
        overline=say(report.overline),
    )


def _section(one: Section, say: Callable[[str], str]) -> Section:
    told = "\n\n".join(map(say, one.help.split("\n\n")))
    blocks = tuple(_block(block, say) for block in one.blocks)
    return replace(one, title=say(one.title), help=told, chapter=say(one.chapter), blocks=blocks)


def _block(block: Block, say: Callable[[str], str]) -> Block:
    match block:
        case Note():
            return replace(block, text=say(block.text))
        case Facts():
            return replace(block, title=say(block.title), facts=_facts(block.facts, say))
        case FactTable():
            rows = tuple((say(name), _facts(facts, say)) for name, facts in block.rows)
            columns = tuple(map(say, block.columns))
            return replace(block, title=say(block.title), columns=columns, rows=rows, note=say(block.note))
        case Table():
            heads = tuple(replace(column, label=say(column.label)) for column in block.columns)
            return replace(block, title=say(block.title), columns=heads, note=say(block.note))
        case Figure():
            data = {name: _drawn(value, say, name) for name, value in block.data.items()}
            words = {name: say(getattr(block, name)) for name in ("title", "alt", "note")}
            return replace(block, data=data, **words)


def _facts(facts: tuple[Fact, ...], say: Callable[[str], str]) -> tuple[Fact, ...]:
    return tuple(replace(one, label=say(one.label), help=say(one.help), text=say(one.text)) for one in facts)


def _drawn(value: Value, say: Callable[[str], str], name: str) -> Value:
    """Return a part of the data of a figure called *name*, its labels as *say* says them."""
    if isinstance(value, str):
        return say(value) if name in LABELS else value
    if isinstance(value, Mapping):
        return {key: _drawn(part, say, key) for key, part in value.items()}
    if isinstance(value, list | tuple) and any(isinstance(part, str | Mapping) for part in value):
        return [_drawn(part, say, name) for part in value]
    return value
