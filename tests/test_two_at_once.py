"""Two commands that write the same: no letter twice, no note lost, no half output, no wait for ever."""

import pytest

from tests.interleaving import PAIRS, campaign

QUICK = ("letters", "measure", "anonymize", "months", "collect", "deposit")
"""Those that take little, of each kind of output."""


@pytest.mark.parametrize("name", QUICK)
def test_two_commands_at_once(name, tmp_path):
    """At a few events only; the slow test takes more."""
    assert campaign(tmp_path, name, 3) == []


def test_the_test_sees_two_commands_that_do_not_exclude_each_other(tmp_path):
    plant = "from contextlib import nullcontext; from gwa.util import cool_down"
    plant += "; cool_down.exclusive = lambda *_: nullcontext()"
    assert campaign(tmp_path, "letters", 12, plant)


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
def test_two_commands_at_once_at_fifty_events(name, tmp_path):
    assert campaign(tmp_path, name, 50) == []
