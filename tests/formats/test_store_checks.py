"""A store of another hand is checked like any input: what gwa would not write is refused in a sentence."""

import math

import duckdb
import pytest

from gwa.errors import TraceError
from gwa.formats.convert import convert
from gwa.formats.open import open_trace
from gwa.store.schema import FIELDS
from tests.conftest import HOME

TINY = HOME / "sample_traces" / "swf" / "tiny.swf"


@pytest.fixture
def store(tmp_path):
    """Return a store that gwa wrote, and a function that changes it as another program does."""
    path = tmp_path / "s.duckdb"
    convert([TINY], path)

    def change(*statements):
        with duckdb.connect(path) as database:
            for statement in statements:
                database.execute(statement)
        return path

    return change


def refused(path):
    """Return why a store is refused, in one line that says what to do."""
    with pytest.raises(TraceError) as error, open_trace([path]):
        pass
    message = str(error.value)
    assert message.startswith(f"{path}: ")
    assert message.endswith("convert its log again") or "no store of gwa" in message
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


NUMBERS = [field for field in FIELDS if field.sql == "DOUBLE"]


@pytest.mark.parametrize("value", ["'nan'::double", "'inf'::double", "'-inf'::double", "-1.0"])
def test_a_number_that_no_field_has_is_refused(value, store):
    path = store("update recorded set run_time = " + value + " where job_id = 5")
    assert refused(path).startswith("a job's run_time is ")


@pytest.mark.parametrize("field", NUMBERS, ids=lambda field: field.name)
def test_nan_is_refused_in_any_field(field, store):
    path = store(
        f"alter table recorded add column if not exists {field.name} double",
        f"update recorded set {field.name} = 'nan' where job_id = 900",
    )
    assert f"{field.name} is nan" in refused(path)


def test_nan_is_refused_where_it_was_inserted_at_the_end_of_many(store):
    path = store(
        "insert into recorded (job_id, run_time) select i, 7 from range(10000, 400000) t(i)",
        "insert into recorded (job_id, run_time) values (9999, 'nan')",
        "insert into recorded (job_id, run_time) select i, 7 from range(400000, 500000) t(i)",
    )
    assert "run_time is nan" in refused(path)


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("update recorded set n_procs = -4 where job_id = 5", "n_procs is -4"),
        ("update recorded set n_procs = 1000000000001 where job_id = 5", "n_procs is 1000000000001"),
        ("update recorded set status = 3 where job_id = 5", "1 jobs have a status that is none"),
        ("update recorded set job_id = 4 where job_id = 5", "1 job numbers stand for several"),
        ("update recorded set job_id = 9000000000000 where job_id < 3", "1 job numbers stand for several"),
        ("update recorded set job_id = null where job_id = 5", "1 jobs have no number"),
        ("insert into dependencies values (1, 2, 'nan')", "1 lines beside the jobs"),
        ("insert into header values (99, null, 'x')", "1 lines beside the jobs"),
        ("insert into repairs values ('x', 'y', -1)", "1 lines beside the jobs"),
        ("update sources set bytes = -1", "1 lines beside the jobs"),
        ("update provenance set value = '999' where key = 'account.rows'", "its account of rows does not"),
    ],
)
def test_what_gwa_would_not_write_is_refused(statement, reason, store):
    assert reason in refused(store(statement))


def test_a_column_that_is_computed_is_refused(store):
    path = store(
        "create table other as from recorded",
        "drop table recorded cascade",
        "create table recorded (job_id bigint, run_time double generated always as (job_id * 2))",
        "insert into recorded select job_id from other",
    )
    assert "its recorded.run_time is computed" in refused(path)


@pytest.mark.parametrize("counts", [{"rows": 5000, "jobs": 5000}, {"rows": 1200, "jobs": 1200}])
def test_an_account_of_other_jobs_is_not_believed(counts, store):
    names = ("rows", "jobs", "folded", "rejected", "comments", "skipped")
    path = store(
        *(
            f"update provenance set value = '{counts.get(name, 0)}' where key = 'account.{name}'"
            for name in names
        )
    )
    with open_trace([path]) as trace:
        account = trace.account
        assert (account.rows, account.jobs) == (1200, 1200)
        account.check()
        assert trace.provenance["format"] == "swf"


def test_the_account_of_a_store_stays(store):
    with open_trace([TINY]) as log, open_trace([store()]) as trace:
        assert trace.account == log.account
        assert trace.account.comments > 0


def test_an_empty_store_is_read(store):
    with open_trace([store("delete from recorded")]) as trace:
        assert trace.account.jobs == 0
        assert math.isfinite(trace.account.rows)
