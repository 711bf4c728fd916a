"""Cells of few jobs are withheld, and no total tells them: what is left, and the bounds of all jobs."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from gwa.breakdown import cube as cubes
from gwa.breakdown.cube import Grain, cube
from gwa.cli.cube import command
from gwa.cli.sample import command as sample_command
from gwa.errors import ArgumentError

DAY = 86_400.0


def rows(table):
    return [tuple(row.values()) for row in table.to_pylist()]


@pytest.fixture
def several(make_store):
    """Return a store of users with 1 to 6 jobs in each of 40 days."""
    jobs = [
        (DAY * day + 60 * number, f"u{user}")
        for day in range(40)
        for user in range(5)
        for number in range((day * user) % 6 + 1)
    ]
    submit, user = map(list, zip(*jobs, strict=True))
    ones = [1] * len(jobs)
    return make_store(submit_time=submit, user_id=user, run_time=[2.5 * DAY] * len(jobs), n_procs=ones)


@pytest.mark.parametrize("minimum", [3, 4, 7])
@pytest.mark.parametrize("days", [1, 7])
def test_cells_of_fewer_jobs_are_not_there_and_all_others_are(several, minimum, days, monkeypatch):
    monkeypatch.setattr(cubes, "GRAINS", (Grain(days, 100, 2),))
    whole, public = cube(several), cube(several, minimum)
    told = public.withheld
    assert told is not None

    assert set(rows(public.jobs)) <= set(rows(whole.jobs))
    assert all(row["jobs"] >= minimum for row in public.jobs.to_pylist())
    missing = [row["jobs"] for row in whole.jobs.to_pylist() if row not in public.jobs.to_pylist()]
    assert len(missing) == told.jobs != 1
    assert sum(count >= minimum for count in missing) == (sum(count < minimum for count in missing) == 1)
    total = sum(row["jobs"] for row in whole.jobs.to_pylist())
    assert told.at_least <= total <= told.at_most
    assert told.jobs == 0 or told.at_least < told.at_most
    assert set(rows(public.usage)) <= set(rows(whole.usage))
    assert whole.usage.num_rows - public.usage.num_rows == told.usage


def test_usage_of_few_jobs_goes_too(several, monkeypatch):
    """A job runs for two days and a half: who submitted nothing today may hold something."""
    monkeypatch.setattr(cubes, "GRAINS", (Grain(1, 100, 2),))
    frame = several.frame()
    public = cube(several, 4).usage.to_pandas()
    for (day, user), cell in public.groupby(["day", "users"]):
        own = frame[frame.user_id == user]
        held = own[(own.submit_time < (day + 1) * DAY) & (own.submit_time + own.run_time > day * DAY)]
        assert len(held) >= 4, (day, user, cell)


@given(st.lists(st.integers(1, 20), min_size=1, max_size=30), st.integers(2, 10))
def test_one_cell_is_never_withheld_alone(counts, minimum):
    count = np.array(counts)
    kept = cubes._shown(count, minimum)  # noqa: SLF001
    gone = count[~kept]

    assert not (count[kept] < minimum).any()
    assert gone.size != 1 or count.size == 1
    if (count < minimum).sum() != 1:
        assert (gone < minimum).all()
    elif count.size > 1:
        assert sorted(gone) == sorted(count)[:2]


def test_without_a_minimum_nothing_is_withheld(several):
    assert cube(several).withheld is None
    assert "held_by" not in cube(several).usage.column_names
    with pytest.raises(ArgumentError, match="minimum is 2, expected at least 3"):
        cube(several, 2)


def test_the_command_states_the_minimum_and_bounds(tmp_path):
    log = tmp_path / "sample.sacct"
    assert CliRunner().invoke(sample_command, ["-o", str(log)]).exit_code == 0
    done = CliRunner().invoke(command, [str(log), "-o", str(tmp_path / "cube"), "--minimum", "3"])
    said = json.loads((tmp_path / "cube" / "grain.json").read_text())["withheld"]

    assert done.exit_code == 0
    assert said["minimum"] == 3
    assert said["at_least"] < said["at_most"]
    assert f"{said['jobs']:,} cells of jobs" in done.stderr
    assert f"the log has {said['at_least']:,} to {said['at_most']:,} jobs" in done.stderr
