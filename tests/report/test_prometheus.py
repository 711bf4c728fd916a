"""Facts as Prometheus reads them, by its own parser: every number is there, and nothing else."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

import gwa
from gwa.analysis.watched import MAXIMUM_NAMED, REST, watched
from gwa.formats.append import append
from gwa.report.document import Fact
from gwa.report.prometheus import Counter, Histogram, exposition


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


def test_every_fact_of_a_trace_that_is_known_is_read_back(tiny_report):
    facts = tiny_report.facts()
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


# Histograms and counters, which Prometheus adds up.


def watched_of(store, trace="t"):
    """Return the samples of the histograms and counters of a store, by family."""
    text = exposition([], trace, watched(store))
    return {family.name: family for family in text_string_to_metric_families(text)}


def of_histogram(family):
    """Return the buckets, the sum and the count of each series of a histogram."""
    series: dict[Any, Any] = {}
    for sample in family.samples:
        labels = {key: text for key, text in sample.labels.items() if key not in {"le", "trace"}}
        one = series.setdefault(tuple(sorted(labels.items())), {"buckets": [], "sum": None, "count": None})
        kind = sample.name.rpartition("_")[2]
        if kind == "bucket":
            one["buckets"].append((float(sample.labels["le"]), sample.value))
        else:
            one[kind] = sample.value
    return series


FACTS = {
    "gwa_job_wait_seconds": "jobs.wait",
    "gwa_project_wait_seconds": "jobs.wait",
    "gwa_job_run_seconds": "jobs.runtime",
    "gwa_job_processors": "jobs.procs",
}


@pytest.mark.parametrize("kind", ["swf", "slurm"])
def test_histograms_are_coherent_and_their_sums_are_the_facts(kind, sample, slurm_sample):
    path = slurm_sample if kind == "slurm" else sample / "swf" / "tiny.swf"
    with gwa.open(path) as trace:
        families = watched_of(trace.store)
        facts = {**trace.facts("jobs."), **trace.facts("trace.")}
        columns = "job_id, queue_id, project_id, wait_time, run_time, n_procs, status, n_gpus"
        frame = trace.sql(f"select {columns} from jobs")
    for name, fact in FACTS.items():
        family = families[name]
        assert family.type == "histogram"
        series = of_histogram(family)
        for one in series.values():
            borders, counts = zip(*one["buckets"], strict=True)
            assert list(borders) == sorted(borders)
            assert borders[-1] == math.inf
            assert list(counts) == sorted(counts)
            assert counts[-1] == one["count"] > 0
        count = sum(one["count"] for one in series.values())
        assert sum(one["sum"] for one in series.values()) / count == pytest.approx(
            facts[f"{fact}.mean"], rel=1e-12
        )
    # By pandas, without a line of SQL.
    waits = frame[frame.wait_time.notna()]
    for name, label in (("gwa_job_wait_seconds", "queue"), ("gwa_project_wait_seconds", "project")):
        for labels, one in of_histogram(families[name]).items():
            value, names = dict(labels).get(label), waits[f"{label}_id"]
            rows = waits[names.isna()] if value is None else waits[names == value]
            assert one["count"] == len(rows)
            assert one["sum"] == rows.wait_time.sum()
            assert one["buckets"] == [
                (border, (rows.wait_time <= border).sum()) for border, _ in one["buckets"]
            ]
    held = sum(sample.value for sample in families["gwa_cpu_seconds"].samples)
    assert held == facts["trace.cpu_seconds"]
    ended = sum(sample.value for sample in families["gwa_ended_jobs"].samples)
    assert ended == (frame.status.notna() | frame.run_time.notna()).sum()


def test_labels_are_bounded_and_what_is_left_is_other(make_store):
    rows = [
        (number, f"q{number % 30}" if number % 4 else "other", f"p{number % 17}" if number % 5 else None)
        for number in range(3000)
    ]
    numbers, queues_of, projects_of = zip(*rows, strict=True)
    store = make_store(
        submit_time=[1e9 + number for number in numbers],
        wait_time=[float(number % 97) for number in numbers],
        run_time=[60.0] * len(rows),
        n_procs=[2] * len(rows),
        queue_id=list(queues_of),
        project_id=list(projects_of),
    )
    families = watched_of(store)
    queues = {dict(labels).get("queue") for labels in of_histogram(families["gwa_job_wait_seconds"])}
    series = of_histogram(families["gwa_project_wait_seconds"])
    projects = {dict(labels).get("project") for labels in series}
    assert len(queues) == MAXIMUM_NAMED + 1
    assert REST in queues
    assert len(projects) == MAXIMUM_NAMED + 2
    assert {REST, None} <= projects
    assert sum(one["count"] for one in series.values()) == 3000
    unknown = sum(one["count"] for labels, one in series.items() if "project" not in dict(labels))
    assert unknown == sum(project is None for _, _, project in rows)


def test_counters_only_grow_when_logs_are_appended(slurm_sample, tmp_path):
    header, *lines = slurm_sample.read_text().splitlines()
    out, before = tmp_path / "s.duckdb", dict[Any, float]()
    for month, part in enumerate((lines[:9000], lines[9000:18000], lines[18000:])):
        log = tmp_path / f"{month}.sacct"
        log.write_text("\n".join([header, *part]) + "\n")
        append([log], out)
        with gwa.open(out) as trace:
            counters = [one for one in watched(trace.store) if isinstance(one, Counter)]
            now = {(one.name, labels): value for one in counters for labels, value in one.series.items()}
            assert all(name.endswith("_total") for name, _ in now)
        assert before.keys() <= now.keys()
        assert all(now[key] >= value for key, value in before.items())
        before = now


labels = st.dictionaries(st.sampled_from(["queue", "project"]), texts, max_size=2)


@given(st.lists(st.tuples(labels, st.lists(st.integers(0, 9), min_size=1)), max_size=4), texts)
def test_histograms_of_any_labels_are_read_back(series, trace):
    borders = (1.0, 5.0)
    given_series = {
        tuple(sorted(of.items())): (
            tuple(sum(value <= border for value in values) for border in borders),
            len(values),
            float(sum(values)),
        )
        for of, values in series
    }  # fmt: skip
    text = exposition([], trace, [Histogram("x_seconds", "X", borders, given_series)])
    found = [of_histogram(family) for family in text_string_to_metric_families(text)]
    assert len(found) == bool(given_series)
    for labels_of, (counts, count, total) in given_series.items():
        one = found[0][labels_of]
        assert one == {
            "buckets": [*zip((*borders, math.inf), (*counts, count), strict=True)],
            "sum": total,
            "count": count,
        }  # fmt: skip


def test_facts_and_what_is_watched_share_no_name(slurm_sample, tiny_report):
    with gwa.open(slurm_sample) as trace:
        month = trace.filter(period="2025-10").report()
        names = {
            family.name
            for report in (tiny_report, month)
            for family in text_string_to_metric_families(exposition(report.facts(), "t"))
        }
        assert not names & watched_of(trace.store).keys()
