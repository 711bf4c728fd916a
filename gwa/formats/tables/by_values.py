"""The units of columns, by their values and how these fit those of others; questions where needed."""

from dataclasses import replace
from itertools import chain
from typing import Final

import numpy as np

from gwa.formats.tables.draft import TIMES, Draft
from gwa.formats.tables.mapping import MappingStatement, RoleSource
from gwa.formats.tables.required import SIZES
from gwa.formats.tables.sample import SampledColumn
from gwa.formats.tables.units import FRACTIONS, GROUPED
from gwa.formats.tables.values import (
    DURATION_SHAPES,
    agreeing_units,
    agrees,
    cpu_unit,
    date_orders,
    duration_unit,
    epoch_unit,
    fraction_unit,
    guessed_limit,
    guessed_size,
    is_within,
    known,
    limit_unit,
    median,
    time_unit,
)
from gwa.formats.tables.vocabulary import roles, state_numbers, words

DECIDED: Final = {*TIMES, "run", "wait", "core_hours", "node_hours"}
"""Roles whose units are found before those of others, or asked for."""

MAXIMUM_RUN: Final = 30 * 86400.0
"""Half of the jobs run no longer: larger numbers are not seconds."""


def decide_times(draft: Draft) -> None:
    """Find the units of times; ask where dates leave a choice."""
    present = {role: draft.column(role) for role in TIMES if draft.is_open(role)}
    slashed = [column for column in present.values() if column.shape == "slashes"]
    orders = date_orders(slashed)
    for role, column in present.items():
        unit = draft.sources[role].unit or time_unit(column, orders)
        draft.set_unit(role, unit)
        if not unit and column.shape == "slashes":
            text = f"is the day or the month first in {column.shown(2)}?"
            draft.ask(role, text, orders[0] if orders else "m/d/y")
        elif not unit:
            draft.ask(role, f"are the numbers of {column.shown(2)} days of a spreadsheet?", "excel")
    if any(column.is_number and not epoch_unit(column) for column in present.values()):
        draft.notes.append("times count from the beginning of the trace")


def decide_run(draft: Draft) -> None:
    """Find the unit of the run time by what end and start say, and whether it is one."""
    if not draft.is_open("run"):
        return
    column, source = draft.column("run"), draft.sources["run"]
    since_start, since_submit = (draft.between(role, "end") for role in ("start", "submit"))
    has_both = len(known(since_start)[0]) > 0
    if draft.stated.sources.get("run", RoleSource()).unit:
        return
    if not source.unit and column.is_number:
        units = agreeing_units(draft.raw(column), since_start, column)
        unit = units[0] if units else ""
        others = [] if units else agreeing_units(draft.raw(column), since_submit, column)
    else:
        unit = source.unit or duration_unit(column)
        seconds = draft.values.of(replace(source, unit=unit or "clock"), "duration")
        others = [unit] if agrees(seconds, since_submit) and not agrees(seconds, since_start) else []
        if has_both and not others and not (agrees(seconds, since_start) or is_within(seconds, since_start)):
            unit = ""
    if has_both and others:
        draft.sources["run"] = RoleSource()
        draft.notes.append(f"{column.name} is the time from submission to end: run times are end - start")
    elif unit:
        draft.set_unit("run", unit)
    elif has_both:
        how = MappingStatement({"run": RoleSource((column.name,), unit="s")}).typed()
        draft.sources["run"] = RoleSource()
        why = f"{column.shown()} is not the time from start to end"
        draft.notes.append(f"{column.name} was not read: {why}; {how}, say, reads it")
    else:
        draft.ask("run", f"in which unit is {column.shown()}: ms, s, min or h?", _likely_run(draft, column))


def _likely_run(draft: Draft, column: SampledColumn) -> str:
    """Return the likeliest unit of run times: that of the times beside them, if these are that fine."""
    units = {draft.sources[role].unit for role in TIMES if draft.is_open(role)}
    fine = sorted(units & {"ms", "us", "ns"})
    if fine and column.shape == "whole":
        return fine[0]
    return "ms" if median(column) > MAXIMUM_RUN else "s"


def decide_wait(draft: Draft) -> None:
    """Use a wait only where no times say it; a number called queue may be one."""
    if "wait" not in draft.sources or not draft.is_open("wait"):
        return
    column = draft.column("wait")
    if "wait" in draft.stated.sources:
        if not draft.sources["wait"].unit:
            draft.set_unit("wait", duration_unit(column) or "s")
        return
    if "submit" in draft.sources and "start" in draft.sources:
        waited = draft.between("submit", "start")
        unit = draft.sources["wait"].unit or DURATION_SHAPES.get(column.shape, "")
        unit = unit or next(iter(agreeing_units(draft.raw(column), waited, column)), "")
        if unit and (np.isnan(waited) & ~np.isnan(draft.raw(column) + draft.of("start"))).any():
            draft.set_unit("wait", unit)  # the wait of rows that have no submission
            return
        is_wait = bool(unit)
        del draft.sources["wait"]
        if not is_wait and words(column.name) == ["queue"] and "queue" not in draft.sources:
            draft.sources["queue"] = RoleSource((column.name,))
        elif is_wait:
            draft.notes.append(f"{column.name} is the wait, which submit and start say too")
        return
    unit = draft.sources["wait"].unit or duration_unit(column)
    if unit:
        draft.set_unit("wait", unit)
        return
    waited = draft.of("end") - draft.of("submit") - draft.of("run")
    units = agreeing_units(draft.raw(column), waited, column)
    if units:
        draft.set_unit("wait", units[0])
    else:
        text = f"in which unit is {column.shown()}: s, min or h?"
        if draft.has("run") or draft.has("start"):
            draft.set_unit("wait", "s")
            draft.leave_out("wait", text)
        else:
            draft.ask("wait", text, "s")


def decide_other_units(draft: Draft) -> None:
    """Find the units of all other columns."""
    for role in list(draft.sources):
        source, kind = draft.sources[role], roles()[role].kind
        if source.is_none or not source.columns or source.unit or role in DECIDED:
            continue
        column = draft.column(role)
        if role == "req_time":
            _decide_limit(draft, column)
        elif role == "cpu_time":
            _decide_cpu_time(draft, column)
        elif kind in {"memory", "energy"}:
            _decide_amount(draft, role, kind, column)
        else:
            _decide_rest(draft, role, kind, column)


def _decide_limit(draft: Draft, column: SampledColumn) -> None:
    raw = draft.raw(column)
    unit = duration_unit(column) or limit_unit(raw, draft.run_seconds())
    if unit:
        draft.set_unit("req_time", unit)
    elif not column.is_number:
        del draft.sources["req_time"]
    else:
        likely = guessed_limit(raw, draft.run_seconds())
        draft.ask("req_time", f"in which unit is {column.shown()}: s, min or h?", likely)


def _decide_cpu_time(draft: Draft, column: SampledColumn) -> None:
    run, procs = draft.run_seconds(), draft.of("procs")
    unit = duration_unit(column)
    raw = draft.raw(column)
    if not unit and agreeing_units(raw, run * procs, column):
        del draft.sources["cpu_time"]
        draft.notes.append(f"{column.name} is processors times run time, no CPU time used")
        return
    unit = unit or cpu_unit(raw, run, procs)
    if unit:
        draft.set_unit("cpu_time", unit)
    else:
        draft.ask("cpu_time", f"in which unit is {column.shown()}: s, ms or h?", "s")


def _decide_amount(draft: Draft, role: str, kind: str, column: SampledColumn) -> None:
    if column.shape == "size":
        draft.set_unit(role, "size")
    elif not median(column) or (kind == "memory" and _is_normalised(column)):
        del draft.sources[role]
    elif kind == "memory":
        text = f"in which unit is {column.shown()}: B, KB, MB or GB?"
        draft.ask(role, text, guessed_size(column))
    else:
        draft.ask(role, f"in which unit is {column.shown()}: J, kJ, Wh or kWh?", "J")


def _decide_rest(draft: Draft, role: str, kind: str, column: SampledColumn) -> None:
    """Decide the units of counts, shares, states and exit codes."""
    if kind == "count" and role in SIZES and role not in draft.stated.sources and column.looks_grouped:
        draft.ask(role, f"do points or commas part thousands in {column.shown()}?", GROUPED)
    elif kind == "count":
        draft.set_unit(role, "tres" if column.shape == "tres" else "")
    elif kind == "fraction":
        unit = fraction_unit(draft.raw(column))
        if unit in FRACTIONS:
            draft.set_unit(role, unit)
        else:
            del draft.sources[role]
    elif kind == "exit" and column.shape in {"pair", "clock"}:
        draft.set_unit(role, "pair")
    elif kind == "state":
        _decide_state(draft, column)
    elif role == "id" and not draft.stated.is_whole and _may_number(column):
        draft.set_unit(role, "number")


def _decide_state(draft: Draft, column: SampledColumn) -> None:
    if not column.is_number:
        draft.set_unit("state", "words")
        return
    found = {int(float(text)) for text in column.values}
    if words(column.name)[-1:] in (["success"], ["succeeded"]) and found <= {0, 1}:
        draft.set_unit("state", "success")
        return
    likely = next(
        (name for name, ways in state_numbers().items() if found <= set(chain.from_iterable(ways.values()))),
        "slurm",
    )
    simplest = "success" if found <= {0, 1} else "swf" if found <= {0, 1, 5} else likely
    choices = ", ".join(state_numbers())
    draft.ask("state", f"whose numbers are the states {column.shown(5)}: {choices}?", simplest)


def split_tres(draft: Draft) -> None:
    """Take what TRES of Slurm hold besides the processors."""
    for name, column in draft.sample.columns.items():
        if column.shape != "tres" or not {"alloc", "allocated", "req"} & set(words(name)):
            continue
        asked = "req" in words(name)
        found = {"req_procs" if asked else "procs": "tres", "req_gpus" if asked else "gpus": "tres-gpu"}
        found |= {} if asked else {"nodes": "tres-node"}
        for role, unit in found.items():
            draft.sources.setdefault(role, RoleSource((name,), unit=unit))


def _may_number(column: SampledColumn) -> bool:
    """Whether the ids of jobs are numbers of their own."""
    return column.shape == "whole" and len(set(column.values)) == len(column.values)


def _is_normalised(column: SampledColumn) -> bool:
    """Whether amounts of memory are shares: none above 1, with fractions."""
    numbers = [float(text.replace(",", ".")) for text in column.values]
    return max(numbers, default=0.0) <= 1 and any(number % 1 for number in numbers)
