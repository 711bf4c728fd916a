"""
Deposit a published trace at Zenodo, by its documented API, so that it gets a DOI.

The depositions of an archive are noted in the file `LEDGER` of its catalogue's folder before anything is sent
to them, so that a deposit that was interrupted goes on: files that have arrived are known by their MD5, which
is what the server computes, and one deposition is made for a trace, of which each edition is a version. The
token travels in a header, to the server that was named and to no other. Source:
https://developers.zenodo.org/ (depositions, deposition files, deposition actions).
"""

import hashlib
import json
import operator
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from html import escape
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, quote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from gwa.archive.catalogue import Catalogue, published_on
from gwa.archive.deposit import licence_address
from gwa.archive.feeds import description
from gwa.archive.published import PublishedTrace
from gwa.errors import ArgumentError, DepositError
from gwa.util.atomic import write_whole
from gwa.util.exclusive import exclusive
from gwa.util.version import __version__

SERVER: Final = "https://zenodo.org/"
SANDBOX: Final = "https://sandbox.zenodo.org/"
"""Where deposits are tried: its DOIs are of no use, and it may be emptied at any time."""

LEDGER: Final = "deposits.json"
DESCRIPTIONS: Final = (
    "report.html", "trace.json", "croissant.json", "ro-crate-metadata.json", "datacite.json",
)  # fmt: skip
TIMEOUT: Final = 120
"""Seconds without a byte after which a connection counts as dead."""

LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
PAGE: Final = 100
"""Depositions that one answer lists."""

AGAIN: Final = "the same command continues it"
CHARACTERS: Final = 300
"""Of what a server says no more is repeated."""


@dataclass(frozen=True)
class Deposited:
    """
    A deposition: its *doi*, which is only reserved until it *is_published*, and its *page* at the server.

    *sent* are the files that were sent this time, *kept* those that were there already.
    """

    doi: str
    page: str
    is_published: bool
    sent: Sequence[str] = ()
    kept: Sequence[str] = ()


@dataclass(frozen=True)
class Repository:
    """The API at the *server*, asked with a *token*."""

    server: str
    token: str

    def __post_init__(self) -> None:
        parts = _parts(self.server)
        if parts.scheme != "https" and (parts.scheme != "http" or parts.hostname not in LOOPBACK):
            raise ArgumentError(f"{self.server}: expected an address of https, since the token is secret")

    def get(self, address: str) -> Any:  # noqa: ANN401 - JSON
        """Return what stands at an *address*."""
        return self._ask("GET", address)

    def post(self, address: str, content: object = None) -> Any:  # noqa: ANN401 - JSON
        """Return the answer to *content*, or to an action without any."""
        return self._ask("POST", address, None if content is None else json.dumps(content).encode())

    def put(self, address: str, content: object) -> Any:  # noqa: ANN401 - JSON
        """Replace what stands at an *address*; return it."""
        return self._ask("PUT", address, json.dumps(content).encode())

    def send(self, address: str, path: Path) -> Any:  # noqa: ANN401 - JSON
        """Send the file *path*; return what the server says of it."""
        with path.open("rb") as file:
            return self._ask("PUT", address, file, "application/octet-stream", path.stat().st_size)

    def delete(self, address: str) -> None:
        """Remove what stands at an *address*."""
        self._ask("DELETE", address)

    def masked(self, text: str) -> str:
        """Return a *text* that a server had a part in, without the token."""
        return text.replace(self.token, "…")

    def depositions(self, number: int | None = None) -> str:
        """Return the address of all depositions, or of the one with a *number*."""
        home = f"{self.server.rstrip('/')}/api/deposit/depositions"
        return home if number is None else f"{home}/{number}"

    def _ask(
        self,
        method: str,
        address: str,
        data: "bytes | IO[bytes] | None" = None,
        kind: str = "application/json",
        size: int | None = None,
    ) -> Any:  # noqa: ANN401 - JSON
        if _parts(address)[:2] != _parts(self.server)[:2]:
            raise DepositError(f"{self.server}: leads to {address[:CHARACTERS]}, which gets no token")
        headers = {"Authorization": f"Bearer {self.token}", "User-Agent": f"gwa/{__version__}"}
        headers |= {"Accept": "application/json"} | ({"Content-Type": kind} if data is not None else {})
        headers |= {} if size is None else {"Content-Length": str(size)}
        request = Request(address, data=data, headers=headers, method=method)  # noqa: S310 - checked
        try:
            with build_opener(_NoRedirects()).open(request, timeout=TIMEOUT) as response:
                text = response.read()
        except HTTPError as error:
            with error:
                raise DepositError(self._refusal(error, address)) from None
        except (URLError, HTTPException, OSError) as error:
            reason = " ".join(str(getattr(error, "reason", None) or error).split()) or type(error).__name__
            raise DepositError(f"{self.server}: the connection broke; {AGAIN} ({reason})") from None
        try:
            return json.loads(text) if text.strip() else None
        except ValueError:
            raise DepositError(f"{self.server}: its answer is no JSON, expected the API of Zenodo") from None

    def _refusal(self, error: HTTPError, address: str) -> str:
        """Return in a line why the server refuses; the token is no part of it."""
        said, code = "", error.code
        with suppress(ValueError, AttributeError, TypeError, HTTPException, OSError):
            answer = json.loads(error.read())
            errors = [
                f"{one.get('field', '')}: {one.get('message', '')}" for one in answer.get("errors") or ()
            ]
            said = " ".join("; ".join([str(answer.get("message", "")), *errors]).split())
        said = self.masked(said)[:CHARACTERS]
        hints = {
            401: "the token is not valid there: expected one of this server",
            403: "the token lacks a scope: expected deposit:write and deposit:actions",
            404: f"there is nothing at {urlsplit(address).path}",
            429: f"too many requests: wait a minute; {AGAIN}",
        }
        hint = hints.get(code) or (f"try later; {AGAIN}" if code >= 500 else "it is refused")  # noqa: PLR2004 - of HTTP
        return f"{self.server}: says {code}: {hint}" + (f" ({said})" if said else "")


class _NoRedirects(HTTPRedirectHandler):
    """Follows no redirection: the token would go along."""

    def redirect_request(self, *_: object) -> None:
        """Return nothing, so that a redirection is an error."""


@dataclass(frozen=True)
class Sending:
    """What a deposit sends: its *metadata*, and the *files* with their sizes in bytes."""

    metadata: dict[str, Any]
    files: Mapping[str, int]


def sending(catalogue: Catalogue, trace: PublishedTrace, folder: Path) -> Sending:
    """
    Return what `deposit` would send of the *trace* that is published in *folder*; no connection is opened.

    Raise `ArgumentError` if the licence has no identifier.
    """
    sizes = {path.name: path.stat().st_size for path in _files(trace, folder)}
    return Sending(_metadata(catalogue, trace), sizes)


def deposit(
    catalogue: Catalogue, trace: PublishedTrace, folder: Path, repository: Repository, *, publish: bool
) -> Deposited:
    """
    Deposit the *trace* that is published in *folder*, as a draft, or for good if *publish* is set.

    The folder of the *catalogue* holds the `LEDGER`. A version that is published already is left as it is,
    and publishing cannot be undone. Raise `ArgumentError` if the licence has no identifier, which open data
    need, `DepositError` if the server refuses, or a connection breaks, and `OutputError` while another
    deposit of the catalogue is on its way.
    """
    try:
        with exclusive(catalogue.folder / LEDGER):
            done = _deposit(catalogue, trace, folder, repository, publish=publish)
    except DepositError as error:
        # A server that says what it was asked may have put the token anywhere.
        raise DepositError(repository.masked(str(error))) from None
    return replace(done, doi=repository.masked(done.doi), page=repository.masked(done.page))


def _deposit(
    catalogue: Catalogue, trace: PublishedTrace, folder: Path, repository: Repository, *, publish: bool
) -> Deposited:
    metadata = _metadata(catalogue, trace)
    paths = {path.name: path for path in _files(trace, folder)}
    ledger = _Ledger(catalogue.folder / LEDGER, repository.server, trace.entry.id)
    deposition = _known(ledger, repository, str(metadata["notes"]))
    if deposition is None:
        deposition = _deposition(repository.post(repository.depositions(), {"metadata": metadata}))
        ledger.note(deposition["id"])
    if deposition["submitted"]:
        if deposition["metadata"].get("version") == trace.version:
            return _deposited(deposition, kept=sorted(paths))
        made = _deposition(repository.post(f"{repository.depositions(deposition['id'])}/actions/newversion"))
        deposition = _deposition(repository.get(_link(made, "latest_draft")))
        ledger.note(deposition["id"])
    sent = _send(repository, deposition, paths)
    address = repository.depositions(deposition["id"])
    deposition = _deposition(repository.put(address, {"metadata": metadata}))
    if publish:
        repository.post(f"{address}/actions/publish")
        deposition = _deposition(repository.get(address))
    return _deposited(deposition, sent, sorted(set(paths) - set(sent)))


class _Ledger:
    """The depositions of an archive, by server and trace, in the file *path*."""

    def __init__(self, path: Path, server: str, trace: str) -> None:
        self._path, self._server, self._trace = path, server, trace
        try:
            self._numbers = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
            number = self._numbers.get(server, {}).get(trace)
            self.number: int | None = None if number is None else operator.index(number)
        except (ValueError, AttributeError, TypeError) as error:
            raise ArgumentError(f"{path}: is damaged, expected what gwa site deposit wrote there") from error

    def note(self, number: int) -> None:
        """Note that the trace is deposited under a *number*."""
        self._numbers.setdefault(self._server, {})[self._trace] = self.number = number
        write_whole(self._path, json.dumps(self._numbers, indent=1, sort_keys=True) + "\n")


def _known(ledger: _Ledger, repository: Repository, notes: str) -> dict[str, Any] | None:
    """Return the deposition of a trace, also one that was made just before an interruption; None if none."""
    if ledger.number is not None:
        return _deposition(repository.get(repository.depositions(ledger.number)))
    for draft in _drafts(repository):
        if draft["metadata"].get("notes") == notes:
            ledger.note(draft["id"])
            return draft
    return None


def _drafts(repository: Repository) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    page = 1
    while True:
        address = f"{repository.depositions()}?status=draft&size={PAGE}&page={page}"
        drafts = _list(repository.get(address), "depositions")
        found += map(_deposition, drafts)
        if len(drafts) < PAGE:
            return found
        page += 1


def _parts(address: str) -> SplitResult:
    """Return the parts of an *address*; none of one that is malformed."""
    try:
        return urlsplit(address)
    except ValueError:
        return SplitResult("", "", "", "", "")


def _deposition(answer: object) -> dict[str, Any]:
    """Return an *answer* that is a deposition; raise `DepositError` for any other."""
    expected = {"id": int, "submitted": bool, "metadata": dict, "links": dict}
    if isinstance(answer, dict) and all(isinstance(answer.get(key), kind) for key, kind in expected.items()):
        return answer
    raise DepositError("the server answers with no deposition, expected the API of Zenodo")


def _link(deposition: Mapping[str, Any], name: str) -> str:
    """Return the link called *name* of a *deposition*; raise `DepositError` if it has none."""
    link = deposition["links"].get(name)
    if not isinstance(link, str):
        raise DepositError(f"the server states no {name} of a deposition, expected the API of Zenodo")
    return link


def _list(answer: object, of: str) -> list[Any]:
    """Return an *answer* that is a list *of* something; raise `DepositError` for any other."""
    if isinstance(answer, list):
        return answer
    raise DepositError(f"the server answers with no list of {of}, expected the API of Zenodo")


def _metadata(catalogue: Catalogue, trace: PublishedTrace) -> dict[str, Any]:
    """Return what Zenodo asks of a deposition; without a date of publication it takes the day's."""
    entry = trace.entry
    if not licence_address(entry.licence):
        raise ArgumentError(
            f"{entry.id}: its licence is {entry.licence[:60]!r}, expected an identifier of SPDX, such as"
            " CC-BY-4.0, which Zenodo asks of open data"
        )
    date = entry.changes[0].date.isoformat() if entry.changes else published_on(entry)
    page = f"{catalogue.url}traces/{entry.id}/index.html"
    related = [{"relation": "isAlternateIdentifier", "identifier": page}]
    texts = [description(entry), entry.notes, entry.terms, *trace.news]
    return {
        "upload_type": "dataset",
        "title": trace.about["title"],
        "creators": [{"name": entry.provider}],
        "description": "".join(f"<p>{escape(text)}</p>" for text in texts if text),
        "access_right": "open",
        "license": entry.licence.lower(),
        "version": trace.version,
        "keywords": ["workload trace", "job scheduling", *(["synthetic"] if entry.synthetic else [])],
        "references": [" ".join(entry.citation.split())],
        "notes": escape(f"Deposited by gwa: {entry.id} of {catalogue.title}"),
        **({"publication_date": date} if len(date) > len("2026") else {}),
        **({"related_identifiers": related} if catalogue.url else {}),
    }


def _files(trace: PublishedTrace, folder: Path) -> list[Path]:
    """Return the files of a trace that are deposited: its downloads, its report, and what describes them."""
    names = [file["file"] for file in trace.about["downloads"]]
    return [folder / name for name in (*names, *DESCRIPTIONS, f"{trace.about['name']}.bib")]


def _send(repository: Repository, draft: Mapping[str, Any], paths: Mapping[str, Path]) -> list[str]:
    """Let the files of a *draft* be those of *paths*; return the names of those that had to be sent."""
    address = f"{repository.depositions(draft['id'])}/files"
    files = _list(repository.get(address), "files")
    there = {str(file.get("filename")): file for file in files if isinstance(file, dict) and "id" in file}
    for name in sorted(there.keys() - paths.keys()):
        repository.delete(f"{address}/{quote(str(there[name]['id']), safe='')}")
    sent = []
    for name, path in paths.items():
        wanted = _md5_of(path)
        if name in there and _md5(there[name]) == wanted:
            continue
        got = _md5(repository.send(f"{_link(draft, 'bucket')}/{quote(name)}", path))
        if got != wanted:
            raise DepositError(f"{name}: arrived with the MD5 {got}, expected {wanted}; {AGAIN}")
        sent.append(name)
    return sent


def _md5(file: object) -> str:
    """Return the MD5 that the server states of a file; newer answers name the algorithm before it."""
    stated = file.get("checksum", "") if isinstance(file, dict) else ""
    return str(stated)[:CHARACTERS].removeprefix("md5:")


def _md5_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _deposited(
    deposition: Mapping[str, Any], sent: Sequence[str] = (), kept: Sequence[str] = ()
) -> Deposited:
    reserved = deposition["metadata"].get("prereserve_doi") or {}
    links = deposition["links"]
    return Deposited(
        str(deposition.get("doi") or (reserved.get("doi", "") if isinstance(reserved, dict) else "")),
        str(links.get("record_html") or links.get("html") or ""),
        bool(deposition["submitted"]),
        sent,
        kept,
    )
