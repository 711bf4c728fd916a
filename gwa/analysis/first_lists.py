"""
The three lists of the first screen: who used it, how long jobs waited by size, whose jobs did not finish.

They are made of the cells that the page filters, whose script writes the same; here for paper, and for who
runs no scripts. Waits are those of classes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gwa.metrics.outcomes import BAD_OUTCOMES, KNOWN_OUTCOMES, OUTCOMES
from gwa.report.explorer import Choice, ListRow, RankedList
from gwa.util.units import HOUR
from gwa.words.formatting import DURATIONS, compact, number
from gwa.words.message import Message, Number, Verbatim, message

Numbers = NDArray[np.float64]
Table = Mapping[str, Numbers]

LIST_PHRASES: Final[Mapping[str, Message]] = {
    "who": message("Who used it"),
    "half": message("{n} of {all} held half of it"),
    "half_jobs": message("{n} of {all} submitted half of them"),
    "waited": message("How long jobs waited"),
    "waited_by": message("by processors: half (dot), 19 in 20 (bar, number)"),
    "sizes": message("How large jobs were"),
    "by_processors": message("by processors"),
    "lost": message("Whose jobs did not finish"),
    "lost_jobs": message("Which jobs did not finish"),
    "lost_sum": message("{n} {unit} in all"),
    "lost_at_least": message("at least {n} {unit} in all"),
    "lost_unknown": message("How jobs ended is not recorded."),
    "core_hours": message("core-hours"),
    "jobs": message("jobs"),
    "at_once": message("at once"),
    "others": message("{n} others"),
    "rest": message("others"),
    "without": message("not recorded"),
}
"""What the lists say, with places for what differs."""

FEW: Final = 7
"""Rows of a list; of one more, all are shown."""

CLASSES: Final = 80
"""Classes of waits: unknown, below a second, then half octaves or whole ones."""

MINIMUM_NAMES: Final = 3
"""Of fewer it is not said how many hold half."""

TENTH: Final = 0.001
"""The smallest share that is shown as a number."""

SHORT: Final = HOUR
"""The axis of waits ends there at least, in seconds."""


def first_lists(
    tables: Mapping[str, Table], choices: Sequence[Choice], octaves: int, *, is_bound: bool
) -> tuple[RankedList, ...]:
    """
    Return the lists of what the cells of *tables* hold, by the first of *choices* that has names.

    *tables* are those of `gwa.report.explorer.Explorer`, before they are packed. Waits have *octaves* classes
    to a doubling; with 0 they are not told apart. What did not finish is a lower bound where it *is bound*.
    Without what jobs can be told apart by, there is no list.
    """
    if not choices:
        return ()
    named = next((one for one in choices if not one.has_own_order), None)
    sizes = next((one for one in choices if one.key == "size"), None)
    of_sizes: Iterable[RankedList] = ()
    if sizes:
        of_sizes = _waits(tables, sizes, octaves) if octaves else _large(tables, sizes)
    return (
        *(_used(tables, named) if named else ()),
        *of_sizes,
        *_lost(tables, named or choices[0], is_named=named is not None, is_bound=is_bound),
    )


def _held(tables: Mapping[str, Table], choice: Choice) -> Numbers:
    """Return what each class held where the load is known, by outcome; of a log without a window, in all."""
    usage, has_window = tables["usage"], bool(np.nansum(tables["days"]["known_seconds"]) > 0)
    if "cpu_seconds" not in usage:
        return _jobs(tables, choice)
    counted = (usage["known"] > 0) if has_window else np.ones(len(usage["day"]), bool)
    return _by_outcome(usage, choice, usage["cpu_seconds"] * counted)


def _jobs(tables: Mapping[str, Table], choice: Choice) -> Numbers:
    return _by_outcome(tables["jobs"], choice, tables["jobs"]["jobs"])


def _by_outcome(table: Table, choice: Choice, weights: Numbers) -> Numbers:
    size, outcomes = len(choice.names) + 2, len(OUTCOMES)
    places = (table[choice.key] * outcomes + table["outcome"]).astype(np.int64)
    return np.bincount(places, weights, size * outcomes).reshape(size, outcomes).astype(np.float64)


def _ranked(choice: Choice, values: Numbers) -> list[int]:
    """Return the codes of the classes with a value: the largest first, unless they have an order."""
    codes = [code for code in range(len(values)) if values[code] > 0]
    if choice.has_own_order:
        return codes
    return sorted(codes, key=lambda code: (code >= len(choice.names), -values[code], code))


def _label(choice: Choice, code: int) -> str:
    if code < len(choice.names):
        name = choice.names[code]
        return name if choice.has_own_order else Verbatim(name)
    if code > len(choice.names):
        return LIST_PHRASES["without"]
    others = choice.others
    return message(LIST_PHRASES["others"].template, n=number(others)) if others else LIST_PHRASES["rest"]


def _few(codes: Sequence[int]) -> Sequence[int]:
    return codes if len(codes) <= FEW + 1 else codes[:FEW]


def _stacked(held: Numbers, most: float, names: Sequence[str]) -> tuple[tuple[str, float, float], ...]:
    """Return the parts of the bar of a row: outcome, where it begins, and how wide it is, in percent."""
    parts, left = [], 0.0
    for name in names:
        width = 100 * float(held[OUTCOMES.index(name)]) / most
        if width > 0:
            parts.append((name, left, width))
        left += width
    return tuple(parts)


def _used(tables: Mapping[str, Table], choice: Choice) -> Iterator[RankedList]:
    held = _held(tables, choice)
    values = held.sum(axis=1)
    codes, unit = _ranked(choice, values), "half" if "cpu_seconds" in tables["usage"] else "half_jobs"
    yield RankedList(
        "used", LIST_PHRASES["who"], _half(choice, codes, values, unit), tuple(_shares(choice, held, codes))
    )


def _shares(choice: Choice, held: Numbers, codes: Sequence[int]) -> Iterator[ListRow]:
    values = held.sum(axis=1)
    most, total = max(values.max(initial=0.0), 0.0) or 1.0, float(values.sum()) or 1.0
    for code in _few(codes):
        yield ListRow(
            _label(choice, code), _stacked(held[code], most, OUTCOMES), _share(float(values[code]) / total)
        )


def _half(choice: Choice, codes: Sequence[int], values: Numbers, phrase: str) -> str:
    """Return how many hold half of all, where those are told apart."""
    count, total = len(choice.names) + choice.others, float(values.sum())
    told = [float(values[code]) for code in codes if code < len(choice.names)]
    sums = np.cumsum(told)
    if count < MINIMUM_NAMES or not len(sums) or sums[-1] < total / 2:
        return ""
    few = int(np.searchsorted(sums, total / 2)) + 1
    return message(LIST_PHRASES[phrase].template, n=number(few), all=number(count))


def _large(tables: Mapping[str, Table], choice: Choice) -> Iterator[RankedList]:
    held = _held(tables, choice)
    codes = _ranked(choice, held.sum(axis=1))
    yield RankedList(
        "waited", LIST_PHRASES["sizes"], LIST_PHRASES["by_processors"], tuple(_shares(choice, held, codes))
    )


def _waits(tables: Mapping[str, Table], choice: Choice, octaves: int) -> tuple[RankedList, ...]:
    jobs, size = tables["jobs"], len(choice.names) + 2
    places = (jobs[choice.key] * CLASSES + jobs["wait"]).astype(np.int64)
    counts = np.bincount(places, jobs["jobs"], size * CLASSES).reshape(size, CLASSES).astype(np.float64)
    found = [
        (code, wait_below(counts[code], 0.5, octaves), wait_below(counts[code], 0.95, octaves))
        for code in _ranked(choice, counts.sum(axis=1))
    ]
    known = [(code, half, most) for code, half, most in found if half is not None and most is not None]
    end = np.log10(max([SHORT, *(most for _, _, most in known)]))
    rows = (
        ListRow(
            _label(choice, code),
            (("waits", _place(half, end), _place(most, end) - _place(half, end)),),
            duration(most) if most >= 1 else LIST_PHRASES["at_once"],
            is_span=True,
        )
        for code, half, most in (known if len(known) <= FEW + 1 else known[:FEW])
    )
    return (RankedList("waited", LIST_PHRASES["waited"], LIST_PHRASES["waited_by"], tuple(rows)),)


def _share(share: float) -> Number:
    """Return a share as a column has it, in which the points stand below one another."""
    if 0 < share < TENTH:
        return Number("< 0.1 %")
    return Number("> 99.9 %" if 1 - TENTH < share < 1 else f"{100 * share:.1f} %")


def _amount(value: float) -> str:
    return compact(_rounded(value, 3))


def _rounded(value: float, digits: int) -> float:
    """Round to a number of significant *digits*, halves up, as the script of the page does."""
    with localcontext(prec=digits, rounding=ROUND_HALF_UP):
        return float(+Decimal(value))


def _place(seconds: float, end: float) -> float:
    return float(100 * np.log10(max(1.0, seconds)) / end)


def wait_below(counts: Numbers, share: float, octaves: int) -> float | None:
    """
    Return the seconds below which a *share* of the jobs waited, None where no wait is known.

    *counts* are those of the classes of waits, in which jobs are taken to be even over the logarithm.
    """
    total, below = float(counts[1:].sum()), 0.0
    for code, count in enumerate(counts[1:].tolist(), 1):
        if count and below + count >= share * total:
            inside = max(0.0, (share * total - below) / count)
            return 0.0 if code == 1 else 2.0 ** ((code - 2 + inside) / octaves)
        below += count
    return None


def duration(seconds: float) -> Number:
    """
    Return *seconds* with one digit, in the unit that fits.

    >>> duration(45.0), duration(7300.0), duration(2e6)
    ('50 s', '2 h', '20 d')
    """
    length, name = next((one for one in DURATIONS if seconds >= one[0]), DURATIONS[-1])
    return Number(f"{_rounded(seconds / length, 1):,.0f} {name}")


def _lost(
    tables: Mapping[str, Table], choice: Choice, *, is_named: bool, is_bound: bool
) -> Iterator[RankedList]:
    heading = LIST_PHRASES["lost" if is_named else "lost_jobs"]
    held = _held(tables, choice)
    if not held[:, [OUTCOMES.index(name) for name in KNOWN_OUTCOMES]].any():
        yield RankedList("lost", heading, LIST_PHRASES["lost_unknown"], ())
        return
    bad = held[:, [OUTCOMES.index(name) for name in BAD_OUTCOMES]].sum(axis=1)
    scale, unit = (HOUR, "core_hours") if "cpu_seconds" in tables["usage"] else (1, "jobs")
    said = LIST_PHRASES["lost_at_least" if is_bound else "lost_sum"]
    most = max(bad.max(initial=0.0), 0.0) or 1.0
    yield RankedList(
        "lost",
        heading,
        message(said.template, n=_amount(bad.sum() / scale), unit=LIST_PHRASES[unit]),
        tuple(
            ListRow(
                _label(choice, code), _stacked(held[code], most, BAD_OUTCOMES), _amount(bad[code] / scale)
            )
            for code in _few(_ranked(choice, bad))
        ),
    )
