"""
Build the site of an archive: traces in processes of their own, then the pages, then all at once in its place.

What has not changed is taken over from the site that stands there. A broken trace stops no other.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Concatenate, Final, TypeAlias, TypeVar

from gwa.archive import sql_console as console
from gwa.archive._worker import Said, Task, apart, attempt, make_pair
from gwa.archive.catalogue import NAME, Catalogue, CatalogueEntry, read_catalogue, refuse_outside
from gwa.archive.citation import bibtex, ris
from gwa.archive.deposit import deposits
from gwa.archive.explore import write_cells
from gwa.archive.fair import check, in_a_line
from gwa.archive.feeds import as_script, catalog, dataset, feed, sitemap
from gwa.archive.leaderboard import read_board
from gwa.archive.link_check import PageLinks, broken_links
from gwa.archive.markdown_pages import PICTURES, written
from gwa.archive.pages import PUBLIC, Site, pages
from gwa.archive.public_traces import bibliography
from gwa.archive.publish import REPORT, files_of, is_complete, key, publish
from gwa.archive.published import BROKEN, WITHHELD, PublishedTrace, read_published
from gwa.archive.search_index import search_index
from gwa.archive.site_state import CATALOG, BuildOptions, BuildOutcome, SiteState, read_object
from gwa.errors import DefinitionError, OutputError
from gwa.util.assets import asset
from gwa.util.atomic import make_folder, unwritable
from gwa.util.atomic_swap import replacing
from gwa.util.owned import OwnedFolder, owner
from gwa.util.processes import Pool, Worker
from gwa.util.progress import Progress

PAIRS: Final = "compare"

Result = TypeVar("Result")
SiteWorker: TypeAlias = Worker[Task, Said]


@dataclass(frozen=True)
class _Site:
    """
    A build on its way: from *catalogue* into *folder*, beside the *old* site.

    Each trace is made in the folder *begun*, where a build that was interrupted left those that it had made.
    """

    catalogue: Catalogue
    folder: Path
    old: Path | None
    begun: Path
    options: BuildOptions

    def trace(self, worker: SiteWorker, entry: CatalogueEntry) -> tuple[bool, str, str]:
        """Make or keep a trace; return whether it was kept, the failure on its page, and an error message."""
        target, names = self.folder / "traces" / entry.id, self.options.publish_names
        wanted = key(self.catalogue, entry, publish_names=names)
        previous, begun = self.old / "traces" / entry.id if self.old else None, self.begun / entry.id
        for folder in filter(None, (previous, begun)):
            if is_complete(folder, wanted):
                _take_over(folder, target)
                return folder == previous, "", ""
        shutil.rmtree(begun, ignore_errors=True)
        begun.mkdir()
        task = partial(
            publish, self.catalogue, entry, begun, previous, publish_names=names, memory=self.options.memory
        )
        outcome, message = apart(worker, task)
        if outcome == "made":
            _take_over(begun, target)
            return False, "", ""
        shutil.rmtree(begun)
        target.mkdir()
        return False, WITHHELD if outcome == "withheld" else BROKEN, f"{entry.id}: {message}"

    def pair(self, worker: SiteWorker, first: str, second: str) -> str:
        """Make or keep the page that compares two traces; return an error message, if any."""
        name = f"{first}--{second}"
        page = self.folder / PAIRS / f"{name}.html"
        mark = page.with_suffix(".key")
        names = self.options.publish_names
        entries = [self.catalogue.entry(trace) for trace in (first, second)]
        keys = [key(self.catalogue, entry, publish_names=names) for entry in entries]
        wanted = sha256("".join(keys).encode()).hexdigest()
        previous = self.old / PAIRS / mark.name if self.old else None
        if previous and previous.is_file() and read_object(previous).get("key") == wanted:
            _link(previous, mark)
            _link(previous.with_suffix(".html"), page)
            return ""
        outcome, message = apart(
            worker, partial(make_pair, self.catalogue, (first, second), self.folder, self.options.memory)
        )
        if outcome != "made":
            return f"{name}: {message}"
        links = PageLinks.of(page.read_text(encoding="utf-8"))
        mark.write_text(json.dumps({"key": wanted, "page": vars(links)}), encoding="utf-8")
        return ""


def make_site(site: Path, out: Path, options: BuildOptions, state: SiteState) -> BuildOutcome:
    """
    Build the archive in the folder *site*, which is in a *state*, into the folder *out*.

    Raise `DefinitionError` for a catalogue or a page that is wrong, `OutputError` where *out* cannot be made.
    """
    catalogue = read_catalogue(site)
    catalogue = replace(catalogue, url=options.url or catalogue.url)
    texts, board = written(site), read_board(site)
    if (site / PICTURES).is_dir():
        refuse_outside(str(site / PICTURES), site, site / PICTURES)
    if out.resolve().is_relative_to(site.resolve()) and (out / NAME).exists():
        raise DefinitionError(f"{out}: is the folder of the catalogue, expected another one for the site")
    with (
        _begun(out) as begun,  # it goes last: what is in it is needed until the site is in its place
        replacing(out, is_site) as (folder, old),
        Pool(attempt, options.jobs) as pool,
    ):
        (folder / "traces").mkdir()
        (folder / PAIRS).mkdir()
        site_build = _Site(catalogue, folder, old, begun, options)
        entries = {entry.id: (entry,) for entry in catalogue.entries}
        results = _each(pool, site_build.trace, entries, options.progress, "making traces")
        traces = [
            read_published(entry, folder / "traces" / entry.id, results[entry.id][1])
            for entry in catalogue.entries
        ]
        available = {trace.entry.id for trace in traces if not trace.failure}
        pairs = {"--".join(pair): pair for pair in catalogue.pairs if set(pair) <= available}
        compared = _each(pool, site_build.pair, pairs, options.progress, "comparing")
        compared_pairs = [name for name, message in compared.items() if not message]
        _copy(site, folder)
        cells = write_cells(traces, folder, old)
        engine = console.engine_version(site)
        _write(Site(catalogue, traces, texts, engine, compared_pairs, board, cells), folder)
        messages = (*(message for _, _, message in results.values()), *compared.values())
        known = _known_links(folder, traces, compared_pairs)
        problems = (*filter(None, messages), *broken_links(folder, catalogue.url, known))
        unchanged = tuple(name for name, (was_kept, _, _) in results.items() if was_kept)
        built = tuple(name for name, (was_kept, failed, _) in results.items() if not was_kept and not failed)
        fair = in_a_line(check(folder))
        outcome = BuildOutcome(built, unchanged, problems, catalogue.url, fair, engine)
        state.note(folder, outcome)
    return outcome


@contextmanager
def _begun(out: Path) -> Iterator[Path]:
    """
    Yield the folder beside *out* in which its traces are made; it goes when all went well.

    A build that was interrupted leaves it, so that the next one goes on from there.
    """
    out = out.parent.resolve() / out.name if not out.is_symlink() else out.resolve()
    place = out.with_name(f".{out.name}.build")
    make_folder(place.parent)
    try:
        folder = OwnedFolder.claim(place)
    except OSError as error:
        raise unwritable(place, error) from error
    if not folder:
        raise OutputError(f"{out}: is being built by {owner(place)}")
    try:
        yield folder.path
    except BaseException:
        if not any(path.is_dir() for path in folder.path.iterdir()):
            folder.discard()
        raise
    else:
        folder.discard()
    finally:
        folder.release()


def is_site(folder: Path) -> bool:
    """Whether *folder* is a site that gwa made, which may be replaced."""
    try:
        generator = json.loads((folder / CATALOG).read_text(encoding="utf-8"))["generator"]
    except (OSError, ValueError, LookupError, TypeError):
        return False
    return str(generator).startswith("gwa ")


def _known_links(
    folder: Path, traces: Sequence[PublishedTrace], pairs: Sequence[str]
) -> dict[Path, PageLinks]:
    """Return the links of reports and comparisons, which were read when each was made."""
    known = {
        folder / "traces" / trace.entry.id / REPORT: PageLinks(**trace.about["report"])
        for trace in traces
        if not trace.failure
    }
    for name in pairs:
        page = folder / PAIRS / f"{name}.html"
        known[page] = PageLinks(**read_object(page.with_suffix(".key"))["page"])
    return known


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


def _write(site: Site, folder: Path) -> None:
    """Write what depends on all traces; it is small, and always built again."""
    names = []
    for path, text in pages(site):
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
        names.append(path)
    files = {CATALOG: catalog(site.catalogue, site.traces), "search-index.js": search_index(site)}
    for trace in site.available:
        record = dataset(site.catalogue, trace)
        trace_folder, url = f"traces/{trace.entry.id}", site.catalogue.url
        address = f"{url}{trace_folder}/" if url else ""
        files[f"{trace_folder}/croissant.json"] = as_script(record) + "\n"
        for name, text in deposits(trace, site.catalogue.title, address).items():
            files[f"{trace_folder}/{name}"] = text
        files[f"{trace_folder}/{trace.about['name']}.bib"] = bibtex(trace.entry, address)
        files[f"{trace_folder}/{trace.about['name']}.ris"] = ris(trace.entry, address)
    for public in site.public:
        files[f"{PUBLIC}/{public.key}.bib"] = bibliography(public)
    if site.catalogue.url:
        files |= {"feed.xml": feed(site.catalogue), "sitemap.xml": sitemap(site.catalogue, names)}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")


def _copy(site: Path, folder: Path) -> None:
    """Copy style, scripts, pictures and DuckDB."""
    shutil.copytree(str(asset("templates", "site", "static")), folder / "static")
    if (site / PICTURES).is_dir():
        shutil.copytree(site / PICTURES, folder / PICTURES)
    console.copy_engine(site, folder)


def _take_over(before: Path, place: Path) -> None:
    """Make *place* hold the files of the folder *before*, without copying them where that is possible."""
    place.mkdir()
    for name in files_of(before):
        (place / name).parent.mkdir(exist_ok=True)
        _link(before / name, place / name)


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
