"""
The tools over the Model Context Protocol, by its official SDK: standard input and output, or HTTP.

HTTP is served on the loopback interface only, and to those only who send the token.
"""

import inspect
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial, wraps
from hmac import compare_digest
from importlib import import_module
from math import inf
from time import monotonic
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Final, get_args

from gwa.analysis.base import analyses
from gwa.assistant.desk import Desk
from gwa.assistant.tools import TOOLS, UNLOCKED, Answer
from gwa.errors import ArgumentError, GwaError
from gwa.store.schema import EXTENSION_NAMES, FIELDS
from gwa.util.progress import Progress
from gwa.util.version import __version__

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context, MCPServer
    from starlette.types import ASGIApp, Receive, Scope, Send

HOST: Final = "127.0.0.1"
PATH: Final = "/mcp"

MAXIMUM_SHOWN: Final = 60
"""The number of characters of a wrong argument that are shown."""

WORDS: Final[Mapping[object, str]] = {
    list[str]: "a list of texts", str: "a text", int: "a whole number", float: "a number",
}  # fmt: skip
"""What arguments are, in words."""

EXAMPLES: Final = {
    "period": '"2025-10"',
    "against": '"2025-09"',
    "where": '"n_procs > 1"',
    "query": '"select count(*) from jobs"',
    "changes": '["cpus +20%"]',
    "dimension": '"users"',
}

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
        from mcp.server.mcpserver.exceptions import ToolError
    except ImportError as error:
        raise ArgumentError(MISSING) from error

    class Server(MCPServer[Any]):
        """A server that says in a sentence which argument is wrong."""

        async def call_tool(
            self, name: str, arguments: dict[str, Any], context: "Context[Any] | None" = None
        ) -> Any:  # noqa: ANN401 - what the SDK returns
            """Call a tool; raise `ToolError` where there is none, or its arguments are wrong."""
            if wrong := wrong_arguments(name, arguments):
                raise ToolError(wrong)
            return await super().call_tool(name, arguments, context)

    made = Server(
        "gwa",
        title="Workload traces",
        instructions=INSTRUCTIONS.strip(),
        version=__version__,
        log_level="ERROR",
    )
    for tool in TOOLS.values():
        made.add_tool(_of(tool, desk), description=inspect.cleandoc(tool.__doc__ or ""))
    made.resource("gwa://facts", title="What facts are about", mime_type="application/json")(_facts)
    made.resource("gwa://fields", title="Fields of a job", mime_type="application/json")(_fields)
    return made


def wrong_arguments(name: str, arguments: Mapping[str, object]) -> str | None:
    """
    Return what is wrong with the *arguments* of the tool called *name*, in a sentence; None if nothing.

    >>> wrong_arguments("facts", {"period": 2025})
    'facts: period is 2025, expected a text such as "2025-10"; prefix is missing, expected a text'
    >>> wrong_arguments("describe", {"fact_id": "trace.jobs", "of": "a"})
    'describe: there is no argument of, expected one of fact_id, trace'
    """
    if name not in TOOLS:
        return f"there is no tool {name}, expected one of {', '.join(TOOLS)}"
    _, *parameters = inspect.signature(TOOLS[name], eval_str=True).parameters.values()
    known = {one.name: one for one in parameters}
    wrong = [
        f"{key} is {_shown(value)}, expected {_expected(known[key])}" if key in known
        else f"there is no argument {key}, expected one of {', '.join(known) or 'none'}"
        for key, value in arguments.items()
        if key not in known or not _fits(value, known[key].annotation)
    ]  # fmt: skip
    wrong += [
        f"{one.name} is missing, expected {_expected(one)}"
        for one in parameters
        if one.default is one.empty and one.name not in arguments
    ]
    return f"{name}: {'; '.join(wrong)}" if wrong else None


def _fits(value: object, kind: Any) -> bool:  # noqa: ANN401 - a type, or several
    """Whether an argument in JSON has the type of a parameter; a number may have a fraction of 0."""
    kinds = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    if isinstance(value, bool):
        return False
    if isinstance(value, float) and value.is_integer() and int in kinds:
        return True
    return any(
        value is None if one is NoneType
        else isinstance(value, list) and all(isinstance(item, str) for item in value) if one == list[str]
        else isinstance(value, int | float) if one is float
        else isinstance(value, one)
        for one in kinds
    )  # fmt: skip


def _expected(parameter: inspect.Parameter) -> str:
    """Return what a parameter takes, in words."""
    kinds = get_args(parameter.annotation) or (parameter.annotation,)
    word = next(word for kind, word in WORDS.items() if kind in kinds or kind == parameter.annotation)
    return f"{word} such as {example}" if (example := EXAMPLES.get(parameter.name)) else word


def _shown(value: object) -> str:
    """Return an argument as JSON, its beginning if it is long."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAXIMUM_SHOWN else f"{text[:MAXIMUM_SHOWN]}…"


def _of(tool: Callable[..., Answer], desk: Desk) -> Callable[..., Awaitable[Answer]]:
    """
    Return a *tool* of a *desk* as a function of the other arguments.

    One is answered at a time, but what assistants write in SQL, which waits for nothing and runs elsewhere.
    """
    from anyio import to_thread
    from mcp.server.mcpserver import Context
    from mcp.server.mcpserver.exceptions import ToolError

    def locked(context: "Context[Any]", asked: Mapping[str, object]) -> Answer:
        with desk.lock:
            desk.progress = _Told(context)
            question = json.dumps([tool.__name__, asked], sort_keys=True)
            return desk.once(question, lambda: tool(desk, **asked))

    @wraps(tool)
    async def answer(context: "Context[Any]", **asked: Any) -> Answer:  # noqa: ANN401 - any argument
        try:
            if tool.__name__ in UNLOCKED:
                return await to_thread.run_sync(partial(tool, desk, **asked), abandon_on_cancel=True)
            if asked.get("where"):
                await to_thread.run_sync(
                    desk.choose, asked.get("trace"), asked["where"], abandon_on_cancel=True
                )
            return await to_thread.run_sync(locked, context, asked)
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
