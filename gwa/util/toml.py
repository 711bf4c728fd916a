"""
TOML files that people write: decoded, checked against dataclasses, and refused by file, line and key.

A dataclass declares a table: its fields are the keys, with their types and defaults. A type is a text, a
number, true or false, a date, a path, a regular expression, a choice (``Literal``), a list
(``tuple[X, ...]``), a table of free keys (``Mapping[str, X]``), another dataclass, or ``Any``. A `Check` in
the annotation, and ``__post_init__``, say what the type cannot. Errors begin with the path of the key, such
as ``trace[2].licence: is 3``, from which `TomlFile.located` finds the line.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields
from datetime import date, time
from difflib import get_close_matches
from functools import cache
from math import floor
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar, Union, get_args, get_origin
from typing import get_type_hints as all_hints_of

from gwa.errors import DefinitionError, GwaError

MAXIMUM_BYTES: Final = 100_000
"""A larger file is refused unread, unless its reader expects larger ones."""

MAXIMUM_CHARACTERS: Final = 20_000
MAXIMUM_NUMBER: Final = 1e300
"""Longer texts and larger numbers are mistakes; nan and infinity are not values either."""

MAXIMUM_SHOWN: Final = 80
"""Characters of a value, or of a key, that an error shows."""

MAXIMUM_DEPTH: Final = 20
"""Keys nested more deeply are located by what they are nested in."""

T = TypeVar("T")
Value: TypeAlias = Any
Hint: TypeAlias = Any
"""The type of a field, as its annotation says."""

Make: TypeAlias = Callable[[type[Any], object, str], Value]
"""Makes an object of a class from the value at a path."""

WORDS: Final[Mapping[Hint, str]] = {
    str: "a text",
    int: "a number",
    float: "a number",
    bool: "true or false",
    date: "a date such as 2026-01-31",
    Path: "a path",
    re.Pattern: "a regular expression",
}
POSITION: Final = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)")
"""How the parser of TOML says where."""

TOKEN: Final = re.compile(
    r'"""(?:\\.|[^\\])*?""""{0,2}|"(?:\\.|[^"\\\n])*"|'
    r"'''.*?''''{0,2}|'[^'\n]*'|#[^\n]*|[\[\]{}]|\n",
    re.DOTALL,
)
"""What decides where a statement ends: strings, comments, brackets and ends of lines."""

MAXIMUM_PARTS: Final = 2_500
"""A key of more parts is refused, and so are many long ones: the parser needs the square of it in memory."""

LONG_KEY: Final = re.compile(r"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){50,}")
"""A key of more parts than anybody nests tables; strings are one letter by then."""


@dataclass(frozen=True)
class Check:
    """What a value must be besides of its type: *holds* decides, *expected* says it in words."""

    holds: Callable[[Any], object]
    expected: str


@dataclass(frozen=True)
class TomlFile:
    """The *data* in a sound *text* of TOML, which begins on *first_line* of the file called *name*."""

    name: str
    text: str
    data: Mapping[str, Any]
    first_line: int = 1

    @classmethod
    def read(cls, path: Path, expected: str, maximum: int = MAXIMUM_BYTES) -> "TomlFile":
        """Return the file *path*, *expected* to be that; raise `DefinitionError` for no sound TOML."""
        return cls.parsed(str(path), read_text(path, expected, maximum))

    @classmethod
    def parsed(cls, name: str, text: str, first_line: int = 1) -> "TomlFile":
        """Return *text* as TOML; raise `DefinitionError` where it is none."""
        try:
            _refuse_long_keys(text)
            return cls(name, text, tomllib.loads(text), first_line)
        except (ValueError, RecursionError) as error:
            line, reason = _fault(text, error)
            raise DefinitionError(f"{name}:{first_line - 1 + line}: {reason}, expected TOML") from error

    @contextmanager
    def located(self, at: str = "") -> Iterator[None]:
        """Let an error about a key, or about the one *at* a path, name the file and the line."""
        try:
            yield
        except GwaError as error:
            message = f"{at}: {error}" if at else str(error)
            raise DefinitionError(f"{self.name}:{self.line(message)}: {message}") from error

    def line(self, message: str) -> int:
        """Return the line of the key with whose path a *message* begins, else of the table that lacks it."""
        lines = {path: line for path, line in _lines(self.text).items() if message.startswith(path)}
        named = [path for path in lines if message[len(path) : len(path) + 1] in " .:["]
        return self.first_line - 1 + (lines[max(named, key=len)] if named else 1)


def read_text(path: Path, expected: str, maximum: int = MAXIMUM_BYTES) -> str:
    """Return the text in a file; raise `DefinitionError` if it is missing, too large, or no UTF-8."""
    try:
        with path.open("rb") as file:
            content = file.read(maximum + 1)
        if len(content) > maximum:
            raise DefinitionError(f"{path}: has {path.stat().st_size:,} bytes, expected at most {maximum:,}")
        return content.decode("utf-8").replace("\r\n", "\n")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DefinitionError(f"{path}: {reason}, expected {expected}") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise DefinitionError(f"{path}:{line}: is not UTF-8 text") from error


def record(kind: type[T], value: object, path: str = "", make: Make | None = None) -> T:
    """
    Return the dataclass *kind* that the table *value* at *path* says.

    Classes within it are made by *make*, else likewise. Raise `DefinitionError` that begins with the path of
    the key that is wrong.

    >>> record(Check, {"hold": 1})
    Traceback (most recent call last):
    gwa.errors.DefinitionError: hold: unknown key, expected one of holds, expected
    """
    if not isinstance(value, Mapping):
        raise refusal(path or "parameters", value, "a table")
    hints, at = hints_of(kind), f"{path}." if path else ""  # type: ignore[arg-type]
    for name in value:
        if name not in hints:
            near = get_close_matches(str(name)[:MAXIMUM_SHOWN], hints)
            known = dict.fromkeys([*near, *hints])
            raise DefinitionError(f"{at}{_key(name)}: unknown key, expected one of {', '.join(known)}")
    for name in required(kind):
        if name not in value:
            raise DefinitionError(f"{at}{name}: is missing, expected {_expectation(hints[name])}")
    arguments = {name: convert(hints[name], item, at + name, make or record) for name, item in value.items()}
    try:
        return kind(**arguments)
    except (ValueError, TypeError) as error:
        raise DefinitionError(f"{at}{error}") from error


def convert(hint: Hint, value: object, path: str, make: Make = record) -> Value:
    """Return the *value* at *path* as *hint* says; raise `DefinitionError` where it is something else."""
    kind, notes = unwrapped(hint)
    check = next((note for note in notes if isinstance(note, Check)), None)
    converted = value if kind is Any else _converted(kind, value, path, make, check.expected if check else "")
    if check and not check.holds(converted):
        raise refusal(path, value, check.expected)
    return converted


def unwrapped(hint: Hint) -> tuple[Hint, tuple[object, ...]]:
    """Return a type without None and annotations, and the annotations."""
    if _origin(hint) is Annotated:
        kind, notes = unwrapped(get_args(hint)[0])
        return kind, (*notes, *hint.__metadata__)
    if _origin(hint) in {Union, UnionType}:
        (hint,) = (part for part in get_args(hint) if part is not NoneType)
        return unwrapped(hint)
    return hint, ()


def required(kind: type) -> tuple[str, ...]:
    """Return the names of the fields of a dataclass that have no default."""
    members = fields(kind)
    return tuple(field.name for field in members if field.default is field.default_factory is MISSING)


def refusal(path: str, value: object, expected: str) -> DefinitionError:
    """Return the error that the *value* at *path* is not what is *expected*."""
    try:
        shown = str(value) if isinstance(value, date | time) else repr(value)
    except (ValueError, RecursionError):  # thousands of digits, or of levels
        shown = "beyond all measure"
    shown = shown if len(shown) <= MAXIMUM_SHOWN else f"{shown[:MAXIMUM_SHOWN]}…"
    return DefinitionError(f"{path}: is {shown}, expected {expected}")


@cache
def hints_of(kind: type) -> dict[str, Hint]:
    """Return the types of the fields of a dataclass, with their annotations."""
    hints = all_hints_of(kind, include_extras=True)
    return {field.name: hints[field.name] for field in fields(kind)}


def _origin(kind: Hint) -> Hint:
    """Return ``tuple`` for ``tuple[str, ...]``, and a type without arguments as it is."""
    origin: Hint = get_origin(kind)
    return origin or kind


def _expectation(hint: Hint) -> str:
    """Return in words what a type demands."""
    kind, notes = unwrapped(hint)
    words = next((note.expected for note in notes if isinstance(note, Check)), None)
    return words or ("a list" if _origin(kind) is tuple else WORDS.get(_origin(kind), "a table"))


def _converted(kind: Hint, value: object, path: str, make: Make, expected: str) -> Value:
    origin = _origin(kind)
    if origin is Literal:
        if value not in get_args(kind):
            raise refusal(path, value, f"one of {', '.join(map(str, get_args(kind)))}")
        return value
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise refusal(path, value, expected or "a list")
        return tuple(
            convert(get_args(kind)[0], item, f"{path}[{place}]", make) for place, item in enumerate(value)
        )
    if origin is Mapping:
        if not isinstance(value, Mapping):
            raise refusal(path, value, expected or "a table")
        inner = get_args(kind)[1]
        return {name: convert(inner, item, f"{path}.{_key(name)}", make) for name, item in value.items()}
    return _scalar(origin, value, path, expected) if origin in WORDS else make(kind, value, path)


def _scalar(kind: Hint, value: object, path: str, expected: str) -> Value:
    words = WORDS[kind]
    if kind in {bool, date}:
        if type(value) is kind:
            return value
    elif kind in {int, float}:
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MAXIMUM_NUMBER:
            if kind is float or value == floor(value):
                return kind(value)
            words = "a whole number"
    elif isinstance(value, str):
        if len(value) <= MAXIMUM_CHARACTERS:
            return _pattern(value, path) if kind is re.Pattern else kind(value)
        message = f"{path}: has {len(value):,} characters, expected at most {MAXIMUM_CHARACTERS:,}"
        raise DefinitionError(message)
    raise refusal(path, value, expected or words)


def _pattern(value: str, path: str) -> re.Pattern[str]:
    try:
        return re.compile(value, re.MULTILINE)
    except (re.error, OverflowError, RecursionError) as error:
        raise refusal(path, value, f"a regular expression: {error}") from error


def _key(name: object) -> str:
    """Return a key as paths show it: in one line, and short."""
    key = str(name)[:MAXIMUM_SHOWN]
    return key if key.isprintable() else ascii(key)


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield the statements of a TOML text, blank lines and comments among them, each with its first line."""
    depth, begin, line = 0, 0, 1
    for token in TOKEN.finditer(text):
        depth += (token[0] in {"[", "{"}) - (token[0] in {"]", "}"})
        if token[0] == "\n" and not depth:
            yield line, text[begin : token.end()]
            line += text.count("\n", begin, token.end())
            begin = token.end()
    yield line, text[begin:]


def _lines(text: str) -> dict[str, int]:
    """Return the line on which the statement that makes each key of a *text* begins, by the key's path."""
    lines: dict[str, int] = {}
    latest: dict[str, int] = {}  # the places of the last tables in arrays of tables
    table = ""
    for line, statement in _statements(text):
        value: Any = tomllib.loads(statement)
        is_header = statement.lstrip().startswith("[")
        path = "" if is_header else table
        for _ in range(MAXIMUM_DEPTH):
            if not isinstance(value, dict) or len(value) != 1:
                break
            ((key, value),) = value.items()
            path += f".{_key(key)}" if path else _key(key)
            lines.setdefault(path, line)
            if is_header and value == [{}]:
                latest[path], value = latest.get(path, -1) + 1, None
            if path in latest:
                path += f"[{latest[path]}]"
                lines.setdefault(path, line)
        table = path if is_header else table
    return lines


def _refuse_long_keys(text: str) -> None:
    """Raise `ValueError` for a key of many parts, each of which takes the parser as much as all before it."""

    def plain(token: re.Match[str]) -> str:
        ends = "\n" * token[0].count("\n")
        return f"x{ends}" if token[0][0] in "\"'" else ends if token[0][0] == "#" else token[0]

    shown = TOKEN.sub(plain, text)
    room = MAXIMUM_PARTS**2
    for found in LONG_KEY.finditer(shown):
        room -= found[0].count(".") ** 2
        if room < 0:
            line = shown.count("\n", 0, found.start()) + 1
            raise ValueError(f"its keys have too many parts (at line {line}, column 1)")


def _fault(text: str, error: Exception) -> tuple[int, str]:
    """Return the line of what the parser refuses in a *text*, and its reason."""
    reason = str(error).splitlines()[0]
    position = POSITION.search(reason)
    if position:
        last = text.rstrip("\n").count("\n") + 1
        return int(position[1] or last), POSITION.sub("", reason)
    for line, statement in _statements(text):
        try:
            tomllib.loads(statement)
        except (ValueError, RecursionError):
            return line, reason.partition(":")[0]
    return 1, reason  # pragma: no cover - what is too deep or too long is so by itself
