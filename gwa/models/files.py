"""Models as files: JSON with parameters, what they mean, and where they come from."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from gwa.errors import ArgumentError, DefinitionError, ModelError
from gwa.models.base import Model, Preset, parse_model, presets
from gwa.models.work import Submitted
from gwa.util.atomic import write_whole
from gwa.util.toml import read_text
from gwa.util.version import __version__

MAXIMUM_BYTES: Final = 50_000_000
"""A larger file is not a model."""

WARNINGS: Final = "warnings"
"""What a model does not keep of the log that it was fitted to, in its origin."""

LOG: Final = "log"
"""The amounts of the jobs that a model was fitted to, in its origin."""

NUMBERS: Final = re.compile(r"\[\n[-+.\w\s,]*\]")
"""A list of numbers as it is indented; a text has no line break."""

WRITTEN: Final = "what 'gwa model fit' writes"


def document(model: Model, origin: Mapping[str, Any]) -> dict[str, Any]:
    """Return a model as a JSON object; *origin* says what it was fitted to, or published as."""
    return {
        "model": model.name,
        "title": model.title,
        "source": model.source,
        "gwa": __version__,
        **({"holds": model.holds} if model.holds else {}),
        "origin": dict(origin),
        "parameters": model.plain(),
        "meanings": model.meanings(),
    }


def write(model: Model, path: Path, origin: Mapping[str, Any]) -> None:
    """Write a model to *path*, whole or not at all."""
    write_whole(path, text(model, origin))


def text(model: Model, origin: Mapping[str, Any]) -> str:
    """Return a model as JSON text."""
    return indented(document(model, origin)) + "\n"


def indented(values: Mapping[str, Any]) -> str:
    """
    Return *values* as indented JSON, each list of numbers in one line.

    >>> print(indented({"a": {"b": [1, 2], "c": 3.5}}))
    {
     "a": {
      "b": [ 1, 2 ],
      "c": 3.5
     }
    }
    """
    lines = json.dumps(values, indent=1, ensure_ascii=False, allow_nan=False)
    return NUMBERS.sub(lambda found: " ".join(found[0].split()), lines)


def read(path: Path) -> Model:
    """Return the model in a file; raise `ModelError` for what is none."""
    return read_preset(path).model


def read_document(path: Path) -> dict[str, Any]:
    """Return what a file of a model says; raise `ModelError` for what is none."""
    try:
        content = json.loads(read_text(path, WRITTEN, MAXIMUM_BYTES))
    except DefinitionError as error:
        raise ModelError(str(error)) from error
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path}: is not JSON, expected {WRITTEN}") from error
    if not isinstance(content, dict):
        raise ModelError(f"{path}: is not a model, expected {WRITTEN}")
    return content


def read_preset(path: Path) -> Preset:
    """Return the model in a file with the warnings of its fit; raise `ModelError` for what is none."""
    content = read_document(path)
    try:
        model = parse_model(content)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error
    origin = content.get("origin")
    origin = origin if isinstance(origin, dict) else {}
    warnings = origin.get(WARNINGS, [])
    warnings = tuple(map(str, warnings)) if isinstance(warnings, list) else ()
    return Preset(path.name, model.title, model.source, model, warnings, _amounts(origin.get(LOG)))


def _amounts(log: object) -> Submitted | None:
    """Return the amounts of a log as `gwa model fit` writes them, None for anything else."""
    names = [field.name for field in fields(Submitted)]
    if not isinstance(log, dict) or set(log) != set(names):
        return None
    values = [log[name] for name in names]
    known = all(isinstance(value, int | float) and math.isfinite(value) and value > 0 for value in values)
    return Submitted(*values) if known else None


def load_model(name: str) -> Preset:
    """Return the model in the file called *name* as a preset, or else the preset of that name."""
    # To know the presets, all of them are parsed: what can only be a file is opened before.
    is_path = name.endswith(".json") or (Path(name).name != name and Path(name).exists())
    if not is_path and name in presets():
        return presets()[name]
    if is_path or Path(name).exists():
        return read_preset(Path(name))
    raise ArgumentError(
        f"there is no preset or file '{name}', expected a file or one of {', '.join(presets())}"
    )
