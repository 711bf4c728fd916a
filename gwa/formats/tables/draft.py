"""The draft of a plan: which column is what so far, what is to be asked, and what columns say in seconds."""

from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from gwa.formats.tables.mapping import Mapped, MappingStatement, RoleSource
from gwa.formats.tables.sample import SampledColumn, TableSample
from gwa.formats.tables.units import GROUPED
from gwa.formats.tables.values import Numbers, Values
from gwa.formats.tables.vocabulary import roles
from gwa.store.schema import MAXIMUM_DURATION

TIMES: Final = ("submit", "eligible", "start", "end")

OPTIONAL: Final = (
    "req_time", "cpu_time", "max_memory", "req_memory", "req_memory_per_proc", "req_memory_per_node",
    "energy", "state", "gpu_memory",
)  # fmt: skip
"""Roles without which a table is one of jobs all the same: a column whose unit is not known is left out."""


@dataclass(frozen=True)
class OpenQuestion:
    """What is not clear, and the likeliest answer: sources of roles."""

    text: str
    answer: Mapped


@dataclass
class Draft:
    """
    The *sources* of roles, *questions* and *notes* so far, on a *sample* of a table with its *values*.

    What is *stated* comes first.
    """

    sample: TableSample
    stated: MappingStatement
    values: Values
    notes: list[str]
    sources: dict[str, RoleSource] = field(default_factory=dict)
    questions: list[OpenQuestion] = field(default_factory=list)

    def has(self, role: str) -> bool:
        """Whether a role has a source."""
        source = self.sources.get(role)
        return source is not None and not source.is_none

    def is_open(self, role: str) -> bool:
        """Whether a role has a column whose unit may have to be found."""
        source = self.sources.get(role)
        return source is not None and len(source.columns) >= 1

    def column(self, role: str) -> SampledColumn:
        """Return the column of a role."""
        return self.sample.columns[self.sources[role].columns[0]]

    def set_unit(self, role: str, unit: str) -> None:
        """Set the unit of a role."""
        self.sources[role] = replace(self.sources[role], unit=unit)

    def ask(self, role: str, text: str, unit: str) -> None:
        """
        Ask for the unit of the column of a role, and go on with the likeliest.

        A column that no trace needs is left out instead, with a note that says how to have it read.
        """
        self.set_unit(role, unit)
        if unit != GROUPED and self.column(role).looks_grouped and "," in "".join(self.column(role).values):
            text += " Its commas are read as those of decimals: where they part thousands, leave them out."
        if role in OPTIONAL and role not in self.stated.sources:
            self.leave_out(role, text)
        else:
            self.questions.append(OpenQuestion(text, {role: self.sources[role]}))

    def leave_out(self, role: str, text: str) -> None:
        """Leave out the column of a role, with a note that says how to have it read."""
        source = self.sources.pop(role)
        how = MappingStatement({role: source}).typed()
        self.notes.append(f"{', '.join(source.columns)} was not read: {text} {how}, say, reads it")

    def of(self, role: str) -> Numbers:
        """Return the values of a role."""
        return self.values.of(self.sources.get(role), roles()[role].kind)

    def raw(self, column: SampledColumn) -> Numbers:
        """Return the numbers in a column as they are."""
        return self.values.of(RoleSource((column.name,)), "count")

    def run_seconds(self) -> Numbers:
        """Return the run times, as far as they are known."""
        run = self.of("run") if self.sources.get("run", RoleSource()).unit else self.of("end") * np.nan
        return np.where(np.isnan(run), self.between("start", "end"), run)

    def between(self, first: str, last: str) -> Numbers:
        """Return the seconds from one time of each job to another; missing where one of them is of 1970."""
        seconds = self.of(last) - self.of(first)
        return np.where(seconds > MAXIMUM_DURATION, np.nan, seconds)
