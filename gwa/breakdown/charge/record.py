"""
Statements as JSON, ``statement.json``: all lines with their exact quantities, of which corrections are made.

It also lists the files of the statements, each with the SHA-256 of its content: what somebody changed is told
from what gwa wrote.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, is_dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Final

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
class _Line:
    part: BillingPeriod
    kind: Kind
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
    parts: tuple[BillingPeriod, ...]
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
        "parts": _plain(statements.parts),
        "lines": _plain(statements.lines),
        "uncharged": _plain(statements.uncharged),
    }


def as_text(table: Mapping[str, Any]) -> str:
    """Return the text of the file that holds a *table*."""
    return json.dumps(table, indent=1, ensure_ascii=False) + "\n"


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever a statement holds
    """Return a *value* as JSON has it: what is None is left out, and decimal numbers are texts."""
    if is_dataclass(value):
        return {name: _plain(one) for name, one in vars(value).items() if one is not None}
    if isinstance(value, Decimal):
        return f"{value:f}"
    return list(map(_plain, value)) if isinstance(value, list | tuple) else value


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
    return EarlierStatements(str(path), read.rates, read.parts, lines)


def _table(path: Path) -> Any:  # noqa: ANN401 - whatever it is, it is checked next
    """Return the JSON in a file; raise `DefinitionError` where it is none."""
    try:
        return json.loads(read_text(path, "the folder of statements of gwa charge", MAXIMUM_BYTES))
    except (ValueError, RecursionError) as error:
        if isinstance(error, DefinitionError):
            raise
        raise DefinitionError(f"{path}: is not JSON, expected statements of gwa charge") from error


def _line_of(line: _Line) -> StatementLine:
    said = {**vars(line), "rate": Decimal(line.rate), "amount": Decimal(line.amount)}
    return StatementLine(**said)


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
