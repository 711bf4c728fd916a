"""What columns of logs of requests to language models are called, and the logs of which more is known."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class RequestRole:
    """What a column can be: the *kind* of its values, the *field* that they become, and its *names*."""

    name: str
    kind: str
    field: str
    names: Mapping[str, int]


@cache
def _data() -> Mapping[str, Any]:
    text = files("gwa.formats.tables").joinpath("request_roles.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def request_roles() -> Mapping[str, RequestRole]:
    """Return all roles by name."""
    return {
        name: RequestRole(
            name, table["kind"], table["field"], {text: place for place, text in enumerate(table["names"])}
        )
        for name, table in _data()["role"].items()
    }


@cache
def known_logs() -> Sequence[Mapping[str, Any]]:
    """Return the published logs of which is known what their columns do not say."""
    return tuple(_data()["known"].values())


@cache
def request_kinds() -> Mapping[str, str]:
    """Return the kind of each role."""
    return {name: role.kind for name, role in request_roles().items()}
