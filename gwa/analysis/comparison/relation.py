"""Whether two traces are two periods of one system, between which there is time, or two systems."""

from dataclasses import dataclass
from enum import Enum
from typing import Self

from gwa.store.store import Period, Store
from gwa.store.system import System


class Relation(Enum):
    """
    What two traces are to each other.

    Only between `PERIODS`, of which the first is the earlier one, does anything rise or fall. `SYSTEMS` also
    stands for whatever is not surely one system.
    """

    PERIODS = "periods"
    PERIODS_BACKWARDS = "periods, the later one first"
    SYSTEMS = "systems"


@dataclass(frozen=True)
class Origin:
    """
    Where and when the jobs of a trace come from.

    The whole *trace* that they are a part of, the *system*, and the first and the last second of submissions
    or of the period asked for (*span*); None where no submission is known.
    """

    trace: Store
    system: System
    span: Period | None

    @classmethod
    def of(cls, store: Store) -> Self:
        """Return the origin of the jobs of *store*."""
        first, last = store.row("select min(submit_time) as first, max(submit_time) as last from jobs")
        span = store.period or (None if first is None else (first, last))
        return cls(store.whole, store.system, span)

    def is_one_system_with(self, other: "Origin") -> bool:
        """Whether both are parts of one trace, or their logs state the same system, site and size."""
        if self.trace is other.trace:
            return True
        one, two = self.system, other.system
        if one.relative or two.relative or one.cpus_inferred or two.cpus_inferred:
            return False
        stated = (one.name, one.site, one.cpus)
        return all(stated) and stated == (two.name, two.site, two.cpus)


def relation(first: Store, second: Store) -> Relation:
    """
    Return what two traces are to each other.

    They are periods of one system if no job of one was submitted before the last job of the other, and if
    they are parts of one trace, or if both logs have dates and state the same system, site and number of
    processors. In doubt, they are two systems.
    """
    return relation_of(Origin.of(first), Origin.of(second))


def relation_of(first: Origin | None, second: Origin | None) -> Relation:
    """Return what traces of two origins are to each other, see `relation`."""
    if not first or not second or not first.is_one_system_with(second) or not first.span or not second.span:
        return Relation.SYSTEMS
    if first.span[1] <= second.span[0]:
        return Relation.PERIODS
    return Relation.PERIODS_BACKWARDS if second.span[1] <= first.span[0] else Relation.SYSTEMS
