"""
What columns of tables are called: the roles that a name may mean, and its unit.

Tables of jobs have their roles, logs of requests to language models others.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SEPARATOR: Final = re.compile(r"[^a-z0-9%µ]+")

_SPELLED: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "œ": "oe", "æ": "ae"})

WEAK: Final = "!"
"""The mark of a name that counts only where no other column has a better one."""


class Meaning(NamedTuple):
    """A *role* that a name may mean; meanings are better the lower they sort. *unit* is "" if unnamed."""

    is_weak: bool
    is_loose: bool
    place: int
    role: str
    unit: str


@dataclass(frozen=True)
class Role:
    """
    What a column can be: the *kind* of its values, and its *names*.

    Of each name it is known whether it is weak, and its place: the lower, the likelier. A column whose name
    says also that it was *asked* for has that role instead; *is_use* says that names with a word for use mean
    this role, and no other. *field* is the field that the values become, if it is called otherwise,
    *title* what a question calls the role.
    """

    name: str
    kind: str
    names: Mapping[str, tuple[bool, int]]
    asked: str = ""
    is_use: bool = False
    field: str = ""
    title: str = ""


@cache
def kept(name: str = "vocabulary") -> Mapping[str, Any]:
    """Return what the TOML file *name* of this package says."""
    return tomllib.loads(files("gwa.formats.tables").joinpath(f"{name}.toml").read_text(encoding="utf-8"))


@cache
def roles(*, of_requests: bool = False) -> Mapping[str, Role]:
    """Return all roles by name: of columns of tables of jobs, or of logs of requests."""
    tables = kept("request_roles" if of_requests else "vocabulary")["role"]
    return {name: _role(name, table) for name, table in tables.items()}


def _role(name: str, table: Mapping[str, Any]) -> Role:
    places = {
        "_".join(words(text)): (text.startswith(WEAK), place) for place, text in enumerate(table["names"])
    }
    return Role(**{**table, "name": name, "names": places})


@cache
def role_kinds(*, of_requests: bool = False) -> Mapping[str, str]:
    """Return the kind of each role, of columns of tables of jobs or of logs of requests."""
    return {name: role.kind for name, role in roles(of_requests=of_requests).items()}


@cache
def _word_list(*path: str) -> frozenset[str]:
    """Return the words at a *path* of the vocabulary."""
    table: Any = kept()
    for key in path:
        table = table.get(key, {})
    return frozenset(_plain(text) for text in table)


@cache
def missing(kind: str) -> frozenset[str]:
    """Return the texts that are not values in columns of a *kind*."""
    texts = frozenset(kept()["missing"]["texts"])
    more = {"time": "times", "text": "", "state": "", "exit": ""}.get(kind, "numbers")
    return texts | frozenset(kept()["missing"][more]) if more else texts


@cache
def units(kind: str) -> Mapping[str, str]:
    """Return the unit that each word of a name stands for, in columns of a *kind*."""
    named = kept()["unit"].get(kind, {})
    return {word: unit for unit, texts in named.items() for word in texts}


@cache
def statuses() -> Mapping[str, Sequence[str]]:
    """Return the first words of states for each way to end."""
    table: Mapping[str, Sequence[str]] = kept()["status"]
    return table


@cache
def unstarted() -> Sequence[str]:
    """Return the states of jobs that never ran."""
    states: Sequence[str] = kept()["unstarted"]["states"]
    return states


def unended() -> Sequence[str]:
    """Return the states of jobs that have not ended."""
    states: Sequence[str] = kept()["unended"]["states"]
    return states


@cache
def state_numbers() -> Mapping[str, Mapping[str, Sequence[int]]]:
    """Return the numbers of states for each dialect and way to end."""
    table: Mapping[str, Mapping[str, Sequence[int]]] = kept()["numbers"]
    return table


def _plain(text: str) -> str:
    """Return *text* in small letters without accents."""
    folded = text.casefold().translate(_SPELLED)
    return "".join(
        sign for sign in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(sign)
    ).replace("μ", "µ")


def words(name: str) -> list[str]:
    """
    Return the words of a name.

    >>> words("SubmitTime [ms]"), words("nCPUs"), words("Angeforderte Größe (GB)")
    (['submit', 'time', 'ms'], ['n', 'cpus'], ['angeforderte', 'groesse', 'gb'])
    """
    parts = _CAMEL.sub("_", name.replace("CPUs", "Cpus").replace("GPUs", "Gpus"))
    return [word for word in _SEPARATOR.split(_plain(parts)) if word]


def meanings(name: str) -> list[Meaning]:
    """
    Return what a column called *name* may mean, the best first.

    >>> [(meaning.role, meaning.unit) for meaning in meanings("elapsed_min")]
    [('run', 'min')]
    >>> [meaning.role for meaning in meanings("Walltime")], meanings("favourite colour")
    (['run', 'req_time'], [])
    """
    found = words(name)
    if "_".join(found) in _word_list("words", "never"):
        return []
    best: dict[str, Meaning] = {}
    for meaning in _all_meanings(found):
        best[meaning.role] = min(best.get(meaning.role, meaning), meaning)
    return sorted(best.values())


def _all_meanings(found: Sequence[str]) -> Iterator[Meaning]:
    for role in roles().values():
        for unit, rest in _without_unit(found, role.kind):
            yield from _matches(role, rest, unit)
            asked = [word for word in rest if word not in _word_list("words", "asked")]
            limit = [word for word in rest if word not in _word_list("words", "limit")]
            if role.asked and len(asked) < len(rest):
                yield from _matches(role, asked, unit, role.asked)
            elif role.asked and role.kind == "duration" and len(limit) < len(rest):
                yield from _matches(role, limit, unit, role.asked)
            used = [word for word in rest if word not in _word_list("words", "used")]
            if role.is_use and len(used) < len(rest):
                yield from _matches(role, used, unit, role.name)


def _without_unit(found: Sequence[str], kind: str) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the words of a name with no unit, and those without the last word that is one."""
    yield "", found
    known = units(kind)
    places = [place for place, word in enumerate(found) if place and word in known]
    # The letter of a unit may be one of a name; a unit of memory is never.
    if places and (places[-1] == len(found) - 1 or kind in {"memory", "energy"}):
        yield known[found[places[-1]]], [*found[: places[-1]], *found[places[-1] + 1 :]]


def _matches(role: Role, found: Sequence[str], unit: str, asked: str = "") -> Iterator[Meaning]:
    """Yield the meaning of a name for *role*, as it is and without words that decide nothing."""
    is_first_job = len(found) > 1 and found[0] in _word_list("words", "job")
    noise = _word_list("noise", role.kind)
    core = [word for word in (found[1:] if is_first_job else found) if word not in noise]
    for is_loose, text in ((False, found), (False, found[1:] if is_first_job else found), (True, core)):
        place = role.names.get("_".join(text))
        if place:
            is_weak = place[0] and not asked
            yield Meaning(is_weak, is_loose, place[1], asked or role.name, unit)
