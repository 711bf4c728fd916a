"""
Statements as JSON, ``statement.json``: all lines with their exact quantities, of which corrections are made.

It also lists the files of the statements, each with the SHA-256 of its content: what somebody changed is told
from what gwa wrote.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from gwa.breakdown.charge.charges import BillingPeriod
from gwa.breakdown.charge.rates import Rates
from gwa.breakdown.charge.statements import EarlierStatements, Kind, StatementLine, Statements, total
from gwa.errors import DefinitionError
from gwa.util.toml import Check, read_text, record

NAME: Final = "statement.json"

VERSION: Final = 1

MAXIMUM_BYTES: Final = 200_000_000

NUMBER: Final = Check(
    lambda text: re.fullmatch(r"-?[0-9]{1,30}(\.[0-9]{1,6})?", text), "a decimal number as a text"
)


@dataclass(frozen=True, kw_only=True)
class _Part:
    name: str
    first: int
    last: int


@dataclass(frozen=True, kw_only=True)
class _Line:
    part: _Part
    kind: Literal["use", "free", "discount"]
    service: str
    units: int
    per: Annotated[int, Check(lambda per: per > 0, "a whole number above 0")]
    rate: Annotated[str, NUMBER]
    amount: Annotated[str, NUMBER]
    project: str | None = None
    name: str = ""
    jobs: int | None = None
    is_correction: bool = False


@dataclass(frozen=True, kw_only=True)
class _Record:
    version: Annotated[int, Check(lambda version: version == VERSION, f"{VERSION}")]
    period: str
    language: str
    total: Annotated[str, NUMBER]
    rates: Rates
    parts: tuple[_Part, ...]
    lines: tuple[_Line, ...]
    uncharged: tuple[Mapping[str, Any], ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)


def as_table(statements: Statements, language: str) -> dict[str, Any]:
    """Return *statements* in a *language* as a table of JSON."""
    return {
        "version": VERSION,
        "period": statements.period,
        "language": language,
        "total": f"{statements.total:f}",
        "rates": statements.rates.as_table(),
        "parts": [_part(part) for part in statements.parts],
        "lines": [_line(line) for line in statements.lines],
        "uncharged": [
            {
                **_of_project(one.project),
                "lacking": str(one.lacking),
                "jobs": one.jobs,
                "ids": list(one.ids),
            }
            for one in statements.uncharged
        ],
    }


def as_text(table: Mapping[str, Any]) -> str:
    """Return the text of the file that holds a *table*."""
    return json.dumps(table, indent=1, ensure_ascii=False) + "\n"


def _part(part: BillingPeriod) -> dict[str, Any]:
    return {"name": part.name, "first": part.first, "last": part.last}


def _of_project(project: str | None) -> dict[str, Any]:
    return {} if project is None else {"project": project}


def _line(line: StatementLine) -> dict[str, Any]:
    return {
        **_of_project(line.project),
        "part": _part(line.part),
        "kind": line.kind,
        "name": line.name,
        "service": line.service,
        "units": line.units,
        "per": line.per,
        "rate": f"{line.rate:f}",
        "amount": f"{line.amount:f}",
        **({} if line.jobs is None else {"jobs": line.jobs}),
        "is_correction": line.is_correction,
    }


def read_given(folder: Path) -> EarlierStatements:
    """Return the statements in a *folder*; raise `DefinitionError` where there are none, or were changed."""
    path = folder / NAME
    table = _table(path)
    try:
        read = record(_Record, table)
    except DefinitionError as error:
        raise DefinitionError(f"{path}: {error}") from error
    lines = [_line_of(line) for line in read.lines]
    if total(lines, read.rates.decimals) != Decimal(read.total):
        raise DefinitionError(
            f"{path}: its lines are not {read.total} together, expected statements as gwa charge wrote them"
        )
    return EarlierStatements(str(path), read.rates, [_part_of(part) for part in read.parts], lines)


def _table(path: Path) -> Any:  # noqa: ANN401 - whatever it is, it is checked next
    """Return the JSON in a file; raise `DefinitionError` where it is none."""
    try:
        return json.loads(read_text(path, "the folder of statements of gwa charge", MAXIMUM_BYTES))
    except (ValueError, RecursionError) as error:
        if isinstance(error, DefinitionError):
            raise
        raise DefinitionError(f"{path}: is not JSON, expected statements of gwa charge") from error


def _part_of(part: _Part) -> BillingPeriod:
    return BillingPeriod(part.name, part.first, part.last)


def _line_of(line: _Line) -> StatementLine:
    kind: Kind = line.kind
    return StatementLine(
        line.project, _part_of(line.part), kind, line.name, line.service, line.units, line.per,
        Decimal(line.rate), Decimal(line.amount), line.jobs, line.is_correction,
    )  # fmt: skip


def files_of(folder: Path) -> Mapping[str, str]:
    """Return the names of the files that the record in a *folder* lists, if any, with their hashes."""
    try:
        table = _table(folder / NAME)
    except DefinitionError:
        return {}
    files = table.get("files") if isinstance(table, dict) else None
    return {str(name): str(hash_) for name, hash_ in files.items()} if isinstance(files, dict) else {}


def says_the_same(folder: Path, table: Mapping[str, Any]) -> bool:
    """Whether the record in a *folder* says what a *table* does, but for hashes of the files."""
    try:
        before = _table(folder / NAME)
    except DefinitionError:
        return False
    return isinstance(before, dict) and {**before, "files": {}} == {**table, "files": {}}
