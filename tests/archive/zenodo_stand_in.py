"""
A stand-in of Zenodo on the loopback interface, by what https://developers.zenodo.org/ documents.

It keeps depositions in memory, and can break a connection at a request of a number, before or after it did
what was asked.
"""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "s3cret-token"  # noqa: S105 - of the stand-in alone


class StandIn(ThreadingHTTPServer):
    """A server with depositions; *breaks_at* is the number of the request at which a connection breaks."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.depositions: dict[int, dict[str, Any]] = {}
        self.content: dict[int, dict[str, bytes]] = {}
        self.requests: list[tuple[str, str]] = []
        self.breaks_at: int | None = None
        self.does_first = False
        self.refusal: tuple[int, dict[str, Any]] | None = None
        self.redirect = ""
        self.foreign_bucket = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"

    def create(self, metadata: dict[str, Any], concept: int | None = None) -> dict[str, Any]:
        number = 1000 + len(self.depositions)
        home = f"{self.url}api/deposit/depositions/{number}"
        self.content[number] = {}
        self.depositions[number] = {
            "id": number,
            "conceptrecid": str(concept or number - 500),
            "metadata": metadata | {"prereserve_doi": {"doi": f"10.5072/zenodo.{number}", "recid": number}},
            "state": "unsubmitted",
            "submitted": False,
            "links": {
                "self": home,
                "html": f"{self.url}deposit/{number}",
                "bucket": self.foreign_bucket or f"{self.url}api/files/bucket-{number}",
                "latest_draft": home,
            },
        }
        return self.depositions[number]

    def shown(self, number: int) -> dict[str, Any]:
        return self.depositions[number] | {"files": self.files(number)}

    def files(self, number: int) -> list[dict[str, Any]]:
        return [
            {
                "id": f"id-{name}",
                "filename": name,
                "filesize": len(data),
                "checksum": hashlib.md5(data).hexdigest(),  # noqa: S324 - what the API states
            }
            for name, data in self.content[number].items()
        ]

    def publish(self, number: int) -> dict[str, Any]:
        found = self.depositions[number]
        found |= {"submitted": True, "state": "done", "doi": f"10.5072/zenodo.{number}"}
        found["links"]["record_html"] = f"{self.url}records/{number}"
        return self.shown(number)

    def new_version(self, number: int) -> dict[str, Any]:
        """Make a draft with the files of the latest version, unless there is one already."""
        found = self.depositions[number]
        draft = next(
            (
                one
                for one in self.depositions.values()
                if one["conceptrecid"] == found["conceptrecid"] and not one["submitted"]
            ),
            None,
        )
        if draft is None:
            draft = self.create(dict(found["metadata"]), int(found["conceptrecid"]))
            self.content[draft["id"]] = dict(self.content[number])
        found["links"]["latest_draft"] = draft["links"]["self"]
        return self.shown(number)


class _Handler(BaseHTTPRequestHandler):
    server: StandIn

    def log_message(self, format: str, *_: object) -> None:  # noqa: A002 - the name of the base
        del format

    def _answer(self, code: int, content: object = None) -> None:
        text = b"" if content is None else json.dumps(content).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def _handle(self) -> None:
        here, home = urlsplit(self.path), self.server
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        number = len(home.requests)
        home.requests.append((self.command, self.path))
        if number == home.breaks_at and not home.does_first:
            self.close_connection = True
            return
        if home.redirect:
            self.send_response(302)
            self.send_header("Location", home.redirect)
            self.end_headers()
            return
        if home.refusal:
            self._answer(*home.refusal)
            return
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self._answer(401, {"message": "The server could not verify", "status": 401})
            return
        code, content = self._done(self.command, unquote(here.path), parse_qs(here.query), data)
        if number == home.breaks_at:
            self.close_connection = True
            return
        self._answer(code, content)

    do_GET = do_POST = do_PUT = do_DELETE = _handle  # noqa: N815 - the names of the base

    def _done(self, method: str, path: str, query: dict[str, list[str]], data: bytes) -> tuple[int, object]:
        parts, home = path.strip("/").split("/"), self.server
        match method, *parts:
            case "GET", "api", "deposit", "depositions":
                drafts = [home.shown(one["id"]) for one in home.depositions.values() if not one["submitted"]]
                assert query["status"] == ["draft"]
                first = (int(query["page"][0]) - 1) * int(query["size"][0])
                return 200, drafts[first : first + int(query["size"][0])]
            case "POST", "api", "deposit", "depositions":
                assert self.headers["Content-Type"] == "application/json"
                return 201, home.shown(home.create(json.loads(data).get("metadata", {}))["id"])
            case "PUT", "api", "files", bucket, name:
                number = int(bucket.removeprefix("bucket-"))
                if home.depositions[number]["submitted"]:
                    return 403, {"message": "is published", "status": 403}
                home.content[number][name] = data
                return 200, {"key": name, "checksum": f"md5:{hashlib.md5(data).hexdigest()}"}  # noqa: S324
            case _, "api", "deposit", "depositions", number, *rest if int(number) in home.depositions:
                return self._one(method, int(number), rest, data)
        return 404, {"message": "PID does not exist.", "status": 404}

    def _one(  # noqa: PLR0911 - a line for each thing that can be asked
        self, method: str, number: int, rest: list[str], data: bytes
    ) -> tuple[int, object]:
        home = self.server
        match method, *rest:
            case ("GET",):
                return 200, home.shown(number)
            case ("PUT",):
                reserved = home.depositions[number]["metadata"]["prereserve_doi"]
                home.depositions[number]["metadata"] = {
                    **json.loads(data)["metadata"],
                    "prereserve_doi": reserved,
                }
                return 200, home.shown(number)
            case "GET", "files":
                return 200, home.files(number)
            case "DELETE", "files", one:
                del home.content[number][one.removeprefix("id-")]
                return 204, None
            case "POST", "actions", "publish" if home.content[number]:
                return 202, home.publish(number)
            case "POST", "actions", "newversion" if home.depositions[number]["submitted"]:
                return 201, home.new_version(number)
        return 400, {"message": "Validation error", "status": 400}


@contextmanager
def stand_in() -> Iterator[StandIn]:
    """Run a stand-in until the end of a ``with``."""
    with StandIn() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
