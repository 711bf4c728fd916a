"""
Ceilings of owners: limits that the log does not record, found by the pattern that they leave.

Looked at are starts after a wait of more than two cycles before which, a cycle and a second earlier, the
machine had room for the job; of more than `MOMENTS`, every so many. A ceiling is the highest level of
processors, or of jobs, that an owner held for long. `gwa.statistics.ceilings` says when it is one.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from gwa.metrics.timeline import Floats, Ints
from gwa.metrics.waiting_levels import LevelAt, busy_at, held_level, level_at, levels_of_owners
from gwa.metrics.waiting_reasons import limits
from gwa.statistics.ceilings import MINIMUM_STARTS, SHARE, Evidence, found
from gwa.store.store import Store
from gwa.util.units import DAY, MINUTE

Unit = Literal["processors", "jobs"]

KINDS: Final = {"user": "user_id", "qos": "qos", "project": "project_id", "partition": "partition_id"}
"""The kinds of owners, with their fields."""

CYCLE: Final = float(MINUTE)
"""The seconds before a start that are the scheduler's own."""

MOMENTS: Final = 200_000

LATE: Final = f"""
select started, eligible, asked, user_id, qos, project_id, partition_id, pending_reason,
    row_number() over (order by started, submitted, job_id) - 1 as number
from ({{waiters}}) as waiter where started - eligible > {2 * CYCLE!r} and asked > 0
"""

BEFORE: Final = f"(select *, started - {CYCLE + 1!r} as moment from {{late}} as late)"
"""A cycle and a second before each start."""

TRIGGERS: Final = f"""
(
    select place, started as moment, user_id, qos, project_id, partition_id from {{late}} as late
    union all
    select place + {{starts}} as place, eligible
        + (place * 0.6180339887 - floor(place * 0.6180339887))
        * greatest(started - eligible - {CYCLE!r}, 1.0) as moment, user_id, qos, project_id, partition_id
    from {{late}} as late
)
"""
"""Each start and, for comparison, a moment within each wait: by the golden ratio, which spreads evenly."""

ENDED: Final = f"""
(
    select user_id, qos, project_id, partition_id, end_time as start_time,
        end_time + {CYCLE + 1!r} as end_time, 1.0 as held
    from {{holding}}
)
"""
"""What is held for a cycle by each end."""

JOBS: Final = (
    "(select user_id, qos, project_id, partition_id, start_time, end_time, 1.0 as held from {holding})"
)


@dataclass(frozen=True)
class Ceiling:
    """
    An amount, *most*, that the owner *id* of a *kind* did not exceed, in a *unit*.

    *starts* of its jobs waited with room on the machine, of which the share *above* would have gone above it,
    and the share *own* began when one of its own ended; *waited* is the share of its waiting at the ceiling,
    None where it waited too little. A *common* one is that of others, which it never exceeded. *same* are
    owners with the same starts: the log cannot tell whose ceiling it is. *limited* is the share of the starts
    whose last reason, of one moment of the wait, names a limit, most often *limit*; None where the log has no
    reasons.
    """

    kind: str
    id: str
    unit: Unit
    most: float
    starts: int = 0
    above: float | None = None
    own: float | None = None
    waited: float | None = None
    is_common: bool = False
    same: tuple[str, ...] = ()
    limited: float | None = None
    limit: str = ""


@dataclass(frozen=True)
class Late:
    """The starts after a wait (*table*), how many there are, and at which the machine had room before."""

    table: str
    count: int
    has_room: NDArray[np.bool_]
    columns: Mapping[str, NDArray[Any]]


def late_starts(store: Store, waiters: str, holding: str, part: str, capacity: float | None) -> Late | None:
    """
    Return the starts after a wait, and before which there was room; None where they are too few.

    *capacity* is that of the machine, None where parts of it have what they ever held.
    """
    every = LATE.format(waiters=waiters)
    (count,) = store.row(f"select count(*) as n from ({every}) as late")
    stride = max(1, -(-count // MOMENTS))
    table = store.keep(
        "late_starts",
        f"select *, number // {stride} as place from ({every}) as late where number % {stride} = 0",
    )
    count = -(-count // stride)
    if count < MINIMUM_STARTS:
        return None
    before = BEFORE.format(late=table)
    if capacity is None:
        level = level_at(store, before, holding, part)
        free = level.most - level.busy
    else:
        free = capacity - busy_at(store, before, holding, part)[0]
    found = store.arrays(f"select * from {table} as late order by place")
    columns = {name: np.ma.filled(np.ma.asarray(column), _missing(column)) for name, column in found.items()}
    return Late(table, count, free >= columns["asked"], columns)


def _missing(column: NDArray[Any]) -> Any:  # noqa: ANN401 - of any type
    return "" if column.dtype.kind in "OUS" else np.nan


def ceilings(store: Store, late: Late, holding: str, capacity: float) -> tuple[Ceiling, ...]:
    """Return the ceilings of all owners, common ones last, each of the unit that more starts bear out."""
    candidates: list[_Candidate] = []
    tests = 0
    for kind, field in KINDS.items():
        names, counts = np.unique(late.columns[field].astype(str)[late.has_room], return_counts=True)
        owners = set(names[counts >= MINIMUM_STARTS].tolist()) - {""}
        levels = _levels(store, late, holding, field, owners) if store.has(field) and owners else {}
        for unit, level in levels.items():
            few = list(_candidates(late, kind, unit, level, capacity))
            tests += len(few)
            candidates += [one for one in few if one.is_likely]
    if not candidates:
        return ()
    own = {
        kind: _own_ends(store, late, holding, field, {one.id for one in candidates if one.kind == kind})
        for kind, field in KINDS.items()
        if any(one.kind == kind for one in candidates)
    }
    evidence = [one.evidence(late, *own[one.kind]) for one in candidates]
    holds = found(evidence, tests)
    single = [
        one.ceiling(late, seen)
        for one, seen, is_one in zip(candidates, evidence, holds, strict=True)
        if is_one
    ]
    best = {}
    for one in sorted(single, key=lambda one: (one.above or 0.0, one.unit == "processors")):
        best[one.kind, one.id] = one
    starts = {(one.kind, one.id, one.unit): one.places.tobytes() for one in candidates}
    named = list(_named(best.values(), starts))
    return (*named, *_common(named, lambda kind: _levels(store, late, holding, KINDS[kind])))


@dataclass(frozen=True)
class _Candidate:
    """The starts of an owner with room (*places*), and whether each would have gone *above* what it held."""

    kind: str
    id: str
    unit: Unit
    most: float
    places: Ints
    above: NDArray[np.bool_]

    @property
    def is_likely(self) -> bool:
        return float(self.above.mean()) >= SHARE

    def evidence(self, late: Late, own: NDArray[np.bool_], chance: NDArray[np.bool_]) -> Evidence:
        after = own[self.places]
        days = np.unique(late.columns["started"][self.places][after] // DAY)
        both = int((self.above & after).sum())
        return Evidence(
            len(self.places),
            int(self.above.sum()),
            int(after.sum()),
            both,
            float(chance[self.places].mean()),
            len(days),
        )

    def ceiling(self, late: Late, seen: Evidence) -> Ceiling:
        above, own = seen.above / seen.starts, seen.own / seen.starts
        found = Ceiling(self.kind, self.id, self.unit, self.most, seen.starts, above, own)
        noted = late.columns["pending_reason"]
        if not (noted != "").any():
            return found
        limited, limit = limits(noted[self.places].tolist())
        return replace(found, limited=limited / seen.starts, limit=limit)


def _levels(
    store: Store, late: Late, holding: str, field: str, owners: Collection[str] | None = None
) -> dict[Unit, LevelAt]:
    """Return what *owners*, by default all, held a cycle before each start: processors, and jobs."""
    before, owner = BEFORE.format(late=late.table), f"coalesce({field}, '')"
    processors, jobs = levels_of_owners(store, before, holding, owner, owners)
    return {"processors": processors, "jobs": jobs}


def _candidates(late: Late, kind: str, unit: Unit, level: LevelAt, capacity: float) -> Iterator[_Candidate]:
    """Yield the owners whose starts are enough, and whose highest level may be a ceiling."""
    amount = late.columns["asked"] if unit == "processors" else np.ones(late.count)
    tops = _tops(level)
    for name, places in level.parts.items():
        with_room = places[late.has_room[places]]
        most = tops.get(name, 0.0)
        is_small = most <= capacity / 2 if unit == "processors" else most >= 2  # noqa: PLR2004 - several
        if name and len(with_room) >= MINIMUM_STARTS and is_small:
            above = level.busy[with_room] + amount[with_room] > most
            yield _Candidate(kind, name, unit, most, with_room, above)


def _tops(level: LevelAt) -> dict[str, float]:
    """Return the highest level that each owner held for long."""
    return {name: held_level(*of_part) for name, of_part in level.levels.items()}


def _own_ends(
    store: Store, late: Late, holding: str, field: str, owners: Collection[str]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """
    Return before which starts of *owners* a job of their own ended within a cycle, and before which moments.

    Of the starts of others it is not known.
    """
    triggers = TRIGGERS.format(late=late.table, starts=late.count)
    busy, _ = busy_at(store, triggers, ENDED.format(holding=holding), f"coalesce({field}, '')", owners)
    return busy[: late.count] > 0, busy[late.count :] > 0


def _named(single: Iterable[Ceiling], starts: Mapping[tuple[str, str, Unit], bytes]) -> Iterator[Ceiling]:
    """Yield ceilings, those of the same starts as one."""
    alike: dict[tuple[float, Unit, bytes], list[Ceiling]] = {}
    for one in single:
        alike.setdefault((one.most, one.unit, starts[one.kind, one.id, one.unit]), []).append(one)
    for first, *others in alike.values():
        yield replace(first, same=tuple(f"{one.kind} {one.id}" for one in others))


def _common(
    named: list[Ceiling], levels_of_all: Callable[[str], Mapping[Unit, LevelAt]]
) -> Iterator[Ceiling]:
    """Yield a ceiling that several owners share for all others, where none ever held more."""
    levels: dict[str, Mapping[Unit, LevelAt]] = {}
    for kind, unit, most in sorted({(one.kind, one.unit, one.most) for one in named}):
        same = {one.id for one in named if (one.kind, one.unit, one.most) == (kind, unit, most)}
        if len(same) < 2:  # noqa: PLR2004 - one alone shares none
            continue
        if kind not in levels:
            levels[kind] = levels_of_all(kind)
        of_all = _tops(levels[kind][unit])
        if all(top <= most for top in of_all.values()):
            others = sorted(set(of_all) - same - {""})
            yield from (Ceiling(kind, name, unit, most, is_common=True) for name in others)


def at_ceiling(
    store: Store, moments: str, asked: Floats, holding: str, found: tuple[Ceiling, ...]
) -> tuple[NDArray[np.bool_], dict[Ceiling, Ints]]:
    """
    Return at which of *moments* the job would have gone above a ceiling of its owner.

    The second result has the places of the moments of each owner.
    """
    holds, places = np.zeros(len(asked), np.bool_), {}
    for kind, unit in sorted({(one.kind, one.unit) for one in found}):
        source = holding if unit == "processors" else JOBS.format(holding=holding)
        owned = [one for one in found if (one.kind, one.unit) == (kind, unit)]
        owner, owners = f"coalesce({KINDS[kind]}, '')", {one.id for one in owned}
        busy, parts = busy_at(store, moments, source, owner, owners)
        for one in owned:
            if one.id not in parts:
                continue
            mine = places[one] = parts[one.id]
            amount = asked[mine] if unit == "processors" else 1.0
            holds[mine] |= busy[mine] + amount > one.most
    return holds, places
