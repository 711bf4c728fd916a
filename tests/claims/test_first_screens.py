"""First screens say nothing false in worlds where that would be easy, and what must be said in others."""

import numpy as np
import pytest

from tests.claims.first_screens import SHARED, WORLDS, Expectation, screen, screens, swf, violations

FALSE_SHARE = 0.05
FALSE_OF_ANY = 0.09
SEEDS = 100


@pytest.mark.parametrize("name", WORLDS)
def test_a_first_screen_is_true(name, tmp_path):
    maker, expected = WORLDS[name]
    path = tmp_path / f"{name}.swf"
    path.write_text(swf(maker(np.random.default_rng(1))))
    text = screen(path)
    assert not violations(text, expected), text


def test_what_is_false_or_unsaid_is_found():
    expected = Expectation((r"\boutages?\b",), (r"rows are missing",))
    assert violations("2 outages", expected) == [r"\boutages?\b", "not rows are missing"]
    assert violations("Rows are missing.", expected) == []


@pytest.mark.slow
def test_false_first_screens_are_rare(tmp_path):
    """At most 5 % of all first screens say something false, and 9 of 100 in any world."""
    wrong: dict[str, int] = {}
    for seed in range(1, SEEDS + 1):
        folder = tmp_path / str(seed)
        folder.mkdir()
        for name, text, expected in screens(seed, folder):
            wrong[name] = wrong.get(name, 0) + bool(violations(text, expected))
    print(wrong)  # noqa: T201
    assert sum(wrong.values()) <= FALSE_SHARE * SEEDS * len(wrong)
    assert max(wrong.values()) <= FALSE_OF_ANY * SEEDS
    assert len(wrong) == len(WORLDS) + (11 if SHARED.exists() else 0)
