"""
What is stable: the public Python names, the commands and their options, the fields of a job, the store.

``python -m tests.public_surface`` writes what there is to docs/public-surface.json, for a change that is
meant; tests/test_public_surface.py compares the two.
"""

import inspect
import json
import tempfile
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import click
import duckdb

import gwa
from gwa import cli
from gwa.simulation.policy import ClusterState, StartedJob, WaitingJob
from gwa.store.schema import EXTENSION_NAMES, FIELDS
from tests.conftest import HOME

KEPT = HOME / "docs" / "public-surface.json"
SAMPLE = HOME / "sample_traces" / "swf" / "tiny.swf"
COLUMNS = """
select table_name, column_name from information_schema.columns order by table_name, ordinal_position
"""
INTERNAL = {"store"}
"""Attributes without an underscore that gwa itself uses."""

DEPENDS_ON_THE_TRACE = {"recorded"}
"""The view of a store whose columns are those that its jobs record."""

PLAIN = (str, int, float, bool, tuple, type(None))


def surface() -> dict[str, Any]:
    """Return all that is stable, as JSON holds it."""
    return {
        "python": {name: described(getattr(gwa, name)) for name in gwa.__all__ if name != "__version__"},
        "what a policy sees": {
            kind.__name__: described(kind) for kind in (ClusterState, WaitingJob, StartedJob)
        },
        "commands": dict(commands()),
        "fields of GWF": [field.name for field in FIELDS if field.name not in EXTENSION_NAMES],
        "extension fields": [field.name for field in FIELDS if field.name in EXTENSION_NAMES],
        "tables of a store": tables(),
    }


def described(thing: Any) -> Any:
    """Return the signature of a function; of a class its bases, how it is called and its public members."""
    if not inspect.isclass(thing):
        return signature(thing)
    if issubclass(thing, Exception):
        return "exception: " + ", ".join(base.__name__ for base in thing.__mro__[1:-2])
    called = {"()": signature(thing)} if is_dataclass(thing) or thing is gwa.Progress else {}
    return called | {name: member(thing, name) for name in members(thing)}


def members(thing: type) -> list[str]:
    """Return the names of the public fields, properties and methods of a class that gwa defines."""
    own = [name for base in thing.__mro__ if base.__module__.startswith("gwa.") for name in vars(base)]
    given = [field.name for field in fields(thing)] if is_dataclass(thing) else []
    assigned = vars(thing)["__init__"].__code__.co_names if thing is gwa.Trace else ()
    return sorted({name for name in (*own, *given, *assigned) if not name.startswith("_")} - INTERNAL)


def member(thing: type, name: str) -> str:
    """Return the signature of a method; others are fields or properties."""
    value = inspect.getattr_static(thing, name, None)
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    return signature(value) if inspect.isfunction(value) else "value"


def signature(thing: Any) -> str:
    """Return the names and defaults of what a function takes, without types, which may become wider."""
    parts, keyword_only = [], False
    for parameter in inspect.signature(thing).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            parts.append("*")
        keyword_only = keyword_only or parameter.kind is parameter.VAR_POSITIONAL
        parts.append(_parameter(parameter))
    return f"({', '.join(part for part in parts if part not in {'self', 'cls'})})"


def _parameter(parameter: inspect.Parameter) -> str:
    star = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
    if parameter.default is parameter.empty:
        return star + parameter.name
    default = repr(parameter.default) if isinstance(parameter.default, PLAIN) else "…"
    return f"{parameter.name}={default}"


def commands(group: click.Group = cli.gwa, above: str = "gwa") -> Iterator[tuple[str, list[str]]]:
    """Yield each command of a group with its arguments and options, those of groups within it, too."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, f"{above} {name}")
        yield f"{above} {name}", sorted(map(_words, command.params))


def _words(parameter: click.Parameter) -> str:
    if isinstance(parameter, click.Option):
        return ", ".join((*parameter.opts, *parameter.secondary_opts))
    return parameter.make_metavar(click.Context(cli.gwa))


def tables() -> dict[str, list[str]]:
    """Return the columns of the tables and views of a store in a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tiny.duckdb"
        with gwa.open(SAMPLE) as trace:
            trace.save(path)
        with duckdb.connect(str(path), read_only=True) as connection:
            rows = connection.execute(COLUMNS).fetchall()
    return {
        table: [column for name, column in rows if name == table]
        for table in dict(rows)
        if table not in DEPENDS_ON_THE_TRACE
    }


if __name__ == "__main__":
    KEPT.write_text(json.dumps(surface(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
