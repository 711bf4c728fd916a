"""
JSON Schemas (draft 2020-12) of what gwa prints as JSON: a report, and the facts of a trace.

That of a report is made of the classes of `gwa.report.document`, so that it cannot say anything else.
"""

import re
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from inspect import cleandoc
from typing import Any, Final, ForwardRef, Literal, Union, get_args, get_origin

from gwa.report.as_json import fields_in_json
from gwa.report.document import Report
from gwa.words.unit import Value

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

VALUE: Final = {"$ref": "#/$defs/Value"}

VALUES: Final[Mapping[str, Any]] = {
    "description": "Anything that JSON can say. What is unknown is null; numbers are in SI units.",
    "type": ["string", "number", "boolean", "null", "array", "object"],
    "items": VALUE,
    "additionalProperties": VALUE,
}

SIMPLE: Final[Mapping[Any, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    types.NoneType: "null",
}


def report_schema() -> dict[str, Any]:
    """Return the schema of ``gwa report --json``."""
    definitions: dict[str, Any] = {"Value": VALUES}
    root = _of(Report, definitions)
    return {
        "$schema": DIALECT,
        "title": "A report of gwa",
        **root,
        "$defs": dict(sorted(definitions.items())),
    }


def facts_schema(families: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return the schema of ``gwa facts``; *families* are beginnings of ids, each with what it is about."""
    patterns: dict[str, list[str]] = {}
    for prefix, about in families:
        patterns.setdefault(f"^{re.escape(prefix)}", []).append(about)
    return {
        "$schema": DIALECT,
        "title": "The facts of a trace",
        "description": "The value of each fact by its id. Ids do not change between versions of gwa.",
        "type": "object",
        "patternProperties": {
            pattern: {"description": "; ".join(dict.fromkeys(about)), **VALUE}
            for pattern, about in sorted(patterns.items())
        },
        "additionalProperties": False,
        "$defs": {"Value": VALUES},
    }


def _of(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - any annotation
    """Return the schema of an annotation; those of classes go into *definitions*."""
    if kind == Value or isinstance(kind, ForwardRef):
        return VALUE
    if isinstance(kind, type) and is_dataclass(kind):
        return _class(kind, definitions)
    if isinstance(kind, type) and (simple := next((base for base in kind.__mro__ if base in SIMPLE), None)):
        return {"type": SIMPLE[simple]}
    return _generic(kind, definitions)


def _generic(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - any annotation
    """Return the schema of an annotation that has arguments; raise `TypeError` for what is not known."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in {Union, types.UnionType}:
        return {"anyOf": [_of(one, definitions) for one in arguments]}
    if origin is tuple and arguments[-1] is not Ellipsis:
        items = [_of(one, definitions) for one in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "items": False}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _of(arguments[1], definitions)}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return {"type": "array", "items": _of(arguments[0], definitions)}
    message = f"no schema is known of {kind!r}"
    raise TypeError(message)


def _class(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return a reference to the schema of a class of the document, which is defined when it is met first."""
    if kind.__name__ not in definitions:
        definitions[kind.__name__] = {}  # it may hold others of its own
        named = {"kind": {"const": kind.kind}} if hasattr(kind, "kind") else {}
        properties = named | {one.name: _of(one.type, definitions) for one in fields_in_json(kind)}
        definitions[kind.__name__] = {
            "description": " ".join(cleandoc(kind.__doc__ or "").partition("\n\n")[0].split()),
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
    return {"$ref": f"#/$defs/{kind.__name__}"}
