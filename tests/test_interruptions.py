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
