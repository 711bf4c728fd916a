"""Commands that are killed, or whose disk fails, at an event of the file system: repeated, they end right."""

import pytest

from tests.interruptions import COMMANDS, INTERRUPTIONS, campaign


def check(row):
    """Assert what must hold of every row of a campaign."""
    assert row["kills"], row
    assert not row["half_outputs"], row
    assert not row["leftovers"], row
    assert not row["messages_wrong"], row
    assert row["reruns_right"] == row["kills"], row


@pytest.mark.parametrize("by", INTERRUPTIONS)
def test_a_command_that_is_killed_or_fails_is_repeated(by, tmp_path):
    """At a few steps only; the slow tests take all."""
    for row in campaign(tmp_path, 2, ["append"], by):
        check(row)


IN_FLIGHT = """
from gwa.ingest import in_flight, pipeline
from gwa.store.engines import duckdb
pipeline.SMALL_SOURCE, duckdb.usable_cores = 0, lambda: 3
in_flight.MINIMUM_BYTES, in_flight.ROWS_OF_GROUP, in_flight.LINES_BEYOND = 1, 3, 1
"""
"""Code that lets three workers load the blocks of a log of a few lines."""


@pytest.mark.parametrize("by", ["kill at a moment", "full disk"])
def test_blocks_in_flight_leave_nothing_behind(by, tmp_path):
    """At a few steps only; the slow tests take sixty."""
    for row in campaign(tmp_path, 2, ["convert to duckdb"], by, IN_FLIGHT):
        check(row)


@pytest.mark.slow
@pytest.mark.parametrize("by", ["kill", "kill at a moment", "kill while writing", "full disk", "fault"])
def test_blocks_in_flight_leave_nothing_behind_at_any_step(by, tmp_path):
    for row in campaign(tmp_path, 60, ["convert to duckdb", "convert several"], by, IN_FLIGHT):
        check(row)


MOST = {"model rank": 40, "site build": 60}
"""The number of kills of commands that take long; others are killed at every event."""


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_is_killed_at_any_event_is_repeated(name, tmp_path):
    (row,) = campaign(tmp_path, MOST.get(name, 0), [name])
    check(row)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("by", [by for by in INTERRUPTIONS if by != "kill"])
def test_a_disk_that_fails_at_any_step_is_said_in_a_line(name, by, tmp_path):
    (row,) = campaign(tmp_path, 10, [name], by)
    check(row)
