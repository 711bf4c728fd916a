"""A look at a site on this machine only: files, with the ranges of bytes that the console asks for."""

import re
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final

from gwa.errors import OutputError

LOOPBACK: Final = "127.0.0.1"
RANGE: Final = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


class Handler(SimpleHTTPRequestHandler):
    """Answers for files in one folder; a range of bytes is sent alone."""

    extensions_map = {  # noqa: RUF012 - the base class has it so
        **SimpleHTTPRequestHandler.extensions_map,
        ".wasm": "application/wasm",
        ".js": "text/javascript",
        ".gz": "application/gzip",
    }

    def send_head(self) -> BytesIO | BinaryIO | None:
        """Send the head of an answer and return what is to follow."""
        path = Path(self.translate_path(self.path))
        if not path.resolve().is_relative_to(Path(self.directory).resolve()):
            self.send_error(HTTPStatus.NOT_FOUND)
            return None
        asked = RANGE.fullmatch(self.headers.get("Range", ""))
        if not asked or not path.is_file() or not any(asked.groups()):
            return super().send_head()
        return self._part(path, *asked.groups())

    def _part(self, path: Path, first: str, last: str) -> BytesIO | None:
        """Send the head of a part of a file and return the part: its end where *first* is empty."""
        size = path.stat().st_size
        begin = int(first) if first else max(size - int(last), 0)
        end = min(int(last), size - 1) if first and last else size - 1
        if begin > end:
            self.send_response(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE)
            self.send_header("Content-Range", f"bytes */{size}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return None
        with path.open("rb") as file:
            file.seek(begin)
            part = file.read(end - begin + 1)
        self.send_response(HTTPStatus.PARTIAL_CONTENT)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Range", f"bytes {begin}-{end}/{size}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        return BytesIO(part)

    def end_headers(self) -> None:
        """Say with every answer that ranges are served, and that nothing is to be kept."""
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
        """Say nothing: a look at a site is no service."""


def server(folder: Path, port: int) -> ThreadingHTTPServer:
    """Return a server for the site in *folder* that only this machine reaches; port 0 is any free one."""
    if not (folder / "index.html").is_file():
        raise OutputError(f"{folder}: holds no site, expected what gwa site build makes")
    try:
        return ThreadingHTTPServer((LOOPBACK, port), partial(Handler, directory=str(folder)))
    except OSError as error:
        raise OutputError(f"port {port}: cannot be listened to: {error.strerror}") from error
