"""
Paths: where in a record the values of a table stand.

``UserIdentity/VO/Name`` is the text of an element, ``RecordIdentity@recordId`` an attribute, and
``Memory+storageUnit`` a text and an attribute with a blank between them. ``[usageType=user|system]``
asks for an attribute with one of these values, ``[usageType=]`` for an element without it. Names and
values match whatever their case is; prefixes and namespaces do not count.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gwa.errors import DefinitionError

PATH: Final = re.compile(r"(\w+(?:/\w+)*)((?:\[\w+=[^\]]*\])*)(?:([@+])(\w+))?")
CONDITION: Final = re.compile(r"\[(\w+)=([^\]]*)\]")

LAST: Final = 1000
"""The rank of a value that is not there."""

NONE: Final = -1
"""The place of an attribute that is not there."""

Given = tuple[int, int, bool, int]
"""A value: its column, its rank, whether the element's text belongs to it, and the place of its attribute."""


@dataclass(frozen=True)
class Take:
    """
    A value that an element gives to a column, by its *conditions*.

    A lower *rank* is preferred. *sign* is ``@`` for an attribute alone, ``+`` for one behind the text.
    """

    column: int
    rank: int
    conditions: tuple[tuple[str, frozenset[str]], ...]
    sign: str
    attribute: str

    def matches(self, attributes: Mapping[str, str]) -> bool:
        """Whether an element with these *attributes* is meant."""
        return all(attributes.get(name, "").strip().lower() in values for name, values in self.conditions)


@dataclass(slots=True)
class Node:
    """
    An element that paths lead to or through: its *children* by name, and what it gives.

    Most give their text to one *column*, which is -1 for the others. What was found out before is
    in *known*, children by their tags, and *remembered*, values by attributes.
    """

    children: dict[str, "Node"] = field(default_factory=dict)
    takes: list[Take] = field(default_factory=list)
    column: int = -1
    rank: int = 0
    is_conditional: bool = False
    known: dict[str, "Node | None"] = field(default_factory=dict)
    remembered: dict[tuple[object, ...], list[Given]] = field(default_factory=dict)

    def settle(self) -> None:
        """Find out what is simple about this element and those below it."""
        if len(self.takes) == 1 and not self.children:
            (take,) = self.takes
            if not take.conditions and not take.sign:
                self.column, self.rank = take.column, take.rank
        self.is_conditional = any(take.conditions for take in self.takes)
        for child in self.children.values():
            child.settle()

    def given(self, attributes: Mapping[str, str]) -> list[Given]:
        """Return what an element with these *attributes* gives."""
        places = {local(name): place for place, name in enumerate(attributes)}
        values = {local(name): value for name, value in attributes.items()}
        return [
            (take.column, take.rank, take.sign != "@", places.get(take.attribute, NONE))
            for take in self.takes
            if take.matches(values)
        ]


def tree(paths: Mapping[str, str | Sequence[str]], columns: Sequence[str]) -> Node:
    """
    Return the tree of all *paths* to *columns*, several to one in order of preference.

    >>> tree({"user": ["DN", "UserIdentity/LocalUserId"]}, ["user"]).children["dn"].column
    0
    """
    root = Node()
    for name, wanted in paths.items():
        if name not in columns:
            message = f"there is a path to '{name}', which is no column"
            raise DefinitionError(message)
        for rank, path in enumerate([wanted] if isinstance(wanted, str) else wanted):
            _add(root, path, columns.index(name), rank)
    root.settle()
    return root


def _add(root: Node, path: str, column: int, rank: int) -> None:
    match = PATH.fullmatch(path.replace(" ", ""))
    if not match:
        message = f"'{path}' is no path, expected element/element[attribute=value]@attribute"
        raise DefinitionError(message)
    node = root
    for step in match[1].lower().split("/"):
        node = node.children.setdefault(step, Node())
    conditions = [
        (name, frozenset(values.split("|"))) for name, values in CONDITION.findall(match[2].lower())
    ]
    node.takes.append(Take(column, rank, tuple(conditions), match[3] or "", (match[4] or "").lower()))


def local(name: str) -> str:
    """
    Return a name without its namespace, in lower case.

    >>> local("{http://schema.ogf.org/urf/2003/09/urf}recordId")
    'recordid'
    """
    return name.rpartition("}")[2].lower()
