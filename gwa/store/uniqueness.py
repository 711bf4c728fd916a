"""
How many users a trace gives away by what they ran, and coarser traces in which none stands alone.

A class is what may be known of one job: its size, when it was submitted, and its program. A user who has a
class that no other user has is *unique*: that one job leads to all jobs of the user, under any pseudonym.
The smallest number of users in a class is *k*.

Sources: L. Sweeney, k-anonymity: a model for protecting privacy, International Journal of Uncertainty,
Fuzziness and Knowledge-Based Systems 10 (2002), for k; Y.-A. de Montjoye, C. A. Hidalgo, M. Verleysen and
V. D. Blondel, Unique in the crowd: the privacy bounds of human mobility, Scientific Reports 3 (2013), for the
users whom a few points single out.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

import numpy as np

from gwa.errors import ArgumentError, TraceError
from gwa.statistics.sample import Ints
from gwa.store.store import Store
from gwa.util.units import DAY, HOUR, WEEK
from gwa.words.formatting import fraction

ATTRIBUTES: Final = ("size", "time", "program")

SIZE_FIELDS: Final = ("n_procs", "req_n_procs", "n_nodes")
"""Fields of size, all of which become powers of two."""

SIZE: Final = "coalesce(n_procs, req_n_procs, n_nodes)"
"""What stands for the processors of a job."""

POINTS: Final = (1, 2, 4)
"""How many jobs of a user are known, of those that are drawn."""

DRAWN_USERS: Final = 1000
"""Users whose jobs are drawn; of more, as many are drawn."""

SEED: Final = 2013

LEAVE_OUT: Final = 0.05
"""The share of jobs that may be left out."""

UNITS: Final[Mapping[float, str]] = {HOUR: "hour", DAY: "day", WEEK: "week"}

CLASSES: Final = """
(select {keys}, count(*) as users, sum(jobs) as jobs, min(user_id) as somebody from (
    select user_id, {columns}, count(*) as jobs from jobs where user_id is not null group by all
) as points group by {keys}) as classes
"""


@dataclass(frozen=True)
class Fineness:
    """How fine classes are: times by *seconds*, sizes by *powers* of two if so, *programs* if so."""

    seconds: float
    powers: bool = False
    programs: bool = True

    def __str__(self) -> str:
        """Return what is known of a job."""
        return self.words(ATTRIBUTES)

    def words(self, by: tuple[str, ...]) -> str:
        """Return what is known of a job *by* some attributes."""
        every = {
            "size": "power of two of processors" if self.powers else "processors",
            "time": f"{UNITS[self.seconds]} of submission",
            "program": "program",
        }
        return ", ".join(every[name] for name in self.columns(by))

    def columns(self, by: tuple[str, ...] = ATTRIBUTES) -> dict[str, str]:
        """Return the SQL of the attributes *by* which classes are told, by name."""
        every = {
            "size": self._sizes(),
            "time": f"floor(submit_time / {self.seconds!r})",
            "program": "executable_id",
        }
        return {name: every[name] for name in by if name != "program" or self.programs}

    def _sizes(self) -> str:
        """Return the SQL of all sizes of a job: it may be known by what it requested, or by its nodes."""
        sizes = [_power(field) if self.powers else field for field in SIZE_FIELDS]
        return " || ' ' || ".join(f"coalesce(cast({size} as varchar), '')" for size in sizes)

    def processors(self) -> str:
        """Return the SQL of the processors of a job, or of what stands for them."""
        return _power(SIZE) if self.powers else SIZE

    def fields(self, recorded: Mapping[str, int]) -> dict[str, str]:
        """Return the SQL of the fields that become coarser, of those *recorded*; None is for no value."""
        changed = {"submit_time": f"floor(submit_time / {self.seconds!r}) * {self.seconds!r}"}
        changed |= {"eligible_time": "", "runs": "", "node_list": "", "gpu_list": ""}
        changed |= {name: _power(name) for name in SIZE_FIELDS if self.powers}
        changed |= {} if self.programs else {"executable_id": ""}
        return {name: sql for name, sql in changed.items() if recorded.get(name)}


def _power(size: str) -> str:
    """Return the SQL of a *size* rounded up to a power of two."""
    return f"case when {size} >= 1 then cast(pow(2, ceil(log2({size}))) as bigint) else {size} end"


STEPS: Final = (
    Fineness(HOUR),
    Fineness(HOUR, powers=True),
    Fineness(DAY, powers=True),
    Fineness(WEEK, powers=True),
    Fineness(WEEK, powers=True, programs=False),
)
"""From the finest on: the first is taken of which few enough jobs must be left out."""


@dataclass(frozen=True)
class Exposure:
    """
    What classes *by* some attributes give away, as *fine* as they are.

    *users* have *classes*, *unique* of them one that no other user has; the smallest has *smallest* users.
    *jobs_below* are those in classes of fewer than k users, and *whole* are the users whom all their classes
    together tell from everybody else.
    """

    fine: Fineness
    by: tuple[str, ...]
    users: int
    classes: int
    unique: int
    smallest: int
    jobs_below: int
    whole: int

    @property
    def is_whole(self) -> bool:
        """Whether all attributes tell classes."""
        return len(self.by) == len(ATTRIBUTES)

    def __str__(self) -> str:
        """Return what is known of a job."""
        return self.fine.words(self.by)


def exposure(store: Store, k: int, fine: Fineness = STEPS[0], by: tuple[str, ...] = ATTRIBUTES) -> Exposure:
    """Return what the jobs of known users in *store* give away; *k* is the number of users looked for."""
    columns = fine.columns(by)
    table = _classes(columns)
    classes, smallest, below, unique = store.row(
        f"select count(*), min(users), sum(case when users < {k:d} then jobs else 0 end),"
        f" count(distinct case when users = 1 then somebody end) from {table}"
    )
    users = store.row("select count(distinct user_id) from jobs")[0]
    user, number = _points(store, columns)
    signatures: dict[bytes, int] = {}
    for several in _by_user(user, number):
        key = several.tobytes()
        signatures[key] = signatures.get(key, 0) + 1
    whole = sum(count == 1 for count in signatures.values())
    return Exposure(fine, tuple(columns), users, classes, unique, int(smallest or 0), int(below or 0), whole)


def require_users(store: Store) -> None:
    """Raise `TraceError` for a trace that records no user, in which none can stand alone."""
    if not store.has("user_id"):
        raise TraceError("no job records its user, so that nothing tells who stands alone")


def _steps(store: Store) -> tuple[Fineness, ...]:
    """Return the steps that make a trace coarser: programs that are not recorded cannot go."""
    return STEPS if store.has("executable_id") else tuple(fine for fine in STEPS if fine.programs)


def exposures(store: Store, k: int) -> Iterator[Exposure]:
    """Yield what each attribute, and each combination, gives away as it is, then what coarser ones do."""
    for size in range(1, len(ATTRIBUTES) + 1):
        for by in combinations(ATTRIBUTES, size):
            yield exposure(store, k, by=by)
    for fine in _steps(store)[1:]:
        yield exposure(store, k, fine)


def not_looked_at(store: Store) -> str:
    """Return the recorded fields by which a job may be known, too, and which stay as they are."""
    looked_at = {"job_id", "submit_time", "eligible_time", "user_id", "executable_id", *SIZE_FIELDS}
    names = [name for name, known in store.known.items() if known and name not in looked_at]
    if store.row("select count(*) from dependencies")[0]:
        names.append("dependencies")
    return ", ".join(names) or "none"


def unicity(store: Store, fine: Fineness = STEPS[0]) -> dict[int, float | None]:
    """
    Return the share of users whom a number of jobs singles out, by that number (de Montjoye and others 2013).

    The jobs are drawn among a user's classes; who has fewer is known by all of them. None without users.
    """
    user, number = _points(store, fine.columns())
    several = _by_user(user, number)
    rng = np.random.default_rng(SEED)
    drawn: Ints = rng.permutation(len(several))[:DRAWN_USERS]
    order = np.argsort(number, kind="stable")
    holders, starts = user[order], np.searchsorted(number[order], np.arange(number.max(initial=-1) + 2))

    def is_alone(own: Ints, known: int) -> bool:
        seen = [
            set(holders[starts[each] : starts[each + 1]].tolist())
            for each in rng.choice(own, min(known, own.size), replace=False)
        ]
        return len(set.intersection(*seen)) == 1

    return {
        known: float(np.mean([is_alone(several[one], known) for one in drawn])) if drawn.size else None
        for known in POINTS
    }


def _classes(columns: Mapping[str, str]) -> str:
    shown = ", ".join(f"{sql} as {name}" for name, sql in columns.items())
    return CLASSES.format(keys=", ".join(columns), columns=shown)


def _points(store: Store, columns: Mapping[str, str]) -> tuple[Ints, Ints]:
    """Return each class of each user once: the number of the user, and that of the class."""
    keys = ", ".join(columns.values())
    points = store.arrays(
        f"select user, class from (select dense_rank() over (order by user_id) - 1 as user,"
        f" dense_rank() over (order by {keys}) - 1 as class from jobs where user_id is not null) as ranked"
        " group by user, class order by user, class"
    )
    user, number = (np.asarray(points[name]).astype(np.int64) for name in ("user", "class"))
    return user, number


def _by_user(user: Ints, number: Ints) -> list[Ints]:
    """Return the sorted classes of each user."""
    return np.split(number, np.flatnonzero(np.diff(user)) + 1) if user.size else []


@dataclass(frozen=True)
class Coarsening:
    """
    What becomes of a trace so that each class has *k* users or more: how *fine* it stays, and what it costs.

    *left_out* jobs of classes with fewer users go, of *jobs*, and *users_left_out* with all that they ran.
    *work* is the processor time of the coarser trace over that of the jobs that stay.
    """

    fine: Fineness
    k: int
    jobs: int
    left_out: int
    users_left_out: int
    work: float | None
    condition: str

    def numbers(self) -> str:
        """
        Return the query of the jobs that stay, with numbers whose order tells no more of times than these do.

        The numbers of a trace are in the order of submission, which would give away the time within a week.
        """
        time = f"floor(submit_time / {self.fine.seconds!r})"
        chance = "pseudonym('J', cast(job_id as varchar))"
        return (
            f"select job_id as old, row_number() over (order by {time} nulls first, {chance}) as number"
            f" from jobs where {self.condition}"
        )

    def expression(self, field: str, plain: str, recorded: Mapping[str, int]) -> str:
        """Return the SQL of a *field*, whose names are replaced by the SQL *plain*."""
        changed = self.fine.fields(recorded)
        return plain if field not in changed else changed[field] or "null"

    def without(self, recorded: Mapping[str, int]) -> set[str]:
        """Return the fields that go."""
        return {name for name, sql in self.fine.fields(recorded).items() if not sql}

    @property
    def line(self) -> str:
        """The steps and what was left out, as a line of a header."""
        return (
            f"k {self.k} by {self.fine}; {self.left_out} jobs left out, {self.users_left_out} users with them"
        )

    def sentences(self) -> Iterator[str]:
        """Yield what was made coarser, and what it cost."""
        yield f"each {self.fine} has {self.k} users or more"
        share = self.left_out / self.jobs if self.jobs else 0.0
        yield (
            f"{self.left_out:,} of {self.jobs:,} jobs ({fraction(share)}) are left out, and"
            f" {self.users_left_out:,} users with all that they ran"
        )
        yield f"times are those of the beginning of the {UNITS[self.fine.seconds]}"
        if self.fine.powers and self.work is not None:
            yield f"sizes are rounded up to powers of two: {self.work:.2f} times the processor time"
        if not self.fine.programs:
            yield "programs are left out"


def coarsening(store: Store, k: int, leave_out: float = LEAVE_OUT) -> Coarsening:
    """
    Return the finest of `STEPS` at which no more than the share *leave_out* of jobs is of small classes.

    Those jobs are left out, so that each class of the trace that is written has *k* users. Raise `TraceError`
    where that is out of reach, `ArgumentError` for a k below 2.
    """
    if k < 2:  # noqa: PLR2004 - one user is never hidden
        raise ArgumentError(f"k is {k}, expected at least 2: one user alone is not hidden")
    require_users(store)
    users, jobs = store.row("select count(distinct user_id), count(*) from jobs")
    if users < k:
        many = "1 user" if users == 1 else f"{users} users"
        raise TraceError(f"k {k} is out of reach: the trace has {many}, expected at least {k}")
    share = 0.0
    steps = _steps(store)
    for place, fine in enumerate(steps):
        columns = fine.columns()
        small = store.keep(
            f"small_classes_{place}_of_{k:d}",
            f"select {', '.join(columns)} from {_classes(columns)} where users < {k:d}",
        )
        known = " and ".join(f"{small}.{name} is not distinct from {sql}" for name, sql in columns.items())
        condition = f"not exists (select 1 from {small} where {known})"
        left = jobs - store.row(f"select count(*) from jobs where {condition}")[0]
        share = left / jobs
        if share <= leave_out:
            return _priced(store, Coarsening(fine, k, jobs, left, 0, None, condition), users)
    raise TraceError(
        f"k {k} is out of reach: even by {steps[-1]}, {fraction(share)} of jobs have fewer than {k} users in"
        f" their class, expected at most {fraction(leave_out)}: leave more out, or ask for a smaller k"
    )


def _priced(store: Store, made: Coarsening, users: int) -> Coarsening:
    """Return a coarsening with what it costs, of a number of *users*."""
    coarser = made.fine.processors()
    kept, work, coarse = store.row(
        f"select count(distinct user_id), sum(run_time * cast({SIZE} as double)),"
        f" sum(run_time * cast({coarser} as double)) from jobs where {made.condition}"
    )
    return replace(made, users_left_out=users - int(kept), work=coarse / work if work else None)


@dataclass(frozen=True)
class Hiding:
    """A wish for *k*, with the share of jobs that may be left out; *tell* is called with what came of it."""

    k: int
    leave_out: float = LEAVE_OUT
    tell: Callable[[Coarsening], object] = id
