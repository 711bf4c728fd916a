"""
Download a file over HTTP: resumed where it was cut, checked, and under its name only when it is whole.

What has arrived of a file waits in a folder ``.NAME.fetch`` beside it, with what the server said to tell one
version of the file from another (its ETag, or its date), so that the rest of another version is not joined to
it. Addresses are of http and https only, wherever a server redirects to.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from gwa.archive.integrity import is_proven_whole
from gwa.errors import DownloadError
from gwa.util.atomic import make_folder, unwritable, writable
from gwa.util.owned import OwnedFolder, owner
from gwa.util.progress import SILENT, Progress
from gwa.util.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMES: Final = ("http", "https")
TIMEOUT: Final = 60
"""Seconds without a byte after which a connection counts as dead."""

BLOCK: Final = 1 << 20

MAXIMUM_SIZE: Final = 200 << 30
"""No public trace is a larger file: a server that sends more never ends."""

ENCODED_NAMES: Final = (".gz", ".tgz")
"""Files that many servers announce as an encoding of another file, though they send the file itself."""

PARTIAL: Final = 206
UNSATISFIABLE: Final = 416

AGAIN: Final = "the same command continues it"
SIGNATURES: "Final[Mapping[str, tuple[bytes, ...]]]" = {
    ".gz": (b"\x1f\x8b",),
    ".tgz": (b"\x1f\x8b",),
    ".zst": (b"\x28\xb5\x2f\xfd",),
    ".xz": (b"\xfd7zXZ\x00",),
    ".bz2": (b"BZh",),
    ".zip": (b"PK\x03\x04", b"PK\x05\x06"),
    ".parquet": (b"PAR1",),
}
"""How files with these suffixes begin."""

PAGE: Final = re.compile(rb"\s*(<!doctype html|<html|<\?xml[^>]*>\s*<!doctype html)", re.IGNORECASE)
RANGE: Final = re.compile(r"bytes (\d+)-(\d+)/(\d+)")


@dataclass(frozen=True)
class Expected:
    """What is known of a file beforehand: its SHA-256, empty if unknown, and its size, 0 if unknown."""

    sha256: str = ""
    size: int = 0


class _Response(Protocol):
    """What is used of the answer of a server."""

    status: int
    headers: HTTPMessage

    def read(self, size: int) -> bytes:
        """Return up to *size* bytes, none at the end."""


def download(url: str, path: Path, expected: Expected, progress: Progress = SILENT) -> str:
    """
    Download *url* to *path* and return its SHA-256.

    Raise `DownloadError`, in a line, if the server fails, or does not give the file that is *expected*. What
    arrived of a file whose connection broke is kept for the next call; what is wrong is removed.
    """
    _require_http(url, url)
    make_folder(path.parent)
    writable(path)
    with _folder_of(path) as folder:
        part = _Part(folder.path)
        try:
            is_whole = _receive(url, part, expected, progress)
            _check_beginning(url, path.name, part)
            found = _check_content(url, part, expected)
            if not (is_whole or expected.sha256):
                _require_proof(url, path, part)
        except DownloadError as error:
            if not isinstance(error, _ConnectionError):
                folder.remove()
            raise
        try:
            part.content.replace(path)
        except OSError as error:
            raise unwritable(path, error) from error
        folder.remove()
    return found


def _require_proof(url: str, path: Path, part: "_Part") -> None:
    """Raise `DownloadError` unless what was received shows itself that it is whole."""
    if not is_proven_whole(part.content, path.name):
        raise DownloadError(
            f"{url}: the server does not state the length of the file, and nothing else shows whether it is"
            f" whole: download it by other means, and put it in {path}"
        )


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of the file *path*."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class _ConnectionError(DownloadError):
    """A connection broke: what has arrived is of use."""


class _Redirects(HTTPRedirectHandler):
    """Follows redirections to http and https; from https to https only."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        """Return the request for *newurl*, if it may be asked."""
        fp.close()
        _require_http(newurl, req.full_url)
        if urlsplit(req.full_url).scheme == "https" != urlsplit(newurl).scheme:
            raise DownloadError(f"{req.full_url}: redirects to {newurl}, which is not encrypted")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _Part:
    """What has arrived of a file, in a *folder*, and the version of the file that it is of."""

    def __init__(self, folder: Path) -> None:
        self.content = folder / "content"
        self._version = folder / "version.json"

    @property
    def size(self) -> int:
        return self.content.stat().st_size if self.content.exists() else 0

    def headers(self, url: str) -> dict[str, str]:
        """Return the headers that ask for the rest of the same version; none if it cannot be told."""
        with suppress(OSError, ValueError, AttributeError):
            version = json.loads(self._version.read_text())
            if version.get("url") == url and version.get("version") and self.size:
                return {"Range": f"bytes={self.size}-", "If-Range": str(version["version"])}
        return {}

    def begin(self, url: str, headers: HTTPMessage) -> None:
        """Begin the file, in the version that *headers* tell."""
        self.content.unlink(missing_ok=True)
        tag = headers.get("ETag", "")
        # A weak tag is of a content that is like another, byte by byte or not.
        version = tag if tag.startswith('"') else headers.get("Last-Modified", "")
        self._version.write_text(json.dumps({"url": url, "version": version}))


@contextmanager
def _folder_of(path: Path) -> Iterator[OwnedFolder]:
    """Own the folder for what arrives of the file *path*, which stays if it is not removed."""
    place = path.with_name(f".{path.name}.fetch")
    try:
        folder = OwnedFolder.claim(place)
    except OSError as error:
        raise unwritable(path, error) from error
    if not folder:
        raise DownloadError(f"{path}: is being downloaded by {owner(place)}")
    try:
        yield folder
    finally:
        folder.release()


def _require_http(url: str, of: str) -> None:
    if urlsplit(url).scheme not in SCHEMES:
        raise DownloadError(f"{of}: leads to {url}, expected an address of http or https")


def _receive(url: str, part: _Part, expected: Expected, progress: Progress) -> bool:
    """
    Receive what is missing of *part*; begin again if the server does not continue it.

    Return whether the end of what was sent is known to be that of the file.
    """
    with _asked(url, part) as response:
        _check_encoding(url, response, part)
        total = _announced(url, response, part)
        is_chunked = response.headers.get("Transfer-Encoding", "").lower() == "chunked"
        if expected.size and total not in {None, expected.size}:
            raise DownloadError(
                f"{url}: has {total:,} bytes, expected {expected.size:,}: the file has changed"
            )
        if response.status != PARTIAL:
            part.begin(url, response.headers)
        limit = total or expected.size or None
        with progress.step(urlsplit(url).path.rpartition("/")[2], limit) as bar:
            bar.advance(part.size)
            _append(url, response, part, limit or MAXIMUM_SIZE, bar)
    if limit and part.size < limit:
        raise _ConnectionError(f"{url}: ended after {part.size:,} of {limit:,} bytes; {AGAIN}")
    return bool(limit) or is_chunked


def _check_encoding(url: str, response: _Response, part: _Part) -> None:
    """Raise `DownloadError` where the server sends an encoding of the file that was not asked for."""
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    name = urlsplit(url).path.lower()
    if encoding in {"identity", ""} or (encoding in {"gzip", "x-gzip"} and name.endswith(ENCODED_NAMES)):
        return
    part.content.unlink(missing_ok=True)
    raise DownloadError(f"{url}: is sent encoded as {encoding}, expected the file as it is")


@contextmanager
def _asked(url: str, part: _Part) -> Iterator[_Response]:
    """Yield the answer of the server to the request for what is missing of *part*."""
    opener = build_opener(_Redirects())
    agent = {"User-Agent": f"gwa/{__version__}", "Accept-Encoding": "identity"}
    with _broken(url, part):
        try:
            response = opener.open(Request(url, headers={**agent, **part.headers(url)}), timeout=TIMEOUT)  # noqa: S310 - checked
        except HTTPError as error:
            error.close()
            if error.code != UNSATISFIABLE or not part.size:
                reason = " ".join(str(error.reason).split())
                raise DownloadError(f"{url}: the server says {error.code} {reason}") from error
            response = opener.open(Request(url, headers=agent), timeout=TIMEOUT)  # noqa: S310
    with response:
        yield response


@contextmanager
def _broken(url: str, part: _Part) -> Iterator[None]:
    """Raise what breaks a connection as an error that says how to continue."""
    try:
        yield
    except DownloadError:
        raise
    except (URLError, HTTPException, OSError, ValueError) as error:
        reason = " ".join(str(getattr(error, "reason", None) or error).split()) or type(error).__name__
        kept = f" after {part.size:,} bytes; {AGAIN}" if part.size else ""
        raise _ConnectionError(f"{url}: the connection broke{kept} ({reason})") from error


def _announced(url: str, response: _Response, part: _Part) -> int | None:
    """Return the size of the whole file as the server announces it, None if it does not."""
    if response.status != PARTIAL:
        length = response.headers.get("Content-Length", "")
        if length and not length.isdecimal():
            raise DownloadError(f"{url}: the server states a length of {length[:20]!r}, expected a number")
        return int(length) if length else None
    stated = RANGE.fullmatch(response.headers.get("Content-Range", ""))
    if not stated or int(stated[1]) != part.size or int(stated[2]) + 1 != int(stated[3]):
        raise DownloadError(f"{url}: the server sent a part that was not asked for")
    return int(stated[3])


def _append(url: str, response: _Response, part: _Part, limit: int, bar: Progress) -> None:
    """Append what the server sends to *part*, up to the *limit* in bytes."""
    blocks = _blocks(url, response, part, limit)
    try:
        with part.content.open("ab") as file:
            for block in blocks:
                file.write(block)
                bar.advance(len(block))
    except DownloadError:
        raise
    except OSError as error:
        raise unwritable(part.content, error) from error


def _blocks(url: str, response: _Response, part: _Part, limit: int) -> Iterator[bytes]:
    """Yield what the server sends; raise `DownloadError` where that is more than the *limit*."""
    size = part.size
    while block := _block(url, response, part):
        size += len(block)
        if size > limit:
            raise DownloadError(f"{url}: sends more than the {limit:,} bytes of the file")
        yield block


def _block(url: str, response: _Response, part: _Part) -> bytes:
    with _broken(url, part):
        return response.read(BLOCK)


def _check_beginning(url: str, name: str, part: _Part) -> None:
    """Raise `DownloadError` where a page, or something else, came instead of a file of that *name*."""
    with part.content.open("rb") as file:
        beginning = file.read(512)
    signatures = SIGNATURES.get(Path(name).suffix.lower())
    if PAGE.match(beginning):
        raise DownloadError(f"{url}: is a web page, expected the file {name}: it may have moved")
    if signatures and not beginning.startswith(signatures):
        raise DownloadError(f"{url}: does not begin as a {Path(name).suffix} file does: it may have moved")


def _check_content(url: str, part: _Part, expected: Expected) -> str:
    """Return the SHA-256 of *part*; raise `DownloadError` where it is not the one that is *expected*."""
    found = sha256_of(part.content)
    if expected.sha256 and found != expected.sha256:
        raise DownloadError(
            f"{url}: has the SHA-256 {found}, expected {expected.sha256}: the file has changed"
        )
    return found
