"""The reader of columns that are named: every line of a log of such a format is in the account."""

import pytest

from gwa.formats.open import open_trace
from tests.conftest import HOME

SAMPLES = {
    "alibaba-gpu2025": "disaggregated_DLRM_trace.csv",
    "alibaba-spot2026": "job_info_df.csv",
    "slurm": "sacct-2024.txt",
}
FOREIGN = (HOME / "sample_traces/gwf/three-trees.gwf").read_bytes()


def test_all_formats_of_this_reader_are_tried():
    texts = {path.stem: path.read_text() for path in (HOME / "converters").glob("*.sql")}
    assert {name for name, text in texts.items() if 'reader = "named"' in text} == SAMPLES.keys()


def account_of(name, data, tmp_path):
    path = tmp_path / SAMPLES[name]
    path.write_bytes(data)
    with open_trace([path], name) as store:
        store.account.check()
        return store.account


@pytest.mark.parametrize("name", SAMPLES)
def test_each_line_of_another_log_is_refused(name, tmp_path):
    """Where no check told that they are no rows, ten of them became one."""
    own = (HOME / "sample_traces" / name / SAMPLES[name]).read_bytes()
    alone, mixed = account_of(name, own, tmp_path), account_of(name, own + FOREIGN, tmp_path)
    assert (mixed.rows, mixed.jobs) == (alone.rows + FOREIGN.count(b"\n"), alone.jobs)
    assert mixed.rejected == alone.rejected + FOREIGN.count(b"\n")


@pytest.mark.parametrize("name", ["alibaba-gpu2025", "alibaba-spot2026"])
def test_lines_are_not_put_together_where_no_check_tells_a_row(name, tmp_path):
    lines = (HOME / "sample_traces" / name / SAMPLES[name]).read_bytes().splitlines()
    *first, rest = lines[2].split(b",", 3)
    broken = [*lines[:2], b",".join([*first, b""]), rest, *lines[3:]]
    found = account_of(name, b"\n".join([*broken, b""]), tmp_path)
    assert (found.rows, found.rejected, found.jobs) == (len(lines) + 1, 2, len(lines) - 2)
