"""Which nodes are said to fail by the states of jobs, in worlds in which they do not."""

import pytest

from gwa.analysis.sections.hosts import nodes_by_name
from gwa.metrics.node_incidents import Lost, failed_nodes, incidents, judged
from gwa.report.document import Note
from tests.claims.node_incidents import BAD, WORLDS, rates

LOGS = 100
DAY = 86_400.0


@pytest.mark.parametrize("world", WORLDS)
def test_hardly_a_sound_node_is_named(world):
    wrongly, _ = rates(world, LOGS)
    assert wrongly <= 0.05


def test_a_node_that_fails_twenty_times_as_often_is_found_in_many_logs():
    _, found = rates("one node fails", LOGS)
    assert found >= 0.35


def test_jobs_of_a_day_are_one_incident_and_those_of_several_nodes_none():
    lost = [
        *(Lost("a", "", moment * DAY) for moment in (0, 0, 0.9, 1.8, 4)),
        *(Lost(node, "", 10 * DAY + place) for place, node in enumerate("bcd")),
        *(Lost(node, "", 20 * DAY + place) for place, node in enumerate("bc")),
    ]
    found = [(one.host, one.moment / DAY) for one in incidents(lost)]
    assert found == [("a", 0), ("a", 4), ("b", 20), ("c", pytest.approx(20, abs=1e-4))]


def test_chance_is_by_partition():
    """All incidents of a part are of its only node, which says nothing of the node."""
    found = [Lost("a", "small", moment * 2 * DAY) for moment in range(9)]
    (one,) = judged(found, {("a", "small"): 1.0, **{(f"n{place}", "large"): 1.0 for place in range(50)}})
    assert (one.incidents, one.expected, one.is_named) == (9, 9.0, False)


def test_a_node_is_named_in_the_section_and_jobs_on_several_nodes_count_for_none(make_store):
    jobs = 400
    nodes = [f"n{place % 20:02}" for place in range(jobs)]
    lost = set(range(7, jobs, 80))
    store = make_store(
        submit_time=[1e9 + place * DAY / 8 for place in range(jobs)],
        wait_time=[0.0] * jobs,
        run_time=[36_000.0] * jobs,
        n_procs=[8] * jobs,
        status=[int(place not in lost) for place in range(jobs)],
        state=["NODE_FAIL" if place in lost or place % 20 == 3 else "COMPLETED" for place in range(jobs)],
        user_id=[f"U{place % 7}" for place in range(jobs)],
        node_list=[node if place % 20 != 3 else "n[01-02]" for place, node in enumerate(nodes)],
    )  # fmt: skip
    every, found = failed_nodes(store)
    assert (every, [one.name for one in found if one.is_named]) == (len(lost), [BAD])
    notes = [block.text for block in nodes_by_name.section(store).blocks if isinstance(block, Note)]
    assert any(str(note).startswith("n07 failed under jobs more often than chance: 5 of 5") for note in notes)
