"""Models as files: JSON with parameters, what they mean, and where they come from."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from gwa.errors import ModelError
from gwa.models.base import Model, Preset, parse_model, presets
from gwa.util.atomic import write_whole
from gwa.util.version import __version__

LARGEST: Final = 50_000_000
"""Bytes beyond which a file is no model."""


def document(one: Model, origin: Mapping[str, Any]) -> dict[str, Any]:
    """Return a model as a JSON object; *origin* says what it was fitted to, or published as."""
    return {
        "model": one.name,
        "title": one.title,
        "source": one.source,
        "gwa": __version__,
        "origin": dict(origin),
        "parameters": one.plain(),
        "meanings": one.meanings(),
    }


def write(one: Model, path: Path, origin: Mapping[str, Any]) -> None:
    """Write a model to *path*, whole or not at all."""
    write_whole(path, text(one, origin))


def text(one: Model, origin: Mapping[str, Any]) -> str:
    """Return a model as JSON text."""
    return json.dumps(document(one, origin), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def read(path: Path) -> Model:
    """Return the model in a file; raise `ModelError` for what is none."""
    try:
        if path.stat().st_size > LARGEST:
            raise ModelError(f"{path}: is too large for a model")
        said = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    except (ValueError, RecursionError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{path}: is no JSON, expected what 'gwa model fit' writes") from error
    if not isinstance(said, dict):
        raise ModelError(f"{path}: is no model, expected what 'gwa model fit' writes")
    try:
        return parse_model(said)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error


def found(name: str) -> Preset:
    """Return the preset called *name*, or the model in the file of that name as one."""
    if name in presets():
        return presets()[name]
    if Path(name).exists() or name.endswith(".json"):
        one = read(Path(name))
        return Preset(Path(name).name, one.title, one.source, one)
    raise ModelError(f"there is no preset or file '{name}', expected a file or one of {', '.join(presets())}")
