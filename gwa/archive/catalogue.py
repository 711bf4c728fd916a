"""
The catalogue of an archive: ``archive.toml`` in the folder of a site, read with suspicion.

It names each trace's file or folder inside that folder, or the preset that it is generated from, and
tells what only people know: system, provider, licence, citation, terms, notes. Errors name the file, the
key and the choices.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date
from pathlib import Path
from typing import Any, Final

from gwa.errors import DefinitionError

NAME: Final = "archive.toml"
LARGEST: Final = 4_000_000
"""A catalogue of more bytes is refused unread."""

LONGEST: Final = 20_000
"""A text of more characters is no note but a book."""

ID: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
URL: Final = re.compile(r"https?://[^\s<>\"']+/")


@dataclass(frozen=True)
class CatalogueChange:
    """What changed in a trace, and when."""

    date: date
    text: str


@dataclass(frozen=True)
class Generated:
    """How a synthetic trace is made: a *preset*, so many *jobs* or *days*, a *seed*, on *cpus* processors."""

    preset: str
    jobs: int | None = None
    days: float | None = None
    seed: int = 1
    cpus: int | None = None


@dataclass(frozen=True)
class CatalogueEntry:
    """
    One trace of the catalogue.

    *source* is its file or folder, or it is *generated*; *synthetic* traces are labelled so everywhere.
    """

    id: str
    title: str
    system: str
    provider: str
    licence: str
    citation: str
    terms: str = ""
    notes: str = ""
    year: int | None = None
    changes: tuple[CatalogueChange, ...] = ()
    synthetic: bool = False
    source: Path | None = None
    generated: Generated | None = None


@dataclass(frozen=True)
class Catalogue:
    """An archive: *title*, a line *about* it, its *url* where known, traces, and *pairs* to compare."""

    folder: Path
    title: str
    about: str
    url: str = ""
    contact: str = ""
    pairs: tuple[tuple[str, str], ...] = ()
    entries: tuple[CatalogueEntry, ...] = field(default=())

    def entry(self, name: str) -> CatalogueEntry:
        """Return the entry with an id; raise `KeyError` where there is none."""
        return {one.id: one for one in self.entries}[name]


TEXTS: Final = ("title", "system", "provider", "licence", "citation", "terms", "notes")
REQUIRED: Final = TEXTS[:5]
PAIR: Final = ("one", "other")
MADE: Final = tuple(one.name for one in fields(Generated))
KEYS: Final = ("id", *TEXTS, "year", "changes", "synthetic", "source", *MADE)
OF_ARCHIVE: Final = ("title", "about", "url", "contact", "compare")


def read_catalogue(folder: Path) -> Catalogue:
    """Return the catalogue in *folder*; raise `DefinitionError` for the first thing that is wrong with it."""
    path = folder / NAME
    said = _parsed(path)
    _known(path, "", said, ("archive", "trace"))
    archive, traces = said.get("archive"), said.get("trace", [])
    if not isinstance(archive, dict) or not isinstance(traces, list):
        raise DefinitionError(f"{path}: expected a table [archive] and tables [[trace]]")
    _known(path, "archive.", archive, OF_ARCHIVE)
    where = [f"trace {place}" for place, _ in enumerate(traces, 1)]
    entries = tuple(_entry(path, at, one) for at, one in zip(where, traces, strict=True))
    ids = [one.id for one in entries]
    for place, name in enumerate(ids):
        if name in ids[:place]:
            raise DefinitionError(
                f"{path}: trace {place + 1}: id '{name}' is that of trace {ids.index(name) + 1}, too"
            )
    url = _text(path, "archive.url", archive.get("url", ""))
    if url and not URL.fullmatch(url):
        raise DefinitionError(
            f"{path}: archive.url is '{url[:80]}', expected one such as https://host/folder/"
        )
    return Catalogue(
        folder,
        _text(path, "archive.title", archive.get("title"), required=True),
        _text(path, "archive.about", archive.get("about", "")),
        url,
        _text(path, "archive.contact", archive.get("contact", "")),
        _pairs(path, archive.get("compare", []), ids),
        entries,
    )


def _parsed(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > LARGEST:
            raise DefinitionError(f"{path}: has {path.stat().st_size:,} bytes, expected at most {LARGEST:,}")
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DefinitionError(f"{path}: {error.strerror}, expected the catalogue of an archive") from error
    except (ValueError, RecursionError) as error:
        if isinstance(error, DefinitionError):
            raise
        raise DefinitionError(f"{path}: {str(error).splitlines()[0]}") from error


def _known(path: Path, at: str, said: Mapping[str, object], keys: Sequence[str]) -> None:
    unknown = sorted(set(said) - set(keys))
    if unknown:
        raise DefinitionError(f"{path}: {at}{unknown[0][:80]} is unknown, expected one of {', '.join(keys)}")


def _text(path: Path, at: str, value: object, *, required: bool = False) -> str:
    if required and (value is None or value == ""):
        raise DefinitionError(f"{path}: {at} is missing, expected a text")
    if not isinstance(value, str):
        raise DefinitionError(f"{path}: {at} is {str(value)[:80]!r}, expected a text")
    if len(value) > LONGEST:
        raise DefinitionError(f"{path}: {at} has {len(value):,} characters, expected at most {LONGEST:,}")
    return value.strip()


def _entry(path: Path, at: str, said: object) -> CatalogueEntry:
    if not isinstance(said, dict):
        raise DefinitionError(f"{path}: {at} is no table")
    name = said.get("id")
    if not isinstance(name, str) or not ID.fullmatch(name):
        raise DefinitionError(
            f"{path}: {at}: id is {str(name)[:80]!r}, expected up to 64 of a-z, 0-9 and -, such as das2"
        )
    at = f"{name}: "
    _known(path, at, said, KEYS)
    texts = {
        key: _text(
            path, at + key, said.get(key, "" if key not in REQUIRED else None), required=key in REQUIRED
        )
        for key in TEXTS
    }
    if ("source" in said) == ("preset" in said):
        raise DefinitionError(f"{path}: {at}expected either source or preset")
    generated = _generated(path, at, said) if "preset" in said else None
    return CatalogueEntry(
        id=name,
        **texts,
        year=_number(path, at + "year", said.get("year"), whole=True),
        changes=_changes(path, at, said.get("changes", [])),
        synthetic=_flag(path, at + "synthetic", said.get("synthetic", False)) or generated is not None,
        source=None if generated else _inside(path, at + "source", said["source"]),
        generated=generated,
    )


def _flag(path: Path, at: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise DefinitionError(f"{path}: {at} is {str(value)[:80]!r}, expected true or false")
    return value


def _number(path: Path, at: str, value: object, *, whole: bool, least: float = 1) -> Any:  # noqa: ANN401 - as said
    kinds = int if whole else (int, float)
    if value is not None and (isinstance(value, bool) or not isinstance(value, kinds) or not value >= least):
        kind = "a whole number" if whole else "a number"
        raise DefinitionError(f"{path}: {at} is {str(value)[:80]!r}, expected {kind} of at least {least:g}")
    return value


def _generated(path: Path, at: str, said: Mapping[str, object]) -> Generated:
    from gwa.models.base import presets

    if said["preset"] not in list(presets()):
        raise DefinitionError(
            f"{path}: {at}preset is {str(said['preset'])[:80]!r}, expected one of {', '.join(presets())}"
        )
    jobs = _number(path, at + "jobs", said.get("jobs"), whole=True)
    days = _number(path, at + "days", said.get("days"), whole=False, least=0.001)
    if (jobs is None) == (days is None):
        raise DefinitionError(f"{path}: {at}expected either jobs or days")
    seed = _number(path, at + "seed", said.get("seed", 1), whole=True, least=0)
    return Generated(
        str(said["preset"]), jobs, days, seed, _number(path, at + "cpus", said.get("cpus"), whole=True)
    )


def _inside(path: Path, at: str, value: object) -> Path:
    """Return a file or folder below the catalogue's own; nothing in it may lead out."""
    said = _text(path, at, value, required=True)
    if said.startswith(("/", "~", "\\")) or ".." in re.split(r"[/\\]", said) or "\0" in said or ":" in said:
        raise DefinitionError(f"{path}: {at} is '{said[:80]}', expected a path inside of {path.parent}")
    found = path.parent / said
    if not found.exists():
        raise DefinitionError(f"{path}: {at}: there is no {said[:80]} in {path.parent}")
    refuse_outside(f"{path}: {at}", path.parent, found)
    return found


def refuse_outside(at: str, home: Path, found: Path) -> None:
    """Raise `DefinitionError` where *found*, or what is in it, is no file or leads out of *home*."""
    for one in (found, *(found.rglob("*") if found.is_dir() else ())):
        if not one.resolve().is_relative_to(home.resolve()):
            raise DefinitionError(f"{at}: {one.relative_to(home)} leads out of {home}")
        if not (one.is_file() or one.is_dir()):
            raise DefinitionError(f"{at}: {one.relative_to(home)} is no file")


def _changes(path: Path, at: str, said: object) -> tuple[CatalogueChange, ...]:
    found = []
    for one in said if isinstance(said, list) else [said]:
        if not isinstance(one, dict) or set(one) != {"date", "text"} or type(one["date"]) is not date:
            raise DefinitionError(
                f'{path}: {at}changes has {str(one)[:80]}, expected {{ date = 2026-01-31, text = "…" }}'
            )
        found.append(
            CatalogueChange(one["date"], _text(path, f"{at}changes.text", one["text"], required=True))
        )
    return tuple(sorted(found, key=lambda one: one.date, reverse=True))


def _pairs(path: Path, said: object, ids: Sequence[str]) -> tuple[tuple[str, str], ...]:
    found = []
    for one in said if isinstance(said, list) else [said]:
        names = [str(name) for name in one] if isinstance(one, list) else []
        if len(names) != len(PAIR) or names[0] == names[1] or not set(names) <= set(ids):
            raise DefinitionError(
                f"{path}: archive.compare has {str(one)[:80]}, expected pairs of {', '.join(ids)[:400]}"
            )
        found.append((names[0], names[1]))
    return tuple(dict.fromkeys(found))
