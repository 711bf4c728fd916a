"""The server as an assistant starts it: over standard input and output, and over HTTP with a token."""

import itertools
import json
import socket
import subprocess
import sys
import threading
import time

import pytest
import uvicorn
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from gwa.assistant.desk import Desk
from gwa.assistant.server import guarded, server
from gwa.assistant.tools import TOOLS
from tests import forked
from tests.assistant.talking import talked
from tests.conftest import HOME

TINY = HOME / "sample_traces" / "swf" / "tiny.swf"


def test_an_assistant_starts_the_command_and_asks():
    words = ["-m", "gwa", "mcp", str(TINY)]

    async def talk():
        async with Client(StdioServerParameters(command=sys.executable, args=words)) as client:
            tools = (await client.list_tools()).tools
            answer = await client.call_tool("facts", {"prefix": "trace.jobs"})
            wrong = await client.call_tool("facts", {"prefix": "trace.jobs", "period": "yesterday"})
            unasked = await client.call_tool("sql", {"query": "select * from read_csv('/etc/passwd')"})
            facts = await client.read_resource("gwa://facts")
            fields = await client.read_resource("gwa://fields")
            return tools, answer, wrong, unasked, facts, fields

    tools, answer, wrong, unasked, facts, fields = talked(talk())
    assert [tool.name for tool in tools] == list(TOOLS)
    assert all(tool.description and "desk" not in tool.input_schema["properties"] for tool in tools)
    assert answer.structured_content["facts"] == {"trace.jobs": 1200}
    assert wrong.is_error
    assert "yesterday" in wrong.content[0].text
    assert unasked.is_error
    assert "read_csv" in unasked.content[0].text
    assert "jobs.wait" in facts.contents[0].text
    assert json.loads(fields.contents[0].text)["run_time"]["unit"] == "s"


def test_long_answers_tell_how_far_they_are():
    told = []

    async def listen(done, total, message):
        told.append((done, total, message))

    async def talk():
        with Desk.open([TINY]) as desk:
            async with Client(server(desk)) as client:
                return await client.call_tool("whatif", {"changes": ["cpus +20%"]}, progress_callback=listen)

    answer = talked(talk())
    assert not answer.is_error
    assert told[0][2]
    assert all(before[0] <= after[0] for before, after in itertools.pairwise(told))
    assert all(total is None or done <= total for done, total, _ in told)


def test_standard_output_holds_messages_only():
    done = subprocess.run(
        [*forked.gwa(), "mcp", str(TINY)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == ""


@pytest.fixture(scope="module")
def address():
    """Serve on a free port of the loopback interface."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with Desk.open([TINY]) as desk:
        config = uvicorn.Config(
            guarded(server(desk), "secret"), host="127.0.0.1", port=port, log_level="error"
        )
        running = uvicorn.Server(config)
        thread = threading.Thread(target=running.run)
        thread.start()
        while not running.started:
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}/mcp"
        running.should_exit = True
        thread.join()


def test_http_answers_those_who_send_the_token(address):
    import httpx2

    async def talk():
        async with (
            httpx2.AsyncClient(headers={"Authorization": "Bearer secret"}, timeout=60) as http,
            Client(streamable_http_client(address, http_client=http)) as client,
        ):
            return await client.call_tool("questions", {})

    assert len(talked(talk()).structured_content["answers"]) == 6


@pytest.mark.parametrize("header", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "secret"}])
def test_http_refuses_all_others(address, header):
    import httpx2

    refused = httpx2.post(address, headers=header, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert refused.status_code == 401
    assert "token" in refused.text


def test_http_refuses_what_another_page_asks(address):
    import httpx2

    headers = {"Authorization": "Bearer secret", "Host": "evil.example"}
    refused = httpx2.post(address, headers=headers, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert refused.status_code in {403, 421}


def test_what_is_not_installed_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    with Desk.open([TINY]) as desk, pytest.raises(ValueError, match="pip install 'gridworkloads\\[mcp\\]'"):
        server(desk)
