"""
Public traces, as ``public_traces.toml`` beside this module lists them: where they are and what they are.

Each claim stands with the address where it was read; what could not be read is left out, which means that it
is unknown. Sums and sizes are those of files that were fetched, or that their owner publishes. A trace
without files is only linked, because a form, a login, a licence or another program stands before them.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from gwa.analysis.credits import credits_of
from gwa.errors import ArgumentError
from gwa.store.store import Store
from gwa.util.toml import Check, TomlFile, record

LIST: Final = Path(__file__).with_name("public_traces.toml")
MAXIMUM_BYTES: Final = 500_000
MAXIMUM_NEAR: Final = 3
UNKNOWN: Final = "unknown"

Key = Annotated[str, Check(re.compile(r"[a-z0-9][a-z0-9-]*").fullmatch, "a-z, 0-9 and -, such as kth-sp2")]
Text = Annotated[str, Check(str.strip, "a text")]
Url = Annotated[str, Check(re.compile(r"https://[^\s<>\"']+").fullmatch, "an address of https")]
Sha256 = Annotated[str, Check(re.compile(r"[0-9a-f]{64}").fullmatch, "64 hexadecimal digits")]
Count = Annotated[int, Check(lambda number: number >= 1, "a whole number of at least 1")]
Month = Annotated[str, Check(re.compile(r"\d{4}(-(0[1-9]|1[0-2]))?").fullmatch, "a month, such as 1996-09")]
Doi = Annotated[
    str, Check(re.compile(r"10\.\d{4,9}/\S+").fullmatch, "a DOI, such as 10.5281/zenodo.11467483")
]
Source = Annotated[str, Check(re.compile(r"https?://\S+|the header of \S+").fullmatch, "an address")]
Share = Annotated[float, Check(lambda share: 0 <= share <= 1, "a share from 0 to 1")]
Strip = Annotated[str, Check(re.compile("[a-t-]{1,60}").fullmatch, "up to 60 of a to t and -")]

Collection = Literal[
    "Parallel Workloads Archive",
    "Grid Workloads Archive",
    "Clouds and companies",
    "Supercomputers",
    "Requests to language models",
    "Workflows",
]
"""Where a trace stands in lists, in their order."""


@dataclass(frozen=True, kw_only=True)
class Publication:
    """
    A publication to cite; *kind* is its type in BibTeX, *venue* the journal or the proceedings.

    *source* is where this was read.
    """

    title: Text
    year: Count
    source: tuple[Source, ...]
    author: str = ""
    kind: str = "article"
    venue: str = ""
    doi: Doi | None = None
    url: str = ""


@dataclass(frozen=True, kw_only=True)
class PublicFile:
    """
    A file of a trace.

    Several, whose addresses differ by a number from 0 in place of ``{part}`` (``{part:05}`` with zeros), are
    one entry with the number of *parts*. A tar archive is unpacked for a conversion; *converted* is false for
    a file that the conversion does not need, or that has to be unpacked by hand. *sha256* and *size* are
    those of a file that was fetched, unless *sum_source* says where its owner publishes them.
    """

    url: Url
    sha256: Sha256 | None = None
    size: Count | None = None
    sum_source: Source | None = None
    name: str = ""
    parts: Count = 1
    converted: bool = True

    def each(self) -> Iterable["PublicFile"]:
        """Yield the files, one for each part."""
        if self.parts == 1:
            yield self
            return
        for part in range(self.parts):
            yield PublicFile(
                url=self.url.format(part=part), name=self.name.format(part=part), converted=self.converted
            )

    @property
    def file_name(self) -> str:
        """The name of the file on disk."""
        return self.name or self.url.partition("?")[0].rpartition("/")[2]


@dataclass(frozen=True, kw_only=True)
class PublicFacts:
    """
    What is known of a trace without fetching it; *source* says where each figure was read or computed.

    *begin* and *end* are months, *processors* those of the whole system, *core_hours* what its jobs held,
    *busy* the mean share of processors that jobs held. *jobs* is what the source says, if the jobs of the
    file were not counted; a trace of requests has *requests* instead. *rounded* names the figures that the
    source itself rounds, *records* what most jobs record, in the words of the front page of an archive,
    *strip* is that of `gwa.archive.strips`. What is not known is left out.
    """

    source: tuple[Text, ...]
    begin: Month | None = None
    end: Month | None = None
    processors: Count | None = None
    jobs: Count | None = None
    requests: Count | None = None
    core_hours: Count | None = None
    busy: Share | None = None
    rounded: tuple[str, ...] = ()
    records: tuple[str, ...] = ()
    strip: Strip | None = None


@dataclass(frozen=True, kw_only=True)
class ReadAt:
    """The addresses where claims on a trace were read that are none of its `PublicFacts`."""

    licence: tuple[Source, ...] = ()
    doi: tuple[Source, ...] = ()
    acknowledge: tuple[Source, ...] = ()
    files: tuple[Source, ...] = ()
    format: tuple[Source, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PublicTrace:
    """
    A public trace.

    *holds* is what a row of it stands for. *year* is that of its begin; *published* stands where that is not
    known. *doi* is that of the data. *licence* is an identifier of SPDX, or what the owner says, in quotation
    marks. *cite* names references; *acknowledge* says whom to thank. *format* and *options* are for the
    conversion; *note* says what else to know, such as what to do by hand. *jobs* were counted in the file.
    """

    key: Key
    title: Text
    collection: Collection
    page: Url
    year: Count | None = None
    published: Count | None = None
    holds: Literal["jobs", "virtual machines", "requests", "workflows"] = "jobs"
    doi: Doi | None = None
    licence: Text = UNKNOWN
    cite: tuple[str, ...] = ()
    acknowledge: str = ""
    jobs: Count | None = None
    format: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    files: tuple[PublicFile, ...] = ()
    facts: PublicFacts | None = None
    read_at: ReadAt = ReadAt()

    def __post_init__(self) -> None:
        """Raise `ValueError` for a claim without the address where it was read."""
        claims = {
            "licence": self.licence != UNKNOWN,
            "doi": self.doi,
            "acknowledge": self.acknowledge,
        }
        for name, is_claimed in claims.items():
            if is_claimed and not getattr(self.read_at, name):
                raise ValueError(f"read_at.{name}: is missing, expected the address where it was read")

    @property
    def known_jobs(self) -> int | None:
        """The number of jobs, as counted in the file or else as a source says, None if neither is known."""
        return self.jobs or (self.facts.jobs if self.facts else None)

    @property
    def terms(self) -> str:
        """The licence in a column: its identifier, or that its owner's own words stand elsewhere."""
        return "own terms" if self.licence.startswith("“") else self.licence

    @property
    def size(self) -> int | None:
        """The bytes of all files, None if some are not known."""
        sizes = [file.size for file in self.files]
        return sum(size or 0 for size in sizes) if sizes and all(sizes) else None

    @property
    def years(self) -> str:
        """The years that the trace is of, such as 1996-1997, or the one in which it was published."""
        first = (self.facts and self.facts.begin) or (self.year and str(self.year))
        last = self.facts and self.facts.end
        if not first:
            return f"published {self.published}" if self.published else UNKNOWN
        return first[:4] if not last or last[:4] == first[:4] else f"{first[:4]}-{last[:4]}"

    @property
    def command(self) -> str:
        """The command that fetches the trace, and converts it if it can; empty if it is only linked."""
        if not self.files:
            return ""
        is_converted = self.format and any(file.converted for file in self.files)
        return f"gwa fetch {self.key} --to traces{' --convert' if is_converted else ''}"

    @property
    def conversion(self) -> str:
        """The command that converts what was got or unpacked by hand; empty where none is needed, or can."""
        if not self.format or self.command.endswith("--convert"):
            return ""
        options = [f'-O {name}="{value}"' for name, value in self.options.items()]
        return " ".join(["gwa convert FILES --format", self.format, *options, f"-o {self.key}.parquet"])

    def has(self, word: str) -> bool:
        """Whether *word* is in what the list tells of the trace."""
        records = self.facts.records if self.facts else ()
        first, _, last = self.years.removeprefix("published ").partition("-")
        years = map(str, range(int(first), int(last or first) + 1)) if first != UNKNOWN else ()
        texts = (
            self.key, self.title, self.collection, self.holds, *years,
            self.doi or "", self.licence, self.format, self.note, *records,
        )  # fmt: skip
        return word.lower() in " ".join(texts).lower()


@dataclass(frozen=True, kw_only=True)
class TraceList:
    """The traces, and what they cite by its name."""

    reference: Mapping[str, Publication]
    trace: tuple[PublicTrace, ...]


@cache
def public_traces() -> Mapping[str, PublicTrace]:
    """Return the traces by their keys."""
    return {trace.key: trace for trace in _list().trace}


@cache
def _list() -> TraceList:
    return read_list(LIST)


def read_list(path: Path) -> TraceList:
    """Return the list in the file *path*; raise `DefinitionError` where it is wrong."""
    file = TomlFile.read(path, "a list of public traces", MAXIMUM_BYTES)
    with file.located():
        return record(TraceList, file.data)


def public_trace(key: str) -> PublicTrace:
    """Return the trace called *key*; raise `ArgumentError` that names the nearest ones if there is none."""
    known = public_traces()
    if key in known:
        return known[key]
    near = get_close_matches(key.lower(), known, MAXIMUM_NEAR) or [
        name for name in known if key.lower() in name
    ]
    hint = f"the nearest are {', '.join(near[:MAXIMUM_NEAR])}; " if near else ""
    raise ArgumentError(f"there is no public trace '{key}'; {hint}gwa fetch --list names all")


def references(trace: PublicTrace) -> Mapping[str, Publication]:
    """Return the publications to cite for *trace*, by name."""
    return {name: _list().reference[name] for name in trace.cite}


def described(trace: PublicTrace) -> dict[str, Any]:
    """Return all fields of *trace* for JSON; what is not known is None."""
    told = asdict(trace)
    return {
        "key": told.pop("key"),
        "trace": told.pop("title"),
        **told,
        "jobs": trace.known_jobs,
        "jobs_counted": trace.jobs is not None,
        "bytes": trace.size,
        "licence": None if trace.licence == UNKNOWN else trace.licence,
        "command": trace.command or None,
        "cite": [{"name": name, **asdict(one)} for name, one in references(trace).items()],
        "facts": asdict(trace.facts or PublicFacts(source=())),
    }


def citation(trace: PublicTrace) -> str:
    """Return what to cite, whom to thank and the licence, as text."""
    lines = [trace.title, ""]
    if trace.acknowledge:
        lines += [f"Acknowledge: {trace.acknowledge}", ""]
    lines += [f"Cite: {text}" for text in citations(trace)]
    lines += [f"Licence: {trace.licence}", *([f"DOI of the data: {trace.doi}"] if trace.doi else [])]
    return "\n".join([*lines, f"From: {trace.page}", ""])


def citations(trace: PublicTrace) -> list[str]:
    """Return each publication to cite for *trace* as a line of text."""
    return [_in_words(reference) for reference in references(trace).values()]


def to_cite(store: Store) -> dict[str, list[str]]:
    """
    Return how the log in *store* is cited, under *citation*, and whom to thank, under *acknowledgement*.

    A file of the list is known by its contents, also where it was converted; of others it is what the header
    says, with *information*. What a model made has its *model*. Empty where nothing is known.
    """
    if store.is_generated:
        header = dict(store.header)
        return {"model": [f"{header.get('Model', UNKNOWN)}; seed {header.get('Seed', UNKNOWN)}"]}
    hashes = {sha256 for (sha256,) in store.rows("select sha256 from sources")}
    told: dict[str, list[str]] = {}
    for trace in public_traces().values():
        if any(file.sha256 in hashes for file in trace.files):
            told["acknowledgement"] = [trace.acknowledge] if trace.acknowledge else []
            told["citation"] = citations(trace)
    if not told:
        for one in credits_of(store.header):
            if one.id in {"acknowledgement", "citation", "information"}:
                told.setdefault(one.id, []).append(one.text)
    return told


def _in_words(reference: Publication) -> str:
    parts = [reference.author, reference.title, reference.venue, str(reference.year)]
    link = f"https://doi.org/{reference.doi}" if reference.doi else reference.url
    return ". ".join(part for part in [*parts, link] if part)


def bibliography(trace: PublicTrace) -> str:
    """
    Return the publications to cite as BibTeX, or the trace itself where the list knows of none.

    TeX in titles and names is that of the list.
    """
    found = references(trace)
    if found:
        return "\n".join(_bibtex(name, reference) for name, reference in found.items())
    year = str(trace.year or "")
    own = {"title": f"{{{trace.title}}}", "year": year, "doi": trace.doi or "", "url": trace.page}
    return _entry("misc", trace.key, own)


def _bibtex(name: str, reference: Publication) -> str:
    venue = {"article": "journal", "inproceedings": "booktitle"}.get(reference.kind, "howpublished")
    fields = {
        "author": reference.author,
        "title": f"{{{reference.title}}}",
        venue: reference.venue,
        "year": str(reference.year),
        "doi": reference.doi or "",
        "url": reference.url,
    }
    return _entry(reference.kind, name, fields)


def _entry(kind: str, name: str, fields: Mapping[str, str]) -> str:
    """Return an entry of BibTeX with those *fields* that are known."""
    lines = [f"  {key} = {{{value}}}" for key, value in fields.items() if value]
    return f"@{kind}{{{name},\n" + ",\n".join(lines) + "\n}\n"
