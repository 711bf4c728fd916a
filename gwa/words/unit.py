"""What a value is of, and what it may be."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

Value: TypeAlias = "str | int | float | bool | Sequence[Value] | Mapping[str, Value] | None"
"""What a fact or a table cell may hold: anything that JSON can say."""

Unit: TypeAlias = Literal[
    "",
    "count",
    "fraction",
    "seconds",
    "seconds squared",
    "timestamp",
    "kilobytes",
    "cpu seconds",
    "held seconds",
    "per day",
    "per hour",
    "hours",
    "joules",
    "kilowatt hours",
    "gigabyte hours",
    "kilograms",
    "span",
]
"""
How a number is printed. Values are always in SI base units; only the printing differs.

A span is a low end, a value and a high end.
"""
