"""
Extension fields in GWF text: items ``name:amount`` at the beginning of UsedResources and ReqResources.

The 29 columns stay as they are, so that readers of the archive's files read these, too. A header line says
which fields a file holds. Text that stood in a column before follows the items, and a mark is put before what
would be taken for one of them.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from gwa.store.engines.duckdb import literal
from gwa.store.schema import BY_NAME, EXTENSION_FIELDS, EXTENSION_NAMES, Field
from gwa.store.store import Store

ENCODING: Final = "percent, extension fields"
"""The encoding of a file in whose columns of resources items of ours are marked."""

EXTENSION_KEY: Final = "Extension"
"""The key of the header lines that say which fields a file holds."""

MARK: Final = "~"
"""What stands before an item of others that has the name of an extension field."""

RESOURCE_COLUMNS: Final = ("used_resources", "req_resources")
"""The columns of GWF that hold items."""

REQUESTED: Final = ("req_gpus", "qos")
"""The fields that stand in ReqResources; all others were used."""

_DECLARED: Final = re.compile(rf"{EXTENSION_KEY}: ([a-z_]+) in ")
_NAMES: Final = "|".join(EXTENSION_NAMES)
_ESCAPES: Final = (("%", "%25"), (",", "%2C"), (":", "%3A"))


def column_of(field: Field) -> str:
    """Return the column of GWF that holds an extension field."""
    return "req_resources" if field.name in REQUESTED else "used_resources"


def recorded(store: Store) -> list[Field]:
    """Return the extension fields that any job of *store* records."""
    return [field for field in EXTENSION_FIELDS if store.has(field.name)]


REMARKS: Final = {
    "runs": "; WaitTime ends with the first run, RunTime is that of the last: the two do not adjoin"
}
"""What readers that do not know a field have to know of the columns beside it."""


def extension_lines(fields: Iterable[Field]) -> list[tuple[str, str]]:
    """Return the header lines on the *fields* of a file."""
    return [
        (EXTENSION_KEY, f"{field.name} in {BY_NAME[column_of(field)].title}: {_described(field)}")
        for field in fields
    ]


def _described(field: Field) -> str:
    return field.meaning + REMARKS.get(field.name, "")


def declared_fields(comments: Iterable[str]) -> list[Field]:
    """
    Return the extension fields that the *comments* of a file say it holds.

    >>> [field.name for field in declared_fields(["# Extension: n_gpus in UsedResources: GPUs", "# Note: x"])]
    ['n_gpus']
    """
    found = {match[1] for match in map(_DECLARED.search, comments) if match}
    return [field for field in EXTENSION_FIELDS if field.name in found]


def packed_sql(column: str, fields: Collection[Field]) -> str:
    """Return the SQL for the text of *column* with the items of those *fields* that stand in it."""
    marked = f"regexp_replace({column}, '(^|,)({MARK}*({_NAMES}):)', '\\1{MARK}\\2', 'g')"
    items = [_item_sql(field) for field in fields if column_of(field) == column]
    # An empty text is missing in GWF.
    items.append(f"nullif({marked}, '')")
    return f"nullif(concat_ws(',', {', '.join(items)}), '')"


def _item_sql(field: Field) -> str:
    """Return the SQL of the item of a field, which is null where the field is."""
    value = f"cast({field.name} as varchar)"
    if field.is_text:
        value = f"nullif({field.name}, '')"
        for plain, escaped in _ESCAPES:
            value = f"replace({value}, '{plain}', '{escaped}')"
    elif not field.is_whole:
        is_whole = f"{field.name} = trunc({field.name}) and abs({field.name}) < 1e15"
        value = f"case when {is_whole} then cast(cast({field.name} as bigint) as varchar) else {value} end"
    return f"'{field.name}:' || {value}"


def unpacked_sql(expressions: dict[str, str], fields: Sequence[Field]) -> tuple[dict[str, str], str]:
    """
    Return the expressions of all columns and of *fields*, and the relation that they are selected from.

    *expressions* are those of the columns of ``source``, whose texts are decoded.
    """
    parsed, unpacked = [], dict(expressions)
    for column in RESOURCE_COLUMNS:
        names = [field.name for field in fields if column_of(field) == column]
        pattern = "(?s)^" + "".join(rf"(?:{name}:([^,]*)(?:,|$))?" for name in names) + "(.*)$"
        groups = ", ".join(literal(name) for name in [*names, "rest"])
        parsed.append(
            f"regexp_extract({expressions[column]}, {literal(pattern)}, [{groups}]) as {column}_items"
        )
        rest = f"nullif({column}_items.rest, '')"
        unpacked[column] = f"regexp_replace({rest}, '(^|,){MARK}({MARK}*({_NAMES}):)', '\\1\\2', 'g')"
        unpacked |= {name: _value_sql(BY_NAME[name], f"{column}_items.{name}") for name in names}
    return unpacked, f"(select *, {', '.join(parsed)} from source)"


def _value_sql(field: Field, text: str) -> str:
    """Return the SQL for the value of an item; a number that is none becomes NaN, which is counted."""
    if not field.is_text:
        return f"case when {text} <> '' then coalesce(try_cast({text} as double), double 'nan') end"
    value = f"nullif({text}, '')"
    for plain, escaped in reversed(_ESCAPES):
        value = f"replace({value}, '{escaped}', '{plain}')"
    return value
