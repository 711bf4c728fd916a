"""
Options of a format, as ``-O KEY=VALUE`` gives them: which a format has, and which values each accepts.

What an option accepts is one of the `KINDS`, or words such as ``yes | no``.
"""

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Final

from gwa.errors import ArgumentError
from gwa.store.system import is_zone

KINDS: Final[Mapping[str, Callable[[str], object]]] = {
    "a number": re.compile(r"\d{1,15}(\.\d{1,9})?").fullmatch,
    "a whole number": re.compile(r"\d{1,2}").fullmatch,
    "a year": re.compile(r"\d{4}").fullmatch,
    "a time zone such as Europe/Amsterdam": is_zone,
    "names of columns": re.compile(r"\s*\w[\w\s,|.]*").fullmatch,
    "a name such as app.kubernetes.io/part-of": re.compile(r"[\w./-]{1,320}").fullmatch,
    "any text": str,
}
"""Whether a text is a value of each kind; a whole number is one of digits or days, below 100."""

ZONE: Final = "a time zone such as Europe/Amsterdam"
ANY: Final = "any text"

_VARIABLE: Final = re.compile(r"getvariable\('(\w+)'\)")

INTERNAL: Final = {"start", "file_no", "zone_remark"}
"""Variables that gwa itself sets for every SELECT."""


def options_used(sql: str, accepts: Mapping[str, str]) -> Mapping[str, str]:
    """
    Return what each option accepts of a definition with this *sql*, whose header states what it *accepts*.

    >>> options_used("select getvariable('zone'), getvariable('start'), getvariable('n')", {"n": "a number"})
    {'zone': 'a time zone such as Europe/Amsterdam', 'n': 'a number'}
    """
    used = dict.fromkeys(name for name in _VARIABLE.findall(sql) if name not in INTERNAL)
    return {**{name: ZONE if name == "zone" else ANY for name in used}, **accepts}


def check_options(title: str, accepted: Mapping[str, str], given: Mapping[str, object]) -> None:
    """Raise `ArgumentError` for an option that the format *title* does not have, or for a wrong value."""
    for name, value in given.items():
        if name not in accepted:
            near = get_close_matches(name, accepted)
            known = ", ".join(dict.fromkeys([*near, *accepted]))
            hint = f"expected one of {known}" if known else "and takes none"
            raise ArgumentError(f"{title} has no option '{name}', {hint}")
        if not _accepts(accepted[name], str(value)):
            raise ArgumentError(f"the option {name} is '{value}', expected {_in_words(accepted[name])}")


def _accepts(expected: str, value: str) -> bool:
    return bool(KINDS[expected](value)) if expected in KINDS else value in expected.split(" | ")


def _in_words(expected: str) -> str:
    return expected if expected in KINDS else f"one of {expected.replace(' | ', ', ')}"
