"""
Which column of a log of requests to language models is what: by its name, its values, and what is stated.

What a user states comes first. How long a unit of a relative time is, its numbers do not tell: it is asked.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from gwa.formats.tables.by_name import column_called
from gwa.formats.tables.draft import OpenQuestion
from gwa.formats.tables.mapping import Mapped, MappingStatement, RoleSource, statement
from gwa.formats.tables.plan import sentence
from gwa.formats.tables.sample import SampledColumn, TableSample
from gwa.formats.tables.units import value
from gwa.formats.tables.values import date_orders, duration_unit, is_time, time_unit
from gwa.formats.tables.vocabulary import kept, role_kinds, roles, units, words

request_roles: Final = partial(roles, of_requests=True)

SAME: Final = {"tok": "tokens", "toks": "tokens", "token": "tokens", "len": "length"}
"""Words of names, and as what they are looked up."""

NOISE: Final = {"n", "num", "number", "nr", "count", "usage", "gen", "ai", "llm"}
"""Words of names that decide nothing: OpenTelemetry has ``gen_ai.usage.input_tokens``."""

AFTER_AN_ANSWER: Final = "it was made some time after an answer, and when that came is not recorded"
"""Why the turn of a session of which a delay is recorded, and no time, is no request."""

NEEDED: Final = {"time": "when a request was made", "input": "how many tokens its prompt had"}


@dataclass(frozen=True)
class RequestPlan:
    """The *sources* of roles, the columns that are not read, and what is to be *asked*."""

    sources: Mapped
    unused: tuple[str, ...]
    asked: str = ""

    @property
    def map(self) -> str:
        """The text of ``--map`` that states the whole plan."""
        return str(MappingStatement(self.sources, is_whole=True))

    @property
    def names(self) -> dict[str, str]:
        """The names in a file of the columns that the SELECT reads."""
        return {f"c_{role}": source.columns[0] for role, source in self.sources.items()}

    def sql(self) -> str:
        """Return the SELECT that makes requests of rows."""
        values = {
            role: value(f"c_{role}", request_roles()[role].kind, source.unit)
            for role, source in self.sources.items()
        }
        time = values["time"]
        fields = {"submit_time": time}
        for role, sql in values.items():
            if role in {"answered", "finished"}:
                fields.setdefault(request_roles()[role].field, f"{sql} - {time}")
            elif role == "delay":
                fields["reject"] = (
                    f"case when {time} is null and c_delay is not null then '{AFTER_AN_ANSWER}' end"
                )
            elif role == "blocks":
                fields["blocks"] = r"'[' || regexp_replace(trim(c_blocks, '[] '), '[,\s]+', ', ', 'g') || ']'"
            elif role != "time":
                fields[request_roles()[role].field] = sql
        shown = ", ".join(f"{sql} as {name}" for name, sql in fields.items())
        return f"select file_no, line, {shown}, [{self._zone_remark()}] as remarks from source"

    def _zone_remark(self) -> str:
        """Return the SQL for the remark that a local time was taken for UTC."""
        if self.sources["time"].unit != "iso":
            return ""
        local = r"not regexp_matches(c_time, ':\d\d(\.\d+)?\s*(Z|[+-]\d\d(:?\d\d)?)$')"
        return f"case when {local} then nullif(getvariable('zone_remark'), '') end"


def known_log(columns: Mapping[str, SampledColumn]) -> MappingStatement:
    """Return what is known of a published log with all of its columns among *columns*; nothing of others."""
    tables = kept("request_roles")["known"].values()
    maps = (table["map"] for table in tables if set(table["columns"]) <= columns.keys())
    return next((statement(text, role_kinds(of_requests=True)) for text in maps), MappingStatement({}))


def request_plan(sample: TableSample, stated: MappingStatement) -> RequestPlan:
    """
    Return the plan for a table, in which what is *stated* comes first, then what is known of it.

    Raise `ValueError` for a table of other things, `TraceError` where what is stated does not fit it.
    """
    columns = sample.columns
    stated = stated if stated.is_whole else stated.over(known_log(columns))
    sources = {
        role: RoleSource((column_called(columns, source.columns[0]),), unit=source.unit)
        for role, source in stated.sources.items()
        if source.columns
    }
    if not stated.is_whole:
        sources = _linked({**_by_name(columns), **sources})
    lacks = [what for role, what in NEEDED.items() if role not in sources]
    if lacks:
        raise ValueError(f"no column says {' or '.join(lacks)}")
    questions = list(_units(columns, sources))
    used = {name for source in sources.values() for name in source.columns}
    unused = tuple(name for name in columns if name not in used)
    return RequestPlan(sources, unused, sentence(questions) if questions else "")


def _linked(sources: dict[str, RoleSource]) -> dict[str, RoleSource]:
    """Return *sources* without what is no session, where requests name those before them, or no link."""
    if "parent" not in sources:
        return {role: source for role, source in sources.items() if role != "request"}
    is_same = sources.get("session") == sources.get("request")
    return {role: source for role, source in sources.items() if role != "session" or not is_same}


def _by_name(columns: Mapping[str, SampledColumn]) -> dict[str, RoleSource]:
    """Return the column of each role whose name is the likeliest of it."""
    best: dict[str, tuple[int, RoleSource]] = {}
    for name, column in columns.items():
        for role in request_roles().values():
            if role.kind == "count" and not column.is_number:
                continue
            for unit, text in _spellings(name, role.kind):
                _, place = role.names.get(text, (False, None))
                if place is not None and (role.name not in best or place < best[role.name][0]):
                    best[role.name] = place, RoleSource((name,), unit=unit)
    return {role: source for role, (_, source) in best.items()}


def _spellings(name: str, kind: str) -> list[tuple[str, str]]:
    """Return a name without a unit, and with the one at its end."""
    found = words(name)
    known = units(kind)
    whole = [("", "_".join(found))]
    if found and found[-1] in known:
        whole.append((known[found[-1]], "_".join(found[:-1])))
    plain = "_".join(SAME.get(word, word) for word in found if word not in NOISE)
    return [*whole, ("", plain)] if kind == "count" else whole


def _units(columns: Mapping[str, SampledColumn], sources: dict[str, RoleSource]) -> list[OpenQuestion]:
    """Find the units that values tell, and return questions for those that a log needs."""
    questions = []
    for role, source in list(sources.items()):
        kind, column = request_roles()[role].kind, columns[source.columns[0]]
        if source.unit or kind not in {"time", "duration"}:
            continue
        unit = _unit(kind, column)
        sources[role] = RoleSource(source.columns, unit=unit or "s")
        if unit:
            continue
        if role == "time":
            text = f"how long is a unit of {column.shown()}, a second (s) or a thousandth (ms)?"
            questions.append(OpenQuestion(text, {role: sources[role]}))
        else:
            del sources[role]  # a length of unknown unit is left out, and named among what is not read
    return questions


def _unit(kind: str, column: SampledColumn) -> str:
    """Return the unit that the values of a column tell; "" if they leave a choice."""
    if kind == "duration":
        return duration_unit(column)
    return time_unit(column, date_orders([column])) if is_time(column) else ""
