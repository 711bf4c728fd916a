"""What a page says first: a sentence on what became of hours, and the same as a bar."""

from dataclasses import dataclass, field
from typing import Final

ANSWERED_BY_LEAD: Final = "busy"
"""The answer of a report that what became of the hours says already."""


@dataclass(frozen=True)
class Segment:
    """A part of a bar, called *id*: its *amount* in seconds, its *share* of all, and the *fact* it is."""

    id: str
    amount: float
    share: float
    fact: str = ""


@dataclass(frozen=True)
class Clause:
    """What the sentence says of the part called *id*."""

    id: str
    text: str


@dataclass(frozen=True)
class Caption:
    """
    What stands below the segment called *id*: its number of the hundred as *text*, and a *label*.

    Small segments share one; *also* has the ids of the others.
    """

    id: str
    text: str
    label: str
    also: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """Those of all segments that it is of."""
        return (self.id, *self.also)


@dataclass(frozen=True)
class Bar:
    """
    What became of the hours of one thing, such as a month.

    Parameters
    ----------
    label
        What it is of, such as ``2012-04``.
    segments
        Its parts, in their order.
    numbers
        Their whole numbers, in the order of the columns of all such bars; "" for what this one does not have.
    note
        What is special about it, such as how few days it has.
    link
        The address of a page about it.

    """

    label: str
    segments: tuple[Segment, ...]
    numbers: tuple[str, ...] = ()
    note: str = ""
    link: str = ""


@dataclass(frozen=True)
class Hours:
    """
    What became of the hours of processors, or of GPUs.

    Parameters
    ----------
    sentence
        The sentence that says it.
    clauses
        What it says of each part; none where it does not tell parts.
    segments
        The parts of its bar, in their order; none where there is nothing to divide.
    captions
        What stands below them.
    basis
        What the hundred are, and what is left out.

    """

    sentence: str
    clauses: tuple[Clause, ...] = ()
    segments: tuple[Segment, ...] = ()
    captions: tuple[Caption, ...] = ()
    basis: str = ""


@dataclass(frozen=True)
class Lead(Hours):
    """
    What became of the hours of a machine, or of several.

    Parameters
    ----------
    sentence, clauses, segments, captions, basis
        As of `Hours`; those of several machines have no sentence.
    gpus
        The same of the hours of GPUs; None where no job held one.
    heading
        What the *rows* are.
    columns
        What their numbers are of.
    rows
        The bar of each month, or of each year where there are many months, or of each system.

    """

    gpus: Hours | None = None
    heading: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[Bar, ...] = field(default=(), repr=False)
