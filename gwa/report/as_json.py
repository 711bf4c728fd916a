"""
The report as JSON: everything that its pages show, with full precision and in their order.

The same report gives the same bytes. What is not a number (NaN, infinity) becomes null, as JSON
has no word for it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import Field, fields, is_dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from gwa.report.document import Report
from gwa.words.unit import Value

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def as_json(report: Report) -> str:
    """Return the whole *report* as JSON, in the order of the document; blocks say their kind."""
    return _text(plain(report))


def fields_in_json(kind: "DataclassInstance | type[DataclassInstance]") -> "list[Field[Any]]":
    """Return the fields of a class of the document that JSON has."""
    return [one for one in fields(kind) if one.metadata.get("in_json", True)]


def plain(thing: Any) -> Value:  # noqa: ANN401 - that is what it is for
    """
    Return *thing*, a block or a value, as lists, dictionaries and what JSON has words for.

    >>> plain((1, float("nan"), True))
    [1, None, True]
    """
    # The most frequent first: a page has some ten thousand values.
    if thing is None or isinstance(thing, (str, int)):
        return thing
    if isinstance(thing, float):
        return float(thing) if isfinite(thing) else None
    if is_dataclass(thing):
        kind = getattr(thing, "kind", None)
        named = {"kind": kind} if kind else {}
        return named | {one.name: plain(getattr(thing, one.name)) for one in fields_in_json(thing)}
    if isinstance(thing, Mapping):
        return {str(name): plain(value) for name, value in thing.items()}
    if isinstance(thing, Sequence):
        return [plain(value) for value in thing]
    return _number(thing)


def _number(thing: Any) -> Value:  # noqa: ANN401 - any scalar of numpy
    """Return a number of numpy as one of Python."""
    if hasattr(thing, "item"):
        return plain(thing.item())
    message = f"a report cannot hold {thing!r}: JSON has no word for it"
    raise TypeError(message)


def _text(value: Value) -> str:
    """Return *value* as JSON text; where a log's names hold halves of letters, in ASCII only."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1)
    halves = any("\ud800" <= letter <= "\udfff" for letter in text)
    return (json.dumps(value, allow_nan=False, indent=1) if halves else text) + "\n"
