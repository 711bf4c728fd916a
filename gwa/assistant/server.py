"""
The tools over the Model Context Protocol, by its official SDK: standard input and output, or HTTP.

HTTP is served on the loopback interface only, and to those only who send the token.
"""

import inspect
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from hmac import compare_digest
from importlib import import_module
from math import inf
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from gwa.analysis.base import analyses
from gwa.assistant.desk import Desk
from gwa.assistant.tools import TOOLS, Answer
from gwa.errors import ArgumentError, GwaError
from gwa.store.schema import EXTENSION_NAMES, FIELDS
from gwa.util.progress import Progress
from gwa.util.version import __version__

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context, MCPServer
    from starlette.types import ASGIApp, Receive, Scope, Send

HOST: Final = "127.0.0.1"
PATH: Final = "/mcp"

INTERVAL: Final = 0.2
"""Seconds between two reports of progress."""

INSTRUCTIONS: Final = """
These tools answer questions about workload traces of clusters: accounting logs of jobs. Begin with
"questions". Every number has a fact id: name it. Every answer has "about": the part of the trace, the time
that the log knows, and caveats. Say the caveats that concern the question. None is unknown, never zero; a
bound is not a value.
"""

MISSING: Final = "the server needs the package mcp: `pip install 'gridworkloads[mcp]'` installs it"


def load() -> None:
    """Import the SDK, which takes a second, so that it is there when `server` needs it."""
    with suppress(ImportError):  # `server` says it
        import_module("mcp.server.mcpserver")


def server(desk: Desk) -> "MCPServer[Any]":
    """Return a server of the tools of a *desk*; raise `ArgumentError` where its package is not installed."""
    try:
        from mcp.server.mcpserver import MCPServer
    except ImportError as error:
        raise ArgumentError(MISSING) from error
    made: MCPServer[Any] = MCPServer(
        "gwa",
        title="Workload traces",
        instructions=INSTRUCTIONS.strip(),
        version=__version__,
        log_level="ERROR",
    )
    lock = Lock()
    for tool in TOOLS.values():
        made.add_tool(_of(tool, desk, lock), description=inspect.cleandoc(tool.__doc__ or ""))
    made.resource("gwa://facts", title="What facts are about", mime_type="application/json")(_facts)
    made.resource("gwa://fields", title="Fields of a job", mime_type="application/json")(_fields)
    return made


def _of(tool: Callable[..., Answer], desk: Desk, lock: Lock) -> Callable[..., Answer]:
    """Return a *tool* of a *desk* as a function of the other arguments; one is answered at a time."""
    from mcp.server.mcpserver import Context
    from mcp.server.mcpserver.exceptions import ToolError

    @wraps(tool)
    def answer(context: "Context[Any]", **asked: object) -> Answer:
        with lock:
            desk.progress = _Told(context)
            try:
                question = json.dumps([tool.__name__, asked], sort_keys=True)
                return desk.once(question, lambda: tool(desk, **asked))
            except GwaError as error:
                raise ToolError(str(error)) from error

    signature = inspect.signature(tool, eval_str=True)
    _, *others = signature.parameters.values()
    context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=Context)
    del answer.__wrapped__  # its signature has the desk
    answer.__signature__ = signature.replace(parameters=[*others, context])  # type: ignore[attr-defined]
    answer.__annotations__ = {one.name: one.annotation for one in (*others, context)} | {"return": Answer}
    return answer


class _Told(Progress):
    """Reports the progress of an answer to a client that asks for it."""

    def __init__(self, context: "Context[Any]") -> None:
        self._context = context
        self._done = self._total = 0.0
        self._label = ""
        self._told = -inf

    @contextmanager
    def step(self, label: str, total: float | None = None) -> Iterator[Progress]:
        """Report that a piece of work begins."""
        self._label, self._total = label, self._done + (total or 0.0)
        self._tell()
        yield self

    def advance(self, amount: float = 1) -> None:
        """Report the progress, but not more often than it can be read."""
        self._done += amount
        if monotonic() - self._told >= INTERVAL:
            self._tell()

    def _tell(self) -> None:
        from anyio import from_thread

        self._told = monotonic()
        from_thread.run(self._context.report_progress, self._done, self._total or None, self._label)


def _facts() -> str:
    """Return what facts are about: each section with its definition, and how the ids of its facts begin."""
    return json.dumps(
        [
            {"section": one.id, "title": one.title, "definition": one.help, "facts": list(one.facts)}
            for one in analyses()
        ],
        ensure_ascii=False,
    )


def _fields() -> str:
    """Return what each field of a job is, with its unit."""
    return json.dumps(
        {
            one.name: {"meaning": one.meaning, "unit": one.unit, "is_extension": one.name in EXTENSION_NAMES}
            for one in FIELDS
        }
    )


def serve_http(made: "MCPServer[Any]", port: int, token: str) -> None:
    """Serve on a *port* of the loopback interface to those who send the *token*, until interrupted."""
    import uvicorn

    uvicorn.run(guarded(made, token), host=HOST, port=port, log_level="error")


def guarded(made: "MCPServer[Any]", token: str) -> "ASGIApp":
    """Return the application that serves *made*, and refuses requests without the *token*."""
    from starlette.responses import PlainTextResponse

    application = made.streamable_http_app(streamable_http_path=PATH, host=HOST)
    expected = f"Bearer {token}".encode()

    async def guard(scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not compare_digest(given, expected):
                refusal = PlainTextResponse(
                    "Send the token that gwa mcp printed: Authorization: Bearer …", 401
                )
                await refusal(scope, receive, send)
                return
        await application(scope, receive, send)

    return guard
