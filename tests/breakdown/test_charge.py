"""Charges: exact to the cent against a computation of its own, and refused where anything is not known."""

import json
import tomllib
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gwa
from gwa.breakdown.breakdown import breakdown
from gwa.breakdown.charge.became import ORDER
from gwa.breakdown.charge.pages import bar
from gwa.breakdown.charge.rates import EXAMPLE, from_table
from gwa.breakdown.charge.statements import EarlierStatements, corrections, statements
from gwa.breakdown.dimensions import by_name
from gwa.errors import ArgumentError, DefinitionError, TraceError
from gwa.store.engines.spark_sql import to_spark_sql
from gwa.store.schema import NAMES
from gwa.store.store import Store
from tests.breakdown.charging import PRICES, charges, month_bounds
from tests.conftest import examples, filled

ZONE = "Europe/Berlin"
HEADER = (("Times", "Unix seconds, UTC"), ("TimeZoneString", ZONE))
OCTOBER = month_bounds(2025, 10, ZONE)
NODE = {"node_cores": 12, "node_memory": 50_000_000, "node_gpus": 3}
NODE_HEADER = (
    ("ProcessorsPerNode", "12"), ("MemoryPerNode", "50000000"), ("GPUsPerNode", "3"),
)  # fmt: skip
PLAIN = {"currency": "EUR", "rates": [{"name": "All", "cpu_hour": 0.01, "gpu_hour": 1}]}


def amounts(made):
    """Return the amount of each project."""
    return {project: one.total for project, one in made.by_project().items() if one.lines}


def rows(store):
    """Return the jobs of a store as mappings."""
    return [dict(zip(NAMES, row, strict=True)) for row in store.rows(f"select {', '.join(NAMES)} from jobs")]


def known_end(store):
    """Return when the log ends: the last submission or end."""
    return max(
        job["submit_time"] + (job["wait_time"] or 0) + (job["run_time"] or 0)
        for job in rows(store)
        if job["submit_time"] is not None
    )


# --- By hand ---


def test_hours_times_a_rate_by_hand(make_store):
    """Two processors for 3 h, and 4 GPUs for half an hour: 6 core hours, 2 GPU hours and their 8 cores."""
    noon = OCTOBER[0] + 12 * 3600.0
    store = make_store(
        HEADER, submit_time=[noon, noon], wait_time=[0.0, 60.0], run_time=[10_800.0, 1800.0],
        n_procs=[2, 8], n_gpus=[None, 4.0], status=[1, 1], project_id=["a", "b"],
    )  # fmt: skip
    made = statements(store, from_table(PLAIN), "2025-10")

    assert amounts(made) == {"a": Decimal("0.06"), "b": Decimal("2.04")}
    assert [(line.service, int(line.quantity), line.jobs) for line in made.lines] == [
        ("cpu_hour", 6, 1), ("cpu_hour", 4, 1), ("gpu_hour", 2, 1),
    ]  # fmt: skip


def test_shares_of_gpus_have_prices_of_their_own(make_store):
    held = [
        "cpu:2,gres/shard:3,gres/shard:a100:3",
        "cpu:2,gres/shard:a100:4",
        "cpu:2,gres/mps:50",
        "cpu:2",
        None,
    ]
    jobs = len(held)
    store = make_store(
        HEADER, submit_time=[OCTOBER[0] + 60.0] * jobs, wait_time=[0.0] * jobs, run_time=[7200.0] * jobs,
        n_procs=[2] * jobs, project_id=[*"abcde"], status=[1] * jobs, used_resources=held,
    )  # fmt: skip
    rate = {"name": "Shares", "cpu_hour": 0, "shard_hour": 0.25, "mps_hour": 0.01}
    made = statements(store, from_table({"currency": "EUR", "rates": [rate]}), "2025-10")

    assert [str(amount) for amount in (line.amount for line in made.lines) if amount] == [
        "1.50",
        "2.00",
        "1.00",
    ]


def parts_of_gpus(make_store, price):
    """Return the statements of an hour of two instances, a GPU, one without a profile, and of none."""
    store = make_store(
        HEADER, submit_time=[OCTOBER[0] + 60.0] * 4, wait_time=[0.0] * 4, run_time=[3600.0] * 4,
        n_procs=[1] * 4, project_id=[*"abcd"], status=[1] * 4, n_gpus=[2.0, 1.0, 1.0, 0.0],
        gpu_type=["a100_1g.5gb", "a100", "mig", None],
    )  # fmt: skip
    rates = {"currency": "EUR", "rates": [{"name": "All", "cpu_hour": 0, price: 7}]}
    return statements(store, from_table(rates), "2025-10")


def test_a_part_of_a_gpu_costs_its_slice_where_whole_gpus_have_a_price(make_store):
    made = parts_of_gpus(make_store, "whole_gpu_hour")
    assert {name: str(amount) for name, amount in amounts(made).items() if amount} == {
        "a": "2.00",
        "b": "7.00",
    }
    assert [(one.project, one.lacking, one.jobs) for one in made.uncharged] == [("c", "parts of GPUs", 1)]


def test_parts_of_gpus_add_up_exactly(make_store):
    """A seventh is no whole number of millionths: at this price the difference would be ten cents."""
    store = make_store(
        HEADER, submit_time=[OCTOBER[0] + 60.0], wait_time=[0.0], run_time=[3600.0], n_procs=[1],
        project_id=["a"], status=[1], n_gpus=[1.0], gpu_type=["a100_1g.5gb"],
    )  # fmt: skip
    rate = {"name": "All", "cpu_hour": 0, "whole_gpu_hour": 700_000}
    (paid,) = [
        line.amount
        for line in statements(store, from_table({"currency": "EUR", "rates": [rate]}), "2025-10").lines
        if line.amount
    ]
    assert str(paid) == "100000.00"


def test_the_price_of_a_gpu_is_of_one_as_the_scheduler_counts(make_store):
    made = parts_of_gpus(make_store, "gpu_hour")
    paid = {name: str(amount) for name, amount in amounts(made).items() if amount}
    assert paid == {"a": "14.00", "b": "7.00", "c": "7.00"}
    assert not made.uncharged


def test_gpus_have_one_price():
    rate = {"name": "All", "cpu_hour": 0, "gpu_hour": 1, "whole_gpu_hour": 1}
    with pytest.raises(DefinitionError, match="expected one price of GPUs"):
        from_table({"currency": "EUR", "rates": [rate]})


def test_a_job_over_the_end_of_a_month_is_charged_in_both_for_its_seconds(make_store):
    store = make_store(
        HEADER, submit_time=[OCTOBER[1] - 1800.4], wait_time=[0.0], run_time=[7200.0], n_procs=[100],
        project_id=["a"], status=[1],
    )  # fmt: skip
    both = [statements(store, from_table(PLAIN), period).lines[0] for period in ("2025-10", "2025-11")]

    assert [line.units for line in both] == [100 * 1800, 100 * 5400]


def test_october_has_an_hour_more_where_clocks_go_back(make_store):
    store = make_store(
        HEADER, submit_time=[OCTOBER[0] - 86_400.0], wait_time=[0.0], run_time=[50 * 86_400.0], n_procs=[1],
        project_id=["a"], status=[1],
    )  # fmt: skip
    made = statements(store, from_table(PLAIN), "2025-10")

    assert made.lines[0].quantity == 31 * 24 + 1


def test_a_job_of_a_second_is_charged_for_the_minimum_even_across_months(make_store):
    rates = from_table({"currency": "EUR", "rates": [{"name": "A", "cpu_hour": 36, "minimum_seconds": 60}]})
    store = make_store(
        HEADER, submit_time=[OCTOBER[1] - 20.0, OCTOBER[1] - 9000.0], wait_time=[0.0, 0.0],
        run_time=[1.0, 0.0], n_procs=[1, 1], project_id=["a", "b"], status=[1, 1],
    )  # fmt: skip
    made = statements(store, rates, "2025-10..2025-11")

    assert [(line.project, line.part.name, line.units) for line in made.lines] == [
        ("a", "2025-10", 20), ("a", "2025-11", 40), ("b", "2025-10", 60),
    ]  # fmt: skip
    assert made.total == Decimal("1.20")


def test_a_job_that_held_nothing_needs_no_rate(make_store):
    """No rate fits it, so that it has no minimum either."""
    rate = {"name": "A", "queues": ["q"], "cpu_hour": 1, "minimum_seconds": 60}
    store = make_store(
        HEADER, submit_time=[OCTOBER[0] + 0.0], wait_time=[0.0], run_time=[0.25], n_procs=[1], status=[1],
        queue_id=["other"],
    )  # fmt: skip

    assert statements(store, from_table({"currency": "EUR", "rates": [rate]}), "2025-10").lines == []


def test_what_the_amount_went_into_adds_up_to_it_and_earlier_runs_are_apart(make_store):
    store = make_store(
        HEADER,
        submit_time=[OCTOBER[0] + 3600.0] * 4,
        wait_time=[0.0] * 4,
        run_time=[7200.0, 3600.0, 3600.0, 1800.0],
        n_procs=[2, 1, 3, 4],
        status=[1, 0, 5, 1],
        project_id=["a", "a", "a", "b"],
        runs=[None, None, None, "0/1800/////requeued;3600/1800/////completed"],
    )
    made = statements(
        store, from_table({"currency": "EUR", "rates": [{"name": "all", "cpu_hour": 1}]}), "2025-10"
    )
    assert made.became["a"] == {
        **dict.fromkeys(ORDER, 0), "finished": 4, "failed": 1, "cancelled": 3,
    }  # fmt: skip
    assert made.became["b"] == {**dict.fromkeys(ORDER, 0), "finished": 2, "restarted": 2}
    assert sum(sum(parts.values()) for parts in made.became.values()) == made.total

    segments, below = bar(made.by_project()["b"])
    assert [(one.id, one.share) for one in segments] == [("finished", 0.5), ("restarted", 0.5)]
    assert [str(one.text) for one in below] == ["50 %", "50 %"]


def test_running_jobs_are_charged_until_the_log_ends(make_store):
    store = make_store(
        HEADER, submit_time=[OCTOBER[0] + 0.0, OCTOBER[0] + 100.0], wait_time=[0.0, 0.0],
        run_time=[3600.0, None], n_procs=[1, 10], status=[1, None], project_id=["a", "a"],
    )  # fmt: skip
    made = statements(store, from_table(PLAIN), "2025-10")

    assert made.lines[0].units == 3600 + 10 * 3500
    assert made.running == [("a", 1)]


def test_jobs_without_a_project_are_a_statement_of_their_own(make_store):
    store = make_store(
        HEADER, submit_time=[OCTOBER[0] + 0.0] * 3, wait_time=[0.0] * 3, run_time=[3.6e6] * 3,
        n_procs=[1] * 3, project_id=["a", None, ""], status=[1] * 3,
    )  # fmt: skip
    made = statements(store, from_table(PLAIN), "2025-10")

    assert made.projects == ["a", None]
    assert sum(amounts(made).values()) == made.total
    assert made.by_project()[None].lines[0].jobs == 2


# --- What stops, and what is named ---


def test_a_job_without_a_rate_stops_the_statements_with_what_to_add(make_store):
    size = 12
    store = make_store(
        HEADER, submit_time=[OCTOBER[0] + 0.0] * size, wait_time=[0.0] * size, run_time=[60.0] * size,
        n_procs=[1] * size, project_id=["a"] * size, queue_id=["it's"] * (size - 1) + ["known"],
    )  # fmt: skip
    rates = from_table({"currency": "EUR", "rates": [{"name": "K", "queues": ["known"], "cpu_hour": 1}]})

    with pytest.raises(TraceError) as refused:
        statements(store, rates, "2025-10")
    said = str(refused.value)
    assert said.startswith("11 jobs have no rate (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …), expected one for each")
    assert 'add to the file of rates: [[rates]] for queues = ["it\'s"] (11 jobs)' in said


@pytest.mark.parametrize(
    ("price", "gpus", "said"),
    [
        ("cpu_hour", 2.0, "gpu_hour to the rate 'A'"),
        ("gpu_hour", None, "cpu_hour to the rate 'A'"),
    ],
)
def test_a_rate_that_lacks_the_price_of_what_a_job_holds_stops_the_statements(price, gpus, said, make_store):
    store = make_store(
        HEADER, submit_time=[OCTOBER[0] + 0.0], wait_time=[0.0], run_time=[60.0], n_procs=[1], n_gpus=[gpus],
        project_id=["a"],
    )  # fmt: skip
    rates = from_table({"currency": "EUR", "rates": [{"name": "A", price: 1}]})

    with pytest.raises(TraceError, match=said):
        statements(store, rates, "2025-10")


def test_jobs_of_which_is_not_known_what_they_held_are_named_and_not_charged(make_store):
    begin = OCTOBER[0] + 0.0
    store = make_store(
        HEADER, submit_time=[begin] * 5 + [None], wait_time=[0.0, 0.0, None, None, 0.0, 0.0],
        run_time=[60.0, None, None, None, 3600.0, 60.0], n_procs=[None, 4, None, None, 1, 1],
        status=[1, 0, 5, None, 1, 1], project_id=["a"] * 6,
    )  # fmt: skip
    made = statements(store, from_table(PLAIN), "2025-10")

    named = sorted((str(one.lacking), one.jobs, list(one.ids)) for one in made.uncharged)
    assert named == [("processors", 1, ["1"]), ("run time", 1, ["2"])]
    assert (made.undated, made.total) == (1, Decimal("0.01"))


def test_the_largest_share_needs_the_sizes_of_nodes(make_store):
    store = make_store(HEADER, submit_time=[OCTOBER[0] + 0.0], run_time=[60.0], n_procs=[1])
    rates = from_table({"currency": "EUR", "basis": "largest", "rates": [{"name": "A", "node_hour": 1}]})

    with pytest.raises(
        DefinitionError, match=r"rates\[0\].node_cores: is missing, expected the size of a node"
    ):
        statements(store, rates, "2025-10")


# --- Corrections ---


def given_of(made, name="before"):
    """Return statements as if they had been read from a folder."""
    return EarlierStatements(name, made.rates, made.parts, made.lines)


def test_late_jobs_and_changes_become_lines_of_the_next_statement(make_store):
    def store(run_times, projects):
        size = len(run_times)
        begins = [OCTOBER[0] + 0.0] * (size - 1) + [OCTOBER[1] + 5.0]
        return make_store(
            HEADER, submit_time=begins, wait_time=[0.0] * size, run_time=run_times, n_procs=[100] * size,
            project_id=projects, status=[1] * size,
        )  # fmt: skip

    rates, dearer = from_table(PLAIN), from_table({**PLAIN, "rates": [{"name": "All", "cpu_hour": 0.02}]})
    october = statements(store([3600.0, 7200.0, 3600.0], ["a", "b", "b"]), rates, "2025-10")
    late = store([3600.0, 3600.0, 1800.0, 3600.0], ["a", "b", "c", "b"])
    november = statements(late, dearer, "2025-11", [given_of(october)])

    assert amounts(october) == {"a": 1, "b": 2}
    assert amounts(november) == {"b": Decimal("1.00"), "c": Decimal("0.50")}, "October at its own rates"
    assert [(line.project, line.part.name, line.jobs, line.is_correction) for line in november.lines] == [
        ("b", "2025-11", 1, False), ("b", "2025-10", 0, True), ("c", "2025-10", 1, True),
    ]  # fmt: skip

    december = statements(late, rates, "2025-12", [given_of(october), given_of(november)])
    assert december.lines == [], "what was corrected is not corrected again"
    again = statements(late, rates, "2025-10", [given_of(october)])
    assert (again.parts, amounts(again)) == ([], {"b": -1, "c": Decimal("0.50")})


def test_statements_that_do_not_fit_together_are_refused(make_store):
    store = make_store(
        HEADER, submit_time=[OCTOBER[0] + 0.0], wait_time=[0.0], run_time=[360_000.0], n_procs=[10],
        project_id=["a"], status=[1],
    )  # fmt: skip
    rates = from_table(PLAIN)
    october = given_of(statements(store, rates, "2025-10"), "one")
    dollars = from_table({**PLAIN, "currency": "USD"})
    empty = make_store(HEADER, submit_time=[OCTOBER[1] + 0.0], run_time=[1.0], n_procs=[1], status=[1])
    part = given_of(statements(store, rates, "2025-10-01..2025-10-05"), "part")

    with pytest.raises(DefinitionError, match="one: is in EUR with 2 decimals, expected USD"):
        statements(store, dollars, "2025-11", [october])
    with pytest.raises(DefinitionError, match="one: charges 2025-10, as one does"):
        statements(store, rates, "2025-11", [october, october])
    with pytest.raises(DefinitionError, match="2025-10: was charged, and the trace has no jobs in it"):
        statements(empty, rates, "2025-11", [october])
    with pytest.raises(ArgumentError, match=r"a part of which was charged as 2025-10-01\.\.2025-10-05"):
        statements(store, rates, "2025-10", [part])
    correcting = EarlierStatements("two", rates, [], list(corrections([], october.lines)))
    with pytest.raises(DefinitionError, match="two: corrects 2025-10, expected the statements on it"):
        statements(store, rates, "2025-11", [correcting])


# --- Against a computation of its own ---


def compare(store, table, zone, months, node=NODE):
    """Assert that the statements of *months* are what they are by the other computation, and add up."""
    rates, jobs, end = from_table(table), rows(store), known_end(store)
    total = Decimal(0)
    for year, month in months:
        try:
            expected, unknown = charges(jobs, table, month_bounds(year, month, zone), node, end)
        except LookupError:
            with pytest.raises(TraceError, match="no rate"):
                statements(store, rates, f"{year}-{month:02}")
            return
        made = statements(store, rates, f"{year}-{month:02}")
        assert amounts(made) == {name: amount for name, amount in expected.items() if name in amounts(made)}
        assert all(amount == 0 for name, amount in expected.items() if name not in amounts(made))
        assert sum(one.jobs for one in made.uncharged) == len(unknown)
        held = sum(line.quantity * Fraction(line.rate) for line in made.lines if line.kind == "use")
        assert not made.became or sum(sum(parts.values()) for parts in made.became.values()) == held
        total += made.total
    (first, *_), *_, (last, _) = *pairwise(months), months[-1:] + months[-1:]
    period = f"{first[0]}-{first[1]:02}..{last[0]}-{last[1]:02}"
    assert statements(store, rates, period).total == total, "a longer period is the sum of its months"


MONTHS = [(2025, 9), (2025, 10), (2025, 11)]

NAMES_OF = {"queue_id": "qr", "partition_id": "st", "qos": "uv", "project_id": "abc"}
"""What names jobs have, by field."""


OPTIONAL = {"gb_hour", "shard_hour", "mps_hour"}
"""Prices that no job needs."""


def random_rates(chance):
    """Return a table of rates, whose last one fits all jobs, mostly."""
    basis = chance.choice(["allocated", "allocated", "billing", "largest"])
    keys = PRICES[basis]
    conditions = {
        "queues": ["q", "r"], "partitions": ["s", "t"], "qos": ["u", "v"], "projects": ["a", "b", "c"],
        "classes": ["k"], "gpu_types": ["v100", "a100"],
    }  # fmt: skip
    rates = []
    for number in range(chance.randint(0, 3)):
        chosen = chance.sample(sorted(conditions), chance.randint(1, 2))
        listed = {
            key: chance.sample(conditions[key], chance.randint(1, len(conditions[key]) - 1 or 1))
            for key in chosen
        }
        rates.append({"name": f"R{number}", **listed})
    if chance.random() < 0.9 or not rates:
        rates.append({"name": "All"})
    for rate in rates:
        needed = [key for key in keys if key not in OPTIONAL or chance.random() < 0.5]
        rate |= {key: chance.choice([0, 1, 0.5, chance.randint(1, 20_000) / 10_000]) for key in needed}
        rate["minimum_seconds"] = chance.choice([0, 0, 60, 4000])
    table = {
        "currency": "EUR", "basis": basis, "decimals": chance.randint(0, 4), "rates": rates,
        "classes": {"k": ["b", "c"]},
    }  # fmt: skip
    percent = chance.randint(1, 1000) / 10
    terms = [{}, {"classes": {"k": percent}}, {"projects": {"a": percent}}, {"projects": {"b": 100}}]
    table["discounts"] = chance.choice(terms)
    hours = {f"{key}s": chance.randint(1, 50_000) / 100 for key in keys[:2]}
    table["free"] = chance.choice([{}, {"classes": {"k": hours}}, {"projects": {"b": hours}}])
    return table


def random_jobs(chance):
    """Return the columns of a log around October, with gaps in everything."""
    jobs = chance.randint(1, 15)

    def column(values, share=0.1):
        share = share if chance.random() < 0.5 else 0
        return [None if chance.random() < share else values() for _ in range(jobs)]

    def one_of(*values):
        return lambda: chance.choice(values)

    first, last = month_bounds(2025, 9, ZONE)[0], month_bounds(2025, 11, ZONE)[1]
    begins = one_of(
        OCTOBER[0] - 5, OCTOBER[1] - 7, OCTOBER[1], *(chance.randint(first, last) for _ in range(9))
    )
    return {
        "submit_time": column(lambda: begins() - 0.25, 0),
        "wait_time": column(lambda: float(chance.randint(0, 90_000))),
        "run_time": column(one_of(0.0, 0.5, 30.0, 3600.0, 86_400.5, 3e6), 0.2),
        "n_procs": column(lambda: chance.randint(1, 200)),
        "n_gpus": column(one_of(0.0, 0.5, 1.0, 4.0, 0.333333333)),
        "status": column(one_of(0, 1, 1, 1, 5), 0.3),
        "req_memory": column(lambda: chance.randint(1, 10**8) / 3),
        "used_resources": column(
            one_of(
                "billing:16,cpu:4,gres/shard:3,mem:512G,node:1",
                "billing:7,gres/mps:50,mem:1.5T",
                "billing:0.3,mem:700M",
            )
        ),
        "gpu_type": column(one_of("a100", "v100:4", "a100:2,v100:1")),
        **{field: column(one_of(*of)) for field, of in NAMES_OF.items()},
    }


def check_random(columns, table):
    """Compare a random log at random rates."""
    try:
        from_table(table)
    except DefinitionError as error:
        assert "is never used" in str(error) or "has no project of its classes" in str(error)  # noqa: PT017
        return
    with filled(HEADER + NODE_HEADER, columns) as store:
        compare(store, table, ZONE, MONTHS)


@examples(15)
@given(st.integers(0, 2**64))
def test_random_logs_at_random_rates_are_charged_to_the_cent(seed):
    check_random(random_jobs(Random(seed)), random_rates(Random(seed)))


@pytest.mark.slow
@examples(300)
@given(st.integers(0, 2**64))
def test_many_random_logs_at_random_rates_are_charged_to_the_cent(seed):
    check_random(random_jobs(Random(seed)), random_rates(Random(seed)))


@pytest.fixture(scope="module")
def sampled(slurm_sample):
    """Return the store of the sample."""
    with gwa.open(slurm_sample) as trace:
        yield trace.store


BASES = {
    "allocated": tomllib.loads(EXAMPLE),
    "billing": {
        "currency": "credits", "decimals": 0, "basis": "billing",
        "rates": [
            {"name": "Short", "qos": ["short"], "billing_hour": 0.37}, {"name": "All", "billing_hour": 1},
        ],
    },
    "largest": {
        "currency": "CHF", "basis": "largest",
        "rates": [
            {"name": "GPU", "partitions": ["gpu"], "node_hour": 3.33, "minimum_seconds": 600},
            {"name": "All", "node_hour": 0.77},
        ],
    },
}  # fmt: skip


@pytest.mark.parametrize("basis", BASES)
def test_the_sample_is_charged_to_the_cent_and_its_months_are_the_year(basis, sampled):
    table = BASES[basis]
    if basis == "largest":
        table = {
            **table,
            "rates": [{**rate, **NODE} for rate in table["rates"]],
        }
    compare(sampled, table, "UTC", [(2025, month) for month in range(1, 13)])


def test_the_example_of_rates_is_sound_and_survives_json():
    rates = from_table(tomllib.loads(EXAMPLE))

    assert from_table(json.loads(json.dumps(rates.as_table()))) == rates
    for key in (
        "queues",
        "partitions",
        "qos",
        "gpu_types",
        "projects",
        "classes",
        "minimum_seconds",
        "gb_hour",
    ):
        assert key in EXAMPLE


@pytest.mark.parametrize("basis", ["allocated", "billing"])
def test_cost_is_a_measure_where_rates_are_stated(basis, sampled):
    """It is of whole jobs that ended, and without discounts and free hours: here by project and by queue."""
    table = {
        key: value for key, value in BASES[basis].items() if key not in {"discounts", "free", "decimals"}
    }
    always = (0, 2**33)
    ended = [job for job in rows(sampled) if job["run_time"] is not None]
    with sampled.filtered("run_time is not null") as part:
        records = breakdown(part, by_name("projects"), "by_cpu")
        assert records
        assert "cost" not in records.rows[0]
    for dimension, field in (("projects", "project_id"), ("queues", "queue_id")):
        with sampled.filtered("run_time is not null") as part:
            part.stated = {"rates": from_table(table)}
            records = breakdown(part, by_name(dimension), "by_cost")
            assert records
            found = {row["id"]: row["cost"] for row in records.rows}
        for name, cost in found.items():
            own = [{**job, "project_id": "x"} for job in ended if job[field] == name and job["n_procs"]]
            expected, _ = charges(own, {**table, "decimals": 6}, always, NODE, 0.0)
            assert cost == pytest.approx(float(expected["x"]), abs=1e-4)


def test_cost_needs_a_rate_for_each_job(make_store):
    store = make_store(HEADER, submit_time=[0.0], run_time=[60.0], n_procs=[1], user_id=["u"], queue_id=["q"])
    rate = {"name": "K", "queues": ["known"], "cpu_hour": 1}
    store.stated["rates"] = from_table({"currency": "EUR", "rates": [rate]})

    with pytest.raises(TraceError, match="1 job has no rate"):
        breakdown(store, by_name("users"), "by_cpu")


def test_spark_can_charge(monkeypatch):
    """What is asked has a counterpart in its dialect."""
    store = filled(HEADER, random_jobs(Random(1)))
    asked, rows_of = [], store.rows

    def recording(sql, parameters=None):
        asked.append(sql)
        return rows_of(sql, parameters)

    monkeypatch.setattr(store, "rows", recording)
    for table in (PLAIN, BASES["billing"]):
        with suppress(TraceError):
            statements(store, from_table(table), "2025-10")
    translated = [to_spark_sql(sql) for sql in asked]
    store.close()

    # What was held, and what it went into, at each of both rates.
    assert sum("SUM(CAST(CAST(" in sql for sql in translated) == 4
    assert any("ROW_NUMBER() OVER" in sql for sql in translated)


# --- A year of many jobs ---

YEAR = """
insert into recorded by name
select n as job_id, {first} + n * 31536000.0 / {jobs} as submit_time,
    cast(hash(n, 1) % 86400 as double) as wait_time, cast(hash(n, 2) % 86400 as double) as run_time,
    1 + hash(n, 3) % 128 as n_procs, case when hash(n, 4) % 3 = 0 then 1.0 + hash(n, 5) % 8 end as n_gpus,
    case hash(n, 6) % 50 when 0 then 5 when 1 then 0 else 1 end as status,
    case when hash(n, 4) % 3 = 0 then case hash(n, 7) % 2 when 0 then 'a100' else 'h100' end end as gpu_type,
    case hash(n, 8) % 20 when 0 then 'urgent' else 'normal' end as qos,
    case when hash(n, 4) % 3 = 0 then 'gpu' else 'cpu' end as partition_id,
    case when hash(n, 9) % 100 > 0 then 'p' || hash(n, 9) % 211 end as project_id,
    cast(1000000 + hash(n, 10) % 3000000 as double) as req_memory
from range({jobs}) as numbers(n)
"""

FIELDS_OF_YEAR = (
    "job_id", "submit_time", "wait_time", "run_time", "n_procs", "n_gpus", "status", "gpu_type", "qos",
    "partition_id", "project_id", "req_memory",
)  # fmt: skip


def year_of(jobs):
    """Return a store of a year of so many jobs, with projects, QoS and types of GPUs."""
    store = Store.create()
    store.begin(FIELDS_OF_YEAR)
    store.connection.execute(YEAR.format(jobs=jobs, first=month_bounds(2025, 1, ZONE)[0]))
    store.set_header(HEADER)
    return store


RATES_OF_YEAR = tomllib.loads(
    EXAMPLE.replace('["acme", "globex"]', '["p1", "p2", "p3"]')
    .replace('["lectures"]', '["p4", "p5"]')
    .replace("climate", "p6")
    .replace("genomics", "p7")
)


@pytest.mark.parametrize("jobs", [2000, pytest.param(1_200_000, marks=pytest.mark.slow)])
def test_a_year_is_its_months_and_what_each_job_costs_by_itself(jobs):
    rates, total = from_table(RATES_OF_YEAR), Decimal(0)
    with year_of(jobs) as store:
        year = statements(store, rates, "2025")
        for month in range(1, 13):
            first, last = month_bounds(2025, month, ZONE)
            near = (
                f"select {', '.join(NAMES)} from jobs"
                f" where submit_time >= {first - 172_861} and submit_time < {last}"
            )
            of_month = (dict(zip(NAMES, row, strict=True)) for row in store.rows(near))
            expected, unknown = charges(of_month, RATES_OF_YEAR, (first, last), NODE, 0.0)
            made = statements(store, rates, f"2025-{month:02}")
            assert amounts(made) == expected
            assert not unknown
            total += made.total
    assert year.total == total == sum(amounts(year).values())
    assert len(year.projects) == 212
