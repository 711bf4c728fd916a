"""
What projects and users have used of what they may use.

A *quota file* is TOML:

    [quota]
    of = "cpu_hours"           # or gpu_hours, node_hours
    begins = 2026-01-01        # the whole log if left out
    ends = 2027-01-01

    [quota.projects]
    climate = 250_000

    [quota.groups]             # or users
    bio = 10_000
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Final, Literal

from gwa.metrics.presence import unlisted, with_boxes
from gwa.metrics.timeline import exact_sum
from gwa.store.engines.duckdb import literal
from gwa.store.store import Store
from gwa.util.toml import Check, TomlFile, record
from gwa.util.units import DAY, HOUR

AMOUNTS: Final = {"cpu_hours": "n_procs", "gpu_hours": "n_gpus", "node_hours": "n_nodes"}
"""What quotas may be of, and the field of the amount that a job holds."""

FIELDS: Final = {"projects": "project_id", "groups": "group_id", "users": "user_id"}

RECENT: Final = 30.0 * DAY
"""The present rate is that of the last thirty days."""

HOURS: Final = Check(
    lambda limits: all(limit > 0 for limit in limits.values()), "hours above 0 for each name"
)


@dataclass(frozen=True, kw_only=True)
class Quotas:
    """Hours that each project, group or user may use between two days."""

    of: Literal["cpu_hours", "gpu_hours", "node_hours"] = "cpu_hours"
    begins: date | None = None
    ends: date | None = None
    projects: Annotated[Mapping[str, float], HOURS] = field(default_factory=dict)
    groups: Annotated[Mapping[str, float], HOURS] = field(default_factory=dict)
    users: Annotated[Mapping[str, float], HOURS] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a file without limits, or one that ends before it begins."""
        if not (self.projects or self.groups or self.users):
            raise ValueError("projects: is missing, expected hours for each name, or groups, or users")
        if self.begins and self.ends and self.ends <= self.begins:
            raise ValueError("ends: is not after begins, expected a later day")


@dataclass(frozen=True, kw_only=True)
class _QuotaFile:
    quota: Quotas


@dataclass(frozen=True)
class Use:
    """
    The hours *used* of a *limit*, and those of the last thirty days.

    *days_left* are the days until the limit is reached at that rate, None where nothing was used in them.
    """

    kind: str
    name: str
    limit: float
    used: float
    recent: float
    days_left: float | None


def read_quotas(path: Path) -> Quotas:
    """Return what a quota file says; raise `DefinitionError` where it is none."""
    file = TomlFile.read(path, "a quota file")
    with file.located():
        return record(_QuotaFile, file.data).quota


def uses(store: Store, quotas: Quotas) -> list[Use]:
    """Return what each project, group and user of the *quotas* has used, those nearest to the limit first."""
    amount = AMOUNTS[quotas.of]
    (latest,) = store.row(f"select max(end_time) as latest from {_held(store, amount)}")
    begin, end = _moment(quotas.begins, store), _moment(quotas.ends, store)
    last = min(latest if latest is not None else 0.0, end if end is not None else float("inf"))
    found = [
        _use(store, amount, (kind, name, limit), (begin, last))
        for kind, column in FIELDS.items()
        for name, limit in getattr(quotas, kind).items()
    ]
    return sorted(found, key=lambda use: (-use.used / use.limit, use.kind, use.name))


def _moment(day: date | None, store: Store) -> float | None:
    """Return when a day begins by the clock of the system."""
    if day is None:
        return None
    return datetime(day.year, day.month, day.day, tzinfo=store.system.timezone).timestamp()


def _use(
    store: Store, amount: str, limited: tuple[str, str, float], period: tuple[float | None, float]
) -> Use:
    kind, name, limit = limited
    begin, last = period
    recent_begin = max(last - RECENT, begin if begin is not None else last - RECENT)
    used, recent = (
        _hours(store, amount, f"{FIELDS[kind]} = {literal(name)}", first, last)
        for first in (begin, recent_begin)
    )
    days = max((last - recent_begin) / DAY, 1.0)
    left = max(limit - used, 0.0)
    return Use(kind, name, limit, used, recent, left / (recent / days) if recent > 0 else None)


def _hours(store: Store, amount: str, where: str, first: float | None, last: float) -> float:
    """Return the hours used between two moments by the jobs for which *where* holds."""
    begin = "start_time" if first is None else f"greatest(start_time, {first!r})"
    seconds = f"greatest(least(end_time, {last!r}) - {begin}, 0.0)"
    table = _held(store, amount)
    (total,) = store.row(f"select {exact_sum(f'amount * {seconds}')} as total from {table} where {where}")
    return (total or 0.0) / HOUR


def _held(store: Store, amount: str) -> str:
    """Return the table of what jobs held, from when to when, in each of their runs."""
    columns = f"{', '.join(FIELDS.values())}, {amount} as amount, start_time, end_time"
    jobs = f"select {columns} from all_ran where {unlisted(store)}true"
    listed = f"select {columns} from {{}} as listed where n_procs >= 1 and not is_open"
    return f"({with_boxes(store, jobs, listed.format)}) as held"
