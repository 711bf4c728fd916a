"""Of which logs a page says what was true while jobs waited."""

import pytest

from gwa.analysis.waiting_bar import waiting_bar


@pytest.mark.parametrize(
    ("waits", "is_shown"), [([0.0, 0.0], False), ([None, None], False), ([0.0, 5.0], True)]
)
def test_a_log_in_which_no_job_waited_has_no_bar(make_store, waits, is_shown):
    store = make_store(submit_time=[0.0, 9.0], wait_time=waits, run_time=[60.0] * 2, n_procs=[1, 2])
    assert (waiting_bar(store) is not None) == is_shown
