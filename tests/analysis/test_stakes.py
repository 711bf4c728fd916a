"""What is at stake in what is to be done: hours that were held, and the largest share first."""

import pytest

from gwa.analysis import stakes
from gwa.analysis.finding import rules
from gwa.analysis.sections.efficiency import efficiency
from gwa.breakdown.charge.rates import Rate, Rates
from gwa.metrics.alert_rules import RULES
from gwa.metrics.alerts import alerts, at_stake
from gwa.report.document import Finding, Table

HOUR = 3600.0
HELD = {"usage.cpu_seconds": 1000 * HOUR, "usage.gpu_seconds": 10 * HOUR}


def alert(rule, hours):
    """Return the facts of an alert of one user."""
    prefix = f"alerts.{rule.replace('-', '_')}"
    counts = {"users": 1, "jobs": 20, "known": 20, "about": 20, "minimum_run": 3600.0}
    return {f"{prefix}.{name}": value for name, value in {**counts, "hours": hours}.items()}


def found(rule, facts):
    return next(one for one in rules() if one.id == rule)(facts)


def test_a_finding_with_an_action_says_what_is_at_stake():
    one = found("low-cpu-use", HELD | alert("low-cpu-use", 400.0))
    assert (one.stake, one.stake_hours, one.stake_share) == (
        "At stake: 400 core-hours, 40 % of all.",
        400,
        0.4,
    )
    one = found("idle-gpu-hours", HELD | alert("idle-gpu-hours", 9.0))
    assert one.stake == "At stake: 9 GPU-hours, 90 % of all."
    one = found("low-cpu-use", alert("low-cpu-use", 400.0))
    assert (one.stake, one.stake_share) == ("At stake: 400 core-hours.", None)


def test_hours_of_alerts_are_of_those_of_all_jobs_where_the_log_does_not_know_all_of_its_load():
    """An alert counts whole jobs; what was held is known of the window of observation."""
    facts = HELD | {"trace.cpu_seconds": 1100 * HOUR}
    one = found("low-cpu-use", facts | alert("low-cpu-use", 1045.0))
    assert one.stake == "At stake: 1,045 core-hours, 95 % of all."
    assert stakes.HeldHours(100.0).share(facts) == 0.1


@pytest.mark.parametrize("rule", ["limit-cpu", "limit-gpu"])
def test_what_was_only_asked_for_is_not_at_stake(rule):
    one = found(rule, HELD | alert(rule, 5000.0))
    assert (one.stake, one.stake_hours) == ("What is at stake is not known in hours.", None)
    assert "hours of requests" in one.text
    assert "of requests" in at_stake(next(each for each in RULES if each.id == rule), 5.0)


def test_outcomes_and_outages_have_core_hours():
    facts = {
        "usage.outcomes.failed": 3 * HOUR,
        "usage.outcomes.limit": None,
        "usage.outcomes.cancelled": HOUR,
    }
    assert stakes.went_into("limit", "failed", "cancelled")(facts) == stakes.HeldHours(4.0)
    assert stakes.went_into("limit")(facts) is None
    outages = {"trace.cpus": 100, "trace.cpus_inferred": False, "capacity.outages.seconds": 2 * HOUR}
    assert stakes.nothing_ran(outages) == stakes.HeldHours(200.0)
    assert stakes.nothing_ran(outages | {"trace.cpus_inferred": True}) is None


def test_the_largest_share_comes_first_and_what_is_unknown_last():
    made = [
        Finding("small", "", "", "", 0.9, action="Do.", stake_hours=53_699.0, stake_share=0.023),
        Finding("unknown", "", "", "", 1.0, action="Do."),
        Finding("large", "", "", "", 0.1, action="Do.", stake_hours=929_000.0, stake_share=0.4),
        Finding("no-total", "", "", "", 0.1, action="Do.", stake_hours=7.0),
    ]
    assert [one.id for one in sorted(made, key=lambda one: one.priority)] == [
        "large", "small", "no-total", "unknown",
    ]  # fmt: skip


def test_who_could_ask_for_less_are_those_for_whom_the_alert_holds(make_store):
    """Ann's few long jobs are asked for far too long; Bob's many short ones leave more unused in each."""
    ann, bob = 40, 60
    store = make_store(
        submit_time=[1e9 + n for n in range(ann + bob)], wait_time=[0.0] * (ann + bob),
        run_time=[7200.0] * ann + [3000.0] * bob, req_time=[360_000.0] * ann + [720_000.0] * bob,
        n_procs=[64] * (ann + bob), status=[1] * (ann + bob), user_id=["ann"] * ann + ["bob"] * bob,
    )  # fmt: skip
    due = {holder.name for one in alerts(store) if one.rule.id == "limit-cpu" for holder in one.holders}
    assert due == {"ann"}
    (table,) = (
        block
        for block in efficiency.blocks(store)
        if isinstance(block, Table) and block.id == "requests-time"
    )
    assert {row[0] for row in table.rows} == due
    assert table.columns[-1].label == "Requested and not needed"


def test_gpu_hours_are_a_share_of_those_of_whole_gpus_where_jobs_held_parts():
    held = HELD | {"usage.whole_gpu_seconds": 2 * HOUR}
    assert found("idle-gpu-hours", held | alert("idle-gpu-hours", 1.0)).stake_share == pytest.approx(0.5)
    assert found("low-cpu-use", held | alert("low-cpu-use", 400.0)).stake_share == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("price", "has_parts", "worth"),
    [
        ({"gpu_hour": 2.0}, False, 40.0),
        ({"gpu_hour": 2.0}, True, None),
        ({"whole_gpu_hour": 2.0}, True, 40.0),
    ],
)
def test_a_price_of_gpus_as_they_are_counted_is_not_of_whole_ones(price, has_parts, worth):
    rates = Rates(currency="EUR", rates=(Rate(name="all", **price),))
    one = Finding("gpus", "", "", "", 0.1, action="Do.", stake_hours=20.0, stake_unit="GPU-hours")
    assert stakes.priced(one, rates, has_parts=has_parts).stake_price == worth


def test_at_stated_rates_money_is_what_comes_first():
    """A GPU-hour at 50 times the price of a core-hour weighs more than a larger share of the core-hours."""
    made = [
        Finding("cores", "", "", "", 0.1, action="Do.", stake="At stake: 400 core-hours.", stake_hours=400.0,
                stake_share=0.4, stake_unit="core-hours"),
        Finding("gpus", "", "", "", 0.1, action="Do.", stake="At stake: 20 GPU-hours.", stake_hours=20.0,
                stake_share=0.1, stake_unit="GPU-hours"),
        Finding("nodes", "", "", "", 0.1, action="Do.", stake_hours=20.0, stake_share=0.1,
                stake_unit="node-hours"),
    ]  # fmt: skip
    rate = Rate(name="all", cpu_hour=0.02, gpu_hour=1.0)
    rates = Rates(currency="EUR", rates=(rate,))
    told = [stakes.priced(one, rates, has_parts=False) for one in made]
    assert [one.stake_price for one in told] == [pytest.approx(8.0), pytest.approx(20.0), None]
    assert told[0].stake == "At stake: 400 core-hours. At the rates that is 8 EUR."
    assert [one.id for one in sorted(told, key=lambda one: one.priority)] == ["gpus", "cores", "nodes"]
