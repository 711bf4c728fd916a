"""Names of the length of a text are cut, counted, and stay apart."""

import duckdb
import pytest

from gwa.formats.convert import convert
from gwa.formats.open import open_trace
from gwa.formats.registry import writer
from gwa.ingest.cleaning import KEPT_OF_NAME
from gwa.store.confined import Confined
from gwa.store.options import ReadOptions
from gwa.store.repairs import LONG_NAME
from gwa.store.schema import FIELDS, MAXIMUM_NAME
from gwa.trace import Trace

LONG = "a" * 65_536


@pytest.fixture
def log(tmp_path):
    """Return a log with two users and a queue of long names, and one of the longest that stays."""
    path = tmp_path / "log.csv"
    rows = [f"{LONG}1,short", f"{LONG}2,{LONG}", f"{LONG}1,{'q' * MAXIMUM_NAME}", f"{'ä' * 600},short"]
    lines = [f"{row},2024-05-31 12:0{number}:00,60,1" for number, row in enumerate(rows)]
    path.write_text("\n".join(["user,queue,submitted,seconds,cores", *lines]) + "\n")
    return path


def options():
    """Return what the columns of the log mean."""
    statement = "user=user,queue=queue,submit=submitted,run=seconds:s,procs=cores,zone=UTC"
    return ReadOptions(format_options={"map": statement})


def names(trace, field):
    """Return the values of a field, in order of submission."""
    return [name for (name,) in trace.rows(f"select {field} from jobs order by submit_time")]


def test_long_names_are_cut_and_counted_and_stay_apart(log):
    with open_trace([log], options=options()) as trace:
        users, queues = names(trace, "user_id"), names(trace, "queue_id")
        repairs = trace.rows("select meaning, jobs from repairs where name = 'long name' order by all")
    assert users[0] == users[2] != users[1]
    assert all(len(user) == KEPT_OF_NAME + 9 for user in users)
    assert users[0].startswith("aaa")
    assert users[3].startswith("ää")
    assert queues[0] == queues[3] == "short"
    assert queues[2] == "q" * MAXIMUM_NAME
    assert repairs == [(LONG_NAME.format(field="queue_id"), 1), (LONG_NAME.format(field="user_id"), 4)]


@pytest.fixture
def short(log, tmp_path):
    """Return a log without long names."""
    path = tmp_path / "short.csv"
    path.write_text(log.read_text().replace(LONG, "u").replace("ä" * 600, "v"))
    return path


def test_long_names_in_parquet_are_cut(short, tmp_path):
    """Parquet is read where it is, unless a job needs cleaning."""
    convert([short], tmp_path / "short.parquet", options=options())
    with duckdb.connect() as database:
        database.execute(
            "copy (select * replace (repeat('a', 65536) || user_id as user_id)"
            f" from '{tmp_path}/short.parquet') to '{tmp_path}/long.parquet'"
        )
    with open_trace([tmp_path / "long.parquet"]) as trace:
        assert max(map(len, names(trace, "user_id"))) == KEPT_OF_NAME + 9
        assert trace.rows("select jobs from repairs where name = 'long name'") == [(4,)]


def test_long_names_in_a_store_of_another_hand_are_cut(short, tmp_path):
    """The file is only read: what is shown, what is queried and what is copied has short names."""
    convert([short], tmp_path / "a.duckdb", options=options())
    with duckdb.connect(tmp_path / "a.duckdb") as database:
        database.execute("update recorded set user_id = repeat('a', 65536) || user_id")
        database.execute("update recorded set queue_id = repeat('ä', 600) where queue_id = 'short'")
    before = (tmp_path / "a.duckdb").read_bytes()
    with open_trace([tmp_path / "a.duckdb"]) as trace, Confined(trace) as processes:
        users = names(trace, "user_id")
        repairs = trace.rows("select meaning, jobs from repairs where name = 'long name' order by all")
        write = writer(tmp_path / "b.duckdb").write
        assert write
        write(trace, tmp_path / "b.duckdb")
        assert processes.rows("select max(strlen(user_id)) from jobs").rows == [(KEPT_OF_NAME + 11,)]
    assert [len(user) for user in users] == [KEPT_OF_NAME + 9] * 4
    assert (len(set(users)), users[0] == users[2]) == (3, True)
    assert repairs == [(LONG_NAME.format(field="queue_id"), 2), (LONG_NAME.format(field="user_id"), 4)]
    assert (tmp_path / "a.duckdb").read_bytes() == before
    with open_trace([tmp_path / "b.duckdb"]) as trace:
        assert names(trace, "user_id") == users
        assert len(trace.rows("select jobs from repairs where name = 'long name'")) == 2


def test_a_page_on_long_names_is_no_larger(log, tmp_path):
    with Trace(open_trace([log], options=options()), "log") as trace:
        (page,) = trace.report(["overview", "users", "groups", "waits"]).write(tmp_path, "json")
    assert page.stat().st_size < 200_000


def test_lists_of_resources_and_runs_are_no_names():
    assert {field.name for field in FIELDS if field.is_text and not field.is_name} == {
        "used_resources",
        "req_resources",
        "runs",
        "node_list",
        "gpu_list",
    }
