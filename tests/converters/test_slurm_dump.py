"""A dump of Slurm's database: the same jobs as in the text and in the JSON of sacct."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.formats.open import open_trace
from gwa.ingest.source import lines
from tests.converters.slurm_encodings import EXAMPLES, FAILED, TRES_IDS, USERS, as_dump, as_json, as_text
from tests.converters.test_slurm_json import jobs, traces
from tests.mutation import FEW


def alike(rows):
    """Return *rows* without what a dump cannot tell: names of groups and of reservations."""
    return [
        row | {"group_id": None, "req_resources": (row["req_resources"] or "").partition(",reservation:")[0]}
        for row in rows
    ]


def test_a_dump_is_the_same_trace_as_text_and_json(tmp_path):
    made = [*EXAMPLES, FAILED]
    text, found, dumped = traces(tmp_path, text=as_text(made), json=as_json(made), dump=as_dump(made))

    assert found == text
    assert alike(dumped) == alike(text)
    assert {row["group_id"] for row in dumped} == {"100"}


@FEW
@given(
    made=st.lists(jobs(), min_size=1, max_size=5, unique_by=lambda job: job.jobid), size=st.integers(1, 4000)
)
def test_any_jobs_are_the_same_trace_in_a_dump_and_text(made, size, tmp_path_factory):
    folder = tmp_path_factory.mktemp("slurm")
    (text,) = traces(folder, text=as_text(made))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "CHUNK_SIZE", size)
        (dumped,) = traces(folder, dump=as_dump(made))

    assert alike(dumped) == alike(text)


def test_rows_are_accounted_for(tmp_path):
    path = tmp_path / "slurm.sql"
    path.write_text(as_dump(EXAMPLES))
    with open_trace([path]) as store:
        account = store.account
    steps = sum(len(job.steps) for job in EXAMPLES)
    explaining = len(USERS) + 2 + len(TRES_IDS) + 2
    assert account.rows == len(EXAMPLES) + steps + explaining
    assert (account.jobs, account.folded, account.comments) == (len(EXAMPLES), steps, explaining)


def test_a_dump_that_breaks_off_keeps_the_rows_before(tmp_path):
    text = as_dump(EXAMPLES)
    path = tmp_path / "slurm.sql"
    path.write_text(text[: text.index("CREATE TABLE `hpc_step_table`") - 100])
    with open_trace([path]) as store:
        assert store.account.jobs == len(EXAMPLES) - 1
        assert ("cut file",) in store.rows("select name from repairs")


def test_a_row_of_another_width_is_refused(tmp_path):
    path = tmp_path / "slurm.sql"
    path.write_text(as_dump(EXAMPLES).replace("(1,0,'physics',8,", "(1,'physics',8,", 1))
    with open_trace([path]) as store:
        reasons = [reason for (reason,) in store.rows("select reason from rejects")]
    assert "31 values, expected 32, as CREATE TABLE says" in reasons


def test_tables_that_are_there_twice_are_read(tmp_path):
    text = as_dump(EXAMPLES)
    (once, twice) = traces(tmp_path, once=text, twice=text + text)
    assert twice == once
