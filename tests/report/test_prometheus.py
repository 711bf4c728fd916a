"""Facts as Prometheus reads them, by its own parser: every number is there, and nothing else."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

import gwa
from gwa.report.document import Fact
from gwa.report.prometheus import exposition


def parsed(facts, trace="tiny"):
    """Return the samples of an exposition: labels and value, by name."""
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in text_string_to_metric_families(exposition(facts, trace)):
        assert family.type == "gauge"
        assert family.documentation
        for sample in family.samples:
            assert sample.labels["trace"] == trace
            labels = {key: text for key, text in sample.labels.items() if key != "trace"}
            found.setdefault(sample.name, []).append((labels, sample.value))
    return found


def test_every_fact_of_a_trace_that_is_known_is_read_back(sample):
    with gwa.open(sample / "swf" / "tiny.swf") as trace:
        facts = trace.report().facts()
    found = parsed(facts)

    for fact in facts:
        if isinstance(fact.value, int | float):
            name = f"gwa_{fact.id.replace('.', '_')}"
            assert found[name] == [({}, float(fact.value))]
    users: Any = next(fact.value for fact in facts if fact.id == "users.by_jobs")
    assert found["gwa_users_by_jobs_jobs"] == [({"id": user["id"]}, user["jobs"]) for user in users]
    assert found["gwa_window_cut_info"] == [({"value": "both"}, 1.0)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, {}),
        (float("nan"), {}),
        (float("inf"), {}),
        (10**400, {}),
        ([], {}),
        (True, {"gwa_x": [({}, 1.0)]}),
        ("end", {"gwa_x_info": [({"value": "end"}, 1.0)]}),
        ({"period": "2026-11", "jobs": 3}, {"gwa_x_jobs": [({"period": "2026-11"}, 3.0)]}),
        ([{"jobs": 3}, {"jobs": 4}], {"gwa_x_jobs": [({"n": "1"}, 3.0), ({"n": "2"}, 4.0)]}),
        ([3, 4], {"gwa_x": [({"n": "1"}, 3.0), ({"n": "2"}, 4.0)]}),
        ([{"id": "a", "jobs": None}], {"gwa_x_info": [({"id": "a"}, 1.0)]}),
        ([{"trace": "a", "2 x": "b", "jobs": 1}], {"gwa_x_jobs": [({"_trace": "a", "_2_x": "b"}, 1.0)]}),
    ],
)
def test_values_of_every_kind_have_series(value, expected):
    assert parsed([Fact("x", value, "X")]) == expected


def test_ids_that_give_one_name_are_told_apart():
    found = parsed([Fact("a.b_c", 1, "One"), Fact("a_b.c", 2, "Other")])
    assert found == {"gwa_a_b_c": [({}, 1.0), ({"fact": "a_b.c"}, 2.0)]}


def test_what_is_of_all_is_not_mixed_with_what_is_of_each():
    found = parsed([Fact("modal", [{"id": "a", "share": 0.2}], "Each"), Fact("modal.share", 0.5, "All")])
    assert found == {"gwa_modal_each_share": [({"id": "a"}, 0.2)], "gwa_modal_share": [({}, 0.5)]}


texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from('"\\\n'), min_size=1)


@given(texts, texts, texts, st.floats(allow_nan=False, allow_infinity=False))
def test_names_of_any_text_come_back(name, trace, label, value):
    found = parsed([Fact("users", [{"id": name, "share": value}], label.strip() or "x")], trace)
    assert found == {"gwa_users_share": [({"id": name}, value)]}


def test_bytes_of_no_text_are_escaped():
    assert exposition([Fact("x", "\udc80", "X")], "t").encode()
    assert math.isclose(parsed([Fact("x", 0.1 + 0.2, "X")])["gwa_x"][0][1], 0.1 + 0.2, rel_tol=0)
