"""The page on learning: it names all that there is, and its learner learns."""

import re
from typing import Any

import gymnasium
import pytest

from gwa.gym import FEATURES, POLICIES, REWARDS, easy, fcfs, play
from tests.conftest import HOME

PAGE = (HOME / "docs" / "how-to" / "learn.md").read_text()
TINY = HOME / "sample_traces" / "swf" / "tiny.swf"


def first_columns():
    """Return what the first column of each table of the page names."""
    tables = re.findall(r"^\|---.*\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    return [re.findall(r"^\| `([\w/-]+)` \|", table, re.MULTILINE) for table in tables]


def test_the_page_names_environments_columns_rewards_and_policies():
    names, _, columns, rewards, policies = first_columns()
    assert names == [name for name in gymnasium.registry if name.startswith("gwa/")]
    assert columns == list(FEATURES)
    assert rewards == list(REWARDS)
    assert policies == list(POLICIES)


def test_the_page_names_what_info_has():
    info = play(gymnasium.make("gwa/Backfill-v0", workload=TINY, jobs=20), easy, seed=1)
    assert [key for key in info if f"`{key}`" not in PAGE] == []


@pytest.mark.slow
def test_the_learner_of_the_page_beats_first_come_first_served_on_jobs_that_it_has_not_seen():
    (block,) = re.findall(
        r"^## A learner of one page.*?^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE
    )
    names: dict[str, Any] = {}
    exec(block, names)  # noqa: S102 - the page is ours

    slowdowns = names["slowdowns"]
    assert slowdowns["learned"] < slowdowns["fcfs"] / 2
    # Before it has learned, all rows are equal, and it takes the first, as who comes first is served.
    names["weights"][:] = 0
    untaught, first = (
        play(names["held_out"], policy, seed=3)["start"].tolist() for policy in (names["learned"], fcfs)
    )
    assert untaught == first
