"""
What a change of a machine, its scheduler or its workload is, and how changes are found.

Each kind of change is a file of `gwa.evaluation.whatif.changes`: a function decorated with `change` turns the
text that its option gives into a changed world. To add a kind, write a file.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from inspect import cleandoc
from typing import Final

import numpy as np

from gwa.errors import ArgumentError
from gwa.evaluation.whatif.world import World
from gwa.metrics.waiting import Condition
from gwa.util import plugins


class ChangeSubject(Enum):
    """What a change is of."""

    CAPACITY = "capacity"
    POLICY = "policy"
    CEILING = "ceiling"
    REQUESTS = "requests"
    WORKLOAD = "workload"


Changing = Callable[[World, str, np.random.Generator], World]
"""A function that returns a changed world, given what the option says and a generator for what is drawn."""


@dataclass(frozen=True)
class ChangeKind:
    """
    A kind of change, called *id*, such as ``cpus``; its option is ``--`` and the id.

    *values* shows what its option takes, and *help* says what it does. It *touches* the waiting under some
    conditions of `gwa.metrics.waiting.CONDITIONS`: no other does it shorten in a replay.
    """

    id: str
    aspect: ChangeSubject
    values: str
    help: str
    changing: Changing
    touches: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Change:
    """A change of a *kind*, as *text* says: ``cpus`` and ``+20%``."""

    kind: ChangeKind
    text: str

    def __str__(self) -> str:
        """Return the change as it is written on the command line."""
        return f"--{self.kind.id} {self.text}"

    def of(self, world: World, seed: int) -> World:
        """
        Return *world* with the change; draws depend on *seed* alone.

        Raise `ArgumentError` for a text that does not say what the change takes.
        """
        return self.kind.changing(world, self.text, np.random.default_rng(seed))


def change(
    aspect: ChangeSubject, values: str, touches: tuple[Condition, ...] = ()
) -> Callable[[Changing], ChangeKind]:
    """Make a kind of change of a function; its name is the id, the beginning of its docstring the help."""

    def register(function: Changing) -> ChangeKind:
        name = function.__name__.replace("_", "-")
        help_text = cleandoc(function.__doc__ or "").split("\n\n")[0]
        return ChangeKind(name, aspect, values, " ".join(help_text.split()), function, touches)

    return register


@cache
def kinds() -> dict[str, ChangeKind]:
    """Return all kinds of changes by id."""
    found = plugins.instances("gwa.evaluation.whatif.changes", ChangeKind, "gwa.changes")
    return {one.id: one for one in found}


def parsed(text: str) -> Change:
    """
    Return the change that a line such as ``cpus +20%`` says.

    Raise `ArgumentError` if there is no such kind of change.
    """
    name, _, value = text.strip().partition(" ")
    if name not in kinds() or not value.strip():
        expected = ", ".join(f"{one.id} {one.values}" for one in kinds().values())
        raise ArgumentError(f"'{text}' is not a change, expected one such as {expected}")
    return Change(kinds()[name], value.strip())


def changed(world: World, changes: Sequence[Change], seed: int = 0) -> World:
    """Return *world* with all *changes*, one after the other."""
    for one in changes:
        world = one.of(world, seed)
    return world


MAXIMUM: Final = 10**9
"""The largest machine that can be asked for."""


def resized(capacity: int, text: str, option: str) -> int:
    """
    Return a capacity that is stated, such as 512, or relative, such as +20% or -64.

    Raise `ArgumentError` for another text, and for a machine of nothing.

    >>> [resized(100, text, "--cpus") for text in ("+20%", "-64", "512")]
    [120, 36, 512]
    """
    match = re.fullmatch(r"([+-]?)(\d{1,9})|([+-]\d{1,6}(?:\.\d{1,6})?)%", text)
    if not match:
        raise ArgumentError(f"{option}: '{text}' is not a size, expected one such as 512, +64 or -20%")
    if match[3]:
        size = round(capacity * (1 + float(match[3]) / 100))
    else:
        size = int(match[2]) if not match[1] else capacity + int(text)
    if not 1 <= size <= MAXIMUM:
        raise ArgumentError(f"{option}: '{text}' leaves a machine of {size:,}, expected at least 1")
    return size
