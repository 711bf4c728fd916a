"""Charges: exact to the cent against a computation of its own, and refused where anything is not known."""

import json
import tomllib
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gwa
from gwa.breakdown.charge.rates import EXAMPLE, from_table
from gwa.breakdown.charge.statements import Given, corrections, statements
from gwa.errors import ArgumentError, DefinitionError, TraceError
from gwa.formats.sample import write as write_sample
from gwa.store.schema import NAMES
from gwa.store.store import Store
from tests.breakdown.charging import charges, month_bounds

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


def filled(columns, header=HEADER):
    """Return a store with *columns* of jobs."""
    store = Store.create()
    columns = {"job_id": list(range(1, len(columns["submit_time"]) + 1)), **columns}
    store.begin(list(columns))
    names = [row[0] for row in store.rows("describe recorded")]
    store.insert("recorded", list(zip(*(columns[name] for name in names), strict=True)))
    store.set_header(header)
    return store


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
    assert [(line.service, line.quantity, line.jobs) for line in made.lines] == [
        ("cpu_hour", 6, 1), ("cpu_hour", 4, 1), ("gpu_hour", 2, 1),
    ]  # fmt: skip


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


def test_running_jobs_are_charged_until_the_log_ends(make_store):
    store = make_store(
        HEADER, submit_time=[OCTOBER[0] + 0.0, OCTOBER[0] + 100.0], wait_time=[0.0, 0.0], run_time=[3600.0, None],
        n_procs=[1, 10], status=[1, None], project_id=["a", "a"],
    )  # fmt: skip
    made = statements(store, from_table(PLAIN), "2025-10")

    assert made.lines[0].units == 3600 + 10 * 3500
    assert made.running == [("a", 1)]


def test_jobs_without_a_project_are_a_statement_of_their_own(make_store):
    store = make_store(
        HEADER, submit_time=[OCTOBER[0] + 0.0] * 3, wait_time=[0.0] * 3, run_time=[3.6e6] * 3, n_procs=[1] * 3,
        project_id=["a", None, ""], status=[1] * 3,
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
    return Given(name, made.rates, made.parts, made.lines)


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
    correcting = Given("two", rates, [], list(corrections([], october.lines)))
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
        total += made.total
    (first, *_), *_, (last, _) = *pairwise(months), months[-1:] + months[-1:]
    period = f"{first[0]}-{first[1]:02}..{last[0]}-{last[1]:02}"
    assert statements(store, rates, period).total == total, "a longer period is the sum of its months"


MONTHS = [(2025, 9), (2025, 10), (2025, 11)]

NAMES_OF = {"queue_id": "qr", "partition_id": "st", "qos": "uv", "project_id": "abc"}
"""What names jobs have, by field."""


def names(field):
    """Return a strategy of names of a field that a rate may list."""
    return st.lists(st.sampled_from(NAMES_OF[field]), min_size=1, max_size=2, unique=True)


def prices(digits=4):
    """Return a strategy of prices."""
    return st.integers(0, 20_000).map(lambda number: number / 10**digits)


@st.composite
def tables(draw):
    """Return a table of rates, whose last one fits all jobs, mostly."""
    basis = draw(st.sampled_from(["allocated", "billing", "largest"]))
    keys = {"allocated": ("cpu_hour", "gpu_hour", "gb_hour"), "billing": ("billing_hour",)}.get(
        basis, ("node_hour",)
    )
    needed = keys[:2]
    conditions = {
        "queues": names("queue_id"), "partitions": names("partition_id"), "qos": names("qos"),
        "projects": names("project_id"), "classes": st.just(["k"]),
        "gpu_types": st.sampled_from([["a100"], ["v100", "a100"]]),
    }  # fmt: skip
    rates = []
    for number in range(draw(st.integers(1, 4))):
        chosen = (
            draw(st.lists(st.sampled_from(sorted(conditions)), max_size=2, unique=True)) if number else []
        )
        rate = {"name": f"R{number}", **{key: draw(conditions[key]) for key in chosen}}
        rate |= {key: draw(prices()) for key in keys if key in needed or draw(st.booleans())}
        rate |= {"minimum_seconds": draw(st.sampled_from([0, 0, 60, 4000]))}
        rates.append(rate)
    if draw(st.integers(0, 9)):
        rates = [*rates[1:], rates[0]]
    table = {
        "currency": "EUR", "basis": basis, "decimals": draw(st.integers(0, 4)), "rates": rates,
        "classes": {"k": ["b", "c"]},
    }  # fmt: skip
    if draw(st.booleans()):
        percent = draw(st.integers(1, 1000)) / 10
        table["discounts"] = {draw(st.sampled_from(["classes", "projects"])): {"k": min(percent, 100)}}
        if "projects" in table["discounts"]:
            table["discounts"] = {"projects": {"a": min(percent, 100)}}
    if draw(st.booleans()):
        hours = {f"{key}s": draw(st.integers(1, 5000)) / 100 for key in needed}
        table["free"] = draw(st.sampled_from([{"classes": {"k": hours}}, {"projects": {"b": hours}}]))
    return table


@st.composite
def workloads(draw):
    """Return the columns of a log around October, with gaps in everything."""
    jobs = draw(st.integers(1, 12))

    def column(values, *, gaps=True):
        return [draw(st.none() | values) if gaps else draw(values) for _ in range(jobs)]

    first, last = month_bounds(2025, 9, ZONE)[0], month_bounds(2025, 11, ZONE)[1]
    starts = st.integers(first, last) | st.sampled_from([OCTOBER[0], OCTOBER[1], OCTOBER[1] - 7])
    return {
        "submit_time": column(starts.map(lambda moment: moment - 0.25), gaps=False),
        "wait_time": column(st.integers(0, 90_000).map(float)),
        "run_time": column(
            st.sampled_from([0.0, 0.5, 30.0, 3600.0, 86_400.5, 3e6]), gaps=draw(st.booleans())
        ),
        "n_procs": column(st.integers(1, 200), gaps=draw(st.booleans())),
        "n_gpus": column(st.sampled_from([0.0, 0.5, 1.0, 4.0, 0.333333333])),
        "status": column(st.sampled_from([0, 1, 5])),
        "req_memory": column(st.integers(1, 10**8).map(lambda size: size / 3), gaps=draw(st.booleans())),
        "used_resources": column(
            st.sampled_from(
                ["billing:16,cpu:4,mem:512G,node:1", "mem:1.5T", "billing:0.3,mem:700M", "cpu:4"]
            ),
            gaps=draw(st.booleans()),
        ),
        "gpu_type": column(st.sampled_from(["a100", "v100:4", "a100:2,v100:1"])),
        **{field: column(st.sampled_from(of)) for field, of in NAMES_OF.items()},
    }


def check_random(columns, table):
    """Compare a random log at random rates."""
    try:
        from_table(table)
    except DefinitionError as error:
        assert "is never used" in str(error) or "has no project of its classes" in str(error)  # noqa: PT017
        return
    with filled(columns, HEADER + NODE_HEADER) as store:
        compare(store, table, ZONE, MONTHS)


@settings(max_examples=15)
@given(workloads(), tables())
def test_random_logs_at_random_rates_are_charged_to_the_cent(columns, table):
    check_random(columns, table)


@pytest.mark.slow
@settings(max_examples=300)
@given(workloads(), tables())
def test_many_random_logs_at_random_rates_are_charged_to_the_cent(columns, table):
    check_random(columns, table)


@pytest.fixture(scope="module")
def sampled(tmp_path_factory):
    """Return the store of the sample."""
    path = tmp_path_factory.mktemp("sample") / "sample.sacct"
    write_sample("slurm", path)
    with gwa.open(path) as trace:
        yield trace.store


BASES = {
    "allocated": tomllib.loads(EXAMPLE),
    "billing": {
        "currency": "credits", "decimals": 0, "basis": "billing",
        "rates": [{"name": "Short", "qos": ["short"], "billing_hour": 0.37}, {"name": "All", "billing_hour": 1}],
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
