"""
Which column of a table is what: by its name, its values, and how they fit those of other columns.

What a user states comes first. Where names and values do not decide, a `Question` says so, with the likeliest
answer. A table that is not one of jobs is refused with what it lacks.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final

import numpy as np

from gwa.errors import TraceError
from gwa.formats.tables.known import known_table
from gwa.formats.tables.mapping import Mapped, Source, Statement
from gwa.formats.tables.sample import Column, Sample
from gwa.formats.tables.units import FRACTIONS
from gwa.formats.tables.values import (
    DURATION_SHAPES,
    EXCEL_DAYS,
    TIME_SHAPES,
    Numbers,
    Values,
    agreeing_units,
    agrees,
    cpu_unit,
    date_orders,
    epoch_unit,
    fraction_unit,
    guessed_limit,
    guessed_size,
    is_time,
    is_within,
    known,
    limit_unit,
    median,
    mostly,
    powers_of_two,
)
from gwa.formats.tables.vocabulary import Meaning, meanings, roles, state_numbers, words
from gwa.store.schema import LONGEST

TIMES: Final = ("submit", "eligible", "start", "end")
SIZES: Final = ("procs", "req_procs", "nodes", "req_nodes", "gpus", "req_gpus", "core_hours", "node_hours")
DECIDED: Final = {*TIMES, "run", "wait", "core_hours", "node_hours"}
"""Roles whose units are found before those of others, or asked for."""

NEEDED: Final = ("submit", "start", "end", "run", "procs")
"""Roles of which two candidates that differ are a question."""

OPTIONAL: Final = (
    "req_time", "cpu_time", "max_memory", "req_memory", "req_memory_per_proc", "req_memory_per_node",
    "energy", "state", "gpu_memory",
)  # fmt: skip
"""Roles without which a table is one of jobs all the same: a column whose unit is not known is left out."""

MAXIMUM_WORDS: Final = 60
"""States have few words."""

MAXIMUM_SHOWN: Final = 8
LARGEST_COUNT: Final = 1e7
LONGEST_RUN: Final = 30 * 86400.0
"""Half of the jobs run no longer: larger numbers are not seconds."""


class NoJobsError(ValueError):
    """A table that is not one of jobs; the message says what it lacks."""


@dataclass(frozen=True)
class Question:
    """What is not clear, and the likeliest answer: sources of roles."""

    text: str
    answer: Mapped


@dataclass(frozen=True)
class Plan:
    """
    The *sources* of roles, the columns that are not read, and what is to be asked.

    *notes* say what was taken for granted.
    """

    sources: Mapped
    unused: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
    notes: tuple[str, ...] = ()
    zone: str = ""

    @property
    def map(self) -> str:
        """The text of ``--map`` that states the whole plan."""
        sources = {role: source for role, source in self.sources.items() if not source.is_none}
        return str(Statement(sources, self.zone, is_whole=True))


def plan_of(sample: Sample, stated: Statement) -> Plan:
    """
    Return the plan for a table, in which what is *stated* comes first, then what is known of it.

    Raise `NoJobsError` for a table of other things, `TraceError` where what is stated does not fit it.
    """
    table = None if stated.is_whole else known_table(sample.columns)
    notes = [f"the table is {table.title}, of which is known: {table.stated}"] if table else []
    with Values(sample) as values:
        planner = _Planner(sample, stated.over(table.stated) if table else stated, values, notes=notes)
        return planner.plan()


@dataclass
class _Planner:
    sample: Sample
    stated: Statement
    values: Values
    sources: dict[str, Source] = field(default_factory=dict)
    questions: list[Question] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    doubtful: dict[str, list[Meaning]] = field(default_factory=dict)
    """Columns whose names mean several roles."""

    def plan(self) -> Plan:
        self._take_stated()
        if not self.stated.is_whole:
            self._assign_by_name()
        self._decide_times()
        self._decide_doubtful()
        self._decide_run()
        self._decide_wait()
        self._decide_other_units()
        if not self.stated.is_whole:
            self._split_tres()
            self._require_jobs()
        used = {name for source in self.sources.values() for name in source.columns}
        unused = tuple(name for name in self.sample.columns if name not in used)
        order = {role: place for place, role in enumerate(roles())}
        sources = dict(sorted(self.sources.items(), key=lambda entry: order[entry[0]]))
        return Plan(sources, unused, tuple(self.questions), tuple(self.notes), self.stated.zone)

    # --- names ---

    def _take_stated(self) -> None:
        for role, source in self.stated.sources.items():
            columns = tuple(self._column_called(name) for name in source.columns)
            self.sources[role] = replace(source, columns=columns)

    def _column_called(self, name: str) -> str:
        """Return the column that a user means; raise `TraceError` if there is none."""
        columns = self.sample.columns
        if name in columns:
            return name
        alike = [column for column in columns if words(column) == words(name)]
        if len(alike) == 1:
            return alike[0]
        shown = ", ".join(list(columns)[:30])
        raise TraceError(f"--map: there is no column '{name}', expected one of {shown}")

    def _assign_by_name(self) -> None:
        taken = {source.columns[0] for source in self.sources.values() if source.is_column}
        candidates = []
        for name, column in self.sample.columns.items():
            fitting = [
                meaning
                for meaning in meanings(name)
                if meaning.role not in self.sources and _fits(roles()[meaning.role].kind, column)
            ]
            if name in taken or not fitting:
                continue
            strong = [meaning for meaning in fitting if not meaning.is_weak]
            if strong or len(fitting) == 1:
                candidates += [(meaning, name) for meaning in (strong or fitting)[:1]]
            else:
                self.doubtful[name] = fitting
        rivals: dict[str, str] = {}
        for meaning, name in sorted(candidates):
            first = rivals.setdefault(meaning.role, name)
            if first == name:
                self.sources[meaning.role] = Source((name,), unit=meaning.unit)
            elif not meaning.is_weak and meaning.role in NEEDED:
                self._ask_rivals(meaning.role, first, name)

    def _ask_rivals(self, role: str, first: str, second: str) -> None:
        columns = self.sample.columns
        if [*columns[first].values] == [*columns[second].values]:
            return
        text = f"which is the {_called(role)}, {columns[first].shown(2)} or {columns[second].shown(2)}?"
        self.questions.append(Question(text, {role: self.sources[role]}))

    # --- times ---

    def _decide_times(self) -> None:
        present = {role: self._column(role) for role in TIMES if self._is_open(role)}
        slashed = [column for column in present.values() if column.shape == "slashes"]
        orders = date_orders(slashed)
        for role, column in present.items():
            unit = self.sources[role].unit or _time_unit(column, orders)
            self._set_unit(role, unit)
            if not unit and column.shape == "slashes":
                text = f"is the day or the month first in {column.shown(2)}?"
                self._ask(role, text, orders[0] if orders else "m/d/y")
            elif not unit:
                self._ask(role, f"are the numbers of {column.shown(2)} days of a spreadsheet?", "excel")
        if any(column.is_number and not epoch_unit(column) for column in present.values()):
            self.notes.append("times count from the beginning of the trace")

    def _is_open(self, role: str) -> bool:
        """Whether a role has a column whose unit may have to be found."""
        source = self.sources.get(role)
        return source is not None and len(source.columns) >= 1

    def _column(self, role: str) -> Column:
        return self.sample.columns[self.sources[role].columns[0]]

    def _set_unit(self, role: str, unit: str) -> None:
        self.sources[role] = replace(self.sources[role], unit=unit)

    def _ask(self, role: str, text: str, unit: str) -> None:
        """
        Ask for the unit of the column of a role, and go on with the likeliest.

        A column that no trace needs is left out instead, with a note that says how to have it read.
        """
        self._set_unit(role, unit)
        if role in OPTIONAL and role not in self.stated.sources:
            self._leave_out(role, text)
        else:
            self.questions.append(Question(text, {role: self.sources[role]}))

    def _leave_out(self, role: str, text: str) -> None:
        source = self.sources.pop(role)
        how = Statement({role: source}).typed()
        self.notes.append(f"{', '.join(source.columns)} was not read: {text} {how}, say, reads it")

    def _of(self, role: str) -> Numbers:
        return self.values.of(self.sources.get(role), roles()[role].kind)

    # --- names that mean several things ---

    def _decide_doubtful(self) -> None:
        for name, options in self.doubtful.items():
            left = [meaning for meaning in options if meaning.role not in self.sources]
            meaning = self._decided(self.sample.columns[name], left) if len(left) > 1 else None
            if meaning or len(left) == 1:
                chosen = meaning or left[0]
                self.sources[chosen.role] = Source((name,), unit=chosen.unit)
                self._finish_time(chosen.role)
            elif left:
                self._ask_meaning(self.sample.columns[name], left)

    def _finish_time(self, role: str) -> None:
        if role in TIMES and not self.sources[role].unit:
            self._set_unit(role, _time_unit(self._column(role), date_orders([self._column(role)])) or "s")

    def _decided(self, column: Column, options: Sequence[Meaning]) -> Meaning | None:
        """Return what a column is by its values, None if they do not decide."""
        by_role = {meaning.role: meaning for meaning in options}
        if {"wait", "submit"} <= by_role.keys():
            return by_role["submit" if is_time(column) else "wait"]
        if "run" in by_role and "req_time" in by_role:
            return self._decided_walltime(column, by_role)
        return None

    def _decided_walltime(self, column: Column, by_role: Mapping[str, Meaning]) -> Meaning | None:
        run = self._between("start", "end")
        unit = by_role["run"].unit or DURATION_SHAPES.get(column.shape, "")
        if unit:
            seconds = self.values.of(Source((column.name,), unit=unit), "duration")
            if agrees(seconds, run):
                return by_role["run"]
            limits, runs = known(seconds, run)
            return by_role["req_time"] if mostly(runs <= limits * 1.05 + 60) else None
        raw = self._raw(column)
        if agreeing_units(raw, run, column):
            return by_role["run"]
        return by_role["req_time"] if limit_unit(raw, run) else None

    def _ask_meaning(self, column: Column, options: Sequence[Meaning]) -> None:
        choices = " or the ".join(_called(meaning.role) for meaning in options)
        best = options[0]
        source = Source((column.name,), unit=best.unit)
        unit = self._likely_unit(best.role, source)
        self.sources[best.role] = replace(source, unit=unit)
        text = f"is {column.shown()} the {choices}?"
        if all(meaning.role in OPTIONAL for meaning in options):
            self._leave_out(best.role, text)
        else:
            self.questions.append(Question(text, {best.role: self.sources[best.role]}))

    def _likely_unit(self, role: str, source: Source) -> str:
        """Return the unit of a column, or else the likeliest."""
        column = self.sample.columns[source.columns[0]]
        if source.unit:
            return source.unit
        if roles()[role].kind == "memory":
            return "size" if column.shape == "size" else guessed_size(column)
        if column.shape in DURATION_SHAPES:
            return DURATION_SHAPES[column.shape]
        return guessed_limit(self._raw(column), self._run_seconds()) if role == "req_time" else "s"

    # --- durations ---

    def _raw(self, column: Column) -> Numbers:
        """Return the numbers in a column as they are."""
        return self.values.of(Source((column.name,)), "count")

    def _run_seconds(self) -> Numbers:
        """Return the run times, as far as they are known."""
        run = self._of("run") if self.sources.get("run", Source()).unit else self._of("end") * np.nan
        return np.where(np.isnan(run), self._between("start", "end"), run)

    def _between(self, first: str, last: str) -> Numbers:
        """Return the seconds from one time of each job to another; missing where one of them is of 1970."""
        seconds = self._of(last) - self._of(first)
        return np.where(seconds > LONGEST, np.nan, seconds)

    def _decide_run(self) -> None:
        """Find the unit of the run time by what end and start say, and whether it is one."""
        if not self._is_open("run"):
            return
        column, source = self._column("run"), self.sources["run"]
        since_start, since_submit = (self._between(role, "end") for role in ("start", "submit"))
        has_both = len(known(since_start)[0]) > 0
        if self.stated.sources.get("run", Source()).unit:
            return
        if not source.unit and column.is_number:
            units = agreeing_units(self._raw(column), since_start, column)
            unit = units[0] if units else ""
            others = [] if units else agreeing_units(self._raw(column), since_submit, column)
        else:
            unit = source.unit or _duration_unit(column)
            seconds = self.values.of(replace(source, unit=unit or "clock"), "duration")
            others = [unit] if agrees(seconds, since_submit) and not agrees(seconds, since_start) else []
            if (
                has_both
                and not others
                and not (agrees(seconds, since_start) or is_within(seconds, since_start))
            ):
                unit = ""
        if has_both and others:
            self.sources["run"] = Source()
            self.notes.append(f"{column.name} is the time from submission to end: run times are end - start")
        elif unit:
            self._set_unit("run", unit)
        elif has_both:
            how = Statement({"run": Source((column.name,), unit="s")}).typed()
            self.sources["run"] = Source()
            why = f"{column.shown()} is not the time from start to end"
            self.notes.append(f"{column.name} was not read: {why}; {how}, say, reads it")
        else:
            likely = "ms" if median(column) > LONGEST_RUN else "s"
            self._ask("run", f"in which unit is {column.shown()}: ms, s, min or h?", likely)

    def _decide_wait(self) -> None:
        """Use a wait only where no times say it; a number called queue may be one."""
        if "wait" not in self.sources or not self._is_open("wait"):
            return
        column = self._column("wait")
        if "wait" in self.stated.sources:
            if not self.sources["wait"].unit:
                self._set_unit("wait", _duration_unit(column) or "s")
            return
        if "submit" in self.sources and "start" in self.sources:
            waited = self._of("start") - self._of("submit")
            is_wait = bool(self.sources["wait"].unit) or column.shape in DURATION_SHAPES
            del self.sources["wait"]
            is_wait = is_wait or bool(agreeing_units(self._raw(column), waited, column))
            if not is_wait and words(column.name) == ["queue"] and "queue" not in self.sources:
                self.sources["queue"] = Source((column.name,))
            elif is_wait:
                self.notes.append(f"{column.name} is the wait, which submit and start say too")
            return
        unit = self.sources["wait"].unit or _duration_unit(column)
        if unit:
            self._set_unit("wait", unit)
            return
        waited = self._of("end") - self._of("submit") - self._of("run")
        units = agreeing_units(self._raw(column), waited, column)
        if units:
            self._set_unit("wait", units[0])
        else:
            text = f"in which unit is {column.shown()}: s, min or h?"
            if self._has("run") or self._has("start"):
                self._set_unit("wait", "s")
                self._leave_out("wait", text)
            else:
                self._ask("wait", text, "s")

    # --- other units ---

    def _decide_other_units(self) -> None:
        for role in list(self.sources):
            source, kind = self.sources[role], roles()[role].kind
            if source.is_none or not source.columns or source.unit or role in DECIDED:
                continue
            column = self._column(role)
            if role == "req_time":
                self._decide_limit(column)
            elif role == "cpu_time":
                self._decide_cpu_time(column)
            elif kind in {"memory", "energy"}:
                self._decide_amount(role, kind, column)
            else:
                self._decide_rest(role, kind, column)

    def _decide_limit(self, column: Column) -> None:
        raw = self._raw(column)
        unit = _duration_unit(column) or limit_unit(raw, self._run_seconds())
        if unit:
            self._set_unit("req_time", unit)
        elif not column.is_number:
            del self.sources["req_time"]
        else:
            likely = guessed_limit(raw, self._run_seconds())
            self._ask("req_time", f"in which unit is {column.shown()}: s, min or h?", likely)

    def _decide_cpu_time(self, column: Column) -> None:
        run, procs = self._run_seconds(), self._of("procs")
        unit = _duration_unit(column)
        raw = self._raw(column)
        if not unit and agreeing_units(raw, run * procs, column):
            del self.sources["cpu_time"]
            self.notes.append(f"{column.name} is processors times run time, no CPU time used")
            return
        unit = unit or cpu_unit(raw, run, procs)
        if unit:
            self._set_unit("cpu_time", unit)
        else:
            self._ask("cpu_time", f"in which unit is {column.shown()}: s, ms or h?", "s")

    def _decide_amount(self, role: str, kind: str, column: Column) -> None:
        if column.shape == "size":
            self._set_unit(role, "size")
        elif not median(column) or (kind == "memory" and _is_normalised(column)):
            del self.sources[role]
        elif kind == "memory":
            text = f"in which unit is {column.shown()}: B, KB, MB or GB?"
            self._ask(role, text, guessed_size(column))
        else:
            self._ask(role, f"in which unit is {column.shown()}: J, kJ, Wh or kWh?", "J")

    def _decide_rest(self, role: str, kind: str, column: Column) -> None:
        """Decide the units of counts, shares, states and exit codes."""
        if kind == "count":
            self._set_unit(role, "tres" if column.shape == "tres" else "")
        elif kind == "fraction":
            unit = fraction_unit(self._raw(column))
            if unit in FRACTIONS:
                self._set_unit(role, unit)
            else:
                del self.sources[role]
        elif kind == "exit" and column.shape in {"pair", "clock"}:
            self._set_unit(role, "pair")
        elif kind == "state":
            self._decide_state(column)
        elif role == "id" and not self.stated.is_whole and _may_number(column):
            self._set_unit(role, "number")

    def _decide_state(self, column: Column) -> None:
        if not column.is_number:
            self._set_unit("state", "words")
            return
        found = {int(float(text)) for text in column.values}
        if words(column.name)[-1:] in (["success"], ["succeeded"]) and found <= {0, 1}:
            self._set_unit("state", "success")
            return
        likely = next(
            (
                name
                for name, ways in state_numbers().items()
                if found <= set(chain.from_iterable(ways.values()))
            ),
            "slurm",
        )
        simplest = "success" if found <= {0, 1} else "swf" if found <= {0, 1, 5} else likely
        choices = ", ".join(state_numbers())
        self._ask("state", f"whose numbers are the states {column.shown(5)}: {choices}?", simplest)

    def _split_tres(self) -> None:
        """Take what TRES of Slurm hold besides the processors."""
        for name, column in self.sample.columns.items():
            if column.shape != "tres" or not {"alloc", "allocated", "req"} & set(words(name)):
                continue
            asked = "req" in words(name)
            found = {"req_procs" if asked else "procs": "tres", "req_gpus" if asked else "gpus": "tres-gpu"}
            found |= {} if asked else {"nodes": "tres-node"}
            for role, unit in found.items():
                self.sources.setdefault(role, Source((name,), unit=unit))

    # --- is it a table of jobs? ---

    def _require_jobs(self) -> None:
        lacks = list(self._lacking())
        known_parts = [part for part in ("submit", "start", "end", "run", *SIZES) if self._has(part)]
        if lacks:
            guesses = self._guesses()
            shown = ", ".join(list(self.sample.columns)[:MAXIMUM_SHOWN])
            more = ", …" if len(self.sample.columns) > MAXIMUM_SHOWN else ""
            message = f"no column says {' or '.join(lacks)} (columns: {shown}{more})"
            if guesses and (known_parts or {"submit", "start"} & guesses.keys()):
                asked = {role: s for question in self.questions for role, s in question.answer.items()}
                hint = Statement({**asked, **guesses})
                reasons = "".join(f"; {question.text}" for question in self.questions)
                message += f"{reasons}; if it is one of jobs, state what they are: {hint.typed()}"
            raise NoJobsError(message)
        self._settle_processors()

    def _has(self, role: str) -> bool:
        source = self.sources.get(role)
        return source is not None and not source.is_none

    def _lacking(self) -> Iterator[str]:
        """Yield what a table of jobs has, and this one has not."""
        if not (self._has("submit") or self._has("start")):
            yield "when a job was submitted or started"
        if not (self._has("run") or self._has("end")):
            yield "when it ended or how long it ran"
        elif not any(self._has(role) for role in ("run", "start", "wait")):
            yield "when it started"
        if not any(self._has(role) for role in SIZES):
            yield "how many processors, nodes or GPUs it had"

    def _guesses(self) -> dict[str, Source]:
        """Return what other columns may be for roles that a table of jobs needs, by their values."""
        used = {name for source in self.sources.values() for name in source.columns}
        free = [column for name, column in self.sample.columns.items() if name not in used]
        found = self._guessed_times([column for column in free if is_time(column)])
        if not any(self._has(role) for role in SIZES):
            counts = [column for column in free if _may_be_count(column)]
            best = max(counts, key=powers_of_two, default=None)
            found["procs"] = Source((best.name,)) if best else Source(factor="1")
        is_complete = {"submit", "start"} & (found.keys() | self.sources.keys())
        has_end = {"end", "run"} & (found.keys() | {role for role in self.sources if self._has(role)})
        return found if is_complete and has_end else {}

    def _guessed_times(self, columns: Sequence[Column]) -> dict[str, Source]:
        """Return submission, start and end, as far as they are not known, in order of their values."""
        orders = date_orders(column for column in columns if column.shape == "slashes")
        sources = [
            Source((column.name,), unit=_time_unit(column, orders) or (orders or ["m/d/y"])[0])
            for column in columns
        ]
        levels = [float(np.nanmedian(self.values.of(source, "time"))) for source in sources]
        ordered = [
            source for _, source in sorted(zip(levels, sources, strict=True), key=lambda pair: pair[0])
        ]
        wanted = [role for role in ("submit", "start", "end") if not self._has(role)]
        if len(ordered) == len(wanted) - 1 and "submit" in wanted:
            wanted.remove("end" if self._has("run") else "submit")
        elif len(ordered) == 1 and self._has("run"):
            wanted = wanted[:1]
        return dict(zip(wanted, ordered, strict=False)) if len(ordered) <= len(wanted) else {}

    def _settle_processors(self) -> None:
        """Say where the number of processors comes from if no column has it; ask if nothing tells."""
        if self._has("procs"):
            return
        for nodes in ("nodes", "req_nodes"):
            if self._has(nodes) and self._has("procs_per_node"):
                columns = (*self.sources[nodes].columns, *self.sources["procs_per_node"].columns)
                self.sources["procs"] = Source(columns)
                return
        if self._has("req_procs"):
            self.sources["procs"] = self.sources["req_procs"]
            name = ", ".join(self.sources["procs"].columns)
            self.notes.append(f"processors are those requested ({name})")
            return
        self._ask_processors()

    def _ask_processors(self) -> None:
        for role in ("core_hours", "node_hours"):
            if self._has(role):
                if role not in self.stated.sources:
                    self._ask_hours(role)
                return
        nodes = next((role for role in ("nodes", "req_nodes") if self._has(role)), "")
        if nodes:
            column = self._column(nodes)
            source = Source((column.name,), factor="1", unit=self.sources[nodes].unit)
            text = f"how many processors has a node ({column.shown()} are nodes): 1?"
        else:
            source = Source(factor="1")
            text = "how many processors has a job, of which only the GPUs are known: 1?"
        self.sources["procs"] = source
        self.questions.append(Question(text, {"procs": source}))

    def _ask_hours(self, role: str) -> None:
        what = "processors" if role == "core_hours" else "nodes"
        column = self._column(role)
        unit = self.sources[role].unit or ("s" if "seconds" in words(column.name) else "h")
        self._ask(role, f"is {column.shown()} to be divided by the run time, for the number of {what}?", unit)


def _called(role: str) -> str:
    """Return what a question calls a role."""
    names = {
        "submit": "submission",
        "run": "run time",
        "req_time": "requested time",
        "procs": "number of processors",
        "max_memory": "memory used",
        "req_memory": "memory requested",
    }
    return names.get(role, role.replace("_", " "))


def _fits(kind: str, column: Column) -> bool:
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
    return shape in shapes or column.is_number


def _may_number(column: Column) -> bool:
    """Whether the ids of jobs are numbers of their own."""
    return column.shape == "whole" and len(set(column.values)) == len(column.values)


def _time_unit(column: Column, orders: Sequence[str]) -> str:
    """Return the unit of times by their values; "" if they leave a choice."""
    if column.shape == "slashes":
        return orders[0] if len(orders) == 1 else ""
    if column.shape in TIME_SHAPES:
        return TIME_SHAPES[column.shape]
    if column.looks("compact"):
        return "compact"
    if column.shape == "number" and EXCEL_DAYS[0] <= median(column) <= EXCEL_DAYS[1]:
        return ""
    return epoch_unit(column) or "s"


def _duration_unit(column: Column) -> str:
    """Return the unit of durations that their form tells; "" for numbers, and for what may be MM:SS."""
    unit = DURATION_SHAPES.get(column.shape, "")
    is_short = unit == "clock" and all(text.count(":") == 1 for text in column.values)
    return "" if is_short else unit


def _is_normalised(column: Column) -> bool:
    """Whether amounts of memory are shares: none above 1, with fractions."""
    numbers = [float(text.replace(",", ".")) for text in column.values]
    return max(numbers, default=0.0) <= 1 and any(number % 1 for number in numbers)


def _may_be_count(column: Column) -> bool:
    """Whether whole numbers may be those of processors: some repeated, and none like a time."""
    if column.shape != "whole" or is_time(column):
        return False
    numbers = [float(text) for text in column.values]
    repeated = len(set(numbers)) < len(numbers) or len(numbers) == 1
    return repeated and 1 <= max(numbers) <= LARGEST_COUNT and min(numbers) >= 0


def sentence(questions: Sequence[Question]) -> str:
    """Return all questions as one message that ends in what answers them."""
    answers = {role: source for question in questions for role, source in question.answer.items()}
    asked = " ".join(f"({number}) {q.text}" for number, q in enumerate(questions, 1))
    asked = questions[0].text if len(questions) == 1 else asked
    return f"{asked} Answer as in: {Statement(answers).typed()}"
