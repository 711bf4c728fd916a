"""What the section on outages and gaps says."""

import numpy as np
import pytest

from gwa.metrics.stillness import stillness
from gwa.store.engines.spark_sql import to_spark_sql
from tests.analysis.sections.blocks import ABSOLUTE, facts, notes, tables
from tests.claims.machine import Machine
from tests.claims.worlds import DAY, HOUR, MONDAY
from tests.conftest import queries_of

BEGIN = MONDAY + 40 * DAY


def stored(make_store, log):
    return make_store(ABSOLUTE, **{name: np.asarray(values).tolist() for name, values in log.items()})


def test_an_outage_stands_in_the_facts_and_in_the_table(section, make_store):
    log = Machine(load=0.8, days=70).log(np.random.default_rng(5), ((BEGIN, BEGIN + 20 * HOUR),))
    made = section("stretches", stored(make_store, log))
    said = facts(made)

    (row,) = tables(made)["stretches"].rows
    assert said["capacity.outages.count"] == 1
    assert said["capacity.outages.seconds"] == row[3] == pytest.approx(20 * HOUR, rel=0.1)
    assert said["capacity.idle_seconds"] >= said["capacity.outages.seconds"]
    assert said["stretches"][0]["jobs"] == row[4] > 0
    assert said["stretches"][0]["seconds"] == said["capacity.outages.seconds"]
    assert said["capacity.still.days.count"] == said["capacity.still.days.seconds"] == 0
    assert [said[f"capacity.{kind}.count"] for kind in ("missing", "still", "silent")] == [0, 0, 0]
    assert said["utilization.known_mean"] > 0


def test_a_log_without_an_outage_says_so_and_one_without_waits_does_not(section, make_store):
    log = Machine(load=0.8, days=70).log(np.random.default_rng(5), ())
    said = "No outage of the whole machine of two hours or more is seen, and no gap."
    assert notes(section("stretches", stored(make_store, log))) == said
    without = {name: values for name, values in log.items() if name != "wait_time"}
    assert said not in notes(section("stretches", stored(make_store, without)))


def test_no_mean_is_taken_across_stillness_of_days(section, make_store):
    outage = (BEGIN, BEGIN + 20 * DAY)
    log = Machine(load=0.8, days=91).log(np.random.default_rng(5), (outage,), closed=True)
    store = stored(make_store, log)
    said = facts(section("stretches", store))

    (still,) = said["stretches"]
    assert (
        still["unknown_begin"] == log["submit_time"][log["submit_time"] < still["end"]].max() < still["begin"]
    )
    assert said["capacity.unaccounted_seconds"] == still["end"] - still["unknown_begin"]
    assert said["capacity.unaccounted_seconds"] > said["capacity.still.seconds"] > 19 * DAY
    assert said["capacity.still.days.count"] == 1
    assert said["capacity.still.days.seconds"] == said["capacity.still.seconds"]
    mean = facts(section("utilization", store))["utilization.mean"]
    assert said["utilization.known_mean"] > 1.2 * mean


def test_a_period_leaves_out_what_the_whole_log_does(make_store):
    """Also where it ends before the stillness itself, or has less than a day of it."""
    log = Machine(load=0.8, days=91).log(np.random.default_rng(5), ((BEGIN, BEGIN + 20 * DAY),), closed=True)
    store = stored(make_store, log)
    (gap,) = stillness(store).unaccounted
    (still,) = stillness(store).stretches
    assert gap.begin < still.begin
    for last in ((gap.begin + still.begin) / 2, still.begin + DAY / 2):
        (part,) = stillness(store.filtered("true", (gap.begin - 30 * DAY, last))).unaccounted
        assert (part.begin, part.end) == (gap.begin, last)


def test_without_waits_outages_are_unknown_and_not_none(section, make_store):
    log = Machine(load=0.8, days=70).log(np.random.default_rng(5))
    del log["wait_time"]
    said = facts(section("stretches", stored(make_store, log)))
    assert said["capacity.outages.count"] is None
    assert said["capacity.idle"] is not None
    del log["run_time"]
    said = facts(section("stretches", stored(make_store, log)))
    assert [said[f"capacity.{name}"] for name in ("idle", "still.count", "silent.count")] == [None, None, 0]


def test_times_a_century_apart_are_said_to_be_wrong(section, make_store):
    made = section("stretches", make_store(submit_time=[0.0, 1e10], run_time=[1.0, 1.0], n_procs=[1, 1]))
    assert "some times in the log are wrong" in notes(made)


def test_all_its_queries_have_a_counterpart_in_spark(make_store, monkeypatch):
    """Waits and levels are asked for only where jobs wait, and numbers only where a log is silent."""
    log = Machine(load=0.8, days=91).log(
        np.random.default_rng(5), ((BEGIN, BEGIN + 20 * HOUR), (BEGIN + 20 * DAY, BEGIN + 21 * DAY))
    )
    kept = ~((log["submit_time"] > BEGIN + 30 * DAY) & (log["submit_time"] < BEGIN + 40 * DAY))
    store = stored(make_store, {name: values[kept] for name, values in log.items()})
    asked = queries_of(store, monkeypatch)

    assert {one.kind for one in stillness(store).stretches} >= {"outage", "still"}
    assert any("freed" in sql for sql in asked)
    assert any("looked" in sql and "queued" in sql for sql in asked)
    assert any("job_numbers" in sql for sql in asked)
    assert all(to_spark_sql(sql) for sql in asked)
