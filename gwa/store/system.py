"""What is known of the system that a trace comes from: name, processors, sites, time zone."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from math import inf
from pathlib import Path
from typing import Annotated, Any, Final
from zoneinfo import ZoneInfo

from gwa.errors import GwaError
from gwa.util.toml import Check, TomlFile, record
from gwa.util.units import HOUR

Header = tuple[tuple[str, str], ...]
"""The *key: value* lines of a log's header, in order; keys may repeat."""

Span = tuple[float, float]
"""From when to when, in seconds by the log's time."""

SAYS_NOTHING: Final = {"", "-1", "?", "-", "unknown", "none", "n/a"}
"""What headers hold, in small letters, where they have nothing to say."""

MAXIMUM_COUNT: Final = 1_000_000_000
"""No system has more processors, nodes or GPUs."""

_NUMBER = re.compile(r"\s*(\d{1,3}(?:,\d{3}){1,3}|\d{1,10})(?![\d,]|\.\d|\s+\d|\s*[x×*]\s*\d|[^\W\d])")
"""A whole number, with or without commas between thousands, that ends there: not 4.8e1, 16k or 1 664."""


@dataclass(frozen=True)
class System:
    """
    The system of a trace. What is not known is None.

    Parameters
    ----------
    name
        What the system is called.
    site
        The institution that runs it.
    cpus
        The number of processors, the largest where it changed.
    cpus_from
        Where the number of processors comes from.
    zone
        The IANA name of the time zone, such as ``Europe/Amsterdam``.
    start
        The Unix time of the log's own time 0, in seconds.
    relative
        Whether times count from an unknown zero instead of 1970.
    description
        Anything else that is worth knowing.
    nodes, gpus
        The number of nodes, and of GPUs.
    node_cores, node_memory, node_gpus
        The processors of a node, its memory in KB, and its GPUs, where all nodes are alike.
    threads_per_core
        How many processors of the system are threads of one core, of which a job gets all or none.
    covers
        ``part`` where jobs that the log does not have ran on the same machine: its size says nothing of them,
        so that it is taken as not known.
    sizes
        Where the number of processors changed: since when, in seconds by the log's time, it was which; the
        first one since ever.
    watts_per_cpu, watts_per_gpu, watts_per_node
        The power in watts of a processor, a GPU and a node while a job holds it.

    """

    name: str | None = None
    site: str | None = None
    cpus: int | None = None
    cpus_from: str = "unknown"
    zone: str | None = None
    start: float | None = None
    relative: bool = True
    description: str | None = None
    nodes: int | None = None
    gpus: int | None = None
    watts_per_cpu: float | None = None
    watts_per_gpu: float | None = None
    watts_per_node: float | None = None
    node_cores: int | None = None
    node_memory: int | None = None
    node_gpus: int | None = None
    threads_per_core: int | None = None
    covers: str | None = None
    sizes: tuple[tuple[float, int], ...] = ()

    @property
    def cpus_inferred(self) -> bool:
        """Whether the number of processors was worked out from the jobs themselves."""
        return self.cpus_from == INFERRED

    @property
    def size(self) -> int | None:
        """
        The number of processors, None where it is not recorded, or is not one number.

        The most that were ever busy is a lower bound of it, of which there is no share and no bound of one.
        """
        return None if self.cpus_inferred or self.sizes else self.cpus

    @property
    def largest(self) -> int | None:
        """The largest number of processors that the system ever had, None where it is not recorded."""
        return None if self.cpus_inferred else self.cpus

    def sizes_in(self, period: Span) -> list[tuple[float, float, int]]:
        """
        Return from when to when there were how many processors.

        Parameters
        ----------
        period
            From when to when, in seconds by the log's time.

        Returns
        -------
        list of tuple
            Borders and number of processors of each piece, in order; empty where that is not recorded.

        Examples
        --------
        >>> System(cpus=128, sizes=((-inf, 64), (100.0, 128))).sizes_in((40, 110))
        [(40, 100.0, 64), (100.0, 110, 128)]

        """
        begin, end = period
        sizes = self.sizes or (((-inf, self.size),) if self.size else ())
        ends = [*(since for since, _ in sizes[1:]), inf]
        # Of no size there is one end too many.
        pieces = (
            (max(begin, since), min(end, until), cpus)
            for (since, cpus), until in zip(sizes, ends, strict=False)
        )
        return [piece for piece in pieces if piece[0] < piece[1]]

    def within(self, period: Span) -> "System":
        """
        Return the system as it was in a period.

        Parameters
        ----------
        period
            From when to when, in seconds by the log's time.

        Returns
        -------
        System
            One of a single size, where that did not change in the period.

        """
        sizes = [(since, cpus) for since, _, cpus in self.sizes_in(period)] if self.sizes else []
        if not sizes:
            return self
        several = ((-inf, sizes[0][1]), *sizes[1:]) if len(sizes) > 1 else ()
        return replace(self, cpus=max(cpus for _, cpus in sizes), sizes=several)

    def capacity(self, period: Span, gaps: Sequence[Span] = ()) -> float | None:
        """
        Return how many processor-seconds there were.

        Parameters
        ----------
        period
            From when to when, in seconds by the log's time.
        gaps
            Spans that are left out of it; they do not overlap.

        Returns
        -------
        float or None
            Processor-seconds; None where the size is not recorded.

        """
        if not self.largest:
            return None
        return sum(
            cpus * (until - since - sum(shared((since, until), gap) for gap in gaps))
            for since, until, cpus in self.sizes_in(period)
        )

    def mean_size(self, period: Span) -> float | None:
        """
        Return the mean number of processors.

        Parameters
        ----------
        period
            From when to when, in seconds by the log's time.

        Returns
        -------
        float or None
            Processors; None where that is not recorded, or no time lies between.

        """
        begin, end = period
        there = self.capacity(period) if begin < end else None
        return self.size or there / (end - begin) if there else None

    @property
    def timezone(self) -> ZoneInfo:
        """The zone that days and hours are counted in, UTC when the trace does not say."""
        return ZoneInfo(self.zone or "UTC")


def shared(one: Span, other: Span) -> float:
    """Return how many seconds two spans share."""
    return max(0.0, min(one[1], other[1]) - max(one[0], other[0]))


ABSOLUTE: Final = "Unix seconds, UTC"
"""What the header says under Times where submit times are Unix times."""

ASSUMED_UTC: Final = "Unix seconds, of local times without a zone taken as UTC"
"""What the header says under Times where the log has local times, and nothing states their zone."""

NUMBERS_KEY: Final = "JobNumbers"
GIVEN_NUMBERS: Final = "given by gwa, those of the source are not held"
"""The entry of a file that has no place for the numbers that jobs had in the source."""

CLUSTER_KEY: Final = "StatedCluster"
"""The key of the header line that says of which cluster the jobs of a log were stated to be."""

SITES_KEY: Final = "Sites"
"""The key of the header line that says how large each site is, as JSON."""

SIZES_KEY: Final = "Sizes"
"""The key of the header line that says since when there were how many processors, as JSON."""

SYNTHETIC: Final = "made by a model, no system ran these jobs"
"""What the header says under Synthetic where jobs were generated."""

GENERATED_JOBS: Final = "Jobs"
"""The key of the header line that says how many jobs a model made."""

PART: Final = "part"
"""What the header says under Covers where jobs that the log does not have ran on the same machine."""

INFERRED: Final = "inferred: the most processors ever busy at once"


def from_header(header: Header) -> System:
    """
    Return what a header in the manner of SWF says of its system.

    >>> from_header((("Computer", "IBM SP2"), ("MaxProcs", "1664 (72, 1368, 224)"))).cpus
    1664
    """
    values: dict[str, str] = {}
    for key, value in header:
        values.setdefault(key.lower(), value.strip())
    cpus, source = _processors(values)
    readers: dict[str, Callable[[str | None], Any]] = {
        **dict.fromkeys(("name", "site", "description", "covers"), _known),
        **dict.fromkeys(("watts_per_cpu", "watts_per_gpu", "watts_per_node"), _watts),
        **dict.fromkeys(
            ("nodes", "gpus", "node_cores", "node_memory", "node_gpus", "threads_per_core"), _count
        ),
        "start": _start,
    }
    system = System(
        cpus=cpus,
        cpus_from=source,
        zone=_zone(values.get("timezonestring"), values.get("timezone")),
        relative=values.get("times") not in {ABSOLUTE, ASSUMED_UTC},
        **{name: read(values.get(TITLES[name].lower())) for name, read in readers.items()},
    )
    if system.covers == PART:
        return replace(system, cpus=None, cpus_from="unknown", nodes=None, gpus=None)
    return _with_changes(system, values.get(SIZES_KEY.lower()))


def _with_changes(system: System, stated: str | None) -> System:
    """
    Return *system* with the changes of its size that a header states, as `overridden` writes them.

    A date that the log's own time cannot place leaves the size unknown.
    """
    if not stated or system.cpus is None:
        return system
    try:
        changes = [(_moment(since, system), int(cpus)) for since, cpus in json.loads(stated)]
    except (ValueError, TypeError):
        return system
    known = [(since, cpus) for since, cpus in changes if since is not None]
    if len(known) < len(changes):
        return replace(system, cpus=None, cpus_from="unknown")
    sizes = ((-inf, system.cpus), *sorted(known))
    return replace(system, cpus=max(cpus for _, cpus in sizes), sizes=sizes)


def _moment(since: object, system: System) -> float | None:
    """Return a number of seconds as it is, and a date by the log's time: None where that has no calendar."""
    if not isinstance(since, str):
        return float(since)  # type: ignore[arg-type]
    moment = datetime.fromisoformat(since)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=system.timezone)
    return None if system.relative else moment.timestamp()


def _processors(values: Mapping[str, str]) -> tuple[int | None, str]:
    for key, meaning in (
        ("processors", "stated in the header"),
        ("maxprocs", "stated in the header (MaxProcs)"),
        ("maxnodes", "stated in the header (MaxNodes: the header gives no MaxProcs)"),
    ):
        if number := _count(values.get(key)):
            return number, meaning
        if re.match(r"\s*[1-9]", values.get(key, "")):  # a number that is none: no other key stands for it
            break
    return None, "unknown"


def _watts(text: str | None) -> float | None:
    """Return the watts that a value says."""
    return float(text) if text and re.fullmatch(r"\d{1,7}(\.\d{1,6})?", text) else None


def _count(text: str | None) -> int | None:
    """
    Return the number above 0 that a value begins with; None where what is there is no count of anything.

    >>> [_count(text) for text in ("1664 (72, 1368)", "26,000", "4.8e1", "1 664", "16k", "0")]
    [1664, 26000, None, None, None, None]
    """
    found = _NUMBER.match(text or "")
    count = int(found[1].replace(",", "")) if found else 0
    return count if 0 < count <= MAXIMUM_COUNT else None


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


COUNT: Final = Check(lambda count: 0 < count <= MAXIMUM_COUNT, f"a whole number from 1 to {MAXIMUM_COUNT:,}")
THREADS: Final = Check(lambda threads: threads in {1, 2, 4, 8}, "1, 2, 4 or 8")
WATTS: Final = Check(lambda watts: 0 <= watts < 1e6, "watts, below a million")  # noqa: PLR2004 - said beside it


@dataclass(frozen=True, kw_only=True)
class _SiteInFile:
    """What a system file may say of the size of the system, or of one of its sites."""

    cpus: Annotated[int | None, COUNT] = None
    nodes: Annotated[int | None, COUNT] = None
    gpus: Annotated[int | None, COUNT] = None
    watts_per_cpu: Annotated[float | None, WATTS] = None
    watts_per_gpu: Annotated[float | None, WATTS] = None
    watts_per_node: Annotated[float | None, WATTS] = None
    node_cores: Annotated[int | None, COUNT] = None
    node_memory: Annotated[int | None, COUNT] = None
    node_gpus: Annotated[int | None, COUNT] = None
    threads_per_core: Annotated[int | None, THREADS] = None


def _is_moment(since: object) -> bool:
    return isinstance(since, date) or (type(since) in {int, float} and abs(since) < inf)  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class _SizeInFile:
    """Since when there were how many processors."""

    since: Annotated[Any, Check(_is_moment, "a date such as 2024-05-01, or seconds by the log's time")]
    cpus: Annotated[int, COUNT]


@dataclass(frozen=True, kw_only=True)
class _SystemFile(_SiteInFile):
    """What a system file may say; of several clusters, *sites* says how large each is, by its name."""

    name: str | None = None
    site: str | None = None
    zone: Annotated[str | None, Check(is_zone, "a time zone such as 'Europe/Amsterdam'")] = None
    # A number stays as it is written: it goes into headers.
    start: Annotated[
        Any, Check(lambda start: type(start) in {int, float} and 0 < start < inf, "Unix seconds above 0")
    ] = None
    description: str | None = None
    acknowledge: str | None = None
    information: str | None = None
    licence: str | None = None
    citation: str | None = None
    covers: Annotated[str | None, Check(lambda covers: covers in {"all", PART}, "'all' or 'part'")] = None
    sites: Mapping[str, _SiteInFile] = field(default_factory=dict)
    size: tuple[_SizeInFile, ...] = ()

    def __post_init__(self) -> None:
        if self.size and not self.cpus:
            raise ValueError("cpus: is missing, expected the number of processors before the first [[size]]")


def read_system(path: Path) -> Mapping[str, object]:
    """Return what a system file says; raise `DefinitionError` where it says nonsense."""
    file = TomlFile.read(path, "a description of a system")
    with file.located():
        return checked_system(file.data)


def described_beside(path: Path) -> tuple[Path, Mapping[str, object]] | None:
    """
    Return the description of a system that lies beside a log under its name, and what it says.

    That of ``sample.sacct`` or ``sample.swf.gz`` is ``sample.toml``. A file of that name without any key of a
    description is something else; raise `DefinitionError` for one that says nonsense.
    """
    if not path.name:  # a folder such as .
        return None
    file = path.with_name(f"{path.name.partition('.')[0]}.toml")
    if file == path or not file.is_file():
        return None
    try:
        known = TomlFile.read(file, "a description of a system")
    except GwaError:
        return None
    if not known.data.keys() & _SystemFile.__dataclass_fields__:
        return None
    with known.located():
        return file, checked_system(known.data)


def checked_system(described: Mapping[str, Any]) -> Mapping[str, object]:
    """Return what is *described* of a system; raise `DefinitionError` where it is nonsense."""
    system = record(_SystemFile, dict(described))
    stated = {key: getattr(system, key) for key in described}
    if "sites" in stated:
        stated["sites"] = {
            name: {key: getattr(site, key) for key in described["sites"][name]}
            for name, site in system.sites.items()
        }
    if "size" in stated:
        stated["size"] = [
            (one.since.isoformat() if isinstance(one.since, date) else one.since, one.cpus)
            for one in system.size
        ]
    return stated


TITLES: Final = {
    "name": "Computer",
    "site": "Installation",
    "cpus": "Processors",
    "zone": "TimeZoneString",
    "start": "UnixStartTime",
    "description": "Description",
    "nodes": "Nodes",
    "gpus": "GPUs",
    "watts_per_cpu": "WattsPerProcessor",
    "watts_per_gpu": "WattsPerGPU",
    "watts_per_node": "WattsPerNode",
    "node_cores": "ProcessorsPerNode",
    "node_memory": "MemoryPerNode",
    "node_gpus": "GPUsPerNode",
    "threads_per_core": "ThreadsPerCore",
    "acknowledge": "Acknowledge",
    "information": "Information",
    "licence": "Licence",
    "citation": "Citation",
    "covers": "Covers",
}
"""The header key that each key of a system file stands for."""


def overridden(header: Iterable[tuple[str, str]], system: Mapping[str, object]) -> Header:
    """Return *header* with what a system file says put first, and what it replaces left out."""
    titles = {TITLES[key]: str(value) for key, value in system.items() if key in TITLES}
    if sites := system.get("sites"):
        titles[SITES_KEY] = json.dumps(sites, sort_keys=True)
    if sizes := system.get("size"):
        titles[SIZES_KEY] = json.dumps(sizes)
    replaced = {"Processors": {"Processors", "MaxProcs", SIZES_KEY}}
    gone = set().union(*(replaced.get(title, {title}) for title in titles)) if titles else set()
    return (*titles.items(), *((key, value) for key, value in header if key not in gone))


STATED_OF_SITES: Final = tuple(_SiteInFile.__dataclass_fields__)
COUNTED: Final = ("cpus", "nodes", "gpus")


def of_sites(system: System, header: Header, names: Sequence[str]) -> System:
    """
    Return *system* with the size of the sites called *names*, as a *header* states it: their sum.

    What is not stated of each of them is not known, nor is what they do not share, such as the processors of
    a node.

    >>> said = json.dumps({"alpha": {"cpus": 64, "node_cores": 8}, "beta": {"cpus": 32}})
    >>> both = of_sites(System(), ((SITES_KEY, said),), ["alpha", "beta"])
    >>> both.cpus, both.node_cores
    (96, None)
    """
    stated = [_stated_of(header).get(name, {}) for name in names]
    sizes: dict[str, Any] = dict.fromkeys(STATED_OF_SITES)
    for key in STATED_OF_SITES:
        values = [site.get(key) for site in stated]
        if stated and None not in values:
            shared = values[0] if len({*values}) == 1 else None
            sizes[key] = sum(values) if key in COUNTED else shared
    source = "stated in the header" if sizes["cpus"] else "unknown"
    return replace(system, **sizes, cpus_from=source, sizes=())


def _stated_of(header: Header) -> Mapping[str, Mapping[str, Any]]:
    """Return what a *header* states of each site; nothing where it is not what gwa writes there."""
    try:
        said = json.loads(dict(header).get(SITES_KEY, "{}"))
        return {str(name): vars(record(_SiteInFile, site)) for name, site in dict(said).items()}
    except (ValueError, TypeError, GwaError):
        return {}


def with_inferred(system: System, peak: int) -> System:
    """Return *system* with the most processors ever busy at once as its size."""
    return replace(system, cpus=peak, cpus_from=INFERRED)
