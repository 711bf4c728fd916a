"""What is known of the system that a trace comes from: name, processors, sites, time zone."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from gwa.errors import DefinitionError
from gwa.util.units import HOUR

Header = tuple[tuple[str, str], ...]
"""The *key: value* lines of a log's header, in order; keys may repeat."""

KEYS: Final = {"name", "site", "cpus", "zone", "start", "description"}
_NUMBER = re.compile(r"\s*(\d[\d,]{0,9})(?![\d,])")


@dataclass(frozen=True)
class System:
    """
    The system of a trace.

    *cpus* is None where nobody said how many processors there are; *cpus_from* says where the
    number comes from. *start* is the Unix time of the log's own time 0, if it has one; times are
    *relative* when they count from an unknown zero instead of 1970.
    """

    name: str | None = None
    site: str | None = None
    cpus: int | None = None
    cpus_from: str = "unknown"
    zone: str | None = None
    start: float | None = None
    relative: bool = True
    description: str | None = None

    @property
    def cpus_inferred(self) -> bool:
        """Whether the number of processors was worked out from the jobs themselves."""
        return self.cpus_from == INFERRED

    @property
    def timezone(self) -> ZoneInfo:
        """The zone that days and hours are counted in, UTC when the trace does not say."""
        return ZoneInfo(self.zone or "UTC")


ABSOLUTE: Final = "Unix seconds, UTC"
"""What the header says under Times where submit times are Unix times."""

INFERRED: Final = "inferred: the most processors ever busy at once"


def from_header(header: Header) -> System:
    """
    Return what a header in the manner of SWF says of its system.

    >>> from_header((("Computer", "IBM SP2"), ("MaxProcs", "1664 (72, 1368, 224)"))).cpus
    1664
    """
    said: dict[str, str] = {}
    for key, value in header:
        said.setdefault(key.lower(), value.strip())
    cpus, source = _processors(said)
    return System(
        name=_known(said.get("computer")),
        site=_known(said.get("installation")),
        cpus=cpus,
        cpus_from=source,
        zone=_zone(said.get("timezonestring"), said.get("timezone")),
        start=_start(said.get("unixstarttime")),
        relative=said.get("times") != ABSOLUTE,
        description=_known(said.get("description")),
    )


def _processors(said: Mapping[str, str]) -> tuple[int | None, str]:
    for key, meaning in (
        ("processors", "stated in the header"),
        ("maxprocs", "stated in the header (MaxProcs)"),
        ("maxnodes", "stated in the header (MaxNodes: the header gives no MaxProcs)"),
    ):
        number = _NUMBER.match(said.get(key, ""))
        if number and int(number[1].replace(",", "")) > 0:
            return int(number[1].replace(",", "")), meaning
    return None, "unknown"


def _known(text: str | None) -> str | None:
    return text if text and text.lower() not in {"-1", "unknown", "?"} else None


def _start(text: str | None) -> float | None:
    """Return the zero point; 0 is what merge scripts write for an unknown one."""
    number = re.match(r"-?\d{1,12}(\.\d+)?(?!\d)", text or "")
    return float(number[0]) if number and float(number[0]) > 0 else None


def _zone(name: str | None, seconds: str | None) -> str | None:
    """Return a known time zone, from its name or, in whole hours, from a deprecated offset."""
    if name and is_zone(name):
        return name
    offset = re.match(r"-?\d{1,6}(?!\d)", seconds or "")
    if offset and int(offset[0]) % HOUR == 0 and abs(int(offset[0])) <= 12 * HOUR:
        hours = int(offset[0]) // HOUR
        # The signs of the Etc zones are those of POSIX: Etc/GMT+8 lies west of Greenwich.
        return f"Etc/GMT{-hours:+d}" if hours else "UTC"
    return None


def is_zone(name: str) -> bool:
    """Whether *name* is a time zone such as ``Europe/Stockholm``."""
    try:
        ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        return False
    return True


def read_system(path: Path) -> Mapping[str, object]:
    """Return what a system file says; raise `DefinitionError` where it says nonsense."""
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DefinitionError(f"{path}: {error}") from error
    unknown = set(said) - KEYS
    if unknown:
        message = f"{path}: unknown key '{min(unknown)}', expected one of {', '.join(sorted(KEYS))}"
        raise DefinitionError(message)
    _check(path, said)
    return said


def _check(path: Path, said: Mapping[str, object]) -> None:
    wanted = {"cpus": "a whole number above 0", "start": "Unix seconds above 0"}
    for key, value in said.items():
        number = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
        if key in wanted and not (number and (key != "cpus" or isinstance(value, int))):
            message = f"{path}: {key} is {value!r}, expected {wanted[key]}"
            raise DefinitionError(message)
        if key not in wanted and not isinstance(value, str):
            message = f"{path}: {key} is {value!r}, expected a text"
            raise DefinitionError(message)
    if isinstance(zone := said.get("zone"), str) and not is_zone(zone):
        message = f"{path}: zone is '{zone}', expected a time zone such as 'Europe/Amsterdam'"
        raise DefinitionError(message)


TITLES: Final = {
    "name": "Computer",
    "site": "Installation",
    "cpus": "Processors",
    "zone": "TimeZoneString",
    "start": "UnixStartTime",
    "description": "Description",
}
"""The header key that each key of a system file stands for."""


def overridden(header: Iterable[tuple[str, str]], said: Mapping[str, object]) -> Header:
    """Return *header* with what a system file says put first, and what it replaces left out."""
    titles = {TITLES[key]: str(value) for key, value in said.items()}
    replaced = {"Processors": {"Processors", "MaxProcs"}}
    gone = set().union(*(replaced.get(title, {title}) for title in titles)) if titles else set()
    return (*titles.items(), *((key, value) for key, value in header if key not in gone))


def with_inferred(system: System, peak: int) -> System:
    """Return *system* with the most processors ever busy at once as its size."""
    return replace(system, cpus=peak, cpus_from=INFERRED)
