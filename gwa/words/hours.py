"""What the parts of hours, and of what they are worth, are called, and how their numbers are written."""

from collections.abc import Iterable, Mapping
from typing import Final

from gwa.words.message import Message, Number, joined, message

LABELS: Final[Mapping[str, Message]] = {
    "finished": message("finished"),
    "limit": message("ran out of time"),
    "failed": message("failed"),
    "cancelled": message("cancelled"),
    "unfinished": message("not finished"),
    "running": message("still running"),
    "unknown": message("end not recorded"),
    "used": message("used"),
    "restarted": message("started again"),
    "unused": message("unused"),
    "outages": message("outages"),
    "others": message("others"),
    "computed": message("computed"),
    "still": message("held, not computing"),
    "unmeasured": message("held, not measured"),
    "held": message("held"),
    "not_held": message("not held"),
}
"""What stands below the parts of a bar, and above the columns of months."""

BOUNDS: Final[Mapping[str, str]] = {
    "finished": "≤",
    **dict.fromkeys(("unfinished", "limit", "failed", "cancelled"), "≥"),
}
"""What stands before the numbers of parts where jobs that failed are among the finished."""

HUNDRED: Final = 100

LESS: Final = message("< 1 %")
MORE: Final = message("> 99 %")


def number_of_hundred(count: int, sign: str = "", *, is_all: bool = True) -> str:
    """
    Return how the number of a part is written that is not nothing, with a *sign* where it is a bound.

    A part of 100 is so written only if it *is all*: beside others, however small, it is more than 99.

    >>> number_of_hundred(62, "≤"), number_of_hundred(0, "≤"), number_of_hundred(100, is_all=False)
    ('≤ 62 %', '< 1 %', '> 99 %')
    """
    if not count:
        return LESS
    if count == HUNDRED and not sign and not is_all:
        return MORE
    text = message("{n} %", n=Number(count))
    return joined("", [f"{sign} ", text]) if sign else text


def is_single(amounts: Iterable[float]) -> bool:
    """
    Return whether one of the *amounts* is all.

    >>> is_single([3.0, 0.0]), is_single([3.0, 1e-9])
    (True, False)
    """
    return sum(amount > 0 for amount in amounts) == 1
