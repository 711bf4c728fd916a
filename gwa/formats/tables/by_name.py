"""
Which column is what by its name, and of those whose names mean several things, by values.

What a user states comes first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from gwa.errors import TraceError
from gwa.formats.tables.draft import OPTIONAL, TIMES, Draft, OpenQuestion
from gwa.formats.tables.mapping import RoleSource
from gwa.formats.tables.sample import SampledColumn
from gwa.formats.tables.values import (
    DURATION_SHAPES,
    TIME_SHAPES,
    agreeing_units,
    agrees,
    date_orders,
    guessed_limit,
    guessed_size,
    is_time,
    known,
    limit_unit,
    mostly,
    time_unit,
)
from gwa.formats.tables.vocabulary import Meaning, meanings, roles, words

NEEDED: Final = ("submit", "start", "end", "run", "procs")
"""Roles of which two candidates that differ are a question."""

MAXIMUM_WORDS: Final = 60
"""States have few words."""


def take_stated(draft: Draft) -> None:
    """Take the roles that a user states."""
    for role, source in draft.stated.sources.items():
        columns = tuple(column_called(draft.sample.columns, name) for name in source.columns)
        draft.sources[role] = replace(source, columns=columns)


def column_called(columns: Mapping[str, SampledColumn], name: str) -> str:
    """Return the one of the *columns* that a user means; raise `TraceError` if there is none."""
    if name in columns:
        return name
    alike = [column for column in columns if words(column) == words(name)]
    if len(alike) == 1:
        return alike[0]
    shown = ", ".join(list(columns)[:30])
    raise TraceError(f"--map: there is no column '{name}', expected one of {shown}")


def assign(draft: Draft) -> dict[str, list[Meaning]]:
    """Assign roles by the names of columns; return what those may mean whose names mean several roles."""
    taken = {source.columns[0] for source in draft.sources.values() if source.is_column}
    candidates: list[tuple[Meaning, str]] = []
    doubtful: dict[str, list[Meaning]] = {}
    for name, column in draft.sample.columns.items():
        fitting = [
            meaning
            for meaning in meanings(name)
            if meaning.role not in draft.sources and _fits(roles()[meaning.role].kind, column)
        ]
        if name in taken or not fitting:
            continue
        strong = [meaning for meaning in fitting if not meaning.is_weak]
        if strong or len(fitting) == 1:
            candidates += [(meaning, name) for meaning in (strong or fitting)[:1]]
        else:
            doubtful[name] = fitting
    rivals: dict[str, str] = {}
    # A column of nothing but zeros, as LSF's begin_time, says less than any other of its role.
    for meaning, name in sorted(candidates, key=lambda pair: (draft.sample.columns[pair[1]].is_zero, pair)):
        first = rivals.setdefault(meaning.role, name)
        if first == name:
            draft.sources[meaning.role] = RoleSource((name,), unit=meaning.unit)
        elif not meaning.is_weak and meaning.role in NEEDED:
            _ask_rivals(draft, meaning.role, first, name)
    return doubtful


def _ask_rivals(draft: Draft, role: str, first: str, second: str) -> None:
    columns = draft.sample.columns
    if columns[second].is_zero or [*columns[first].values] == [*columns[second].values]:
        return
    text = f"which is the {_called(role)}, {columns[first].shown(2)} or {columns[second].shown(2)}?"
    draft.questions.append(OpenQuestion(text, {role: draft.sources[role]}))


def decide_doubtful(draft: Draft, doubtful: Mapping[str, list[Meaning]]) -> None:
    """Decide by their values what columns are whose names mean several roles, or ask."""
    for name, options in doubtful.items():
        left = [meaning for meaning in options if meaning.role not in draft.sources]
        meaning = _decided(draft, draft.sample.columns[name], left) if len(left) > 1 else None
        if meaning or len(left) == 1:
            chosen = meaning or left[0]
            draft.sources[chosen.role] = RoleSource((name,), unit=chosen.unit)
            _finish_time(draft, chosen.role)
        elif left:
            _ask_meaning(draft, draft.sample.columns[name], left)


def _finish_time(draft: Draft, role: str) -> None:
    if role in TIMES and not draft.sources[role].unit:
        draft.set_unit(role, time_unit(draft.column(role), date_orders([draft.column(role)])) or "s")


def _decided(draft: Draft, column: SampledColumn, options: Sequence[Meaning]) -> Meaning | None:
    """Return what a column is by its values, None if they do not decide."""
    by_role = {meaning.role: meaning for meaning in options}
    if {"wait", "submit"} <= by_role.keys():
        return by_role["submit" if is_time(column) else "wait"]
    if "run" in by_role and "req_time" in by_role:
        return _decided_walltime(draft, column, by_role)
    return None


def _decided_walltime(draft: Draft, column: SampledColumn, by_role: Mapping[str, Meaning]) -> Meaning | None:
    run = draft.between("start", "end")
    unit = by_role["run"].unit or DURATION_SHAPES.get(column.shape, "")
    if unit:
        seconds = draft.values.of(RoleSource((column.name,), unit=unit), "duration")
        if agrees(seconds, run):
            return by_role["run"]
        limits, runs = known(seconds, run)
        return by_role["req_time"] if mostly(runs <= limits * 1.05 + 60) else None
    raw = draft.raw(column)
    if agreeing_units(raw, run, column):
        return by_role["run"]
    return by_role["req_time"] if limit_unit(raw, run) else None


def _ask_meaning(draft: Draft, column: SampledColumn, options: Sequence[Meaning]) -> None:
    choices = " or the ".join(_called(meaning.role) for meaning in options)
    best = options[0]
    source = RoleSource((column.name,), unit=best.unit)
    unit = _likely_unit(draft, best.role, source)
    draft.sources[best.role] = replace(source, unit=unit)
    text = f"is {column.shown()} the {choices}?"
    if all(meaning.role in OPTIONAL for meaning in options):
        draft.leave_out(best.role, text)
    else:
        draft.questions.append(OpenQuestion(text, {best.role: draft.sources[best.role]}))


def _likely_unit(draft: Draft, role: str, source: RoleSource) -> str:
    """Return the unit of a column, or else the likeliest."""
    column = draft.sample.columns[source.columns[0]]
    if source.unit:
        return source.unit
    if roles()[role].kind == "memory":
        return "size" if column.shape == "size" else guessed_size(column)
    if column.shape in DURATION_SHAPES:
        return DURATION_SHAPES[column.shape]
    return guessed_limit(draft.raw(column), draft.run_seconds()) if role == "req_time" else "s"


def _called(role: str) -> str:
    """Return what a question calls a role."""
    return roles()[role].title or role.replace("_", " ")


def _fits(kind: str, column: SampledColumn) -> bool:
    """Whether the values of a column can be of a *kind*."""
    shape = column.shape
    if shape == "empty":
        return False
    if kind == "text":
        return words(column.name) != ["queue"] or not column.is_number
    if kind == "state":
        first = {text.split()[0].lower() for text in column.values}
        return shape != "number" and len(first) <= MAXIMUM_WORDS
    shapes = {
        "time": (*TIME_SHAPES, "slashes"),
        "duration": tuple(DURATION_SHAPES),
        "count": ("tres",),
        "memory": ("size",),
        "exit": ("pair", "clock"),
    }.get(kind, ())
    return shape in shapes or column.is_number or (kind == "count" and column.looks_grouped)
