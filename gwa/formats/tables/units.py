"""
The units of columns: the SQL that makes seconds, kilobytes, joules and numbers of a cell of text.

A value that cannot be read is missing; times are Unix seconds, or seconds from the beginning of a trace.
"""

from collections.abc import Callable, Mapping
from typing import Final

from gwa.formats.tables.vocabulary import missing, state_numbers, statuses
from gwa.ingest.clocks import LOCAL
from gwa.store.engines.duckdb import literal

SECONDS: Final = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0, "d": 86400.0}
KILOBYTES: Final = {"B": 1 / 1024, "KB": 1.0, "MB": 1024.0, "GB": 1024.0**2, "TB": 1024.0**3}
JOULES: Final = {"J": 1.0, "kJ": 1e3, "MJ": 1e6, "Wh": 3600.0, "kWh": 3.6e6, "MWh": 3.6e9}
SCALES: Final = {"": 1.0, "milli": 1e-3, "%": 1e-2}
GROUPED: Final = "thousands"
"""The unit of counts whose points or commas part thousands."""
FRACTIONS: Final = {"fraction": 1.0, "percent": 1e-2}

CODES: Final = {1: "completed", 0: "failed", 5: "cancelled"}
TRES: Final = {"cpu": "cpu|1", "node": "node|4", "gpu": r"gres/gpu(?::[^=,]*)?|1001|1002"}

DATES: Final = {
    "d/m/y": ("%d/%m/%y", "%d/%m/%Y"),
    "m/d/y": ("%m/%d/%y", "%m/%d/%Y"),
    "d.m.y": ("%d.%m.%y", "%d.%m.%Y"),
    "d-mon-y": ("%d-%b-%Y", "%d %b %Y"),
}
CLOCKS: Final = ("", " %H:%M:%S", " %H:%M", " %H:%M:%S.%f", " %I:%M:%S %p", " %I:%M %p")
CTIME: Final = ("%a %b %d %H:%M:%S %Y", "%a %b %d %H:%M:%S %Z %Y")
COMPACT: Final = ("%Y%m%dT%H%M%S", "%Y%m%d%H%M%S", "%Y%m%dT%H%M%SZ")

PARTS: Final = {"d": 86400, "h": 3600, "m": 60, "s": 1}
MILLISECOND: Final = 0.001

Expression = Callable[[str, str], str]
"""The SQL for a cell, given as SQL, in a unit."""


def number(cell: str) -> str:
    """Return the SQL for a number, with a point or a comma before its decimals."""
    return f"coalesce(try_cast({cell} as double), try_cast(replace({cell}, ',', '.') as double))"


def _scaled(factors: Mapping[str, float]) -> Expression:
    def sql(cell: str, unit: str) -> str:
        factor = factors[unit]
        # Divided, since a thousandth is not a double, and microseconds since 1970 would not come out whole.
        scale = f" * {factor!r}" if factor > 1 else f" / {1 / factor:.0f}"
        return number(cell) if factor == 1 else f"({number(cell)}{scale})"

    return sql


def _local(stamp: str) -> str:
    """Return the SQL for a time stamp without a zone: a local time of the zone that the user states."""
    return f"{LOCAL}({stamp})"


def has_offset(cell: str) -> str:
    """Return the SQL for whether an ISO time says what its zone is."""
    return rf"(length({cell}) > 10 and regexp_matches({cell}, '[+-]\d\d:?(\d\d)?$|Z$|z$|UTC$|GMT$'))"


def _iso(cell: str) -> str:
    text = rf"replace(regexp_replace({cell}, ' +([+-]\d\d)', '\1'), ',', '.')"
    return (
        f"case when {has_offset(cell)} then epoch(try_cast({text} as timestamptz))"
        f" else {_local(f'try_cast({text} as timestamp)')} end"
    )


def _strptime(cell: str, formats: tuple[str, ...]) -> str:
    listed = ", ".join(map(literal, formats))
    return _local(f"try_strptime({cell}, [{listed}])")


def _time(cell: str, unit: str) -> str:
    if unit in SECONDS:
        return _scaled(SECONDS)(cell, unit)
    if unit == "iso":
        return _iso(cell)
    if unit == "excel":
        return f"(({number(cell)} - 25569) * 86400)"
    if unit in DATES:
        text = rf"regexp_replace(replace({cell}, 'T', ' '), '[ ,]+', ' ')"
        return _strptime(text, tuple(f"{date}{clock}" for date in DATES[unit] for clock in CLOCKS))
    if unit == "ctime":
        return _strptime(f"regexp_replace({cell}, ' +', ' ', 'g')", CTIME)
    return _strptime(cell, COMPACT if unit == "compact" else (unit,))


def _clock(cell: str) -> str:
    """Return the SQL for ``[D-]HH:MM[:SS]``, with other signs between days and hours."""
    form = r"^(?:(\d+)(?:-|(?: days?,?)? ))?(\d+):(\d\d)(?::(\d\d(?:[.,]\d+)?))?$"
    found = [f"regexp_extract({cell}, '{form}', {place})" for place in range(1, len(PARTS) + 1)]
    terms = [
        f"coalesce({number(part)}, 0) * {seconds}"
        for part, seconds in zip(found, PARTS.values(), strict=True)
    ]
    return f"case when regexp_matches({cell}, '{form}') then {' + '.join(terms)} end"


def _minutes_clock(cell: str) -> str:
    """Return the SQL for ``MM:SS``."""
    minutes, seconds = (f"try_cast(split_part({cell}, ':', {place}) as double)" for place in (1, 2))
    return f"({minutes} * 60 + {seconds})"


def _iso8601(cell: str) -> str:
    """Return the SQL for ``P1DT2H3M4S``."""
    patterns = {"d": r"(\d+)D", "h": r"T(\d+)H", "m": r"T(?:\d+H)?(\d+)M", "s": r"(\d+(?:\.\d+)?)S"}
    return f"case when starts_with({cell}, 'P') then {_sum(cell, patterns)} end"


def _sum(cell: str, patterns: Mapping[str, str]) -> str:
    """Return the SQL for the seconds of the parts of a duration, each found by a pattern."""
    return " + ".join(
        f"coalesce(try_cast(regexp_extract({cell}, '{pattern}', 1) as double), 0)"
        f" * {PARTS.get(part, MILLISECOND)}"
        for part, pattern in patterns.items()
    )


def _spoken(cell: str) -> str:
    """Return the SQL for ``1h2m3s``, ``2 days 3 hours`` and ``325ms``."""
    signs = {"d": "d", "h": "h", "m": "m(?:[^s]|$)", "s": "s", "ms": "ms"}
    patterns = {part: rf"(\d+(?:\.\d+)?) ?{sign}" for part, sign in signs.items()}
    return rf"case when regexp_matches({cell}, '^\d') then {_sum(f'lower({cell})', patterns)} end"


def _duration(cell: str, unit: str) -> str:
    shapes = {"clock": _clock, "m:s": _minutes_clock, "iso8601": _iso8601, "spoken": _spoken}
    return shapes[unit](cell) if unit in shapes else _scaled(SECONDS)(cell, unit)


def _memory(cell: str, unit: str) -> str:
    if unit != "size":
        return _scaled(KILOBYTES)(cell, unit)
    scale = " ".join(f"when '{sign}' then {1024.0**power!r}" for power, sign in enumerate("KMGTPE"))
    return (
        rf"(try_cast(regexp_extract({cell}, '^[\d.]+') as double) * case"
        rf" upper(regexp_extract({cell}, '^[\d.]+ ?([A-Za-z])', 1)) {scale} else {1 / 1024!r} end)"
    )


def _count(cell: str, unit: str) -> str:
    if unit.startswith("tres"):
        names = TRES[unit.partition("-")[2] or "cpu"]
        found = rf"regexp_extract_all({cell}, '(?:^|,)(?:{names})=(\d+)', 1)"
        return f"list_max([try_cast(x as double) for x in {found}])"
    if unit == GROUPED:
        return f"try_cast(regexp_replace({cell}, '[.,]', '', 'g') as double)"
    return _scaled(SCALES)(cell, unit)


def _state(cell: str, _: str) -> str:
    return cell


def status(cell: str, unit: str) -> str:
    """Return the SQL for how a job ended, by its state in a cell: words, or numbers of a dialect."""
    if unit == "words":
        word = rf"lower(regexp_extract({cell}, '^[^\s:(+]+'))"
        lists = {kind: [literal(text) for text in texts] for kind, texts in statuses().items()}
        spaced = f"replace(lower({cell}), ' ', '_')"
    else:
        word = spaced = f"(try_cast({cell} as bigint) & 255)"
        lists = {kind: [str(value) for value in values] for kind, values in state_numbers()[unit].items()}
    cases = [
        f"when {word} in ({', '.join(lists[kind])}) or {spaced} in ({', '.join(lists[kind])}) then {code}"
        for code, kind in CODES.items()
        if lists[kind]
    ]
    otherwise = f" else case when {word} is not null then 0 end" if unit == "exit" else ""
    return f"case {' '.join(cases)}{otherwise} end"


def _exit(cell: str, unit: str) -> str:
    if unit == "wait":
        code = f"try_cast({cell} as bigint)"
        return f"case when {code} & 127 > 0 then 128 + ({code} & 127) else {code} >> 8 end"
    if unit == "pair":
        code, signal = (f"try_cast(split_part({cell}, ':', {place}) as bigint)" for place in (1, 2))
        return f"case when {signal} > 0 then 128 + {signal} else {code} end"
    return number(cell)


def _text(cell: str, unit: str) -> str:
    return f"try_cast({cell} as bigint)" if unit == "number" else cell


def _energy(cell: str, unit: str) -> str:
    return f"nullif({_scaled(JOULES)(cell, unit)}, -1)"


KINDS: Final[Mapping[str, tuple[Expression, tuple[str, ...]]]] = {
    "text": (_text, ("", "number")),
    "time": (_time, (*SECONDS, "iso", *DATES, "ctime", "compact", "excel")),
    "duration": (_duration, (*SECONDS, "clock", "m:s", "iso8601", "spoken")),
    "count": (_count, (*SCALES, GROUPED, "tres", "tres-node", "tres-gpu")),
    "memory": (_memory, (*KILOBYTES, "size")),
    "energy": (_energy, tuple(JOULES)),
    "fraction": (_scaled(FRACTIONS), tuple(FRACTIONS)),
    "state": (_state, ("words", *state_numbers())),
    "exit": (_exit, ("", "pair", "wait")),
}
"""For each kind of column its SQL, and the names of its units; a time may also have a format of strptime."""


def is_unit(kind: str, unit: str) -> bool:
    """Whether columns of a *kind* can have a *unit*."""
    return unit in KINDS[kind][1] or (kind == "time" and "%" in unit)


def value(cell: str, kind: str, unit: str) -> str:
    """Return the SQL for the value of a *cell*, given as SQL: missing if it is none, or says so."""
    more = missing(kind) - missing("text")
    if more:
        cell = f"case when {cell} not in ({', '.join(sorted(map(literal, more)))}) then {cell} end"
    return KINDS[kind][0](cell, unit)
