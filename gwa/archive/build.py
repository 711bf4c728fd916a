"""
Build the site of an archive: traces in processes of their own, then the pages, then all at once in its place.

What has not changed is taken over from the site that stands there. A broken trace stops no other.
"""

import os
import shutil
from collections.abc import Callable, Mapping
from concurrent.futures import as_completed
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Concatenate, Final, TypeAlias, TypeVar

from gwa.archive import sql_console as console
from gwa.archive._worker import Said, Task, apart, attempt, make_pair
from gwa.archive.atomic_swap import replacing
from gwa.archive.catalogue import NAME, Catalogue, CatalogueEntry, read_catalogue, refuse_outside
from gwa.archive.citation import bibtex, ris
from gwa.archive.feeds import as_script, catalog, dataset, feed, sitemap
from gwa.archive.leaderboard import read_board
from gwa.archive.link_check import broken_links
from gwa.archive.markdown_pages import PICTURES, written
from gwa.archive.pages import Site, index_of, pages
from gwa.archive.publish import files_of, held, key, publish
from gwa.archive.published import BROKEN, WITHHELD, read_published
from gwa.errors import DefinitionError
from gwa.util.assets import asset
from gwa.util.processes import Pool, Worker
from gwa.util.progress import SILENT, Progress

MARK: Final = "catalog.json"
"""By this file a folder is known as a site, which may be replaced."""

PAIRS: Final = "compare"

Result = TypeVar("Result")
SiteWorker: TypeAlias = Worker[Task, Said]


@dataclass(frozen=True)
class BuildOptions:
    """How a site is built: *jobs* at a time, the engine's *memory*, whether names may be published."""

    jobs: int = 2
    memory: str | None = None
    publish_names: bool = False
    url: str = ""
    progress: Progress = SILENT


@dataclass(frozen=True)
class Outcome:
    """
    What became of a build: traces *made* and *kept*, and what went wrong: *troubles*, a line each.

    *url* is where the site will stand, empty where nobody says.
    """

    made: tuple[str, ...]
    kept: tuple[str, ...]
    troubles: tuple[str, ...]
    url: str = ""


@dataclass(frozen=True)
class _Site:
    """A build on its way: from *catalogue* into *folder*, beside the *old* site."""

    catalogue: Catalogue
    folder: Path
    old: Path | None
    wishes: BuildOptions

    def trace(self, worker: SiteWorker, entry: CatalogueEntry) -> tuple[bool, str, str]:
        """Make or keep a trace; return whether it was kept, what its page says is wrong, and what we say."""
        place, names = self.folder / "traces" / entry.id, self.wishes.publish_names
        wanted = key(self.catalogue, entry, publish_names=names)
        before = self.old / "traces" / entry.id if self.old else None
        if before and held(before, wanted):
            _take_over(before, place)
            return True, "", ""
        place.mkdir()
        task = partial(publish, self.catalogue, entry, place, publish_names=names, memory=self.wishes.memory)
        became, said = apart(worker, task)
        if became == "made":
            return False, "", ""
        shutil.rmtree(place)
        place.mkdir()
        return False, WITHHELD if became == "withheld" else BROKEN, f"{entry.id}: {said}"

    def pair(self, worker: SiteWorker, one: str, other: str) -> str:
        """Make or keep the page that compares two traces; return what went wrong."""
        name = f"{one}--{other}"
        place = self.folder / PAIRS / f"{name}.html"
        mark = place.with_suffix(".key")
        names = self.wishes.publish_names
        keys = [key(self.catalogue, self.catalogue.entry(each), publish_names=names) for each in (one, other)]
        wanted = sha256("".join(keys).encode()).hexdigest()
        before = self.old / PAIRS / mark.name if self.old else None
        if before and before.is_file() and before.read_text(encoding="utf-8") == wanted:
            _link(before, mark)
            _link(before.with_suffix(".html"), place)
            return ""
        task = partial(make_pair, self.catalogue, (one, other), self.folder, self.wishes.memory)
        became, said = apart(worker, task)
        if became != "made":
            return f"{name}: {said}"
        mark.write_text(wanted, encoding="utf-8")
        return ""


def build(site: Path, out: Path, wishes: BuildOptions | None = None) -> Outcome:
    """
    Build the archive in the folder *site* into the folder *out*, whole or not at all.

    Raise `DefinitionError` for a catalogue or a page that is wrong, `OutputError` where *out* cannot be made.
    """
    wishes = wishes or BuildOptions()
    catalogue = read_catalogue(site)
    catalogue = replace(catalogue, url=wishes.url or catalogue.url)
    texts, board = written(site), read_board(site)
    if (site / PICTURES).is_dir():
        refuse_outside(str(site / PICTURES), site, site / PICTURES)
    if out.resolve().is_relative_to(site.resolve()) and (out / NAME).exists():
        raise DefinitionError(f"{out}: is the folder of the catalogue, expected another one for the site")
    with replacing(out, MARK) as (folder, old), Pool(attempt, wishes.jobs) as pool:
        (folder / "traces").mkdir()
        (folder / PAIRS).mkdir()
        one = _Site(catalogue, folder, old, wishes)
        entries = {entry.id: (entry,) for entry in catalogue.entries}
        done = _each(pool, one.trace, entries, wishes.progress, "making traces")
        holdings = [
            read_published(entry, folder / "traces" / entry.id, done[entry.id][1])
            for entry in catalogue.entries
        ]
        good = {held.entry.id for held in holdings if not held.wrong}
        pairs = {"--".join(pair): pair for pair in catalogue.pairs if set(pair) <= good}
        compared = _each(pool, one.pair, pairs, wishes.progress, "comparing")
        compares = [name for name, said in compared.items() if not said]
        _copy(site, folder)
        _write(Site(catalogue, holdings, texts, console.version(site), compares, board), folder)
        troubles = [said for _, _, said in done.values() if said] + [
            said for said in compared.values() if said
        ]
        troubles += list(broken_links(folder, catalogue.url))
    kept = tuple(name for name, (was, _, _) in done.items() if was)
    made = tuple(name for name, (was, wrong, _) in done.items() if not was and not wrong)
    return Outcome(made, kept, tuple(troubles), catalogue.url)


def _each(
    pool: Pool[Task, Said],
    work: Callable[Concatenate[SiteWorker, ...], Result],
    orders: Mapping[str, tuple[object, ...]],
    progress: Progress,
    label: str,
) -> dict[str, Result]:
    """Do *work* for all *orders*, some at a time; return the results by name, in the order of *orders*."""
    results: dict[str, Result] = {}
    with progress.step(label, len(orders)) as bar:
        tasks = {pool.submit(work, *order): name for name, order in orders.items()}
        for task in as_completed(tasks):
            results[tasks[task]] = task.result()
            bar.advance()
    return {name: results[name] for name in orders}


def _write(archive: Site, folder: Path) -> None:
    """Write all that is made of all traces; it is little, and always made anew."""
    names = []
    for path, text in pages(archive):
        (folder / path).write_text(text, encoding="utf-8")
        names.append(path)
    files = {
        MARK: catalog(archive.catalogue, archive.holdings),
        "search-index.js": index_of(archive),
    }
    for one in archive.good:
        about = dataset(archive.catalogue, one)
        place, url = f"traces/{one.entry.id}", archive.catalogue.url
        address = f"{url}{place}/" if url else ""
        files[f"{place}/croissant.json"] = as_script(about) + "\n"
        files[f"{place}/{one.about['name']}.bib"] = bibtex(one.entry, address)
        files[f"{place}/{one.about['name']}.ris"] = ris(one.entry, address)
    if archive.catalogue.url:
        files |= {"feed.xml": feed(archive.catalogue), "sitemap.xml": sitemap(archive.catalogue, names)}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")


def _copy(site: Path, folder: Path) -> None:
    """Copy style, scripts, pictures and DuckDB."""
    shutil.copytree(str(asset("templates", "site", "static")), folder / "static")
    if (site / PICTURES).is_dir():
        shutil.copytree(site / PICTURES, folder / PICTURES)
    console.copy(site, folder)


def _take_over(before: Path, place: Path) -> None:
    """Make *place* hold the files of the folder *before*, without copying them where that is possible."""
    place.mkdir()
    for name in files_of(before):
        _link(before / name, place / name)


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
