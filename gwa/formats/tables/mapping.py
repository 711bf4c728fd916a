"""
What a user states of the columns of a table: ``--map "start=begin_ts:ms, procs=nodes*36"``, or a TOML file.

An entry is a role, or the field that it becomes, and a column with its unit; a product of two columns, or of
one and a number; a number; or ``-`` for no column. A name with commas, colons, stars or equals signs is
quoted, as in ``end="Ende, lokal":d.m.y``. Further entries: ``zone=Europe/Berlin``, and ``others=-``, by which
columns that are not named are not read.
"""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from textwrap import shorten
from typing import Final

from gwa.errors import ArgumentError
from gwa.formats.tables.units import KINDS, is_unit
from gwa.formats.tables.vocabulary import role_kinds, roles
from gwa.store.system import is_zone
from gwa.util.toml import TomlFile

ZONE, OTHERS, NONE = "zone", "others", "-"

FIELDS: Final = {role.name: role.field for role in roles().values() if role.field}
"""The fields that roles of other names become; users may write either."""

MAXIMUM_FACTORS: Final = 2
MAXIMUM_SHOWN: Final = 60

_ROLES: Final = {field: role for role, field in FIELDS.items()}
_TOKEN: Final = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([=:,*])|([^=:,*"]+))')
_BARE: Final = re.compile(r"[^,:*=\"\s]+( [^,:*=\"\s]+)*")
_NUMBER: Final = re.compile(r"\d+(\.\d+)?")


@dataclass(frozen=True)
class RoleSource:
    """Where the values of a role are: the product of *columns* and a *factor*, in a *unit*; or nowhere."""

    columns: tuple[str, ...] = ()
    factor: str = ""
    unit: str = ""

    @property
    def is_none(self) -> bool:
        """Whether no column has this role."""
        return not self.columns and not self.factor

    @property
    def is_column(self) -> bool:
        """Whether this is a column as it is, and not a product."""
        return len(self.columns) == 1 and not self.factor

    def __str__(self) -> str:
        """Write this as users do."""
        text = "*".join([*map(_quoted, self.columns), *([self.factor] if self.factor else [])]) or NONE
        return f"{text}:{_quoted(self.unit)}" if self.unit else text


def _quoted(name: str) -> str:
    is_bare = _BARE.fullmatch(name) and name == name.strip() and not _NUMBER.fullmatch(name) and name != NONE
    return name if is_bare else '"' + name.replace('"', '""') + '"'


Mapped = Mapping[str, RoleSource]
"""The sources of roles."""


@dataclass(frozen=True)
class MappingStatement:
    """What a user states: the sources of some roles, the zone of local times, whether others are read."""

    sources: Mapped
    zone: str = ""
    is_whole: bool = False

    def __str__(self) -> str:
        """Write this as a user does."""
        entries = [f"{role}={source}" for role, source in self.sources.items()]
        entries += [f"{ZONE}={self.zone}"] if self.zone else []
        return ", ".join([*entries, *([f"{OTHERS}={NONE}"] if self.is_whole else [])])

    def over(self, other: "MappingStatement") -> "MappingStatement":
        """Return both statements as one, in which the entries of this one come first."""
        return MappingStatement({**other.sources, **self.sources}, self.zone or other.zone, self.is_whole)

    def typed(self) -> str:
        """Return the option that states this, as one types it."""
        text = str(self)
        return f"--map {shlex.quote(text)}" if set(text) & set('"$`!\\') else f'--map "{text}"'


def statement(text: str, kinds: Mapping[str, str] | None = None) -> MappingStatement:
    """
    Return what the text of ``--map`` states; raise `ArgumentError` where it is wrong.

    *kinds* are the roles that there are and the kinds of their values, those of tables of jobs unless others
    are given.

    >>> str(statement('start = begin_ts:ms,n_procs=nodes*36, end="Ende, lokal":d.m.y'))
    'start=begin_ts:ms, procs=nodes*36, end="Ende, lokal":d.m.y'
    """
    sources: dict[str, RoleSource] = {}
    zone, is_whole = "", False
    kinds = role_kinds() if kinds is None else kinds
    for role, tokens in _entries(text, kinds):
        if role == ZONE:
            zone = "".join(word for word, _ in tokens).strip()
            if not is_zone(zone):
                raise _wrong(text, f"'{zone}' is not a time zone, expected one such as Europe/Amsterdam")
        elif role == OTHERS:
            is_whole = True
        elif role in sources:
            raise _wrong(text, f"{role} is there twice")
        else:
            sources[role] = _source(role, kinds[role], tokens, text)
    return MappingStatement(sources, zone, is_whole)


Tokens = list[tuple[str, bool]]
"""Words and signs; the flag marks those in quotes."""


def _entries(text: str, kinds: Mapping[str, str]) -> list[tuple[str, Tokens]]:
    """Return the role of each entry, and what stands behind its equals sign."""
    entries: list[Tokens] = [[]]
    place = 0
    text = text.strip()
    while place < len(text):
        match = _TOKEN.match(text, place)
        if not match:
            raise _wrong(text, f"a quote is not closed at '{text[place:][:20].strip()}'")
        quoted, sign, word = match.groups()
        if sign == ",":
            entries.append([])
        elif quoted is not None:
            entries[-1].append((quoted.replace('""', '"'), True))
        elif sign or word.strip():
            entries[-1].append((sign or word.strip(), False))
        place = match.end()
    return [_entry(tokens, text, kinds) for tokens in entries if tokens]


def _entry(tokens: Tokens, text: str, kinds: Mapping[str, str]) -> tuple[str, Tokens]:
    if len(tokens) <= len(("role", "=")) or tokens[1] != ("=", False):
        shown = "".join(word for word, _ in tokens)[:40]
        raise _wrong(text, f"'{shown}' is not an entry, expected ROLE=COLUMN:UNIT")
    name = tokens[0][0].lower().replace("-", "_")
    role = _ROLES.get(name, name) if name not in kinds else name
    known = [*kinds, ZONE, OTHERS]
    if role not in known:
        near = get_close_matches(role, [*known, *_ROLES], 3)
        raise _wrong(text, f"there is no role '{name}', expected one of {', '.join(near or known)}")
    return role, tokens[2:]


def _source(role: str, kind: str, tokens: Tokens, text: str) -> RoleSource:
    """Return the source that the *tokens* of an entry say."""
    split = tokens.index((":", False)) if (":", False) in tokens else len(tokens)
    unit = "".join(word for word, _ in tokens[split + 1 :])
    if unit and not is_unit(kind, unit):
        raise _wrong(text, f"{role} has no unit '{unit}', expected {', '.join(filter(None, KINDS[kind][1]))}")
    factors = [token for token in tokens[:split] if token != ("*", False)]
    if not factors or ("=", False) in factors:
        raise _wrong(text, f"{role} has no column, expected ROLE=COLUMN:UNIT")
    if factors == [(NONE, False)]:
        return RoleSource()
    numbers = [word for word, is_quoted in factors if not is_quoted and _NUMBER.fullmatch(word)]
    columns = [word for word, is_quoted in factors if is_quoted or not _NUMBER.fullmatch(word)]
    if len(factors) > MAXIMUM_FACTORS or len(numbers) > 1 or (len(factors) > 1 and kind != "count"):
        raise _wrong(text, f"{role} is a product, expected COLUMN*COLUMN or COLUMN*NUMBER of counts")
    return RoleSource(tuple(columns), "".join(numbers), unit)


def _wrong(text: str, reason: str) -> ArgumentError:
    shown = shorten(text, MAXIMUM_SHOWN, placeholder=" …")
    return ArgumentError(f"--map \"{shown}\": {reason}; 'gwa formats table' explains it")


def is_of_requests(text: str) -> bool:
    """Whether the text of ``--map`` names a role that only columns of logs of requests have."""
    names = {entry.partition("=")[0].strip().lower() for entry in text.split(",")}
    return not names.isdisjoint(role_kinds(of_requests=True).keys() - role_kinds().keys())


def _kinds_for(text: str) -> Mapping[str, str]:
    return role_kinds(of_requests=is_of_requests(text))


def read_statement(text: str) -> str:
    """
    Return the text of a map, which *text* is, or which the TOML file of that name holds.

    In a file each entry is a key: ``start = "begin_ts:ms"``. Raise `GwaError` if it is wrong.
    """
    if not text.lower().endswith(".toml") or "=" in text:
        return str(statement(text, _kinds_for(text)))
    file = TomlFile.read(Path(text), "a map of columns")
    entries = [f"{key}={value}" for key, value in file.data.items()]
    with file.located():
        return str(statement(", ".join(entries), _kinds_for(", ".join(entries))))
