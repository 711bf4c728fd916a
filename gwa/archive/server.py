"""Serve a site on this computer only: files, with the byte ranges that the console requests."""

import re
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final

from gwa.errors import OutputError

LOOPBACK: Final = "127.0.0.1"
NAMES: Final = frozenset({LOOPBACK, "localhost"})
"""The names of this computer in the header Host."""

BYTE_RANGE: Final = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


class Handler(SimpleHTTPRequestHandler):
    """Serves the files of one folder, and byte ranges of them."""

    extensions_map = {  # noqa: RUF012 - the base class has it so
        **SimpleHTTPRequestHandler.extensions_map,
        ".wasm": "application/wasm",
        ".js": "text/javascript",
        ".gz": "application/gzip",
    }

    def send_head(self) -> BytesIO | BinaryIO | None:
        """Send the head of a response and return its body."""
        if not self._is_for_us():
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
            return None
        path = self._path()
        if path is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return None
        requested = BYTE_RANGE.fullmatch(self.headers.get("Range", ""))
        if not requested or not path.is_file() or not any(requested.groups()):
            return super().send_head()
        return self._part(path, *requested.groups())

    def _is_for_us(self) -> bool:
        """Whether the request names this computer; a foreign page may let its own name stand for it."""
        name = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host", "")
        return name.lower() in NAMES

    def _path(self) -> Path | None:
        """Return the path of the file or folder that is asked for, None if the site has none."""
        path = Path(self.translate_path(self.path))
        try:
            inside = path.exists() and path.resolve().is_relative_to(Path(self.directory).resolve())
        except (OSError, RuntimeError, ValueError):  # names that are too long, loops, NUL
            return None
        return path if inside else None

    def _part(self, path: Path, first: str, last: str) -> BytesIO | None:
        """Send the head of a byte range and return the range: the end of the file where *first* is empty."""
        size = path.stat().st_size
        start = int(first) if first else max(size - int(last), 0)
        end = min(int(last), size - 1) if first and last else size - 1
        if start > end:
            self.send_response(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE)
            self.send_header("Content-Range", f"bytes */{size}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return None
        with path.open("rb") as file:
            file.seek(start)
            part = file.read(end - start + 1)
        self.send_response(HTTPStatus.PARTIAL_CONTENT)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Range", f"bytes {start}-{end}/{size}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        return BytesIO(part)

    def end_headers(self) -> None:
        """Add the headers of every response: ranges are served, nothing is to be cached."""
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
        """Log nothing."""


def server(folder: Path, port: int) -> ThreadingHTTPServer:
    """Return a server for the site in *folder* on the loopback address; port 0 is any free one."""
    if not (folder / "index.html").is_file():
        raise OutputError(f"{folder}: holds no site, expected what gwa site build makes")
    try:
        return ThreadingHTTPServer((LOOPBACK, port), partial(Handler, directory=str(folder)))
    except OSError as error:
        raise OutputError(f"port {port}: cannot be listened to: {error.strerror}") from error
