"""Whether a table is one of jobs: what it lacks, what other columns may be, where processors come from."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from gwa.formats.tables import values
from gwa.formats.tables.draft import TIMES, Draft, OpenQuestion
from gwa.formats.tables.mapping import MappingStatement, RoleSource
from gwa.formats.tables.sample import SampledColumn
from gwa.formats.tables.vocabulary import meanings, words

SIZES: Final = ("procs", "req_procs", "nodes", "req_nodes", "gpus", "req_gpus", "core_hours", "node_hours")

NEEDED_TIMES: Final = ("submit", "start", "end", "run")

NO_SIZE: Final = {"id", "ids", "tok", "toks", "token", "tokens", "number", "index", "port", "pid", "year"}
"""Words in the names of columns whose numbers are those of no processors."""

MAXIMUM_SHOWN: Final = 8

MAXIMUM_COUNT: Final = 1e7

STEP: Final = re.compile(r"\d+(?:[_+]\d+)?\.(?:batch|extern|interactive)")
NUMBERED_STEP: Final = re.compile(r"\d+(?:[_+]\d+)?\.\d+")
"""The identity of a step of Slurm, which held a part of what its job held; a number may be that of a job."""

JOBS_OF_SLURM: Final = {"JobID", "JobIDRaw"}
"""What sacct calls the column of identities."""


class NoJobsError(ValueError):
    """A table that is not one of jobs; the message says what it lacks."""


def require_jobs(draft: Draft) -> None:
    """Raise `NoJobsError` unless the table is one of jobs; settle where processors come from."""
    if step := next(_steps(draft), ""):
        raise NoJobsError(
            f"it lists steps of Slurm's jobs, such as {step}, without the jobs that they are of"
        )
    lacks = list(_lacking(draft))
    known_parts = [part for part in ("submit", "start", "end", "run", *SIZES) if draft.has(part)]
    if lacks:
        guesses = _guesses(draft)
        shown = ", ".join(list(draft.sample.columns)[:MAXIMUM_SHOWN])
        more = ", …" if len(draft.sample.columns) > MAXIMUM_SHOWN else ""
        message = f"no column says {' or '.join(lacks)} (columns: {shown}{more}){_unread(draft)}"
        if guesses and (known_parts or {"submit", "start"} & guesses.keys()):
            asked = {role: s for question in draft.questions for role, s in question.answer.items()}
            hint = MappingStatement({**asked, **guesses})
            reasons = "".join(f"; {question.text}" for question in draft.questions)
            message += f"{reasons}; if it is one of jobs, state what they are: {hint.typed()}"
        raise NoJobsError(message)
    _settle_processors(draft)
    _leave_hours_out(draft)


def _unread(draft: Draft) -> str:
    """Return in words which column should say what is lacking, by its name, in a form that is not known."""
    for name, column in draft.sample.columns.items():
        if column.is_number or column.shape == "empty":
            continue
        for role in (meaning.role for meaning in meanings(name) if not meaning.is_weak):
            if role in NEEDED_TIMES and not draft.has(role):
                what = "time" if role in TIMES else "duration"
                return (
                    f"; {column.shown(1)} is no {what} in a form that is known, but --map can state its form"
                )
    return ""


def _steps(draft: Draft) -> Iterator[str]:
    """Yield identities of steps; numbered ones where sacct names the column, and it has no others."""
    for name, column in draft.sample.columns.items():
        yield from filter(STEP.fullmatch, column.values)
        if name in JOBS_OF_SLURM and all(map(NUMBERED_STEP.fullmatch, column.values)):
            yield from column.values


def _lacking(draft: Draft) -> Iterator[str]:
    """Yield what a table of jobs has, and this one has not."""
    if not (draft.has("submit") or draft.has("start")):
        yield "when a job was submitted or started"
    if not (draft.has("run") or draft.has("end")):
        yield "when it ended or how long it ran"
    elif not any(draft.has(role) for role in ("run", "start", "wait")):
        yield "when it started"
    if not any(draft.has(role) for role in SIZES):
        yield "how many processors, nodes or GPUs it had"


def _guesses(draft: Draft) -> dict[str, RoleSource]:
    """Return what other columns may be for roles that a table of jobs needs, by their values."""
    used = {name for source in draft.sources.values() for name in source.columns}
    free = [column for name, column in draft.sample.columns.items() if name not in used]
    found = _guessed_times(draft, [column for column in free if values.is_time(column)])
    if not any(draft.has(role) for role in SIZES):
        counts = [column for column in free if _may_be_count(column)]
        best = max(counts, key=values.powers_of_two, default=None)
        found["procs"] = RoleSource((best.name,)) if best else RoleSource(factor="1")
    is_complete = {"submit", "start"} & (found.keys() | draft.sources.keys())
    has_end = {"end", "run"} & (found.keys() | {role for role in draft.sources if draft.has(role)})
    return found if is_complete and has_end else {}


def _guessed_times(draft: Draft, columns: Sequence[SampledColumn]) -> dict[str, RoleSource]:
    """Return submission, start and end, as far as they are not known, in order of their values."""
    orders = values.date_orders(column for column in columns if column.shape == "slashes")
    sources = [
        RoleSource((column.name,), unit=values.time_unit(column, orders) or (orders or ["m/d/y"])[0])
        for column in columns
    ]
    levels = [_level(draft.values.of(source, "time")) for source in sources]
    ordered = [source for _, source in sorted(zip(levels, sources, strict=True), key=lambda pair: pair[0])]
    wanted = [role for role in ("submit", "start", "end") if not draft.has(role)]
    if len(ordered) == len(wanted) - 1 and "submit" in wanted:
        wanted.remove("end" if draft.has("run") else "submit")
    elif len(ordered) == 1 and draft.has("run"):
        wanted = wanted[:1]
    return dict(zip(wanted, ordered, strict=False)) if len(ordered) <= len(wanted) else {}


def _level(times: values.Numbers) -> float:
    """Return the median of *times*; those that cannot be read come last."""
    read = times[~np.isnan(times)]
    return float(np.median(read)) if read.size else np.inf


def _settle_processors(draft: Draft) -> None:
    """Say where the number of processors comes from if no column has it; ask if nothing tells."""
    if draft.has("procs"):
        return
    for nodes in ("nodes", "req_nodes"):
        if draft.has(nodes) and draft.has("procs_per_node"):
            columns = (*draft.sources[nodes].columns, *draft.sources["procs_per_node"].columns)
            draft.sources["procs"] = RoleSource(columns)
            return
    if draft.has("req_procs"):
        draft.sources["procs"] = draft.sources["req_procs"]
        name = ", ".join(draft.sources["procs"].columns)
        draft.notes.append(f"processors are those requested ({name})")
        return
    _ask_processors(draft)


def _ask_processors(draft: Draft) -> None:
    for role in ("core_hours", "node_hours"):
        if draft.has(role):
            if role not in draft.stated.sources:
                _ask_hours(draft, role)
            return
    nodes = next((role for role in ("nodes", "req_nodes") if draft.has(role)), "")
    if nodes:
        column = draft.column(nodes)
        source = RoleSource((column.name,), factor="1", unit=draft.sources[nodes].unit)
        text = f"how many processors has a node ({column.shown()} are nodes): 1?"
    else:
        source = RoleSource(factor="1")
        text = "how many processors has a job, of which only the GPUs are known: 1?"
    draft.sources["procs"] = source
    draft.questions.append(OpenQuestion(text, {"procs": source}))


def _leave_hours_out(draft: Draft) -> None:
    """Leave out hours of processors or nodes whose number is known without them."""
    for role in ("core_hours", "node_hours"):
        if draft.is_open(role) and not draft.sources[role].unit:
            if role in draft.stated.sources:
                draft.set_unit(role, _hours_unit(draft.column(role)))
            else:
                del draft.sources[role]


def _hours_unit(column: SampledColumn) -> str:
    return "s" if "seconds" in words(column.name) else "h"


def _ask_hours(draft: Draft, role: str) -> None:
    what = "processors" if role == "core_hours" else "nodes"
    column = draft.column(role)
    unit = draft.sources[role].unit or _hours_unit(column)
    draft.ask(role, f"is {column.shown()} to be divided by the run time, for the number of {what}?", unit)


def _may_be_count(column: SampledColumn) -> bool:
    """Whether whole numbers may be those of processors: some repeated, and none like a time."""
    if column.shape != "whole" or values.is_time(column) or not NO_SIZE.isdisjoint(words(column.name)):
        return False
    numbers = [float(text) for text in column.values]
    repeated = len(set(numbers)) < len(numbers) or len(numbers) == 1
    return repeated and 1 <= max(numbers) <= MAXIMUM_COUNT and min(numbers) >= 0
