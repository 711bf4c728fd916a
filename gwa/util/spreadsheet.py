"""Texts of CSV files: spreadsheets take some of them for formulas, and run those."""

import re
from typing import Final

FORMULA: Final = r"^\s*[=+\-@|%\t\r\n]"
"""The beginning of a text that spreadsheets take for a formula; Python and the engine read it alike."""


def disarmed(text: str) -> str:
    """
    Return the *text* of a CSV cell so that no spreadsheet takes it for a formula.

    >>> disarmed("=1+1"), disarmed("a=1")
    ("'=1+1", 'a=1')
    """
    return f"'{text}" if re.match(FORMULA, text) else text


def disarmed_sql(column: str) -> str:
    """Return the SQL for the texts of a *column*, disarmed."""
    return f"case when regexp_matches({column}, '{FORMULA}') then '''' || {column} else {column} end"
