"""When and whose jobs failed, against the jobs themselves."""

import numpy as np
import pytest

from tests.analysis.sections.blocks import ABSOLUTE, DAY, START, facts, figures, tables


@pytest.fixture
def given():
    """Return jobs of 80 days of three users; some have no outcome, some never ran."""
    rng = np.random.default_rng(4)
    many = 300
    status = rng.choice([1, 0, 5, -1], many, p=[0.6, 0.2, 0.1, 0.1])
    return {
        "submit_time": (START + np.sort(rng.integers(0, int(80 * DAY), many))).astype(float).tolist(),
        "wait_time": rng.integers(0, 90_000, many).astype(float).tolist(),
        "run_time": [None if one < 0.1 else float(round(one * 9000)) for one in rng.random(many)],
        "n_procs": rng.integers(1, 9, many).tolist(),
        "status": [None if one < 0 else int(one) for one in status],
        "user_id": rng.choice(["ann", "bob", "eve"], many, p=[0.6, 0.3, 0.1]).tolist(),
    }


def expected(given, key):
    """Return the counts and lost CPU seconds of each class of jobs by its name."""
    found: dict[str, list[float]] = {}
    for job in (dict(zip(given, row, strict=True)) for row in zip(*given.values(), strict=True)):
        if job["status"] is None:
            continue
        row = found.setdefault(key(job), [0, 0, 0, 0.0])
        row[0] += 1
        row[1] += job["status"] == 0
        row[2] += job["status"] == 5
        row[3] += job["n_procs"] * (job["run_time"] or 0.0) if job["status"] != 1 else 0.0
    return found


def month(job):
    ended = job["submit_time"] + job["wait_time"] + (job["run_time"] or 0.0)
    return str(np.datetime64(int(ended), "s").astype("datetime64[M]"))


@pytest.mark.parametrize(("name", "key"), [("month", month), ("user", lambda job: job["user_id"])])
def test_failures_are_counted_by_month_and_by_user(section, make_store, given, name, key):
    made = section("outcomes", make_store(ABSOLUTE, **given))
    rows = facts(made)[f"jobs.ended_by_{name}"]
    found = {
        row["id"]: [row[part] for part in ("jobs", "failed", "cancelled", "cpu_seconds")] for row in rows
    }
    assert found == expected(given, key)
    assert [row["share"] for row in rows] == [
        (row["failed"] + row["cancelled"]) / row["jobs"] for row in rows
    ]


def test_users_are_listed_by_their_failures(section, make_store, given):
    made = section("outcomes", make_store(ABSOLUTE, **given))
    lost = [row[2] + row[3] for row in tables(made)["outcomes-users"].rows]
    assert lost == sorted(lost, reverse=True)
    assert len(figures(made)["outcomes-months"].data["values"]) == len(tables(made)["outcomes-months"].rows)


def test_where_all_jobs_completed_no_user_is_listed(section, make_store, given):
    made = section("outcomes", make_store(ABSOLUTE, **{**given, "status": [1] * 300}))
    assert set(tables(made)) == {"outcomes"}
    assert not figures(made)
