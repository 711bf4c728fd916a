"""The efficiency of owners: kept sums by user and queue, added up, are those of the jobs themselves."""

import gwa
from gwa.metrics.efficiency import RATIOS, by, overall
from tests.conftest import HOME


def test_sums_of_users_queues_and_all_jobs_are_made_in_one_pass(monkeypatch):
    with gwa.open(HOME / "sample_traces" / "swf" / "tiny.swf") as trace:
        store, order = trace.store, RATIOS["time"]
        fields = ("user_id", "queue_id")
        # A condition that all jobs meet keeps nothing: the jobs are asked each time.
        asked = [by(store, field, order, 5, "1 = 1") for field in fields], overall(store, "1 = 1")
        rows, queries = store.rows, []

        def noted(sql):
            queries.append(sql)
            return rows(sql)

        monkeypatch.setattr(store, "rows", noted)
        assert ([by(store, field, order, 5) for field in fields], overall(store)) == asked
        assert asked[1].jobs == len(trace)
        assert [sql for sql in queries[:3] if "from jobs" in sql] == []
