"""
How a report writes its values: for readers, never for machines.

Pure functions from a value to text. The full precision stands beside the text where a page shows
it, and in the JSON.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from math import floor, isfinite, log10
from typing import Final
from zoneinfo import ZoneInfo

from gwa.util.units import DAY, HOUR, KILOWATT_HOUR, MINUTE, YEAR
from gwa.words.message import Message, Number, joined, message, plural
from gwa.words.unit import Unit, Value

MISSING: Final = message("not recorded")
"""What is written for a value that a trace does not have."""

WORDS: Final[Mapping[Value, str]] = {True: message("yes"), False: message("no")}
"""What is written for values that are no numbers."""

MAXIMUM_PLAIN: Final = 1e15
"""Numbers from here on are written as powers of ten."""

MINIMUM_PLAIN: Final = 1e-4
"""So are numbers nearer to zero than this."""

SIZES: Final = ("KB", "MB", "GB", "TB", "PB", "EB")
"""Names for powers of 1024 kilobytes."""

DURATIONS: Final = ((YEAR, "y"), (DAY, "d"), (HOUR, "h"), (MINUTE, "min"), (1, "s"))
"""Units of time where there is little room, the longest first."""


def show(value: Value, unit: Unit = "", zone: str | None = None) -> str:
    """
    Return *value* as a reader wants to see it.

    Times of day are those of *zone*, such as Europe/Madrid; without one they count from the start of
    the trace.

    >>> show(28476, "count"), show(0.70109, "fraction"), show(4980, "seconds"), show(None, "seconds")
    ('28,476', '70.1 %', '1 h 23 min', 'not recorded')
    >>> show(843494403, "timestamp", "UTC"), show(187200, "timestamp")
    ('1996-09-23 16:00:03', 'day 3, 04:00')
    """
    if isinstance(value, Mapping):
        return joined(" · ", (joined(": ", (name, show(part, "", zone))) for name, part in value.items()))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return joined(", ", (show(part, unit, zone) for part in value))
    if value is None or isinstance(value, bool | str) or not _finite(value):
        return value if isinstance(value, str) else WORDS.get(value, MISSING)
    try:
        return timestamp(value, zone) if unit == "timestamp" else FORMATS[unit](value)
    except OverflowError:  # a whole number that no floating point number can hold
        return _power(value)


def brief(value: Value, unit: Unit = "", zone: str | None = None) -> str:
    """
    Return *value* as it stands in a table, whose heading says what it is a number of.

    >>> brief(12.5, "per day"), brief(7.3e7, "cpu seconds"), brief(None), brief(0, "timestamp", "UTC")
    ('12.5', '20,278 h', '–', '1970-01-01 00:00')
    """
    if unit in BRIEF and isinstance(value, int | float) and not isinstance(value, bool) and _finite(value):
        return BRIEF[unit](value)
    text = show(value, unit, zone)
    if text == MISSING:
        return "–"
    if unit == "timestamp" and text.count(":") > 1:
        return text.rpartition(":")[0]
    return text


def _finite(value: float) -> bool:
    """Tell whether *value* is a number; whole ones are, however great."""
    return isinstance(value, int) or isfinite(value)


def number(value: float) -> Number:
    """
    Return *value* with the digits that matter: whole numbers whole, others with three, or as whole numbers.

    >>> number(1234567), number(1234.567), number(331.52), number(0.012345), number(1e300), number(-0.0)
    ('1,234,567', '1,235', '332', '0.0123', '1 × 10³⁰⁰', '0')
    """
    if value == 0:
        return Number("0")
    if not MINIMUM_PLAIN <= abs(value) < MAXIMUM_PLAIN:
        return _power(value)
    if isinstance(value, int) or value.is_integer() or abs(value) >= 100:  # noqa: PLR2004 - three digits
        return _minus(f"{value:,.0f}")
    text = f"{value:.{2 - floor(log10(abs(value)))}f}"
    return _minus(text.rstrip("0").rstrip("."))


def decimal(value: float, form: str) -> Number:
    """
    Return *value* as Python writes it in a *form*, but never as 1.2e+02.

    >>> decimal(1234.5, ",.0f"), decimal(123, ".2g"), decimal(0.0512, ".2g")
    ('1,234', '120', '0.051')
    """
    if form.endswith("g"):
        text = _significant(value, int(form[:-1].rpartition(".")[2]))
        return Number(text if "," in form else text.replace(",", ""))
    return Number(format(value, form))


def significant(value: float, digits: int) -> Number:
    """
    Return *value* with a number of significant *digits*, written out: people do not read 1.2e+02.

    >>> significant(123.4, 2), significant(0.384, 2), significant(-2, 2), significant(12345, 2)
    ('120', '0.38', '−2', '12,000')
    >>> significant(1e300, 2), significant(0, 2)
    ('1 × 10³⁰⁰', '0')
    """
    return _minus(_significant(value, digits))


def _significant(value: float, digits: int) -> str:
    """Return *value* with *digits* digits, but a power of ten where its zeros could not be counted."""
    if not isfinite(value) or (value and not MINIMUM_PLAIN <= abs(value) < MAXIMUM_PLAIN):
        return _power(value) if isfinite(value) else str(value)
    text = f"{Decimal(f'{value:.{digits - 1}e}'):,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def fraction(value: float) -> str:
    """
    Return *value* as a percentage that is never rounded to nothing or to all.

    >>> fraction(0.5), fraction(0.0004), fraction(0.9997), fraction(1), fraction(0), fraction(10.93)
    ('50 %', '< 0.1 %', '> 99.9 %', '100 %', '0 %', '1,093 %')
    """
    if 0 < value < 0.001:  # noqa: PLR2004 - a tenth of a percent
        return Number("< 0.1 %")
    if 0.999 < value < 1:  # noqa: PLR2004 - and all but a tenth
        return Number("> 99.9 %")
    if abs(value) >= 10:  # noqa: PLR2004 - a thousand percent and more, of which tenths say nothing
        return Number(f"{number(round(value * 100))} %")
    return _minus(f"{value * 100:,.1f}".removesuffix(".0") + " %")


def seconds(value: float) -> str:
    """
    Return a duration in the one or two units that fit it.

    >>> seconds(0), seconds(0.25), seconds(45), seconds(200), seconds(276480), seconds(1e9)
    ('0 s', '0.25 s', '45 s', '3 min 20 s', '3.2 days', '31.7 years')
    """
    if value < 0:
        return joined("", ("−", seconds(-value)))
    if value >= 2 * YEAR:  # of less, days say more
        return _plural("{n} year", "{n} years", value / YEAR)
    if value >= 2 * DAY:
        return _plural("{n} day", "{n} days", round(value / DAY, 1))
    if value < MINUTE:
        return Number(f"{number(value if value < 10 else round(value, 1))} s")  # noqa: PLR2004 - one digit
    whole = round(value)
    if whole < HOUR:
        return _two_units(whole, MINUTE, "min", 1, "s")
    return _two_units(round(whole / MINUTE) * MINUTE, HOUR, "h", MINUTE, "min")


def timestamp(value: float, zone: str | None = None) -> str:
    """
    Return a moment as date and time in *zone*, or as a day and time since the start.

    >>> timestamp(0, "UTC"), timestamp(-1), timestamp(1e300, "UTC")
    ('1970-01-01 00:00:00', 'day 0, 23:59', '1 × 10³⁰⁰')
    """
    if zone is None:
        day, rest = divmod(value, DAY)
        if abs(day) >= MAXIMUM_PLAIN:
            return number(value)
        clock = f"{int(rest // HOUR):02}:{int(rest % HOUR // MINUTE):02}"
        return message("day {day}, {time}", day=_minus(f"{day + 1:,.0f}"), time=clock)
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=value)
        return moment.astimezone(ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M:%S")
    except OverflowError:
        return number(value)


SHORT: Final = 3 * DAY
"""Of shorter times the minutes of their ends are told, not the days alone."""


def ends(
    first: float, last: float, zone: str | None = None, *, like: Sequence[float] | None = None
) -> tuple[str, str]:
    """
    Return both ends of a time as dates in *zone*, or as days since the start; of a short time to the minute.

    They are as precise as those of the time *like* which they are compared with.

    >>> ends(843494403, 872820000, "UTC"), ends(843494403, 843500000, "UTC")
    (('1996-09-23', '1997-08-29'), ('1996-09-23 16:00', '1996-09-23 17:33'))
    >>> ends(90000, 900000), ends(0, 90000)
    (('day 2', 'day 11'), ('day 1, 00:00', 'day 2, 01:00'))
    """
    begin, end = like or (first, last)
    if end - begin < SHORT:
        return _to_the_minute(first, zone), _to_the_minute(last, zone)
    return day(first, zone), day(_before(first, last), zone)


def _before(first: float, last: float) -> float:
    """Return the last second before the end of a time: at midnight, of the day that is over."""
    return max(first, last - 1)


def _to_the_minute(moment: float, zone: str | None) -> str:
    text = timestamp(moment, zone)
    return text if zone is None else Number(text.rpartition(":")[0] or text)


def day(moment: float, zone: str | None) -> str:
    """Return the date of a moment in *zone*, else which day since the start it is in."""
    if zone is not None:
        return Number(timestamp(moment, zone).split(" ")[0])
    return message("day {day}", day=_minus(f"{moment // DAY + 1:,.0f}"))


def date_range(first: float, last: float, zone: str | None = None) -> Message:
    """
    Return the days from a moment to another one, as dates in *zone* if there is one, and how many they are.

    >>> date_range(843494403, 872820000, "UTC"), date_range(0, 90000)
    ('1996-09-23 to 1997-08-29 (339 days)', '25 h')
    """
    length = seconds(last - first)
    days = _plural("{n} day", "{n} days", round((last - first) / DAY, 1)) if last - first >= YEAR else length
    if zone is None:
        return message("{length}", length=days)
    begin, end = day(first, zone), day(_before(first, last), zone)
    if begin == end:
        return message("{day} ({length})", day=begin, length=days)
    return message("{first} to {last} ({length})", first=begin, last=end, length=days)


def kilobytes(value: float) -> str:
    """
    Return an amount of memory.

    >>> kilobytes(0), kilobytes(1572864), kilobytes(2048)
    ('0 KB', '1.5 GB', '2 MB')
    """
    amount, name = _scaled(value)
    return Number(f"{_short(amount)} {name}")


def cpu_seconds(value: float) -> str:
    """
    Return an amount of work in CPU hours, so that amounts can be compared; in years above a milliard.

    >>> cpu_seconds(0), cpu_seconds(90), cpu_seconds(2.02e9), cpu_seconds(3.6e13)
    ('0 CPU hours', '90 CPU seconds', '561,111 CPU hours', '1,140,771 CPU years')
    """
    if abs(value) >= 1e9 * HOUR:
        return message("{n} CPU years", n=_short(value / YEAR))
    if value == 0 or abs(value) >= HOUR:
        return message("{n} CPU hours", n=_short(value / HOUR))
    return message("{n} CPU seconds", n=_short(value))


def _brief_cpu_seconds(value: float) -> str:
    """Return an amount of work in hours, of whose processors the heading tells."""
    if abs(value) >= 1e9 * HOUR or 0 < abs(value) < HOUR:
        return Number(f"{_short(value)} s") if abs(value) < HOUR else cpu_seconds(value)
    return Number(f"{_short(value / HOUR)} h")


def compact(value: float, unit: str = "") -> str:
    """
    Return *value* in few characters, for ticks and for the ends of bars.

    >>> compact(0.5, "fraction"), compact(28476, "count"), compact(5400, "seconds")
    ('50 %', '28,476', '1.5 h')
    >>> compact(3145728, "kilobytes"), compact(25_000_000), compact(7.2e6, "cpu seconds")
    ('3 GB', '25 M', '2,000 CPU h')
    """
    if unit == "fraction":
        return Number(f"{_compact_number(value * 100)} %")
    if unit == "cpu seconds":
        return Number(f"{_compact_number(value / HOUR)} CPU h")
    if unit == "kilobytes":
        amount, name = _scaled(value)
    elif unit == "seconds":
        length, name = next((each for each in DURATIONS if abs(value) >= each[0]), DURATIONS[-1])
        amount = value / length
    else:
        return _compact_number(value)
    return Number(f"{_compact_number(amount)} {name}")


def _compact_number(value: float) -> Number:
    """
    Return a number with three or more significant digits, thousands separated, millions as M.

    >>> _compact_number(0.0003), _compact_number(1e-5), _compact_number(-25e5), _compact_number(999.7)
    ('0.0003', '10⁻⁵', '-2.5 M', '1,000')
    """
    for scale, name in ((1e12, " T"), (1e9, " G"), (1e6, " M")):
        if abs(value) >= scale:
            return Number(f"{_significant(value / scale, 4)}{name}")
    if value == int(value) or abs(value) >= 1000:  # noqa: PLR2004 - whole numbers from here on
        return Number(f"{value:,.0f}")
    if abs(value) < MINIMUM_PLAIN:
        return Number(number(value).removeprefix("1 × "))
    return Number(_significant(value, 3))


def _scaled(kilobytes: float) -> tuple[float, str]:
    """Return an amount of memory in the largest unit that it fills, and the unit."""
    amount, power = kilobytes, 0
    while abs(amount) >= 1024 and power < len(SIZES) - 1:  # noqa: PLR2004 - binary units
        amount, power = amount / 1024, power + 1
    return amount, SIZES[power]


def _short(value: float) -> Number:
    """Return a number with two decimals at most."""
    return number(
        round(value, 2) if MINIMUM_PLAIN < abs(value) < MAXIMUM_PLAIN and round(value, 2) else value
    )


def _minus(text: str) -> Number:
    """Return *text* with a true minus sign."""
    return Number(text.replace("-", "−"))


def _power(value: float) -> Number:
    """Return a number as a power of ten, since its zeros could not be counted."""
    digits, exponent = f"{Decimal(value):.2e}".split("e")
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return Number(f"{_minus(digits).rstrip('0').rstrip('.')} × 10{raised}")


def _plural(one: str, many: str, value: float) -> Message:
    """Return a number of things with the digits that matter."""
    text = number(value)
    return plural(one, many, 1 if text == "1" else value, n=text)


def _two_units(value: int, large: int, name: str, small: int, rest: str) -> Number:
    """Return *value* in a large unit and a small one, which is left out when it is none."""
    whole, part = divmod(value, large)
    return Number(f"{whole} {name} {part // small} {rest}" if part // small else f"{whole} {name}")


FORMATS: Final[Mapping[Unit, Callable[[float], str]]] = {
    "": number,
    "count": number,
    "fraction": fraction,
    "seconds": seconds,
    "seconds squared": lambda value: Number(f"{number(value)} s²"),
    "kilobytes": kilobytes,
    "cpu seconds": cpu_seconds,
    "per day": lambda value: message("{n} per day", n=number(value)),
    "per hour": lambda value: message("{n} per hour", n=number(value)),
    "timestamp": timestamp,
    "hours": lambda value: Number(f"{_short(value)} h"),
    "held seconds": lambda value: Number(f"{_short(value / HOUR)} h"),
    "joules": lambda value: Number(f"{_short(value / KILOWATT_HOUR)} kWh"),
    "kilowatt hours": lambda value: Number(f"{_short(value)} kWh"),
    "gigabyte hours": lambda value: Number(f"{_short(value)} GB h"),
    "kilograms": lambda value: Number(f"{_short(value)} kg"),
    "span": number,
}
"""What writes a number of each unit."""

BRIEF: Final[Mapping[Unit, Callable[[float], str]]] = {
    "cpu seconds": _brief_cpu_seconds,
    "per day": number,
    "per hour": number,
}
"""What writes a number in a table, whose heading has the words of the unit."""
