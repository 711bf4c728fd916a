"""
Paths from a record to the values of a table.

``UserIdentity/VO/Name`` is the text of an element, ``RecordIdentity@recordId`` an attribute, and
``Memory+storageUnit`` a text and an attribute with a blank between them. ``[usageType=user|system]``
selects elements whose attribute has one of these values, ``[usageType=]`` elements without it. Names and
values match whatever their case; prefixes and namespaces are ignored.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gwa.errors import DefinitionError

PATH: Final = re.compile(r"(\w+(?:/\w+)*)((?:\[\w+=[^\]]*\])*)(?:([@+])(\w+))?")
CONDITION: Final = re.compile(r"\[(\w+)=([^\]]*)\]")

RANK_OF_NONE: Final = 1000
"""The rank of a missing value, after all others."""

NO_ATTRIBUTE: Final = -1
"""The position of a missing attribute."""

Value = tuple[int, int, bool, int]
"""A value: its column, its rank, whether the element's text is part of it, and its attribute's position."""


@dataclass(frozen=True)
class Extraction:
    """
    A value that a column takes from elements that satisfy *conditions*.

    A lower *rank* is preferred. *sign* is ``@`` for an attribute alone, ``+`` for one after the text.
    """

    column: int
    rank: int
    conditions: tuple[tuple[str, frozenset[str]], ...]
    sign: str
    attribute: str

    def matches(self, attributes: Mapping[str, str]) -> bool:
        """Whether an element with these *attributes* satisfies the conditions."""
        return all(attributes.get(name, "").strip().lower() in values for name, values in self.conditions)


@dataclass(slots=True)
class Node:
    """
    An element that paths lead to or through: its *children* by name, and the values taken from it.

    From most elements only the text is taken, for one *column*; that is -1 for the other elements. Earlier
    results are cached in *child_of_tag* and *values_by_attributes*.
    """

    children: dict[str, "Node"] = field(default_factory=dict)
    extractions: list[Extraction] = field(default_factory=list)
    column: int = -1
    rank: int = 0
    is_conditional: bool = False
    child_of_tag: dict[str, "Node | None"] = field(default_factory=dict)
    values_by_attributes: dict[tuple[object, ...], list[Value]] = field(default_factory=dict)

    def finish(self) -> None:
        """Derive the fields for fast access from the extractions, here and in the elements below."""
        if len(self.extractions) == 1 and not self.children:
            (extraction,) = self.extractions
            if not extraction.conditions and not extraction.sign:
                self.column, self.rank = extraction.column, extraction.rank
        self.is_conditional = any(extraction.conditions for extraction in self.extractions)
        for child in self.children.values():
            child.finish()

    def values(self, attributes: Mapping[str, str]) -> list[Value]:
        """Return the values taken from an element with these *attributes*."""
        positions = {local_name(name): position for position, name in enumerate(attributes)}
        value_of_attribute = {local_name(name): value for name, value in attributes.items()}
        return [
            (
                extraction.column,
                extraction.rank,
                extraction.sign != "@",
                positions.get(extraction.attribute, NO_ATTRIBUTE),
            )
            for extraction in self.extractions
            if extraction.matches(value_of_attribute)
        ]


def build_tree(paths: Mapping[str, str | Sequence[str]], columns: Sequence[str]) -> Node:
    """
    Build the tree of all *paths* to *columns*; several paths to a column are in order of preference.

    >>> build_tree({"user": ["DN", "UserIdentity/LocalUserId"]}, ["user"]).children["dn"].column
    0
    """
    root = Node()
    for name, alternatives in paths.items():
        if name not in columns:
            message = f"there is a path to '{name}', which is not a column"
            raise DefinitionError(message)
        for rank, path in enumerate([alternatives] if isinstance(alternatives, str) else alternatives):
            _add(root, path, columns.index(name), rank)
    root.finish()
    return root


def _add(root: Node, path: str, column: int, rank: int) -> None:
    match = PATH.fullmatch(path.replace(" ", ""))
    if not match:
        message = f"'{path}' is not a path, expected element/element[attribute=value]@attribute"
        raise DefinitionError(message)
    node = root
    for step in match[1].lower().split("/"):
        node = node.children.setdefault(step, Node())
    conditions = [
        (name, frozenset(values.split("|"))) for name, values in CONDITION.findall(match[2].lower())
    ]
    node.extractions.append(
        Extraction(column, rank, tuple(conditions), match[3] or "", (match[4] or "").lower())
    )


def local_name(name: str) -> str:
    """
    Return a name without its namespace, in lower case.

    >>> local_name("{http://schema.ogf.org/urf/2003/09/urf}recordId")
    'recordid'
    """
    return name.rpartition("}")[2].lower()
