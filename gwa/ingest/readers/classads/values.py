"""Values of attributes of ClassAds: literals and names of attributes; expressions are not evaluated."""

import re
from collections.abc import Mapping
from typing import Any, Final

MAXIMUM_REFERENCES: Final = 3
"""How many values are looked at on the way from a name to a literal."""

LITERAL: Final = re.compile(r'[-+]?\d+(\.\d*)?([eE][-+]?\d+)?|true|false|"(?:[^"]|\\")*"', re.IGNORECASE)
NAME: Final = re.compile(r"(?:MY\.)?([A-Za-z_]\w*)", re.IGNORECASE)
_EXPRESSION: Final = re.compile(r"/Expr\((.*)\)/", re.DOTALL)


def classad(value: Any) -> str:  # noqa: ANN401 - JSON is of any type
    """
    Write a JSON value as ClassAds write it.

    >>> classad("DiskUsage"), classad("/Expr(DiskUsage)/"), classad(None)
    ('"DiskUsage"', 'DiskUsage', 'undefined')
    """
    if isinstance(value, str):
        text = value if value.isascii() else value.encode("utf-8", "replace").decode()
        expression = _EXPRESSION.fullmatch(text) if text.startswith("/") else None
        return expression[1] if expression else '"' + text.replace('"', '\\"') + '"'
    if isinstance(value, bool | int | float):
        return str(value)
    return "undefined"


def resolve(attributes: Mapping[str, str], name: str) -> str | None:
    """
    Return the value of the attribute *name* as text, None if it is undefined or an expression.

    >>> resolve({"requestdisk": "DiskUsage", "diskusage": "75", "cmd": '"/bin/a"'}, "requestdisk")
    '75'
    """
    for _ in range(MAXIMUM_REFERENCES):
        value = attributes.get(name.lower(), "")
        if LITERAL.fullmatch(value):
            return value[1:-1].replace('\\"', '"') if value[0] == '"' else value
        reference = NAME.fullmatch(value)
        if not reference:
            return None
        name = reference[1]
    return None
