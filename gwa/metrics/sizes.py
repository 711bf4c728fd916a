"""
Classes of job sizes that come from the log.

A fixed list fits one machine only: of a larger one, its last class holds nearly all core-hours. Here classes
end at powers of two, which most users request, and are joined until each matters.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from typing import Final

from gwa.metrics.timeline import exact_sum
from gwa.store.store import Store
from gwa.words.formatting import number
from gwa.words.message import message

MAXIMUM_CLASSES: Final = 7
"""More classes do not fit a table or the legend of a figure."""

WORTH_NAMING: Final = 0.05
"""A class has at least this share of the jobs or of the core-hours, if it can be joined with another."""

NEARLY_ALL: Final = 0.98
"""A class with this share of the core-hours says nothing: none has it, unless a single size does."""

SIZES: Final = """
select size, count(*) as jobs, coalesce({hours}, 0.0) as hours
from (select cast({size} as double) as size, run_time from {jobs} as holders where {size} > 0) as sized
group by size order by size
"""


@dataclass(frozen=True)
class SizeClass:
    """
    The sizes above *floor* and up to *top*, of which those from *least* to *most* occur.

    *jobs* have them; their sizes times run times add up to *hours*, in any unit.
    """

    floor: float
    top: float
    least: float
    most: float
    jobs: int
    hours: float

    @classmethod
    def of(cls, size: float, jobs: int, hours: float) -> "SizeClass":
        """Return the class of a single size, within the power of two that it belongs to."""
        top = 1.0
        while top < size:
            top *= 2
        floor = 0.0 if top == 1 else top / 2
        return cls(floor, size if size < 1 else top, size, size, jobs, hours)

    def with_next(self, other: "SizeClass") -> "SizeClass":
        """Return this class and the next one as one."""
        jobs, hours = self.jobs + other.jobs, self.hours + other.hours
        return SizeClass(self.floor, other.top, self.least, other.most, jobs, hours)

    def name(self, *, is_last: bool) -> str:
        """
        Return what the class is called: its only size, or where it begins and ends.

        The last class ends with the largest size of all.

        >>> whole = SizeClass(16, 64, 17, 50, 9, 0.0)
        >>> whole.name(is_last=False), whole.name(is_last=True)
        ('17 to 64', '17 to 50')
        """
        if self.least == self.most:
            return number(self.least)
        if self.most < 1:
            return message("less than 1")
        low, high = min(self.floor + 1, self.least), self.most if is_last else self.top
        return message("{low} to {high}", low=number(low), high=number(high))


@dataclass(frozen=True)
class SizeClasses:
    """
    Consecutive classes of the values of the SQL *size*: the largest size of each, and what each is called.

    A size above the last of *tops* is of the last class.
    """

    size: str
    tops: tuple[float, ...]
    names: tuple[str, ...]

    @property
    def place(self) -> str:
        """The SQL of the number of a job's class, from 0; -1 where its size is unknown or 0."""
        # Whole limits are written as such: numbers of processors are then compared without a conversion.
        tops = (int(top) if top.is_integer() else top for top in self.tops[:-1])
        cases = "".join(f" when {self.size} <= {top!r} then {at}" for at, top in enumerate(tops))
        last = max(len(self.tops) - 1, 0)
        return f"case when {self.size} is null or {self.size} <= 0 then -1{cases} else {last} end"


def processors(store: Store) -> SizeClasses:
    """
    Return the classes of the processors of jobs.

    They are of all jobs that *store* knows, whatever its period, so that two months have the same classes.
    """
    return store.once("classes of processors", lambda: size_classes(store, "n_procs", "all_jobs"))


def size_classes(store: Store, size: str, jobs: str) -> SizeClasses:
    """
    Return at most `MAXIMUM_CLASSES` classes of the sizes of *jobs*.

    *jobs* is SQL of a table with ``run_time``, which may be unknown, and *size* that of the size of a job:
    processors, nodes or GPUs, which may be fractions. Jobs of size 0 or of an unknown size are of no class.

    Classes are powers of two from 1 to the largest size, joined until each has a share of the jobs, or of
    their sizes times run times, that is worth naming. None has `NEARLY_ALL` of the latter, unless a single
    size does.
    """
    rows = store.rows(SIZES.format(size=size, jobs=jobs, hours=exact_sum("size * run_time")))
    classes = joined_classes([SizeClass.of(*row) for row in rows])
    names = (one.name(is_last=one is classes[-1]) for one in classes)
    return SizeClasses(size, tuple(one.top for one in classes), tuple(names))


def joined_classes(sizes: Sequence[SizeClass]) -> list[SizeClass]:
    """Join the classes of single *sizes*, in increasing order, into classes that matter."""
    jobs, hours = sum(one.jobs for one in sizes), sum(one.hours for one in sizes)
    powers: dict[float, list[SizeClass]] = {}
    for one in sizes:
        powers.setdefault(one.top if one.most >= 1 else 0.0, []).append(one)
    classes = [part for members in powers.values() for part in _parts(members, hours * NEARLY_ALL)]

    def weight(one: SizeClass) -> float:
        return max(one.jobs / jobs, one.hours / hours if hours else 0.0)

    while pair := _pair_to_join(classes, [weight(one) for one in classes], hours * NEARLY_ALL):
        first, second = pair
        classes[first : second + 1] = [classes[first].with_next(classes[second])]
    return classes


def _pair_to_join(
    classes: Sequence[SizeClass], weights: Sequence[float], limit: float
) -> tuple[int, int] | None:
    """Return the lightest class and its lighter neighbour; None where no class should be joined."""
    pairs = [
        (min(weights[first], weights[second]), max(weights[first], weights[second]), first, second)
        for first, second in pairwise(range(len(classes)))
        if not limit or classes[first].hours + classes[second].hours < limit
    ]
    if not pairs:
        return None
    lighter, _, first, second = min(pairs)
    return (first, second) if lighter < WORTH_NAMING or len(classes) > MAXIMUM_CLASSES else None


def _parts(members: Sequence[SizeClass], limit: float) -> list[SizeClass]:
    """Return the sizes of a power of two as one class, or as several where it would have nearly all hours."""
    hours = sum(one.hours for one in members)
    if len(members) == 1 or not hours or hours < limit:
        return [reduce(SizeClass.with_next, members)]
    before = 0.0
    larger = []
    for one in members[:-1]:
        before += one.hours
        larger.append(max(before, hours - before))
    cut = larger.index(min(larger)) + 1
    low, high = _parts(members[:cut], limit), _parts(members[cut:], limit)
    border = members[cut - 1].most
    return [*low[:-1], replace(low[-1], top=border), replace(high[0], floor=border), *high[1:]]
