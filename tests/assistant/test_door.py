"""What an assistant writes itself runs elsewhere: nobody waits for it, and errors are sentences."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from mcp import Client

from gwa.assistant.desk import ANONYMOUS, Desk
from gwa.assistant.server import server
from gwa.assistant.tools import breakdown, facts
from gwa.errors import GwaError, QueryError
from tests.assistant.talking import talked
from tests.conftest import HOME

TINY = HOME / "sample_traces" / "swf" / "tiny.swf"

ENDLESS = "select count(*) from range(1000000000000) a, range(1000) b where a.range % 7 = b.range"


@pytest.fixture(scope="module")
def desk():
    with Desk.open([TINY]) as opened:
        yield opened


def test_a_condition_is_run_elsewhere_and_means_the_same(desk):
    found = facts(desk, "trace.jobs", where="n_procs > 1")
    assert (found["facts"], found["about"]["part"]) == ({"trace.jobs": 529}, ["where n_procs > 1"])
    store = desk.part(where="n_procs > 1").trace.store
    ((view,),) = store.rows("select sql from duckdb_views() where view_name = 'jobs' and temporary limit 1")
    assert "n_procs > 1" not in view
    assert facts(desk, "trace.jobs", where="job_id in (select min(job_id) from jobs)")["facts"] == {
        "trace.jobs": 1
    }


@pytest.mark.parametrize(
    ("where", "reason"),
    [
        ("json_serialize_plan('select 1') = ''", "takes SQL as text"),
        ("user_id = getvariable('x')", "reveals more than the trace"),
        ("exists (from read_text('/etc/hostname'))", "expected only"),
        ("true order by 1", "is not a condition"),
        ("n_procs / 'x' > 1", "is not a condition on jobs"),
        ("length(repeat('x', 30000000000)) > 1", "is not a condition on jobs"),
    ],
)
def test_a_condition_that_may_not_be_is_an_error_of_a_line(where, reason, desk):
    with pytest.raises(GwaError, match=reason) as refused:
        facts(desk, "trace.jobs", where=where)
    assert "\n" not in str(refused.value)
    assert facts(desk, "trace.jobs")["facts"] == {"trace.jobs": 1200}


def test_nobody_waits_for_a_query():
    with ThreadPoolExecutor(1) as pool, Desk.open([TINY]) as opened:
        confined = next(iter(opened._confined.values()))  # noqa: SLF001 - a query without an end
        endless = pool.submit(confined.rows, ENDLESS)
        with opened.lock:  # a tool that takes long
            assert opened.choose(None, "n_procs > 1").exists()
        assert opened.sql("select count(*) from jobs")["rows"] == [[1200]]
        assert not endless.done()
        opened.close()
        with pytest.raises(QueryError, match="ended its process"):
            endless.result()


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("facts", {}, "facts: prefix is missing, expected a text"),
        ("facts", {"prefix": 3}, "facts: prefix is 3, expected a text"),
        (
            "facts",
            {"prefix": "trace", "were": "x"},
            "there is no argument were, expected one of prefix, trace",
        ),
        ("whatif", {"changes": "cpus"}, 'changes is "cpus", expected a list of texts such as ["cpus +20%"]'),
        ("wait_bound", {"procs": 1.5}, "procs is 1.5, expected a whole number"),
        ("sql", {"query": ""}, "the query is empty, expected one such as select count(*) from jobs"),
        ("nothing", {}, "there is no tool nothing, expected one of traces, questions"),
    ],
)
def test_a_wrong_argument_is_told_in_a_sentence(tool, arguments, said, desk):
    async def talk():
        async with Client(server(desk)) as client:
            return await client.call_tool(tool, arguments)

    answer = talked(talk())
    assert answer.is_error
    assert said in answer.content[0].text
    assert "pydantic" not in answer.content[0].text


def test_a_trace_with_pseudonyms_is_not_called_by_its_file(tmp_path):
    named = tmp_path / "secret-site.swf"
    named.write_bytes(TINY.read_bytes())
    with Desk.open([named], is_anonymous=True) as opened:
        assert list(opened.traces) == [ANONYMOUS]
        assert "secret" not in str(opened.sql("from sources"))


def test_a_breakdown_by_what_was_held_is_the_fact(desk):
    told = breakdown(desk, "users", "held")
    assert told["rows"] == facts(desk, told["fact_id"])["facts"]["users.by_held"]
