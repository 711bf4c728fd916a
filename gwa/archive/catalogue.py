"""
The catalogue of an archive: ``archive.toml`` in the folder of a site, read with suspicion.

It names each trace's file or folder inside that folder, or the preset that it is generated from, and
tells what only people know: system, provider, licence, citation, terms, notes. Errors name the file, the
line, the key and the choices.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias

from gwa.errors import DefinitionError
from gwa.util.toml import Check, TomlFile, record, refusal

NAME: Final = "archive.toml"
MAXIMUM_BYTES: Final = 4_000_000
"""A catalogue of more bytes is refused unread."""

MINIMUM_DAYS: Final = 0.001

ID: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
URL: Final = re.compile(r"https?://[^\s<>\"']+/")
DOI: Final = re.compile(r"10\.\d{4,9}/[^\s<>\"']+")

Id = Annotated[str, Check(ID.fullmatch, "up to 64 of a-z, 0-9 and -, such as das2")]
Text = Annotated[str, Check(str.strip, "a text")]
Url = Annotated[str, Check(lambda url: not url or URL.fullmatch(url), "one such as https://host/folder/")]
Doi = Annotated[str, Check(lambda doi: not doi or DOI.fullmatch(doi), "one such as 10.5281/zenodo.1234567")]
FurtherFormat: TypeAlias = Literal["gwf", "swf", "sqlite", "duckdb"]
"""What a trace is published as, on request, besides Parquet."""

Count = Annotated[int, Check(lambda number: number >= 1, "a whole number of at least 1")]
Users = Annotated[int, Check(lambda number: number > 1, "a whole number of at least 2")]
Seed = Annotated[int, Check(lambda number: number >= 0, "a whole number of at least 0")]
Share = Annotated[float, Check(lambda share: 0 <= share < 1, "a share of at least 0 and below 1")]
Load = Annotated[float, Check(lambda load: 0 < load <= 1, "a share above 0, up to 1")]
Days = Annotated[float, Check(lambda days: days >= MINIMUM_DAYS, f"a number of at least {MINIMUM_DAYS}")]


@dataclass(frozen=True)
class CatalogueChange:
    """What changed in a trace, and when."""

    date: date
    text: Text


@dataclass(frozen=True)
class CatalogueEntry:
    """
    One trace of the catalogue.

    *source* is its file or folder; or a *preset* makes it: a number of *jobs* or *days*, from a *seed*, on
    *cpus* processors. With a *policy* its jobs are scheduled, on a machine that they keep busy to a *load*,
    and a share of *failures* is marked as failed (`gwa.archive.scheduled`). *synthetic* traces are labelled
    so everywhere, and their names are those of no person. *names* are those that may be published of a real
    trace, such as those of queues, and lines of its header. With *k*, a real trace is published only where
    at least that many users share each size, hour of submission and program. *formats* are those of its
    downloads besides Parquet; *doi* is the identifier under which a repository keeps it.
    """

    id: Id
    title: Text
    system: Text
    provider: Text
    licence: Text
    citation: Text
    terms: str = ""
    notes: str = ""
    year: Count | None = None
    changes: tuple[CatalogueChange, ...] = ()
    synthetic: bool = False
    names: tuple[Text, ...] = ()
    k: Users | None = None
    formats: tuple[FurtherFormat, ...] = ()
    doi: Doi = ""
    source: Path | None = None
    preset: str | None = None
    jobs: Count | None = None
    days: Days | None = None
    seed: Seed = 1
    cpus: Count | None = None
    policy: str = ""
    load: Load = 0.7
    failures: Share = 0.0


def published_on(entry: CatalogueEntry) -> str:
    """Return the date of the first change, else the year of a trace, empty if the catalogue has neither."""
    if entry.changes:
        return entry.changes[-1].date.isoformat()
    return f"{entry.year:04}" if entry.year else ""


@dataclass(frozen=True)
class Catalogue:
    """
    An archive: *title*, a line *about* it, its *url* where known, traces, and *pairs* to compare.

    *featured* are the ids of traces that the front page shows first; *public* says whether it has pages of
    the traces that ``gwa fetch`` knows.
    """

    folder: Path
    title: str
    about: str
    url: str = ""
    contact: str = ""
    pairs: tuple[tuple[str, str], ...] = ()
    entries: tuple[CatalogueEntry, ...] = ()
    featured: tuple[str, ...] = ()
    public: bool = False

    def entry(self, name: str) -> CatalogueEntry:
        """Return the entry with an id; raise `KeyError` where there is none."""
        return {entry.id: entry for entry in self.entries}[name]


@dataclass(frozen=True)
class _Archive:
    title: Text
    about: str = ""
    url: Url = ""
    contact: str = ""
    compare: tuple[tuple[str, ...], ...] = ()
    featured: tuple[str, ...] = ()
    public: bool = False
    formats: tuple[FurtherFormat, ...] = ()


@dataclass(frozen=True)
class _Tables:
    archive: _Archive
    trace: tuple[CatalogueEntry, ...] = ()


def read_catalogue(folder: Path) -> Catalogue:
    """Return the catalogue in *folder*; raise `DefinitionError` for the first thing that is wrong with it."""
    file = TomlFile.read(folder / NAME, "the catalogue of an archive", MAXIMUM_BYTES)
    with file.located():
        tables = record(_Tables, file.data)
        archive = tables.archive
        entries = tuple(
            _entry(folder, f"trace[{place}]", replace(entry, formats=entry.formats or archive.formats))
            for place, entry in enumerate(tables.trace)
        )
        ids = [entry.id for entry in entries]
        for place, name in enumerate(ids):
            if name in ids[:place]:
                raise DefinitionError(f"trace[{place}].id: '{name}' is that of trace[{ids.index(name)}], too")
        pairs = _pairs(archive.compare, ids)
        for place, name in enumerate(archive.featured):
            if name not in ids:
                raise refusal(f"archive.featured[{place}]", name, f"one of {', '.join(ids)[:400]}")
        return Catalogue(
            folder, archive.title.strip(), archive.about.strip(), archive.url, archive.contact.strip(), pairs,
            entries, archive.featured, archive.public,
        )  # fmt: skip


def _entry(folder: Path, at: str, entry: CatalogueEntry) -> CatalogueEntry:
    """Return the *entry* of the table *at* a path, checked and with its source in *folder*."""
    if (entry.source is None) == (entry.preset is None):
        raise DefinitionError(f"{at}: expected either source or preset")
    if entry.preset is not None:
        _check_preset(at, entry.preset)
        if (entry.jobs is None) == (entry.days is None):
            raise DefinitionError(f"{at}: expected either jobs or days")
    _check_policy(at, entry)
    texts: Any = {name: text.strip() for name, text in vars(entry).items() if isinstance(text, str)}
    return replace(
        entry,
        **texts,
        changes=tuple(sorted(entry.changes, key=lambda change: change.date, reverse=True)),
        synthetic=entry.synthetic or entry.source is None,
        source=entry.source and _inside(folder, f"{at}.source", entry.source),
    )


def _check_preset(at: str, preset: str) -> None:
    from gwa.models.base import presets

    if preset not in presets():
        raise refusal(f"{at}.preset", preset, f"one of {', '.join(presets())}")


def _check_policy(at: str, entry: CatalogueEntry) -> None:
    from gwa.simulation.backfilling import POLICIES

    if entry.policy and entry.preset is None:
        raise DefinitionError(f"{at}.policy: only a trace of a preset is scheduled, expected no policy")
    if entry.policy and entry.policy not in POLICIES:
        raise refusal(f"{at}.policy", entry.policy, f"one of {', '.join(POLICIES)}")
    if entry.failures and not entry.policy:
        raise DefinitionError(f"{at}.failures: only scheduled jobs end somehow, expected a policy as well")


def _inside(folder: Path, at: str, source: Path) -> Path:
    """Return a file or folder below the catalogue's own; nothing in it may lead out."""
    text = str(source)
    if (
        text.startswith(("/", "~", "\\"))
        or ".." in re.split(r"[/\\]", text)
        or re.search(r"[\0:]|^\.$", text)
    ):
        raise refusal(at, text, f"a path inside of {folder}")
    with suppress(OSError):  # a name longer than names can be
        if (folder / source).exists():
            refuse_outside(at, folder, folder / source)
            return folder / source
    raise DefinitionError(f"{at}: there is no {text[:80]} in {folder}")


def refuse_outside(at: str, home: Path, source: Path) -> None:
    """Raise `DefinitionError` where *source*, or what is in it, is not a file or leads out of *home*."""
    for path in (source, *(source.rglob("*") if source.is_dir() else ())):
        if not path.resolve().is_relative_to(home.resolve()):
            raise DefinitionError(f"{at}: {path.relative_to(home)} leads out of {home}")
        if not (path.is_file() or path.is_dir()):
            raise DefinitionError(f"{at}: {path.relative_to(home)} is not a file")


def _pairs(compare: Sequence[Sequence[str]], ids: Sequence[str]) -> tuple[tuple[str, str], ...]:
    pairs = []
    for place, names in enumerate(compare):
        match names:
            case (one, other) if one != other and one in ids and other in ids:
                pairs.append((one, other))
            case _:
                raise refusal(f"archive.compare[{place}]", list(names), f"a pair of {', '.join(ids)[:400]}")
    return tuple(dict.fromkeys(pairs))
