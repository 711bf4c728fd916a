"""Charges of requests to language models: tokens by user, month and model, against plain Python."""

from collections import defaultdict
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from gwa.breakdown.charge.folder import write
from gwa.breakdown.charge.pages import notes
from gwa.breakdown.charge.rates import from_table
from gwa.breakdown.charge.record import read_given
from gwa.breakdown.charge.statements import statements, unused
from gwa.cli import gwa
from gwa.errors import DefinitionError, TraceError
from tests.conftest import examples
from tests.requests.made import opened

ZONE = "Europe/Berlin"
OCTOBER = 1759269600
"""2025-10-01 in Berlin; November begins 31 days and an hour later."""

TABLE: dict[str, Any] = {
    "currency": "USD",
    "decimals": 4,
    "basis": "tokens",
    "rates": [
        {"name": "large", "models": ["large"], "million_in": 3, "million_cached": 0.3, "million_out": 15},
        {"name": "Partners", "projects": ["acme"], "million_in": 0.125, "million_out": 0.5},
        {"name": "Others", "million_in": 0.15, "million_out": 0.6},
    ],
    "discounts": {"projects": {"bob": 12.5}},
}
PLAIN: dict[str, Any] = {
    "currency": "USD",
    "basis": "tokens",
    "rates": [{"name": "All", "million_in": 1, "million_out": 2}],
}

NUMBER = st.none() | st.integers(0, 3_000_000)
REQUESTS = st.lists(
    st.tuples(
        st.integers(OCTOBER, OCTOBER + 70 * 86400),
        NUMBER,
        NUMBER,
        NUMBER,
        st.sampled_from([None, "large", "small", "tiny"]),
        st.sampled_from([None, "acme", "bob"]),
    ),
    min_size=1,
    max_size=40,
)


def stored(folder, rows):
    """Return the store of requests: when, tokens in, out and cached, model, user."""
    lines = [
        f"# TimeZoneString: {ZONE}",
        "submit_time,tokens_in,tokens_out,tokens_cached,model,user_id",
        *(",".join("" if value is None else str(value) for value in row) for row in rows),
    ]
    path = folder / "log.requests.csv"
    path.write_text("\n".join(lines) + "\n")
    return opened(path)


def expected(rows):
    """Return the amount of each user, month and model, and how many requests are not charged, by user."""
    sums: dict[Any, int] = defaultdict(int)
    unknown: dict[Any, int] = defaultdict(int)
    for moment, tokens_in, tokens_out, cached, model, user in rows:
        month = datetime.fromtimestamp(moment, ZoneInfo(ZONE)).strftime("%Y-%m")
        if model == "large":
            prices = {"in": "3", "cached": "0.3", "out": "15"}
        elif user == "acme":
            prices = {"in": "0.125", "out": "0.5"}
        else:
            prices = {"in": "0.15", "out": "0.6"}
        of_cache = cached if model == "large" else 0
        if None in (tokens_in, tokens_out, of_cache) or of_cache > tokens_in:
            unknown[user] += 1
            continue
        used = {"in": tokens_in - of_cache, "cached": of_cache, "out": tokens_out}
        for kind, price in prices.items():
            sums[user, month, model, kind, price] += used[kind]
    amounts: dict[Any, Decimal] = defaultdict(Decimal)
    for (user, month, _, _, price), tokens in sums.items():
        exact = Decimal(tokens) * Decimal(price) / 1_000_000
        amounts[user, month] += exact.quantize(Decimal("0.0001"), ROUND_HALF_UP)
    for user, month in list(amounts):
        if user == "bob":
            off = amounts[user, month] * Decimal("0.125")
            amounts[user, month] -= off.quantize(Decimal("0.0001"), ROUND_HALF_UP)
    return {key: amount for key, amount in amounts.items() if amount}, dict(unknown)


@given(REQUESTS)
@examples(40)
def test_tokens_are_charged_exactly_by_user_month_and_model(tmp_path_factory, rows):
    store = stored(tmp_path_factory.mktemp("requests"), rows)
    made = statements(store, from_table(TABLE), "2025-10..2025-12")
    amounts, unknown = expected(rows)
    found: dict[Any, Decimal] = defaultdict(Decimal)
    left: dict[Any, int] = defaultdict(int)
    for line in made.lines:
        found[line.project, line.part.name] += line.amount
    for one in made.uncharged:
        left[one.project] += one.jobs

    assert {key: amount for key, amount in found.items() if amount} == amounts
    assert made.total == sum(amounts.values())
    assert left == unknown


def test_lines_are_by_model_and_what_is_unknown_is_said(tmp_path):
    rows = [
        (OCTOBER, 2_000_000, 1_000_000, 500_000, "large", "ann"),
        (OCTOBER + 1, 1_000_000, 0, None, "small", "ann"),
        (OCTOBER + 2, 4_000_000, 0, None, None, "ann"),
        (OCTOBER + 3, 10, 10, None, "large", "ann"),
        (OCTOBER + 4, None, 10, None, "small", "ann"),
        (OCTOBER + 5, 10, None, None, "small", "ann"),
    ]
    made = statements(stored(tmp_path, rows), from_table(TABLE), "2025-10")

    assert [(line.name, line.service, line.jobs, str(line.amount)) for line in made.lines] == [
        ("large", "million_in", 1, "4.5000"), ("large", "million_cached", 1, "0.1500"),
        ("large", "million_out", 1, "15.0000"), ("Others", "million_in", 1, "0.6000"),
        ("Others, small", "million_in", 1, "0.1500"),
    ]  # fmt: skip
    assert [str(note) for note in notes(made)][:3] == [
        "1 request is not charged, as the log does not say its cached tokens: 4.",
        "1 request is not charged, as the log does not say its tokens in: 5.",
        "1 request is not charged, as the log does not say its tokens out: 6.",
    ]
    assert unused(made) == [
        "not used in 2025-10: 1 of the rates (Partners)", "not used in 2025-10: 1 of the discounts (bob)",
    ]  # fmt: skip


def test_a_rate_whose_name_begins_another_is_used_only_where_it_is_charged(tmp_path):
    prices = {"million_in": 1, "million_out": 1}
    rates = [{"name": "Large, new", "models": ["large-2"], **prices}, {"name": "Large", **prices}]
    rows = [(OCTOBER, 1_000_000, 0, None, "large-2", "ann")]
    made = statements(stored(tmp_path, rows), from_table({**PLAIN, "rates": rates}), "2025-10")

    assert unused(made) == ["not used in 2025-10: 1 of the rates (Large)"]


def test_a_request_without_a_rate_stops_the_statements_and_says_what_to_add(tmp_path):
    store = stored(tmp_path, [(OCTOBER, 1, 1, None, "new", "ann"), (OCTOBER + 1, 1, 1, None, None, "ann")])
    table = {**TABLE, "rates": TABLE["rates"][:2]}

    expected = r"2 requests have no rate.*\[\[rates\]\] for models = \['new'\] \(1\); .*without a model \(1\)"
    with pytest.raises(TraceError, match=expected):
        statements(store, from_table(table), "2025-10")


def test_late_requests_become_corrections(tmp_path):
    first, later = tmp_path / "first", tmp_path / "later"
    first.mkdir()
    later.mkdir()
    rows = [(OCTOBER, 1_000_000, 0, None, "small", "ann")]
    write(statements(stored(first, rows), from_table(PLAIN), "2025-10"), tmp_path / "given", "log")
    rows += [
        (OCTOBER + 9, 2_000_000, 0, None, "small", "ann"),
        (OCTOBER + 40 * 86400, 0, 0, None, "small", "b"),
    ]
    made = statements(stored(later, rows), from_table(PLAIN), "2025-11", [read_given(tmp_path / "given")])

    assert [(line.project, line.is_correction, str(line.amount)) for line in made.lines] == [
        ("ann", True, "2.00")
    ]
    page = (tmp_path / "given" / "ann.html").read_text()
    assert "Requests" in page
    assert "1.00 million tokens in" in page


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rates": [{"name": "All", "million_in": 1}]}, "expected million_in and million_out"),
        ({"rates": [{**PLAIN["rates"][0], "cpu_hour": 1}]}, "cpu_hour: is not charged by basis 'tokens'"),
        ({"rates": [{**PLAIN["rates"][0], "queues": ["a"]}]}, "queues: has no effect by basis 'tokens'"),
        ({"rates": [{**PLAIN["rates"][0], "minimum_seconds": 1}]}, "minimum_seconds: has no effect"),
        ({"free": {"projects": {"a": {"cpu_hours": 1}}}}, "free: has no effect by basis 'tokens'"),
        (
            {"basis": "allocated", "rates": [{"name": "All", "cpu_hour": 1, "models": ["a"]}]},
            "models: has no effect by basis 'allocated'",
        ),
    ],
)
def test_rates_without_an_effect_are_refused(change, message):
    with pytest.raises(DefinitionError, match=message):
        from_table({**PLAIN, **change})


def test_rates_of_jobs_are_not_taken_for_requests_nor_the_other_way_round(make_store, tmp_path):
    requests = stored(tmp_path, [(OCTOBER, 1, 1, None, None, None)])
    jobs = make_store(submit_time=[0.0], run_time=[1.0], n_procs=[1])
    of_jobs = from_table({"currency": "EUR", "rates": [{"name": "All", "cpu_hour": 1}]})

    with pytest.raises(DefinitionError, match="'allocated', expected tokens: the trace holds requests"):
        statements(requests, of_jobs, "2025-10")
    with pytest.raises(DefinitionError, match="'tokens', expected one of jobs: the trace holds jobs"):
        statements(jobs, from_table(PLAIN), "1..2")


def test_the_command_charges_requests(tmp_path):
    (tmp_path / "rates.toml").write_text(
        'currency = "USD"\nbasis = "tokens"\n[[rates]]\nname = "All"\nmillion_in = 1\nmillion_out = 2\n'
    )
    stored(tmp_path, [(OCTOBER, 1_500_000, 1_000_000, None, "small", "ann")])
    words = [tmp_path / "log.requests.csv", "--rates", tmp_path / "rates.toml", "--period", "2025-10"]
    done = CliRunner().invoke(gwa, ["charge", *map(str, words), "-o", str(tmp_path / "out"), "--no-pdf"])

    assert done.exit_code == 0, done.output
    assert "1 statement on 2025-10: 3.50 USD" in done.stderr
    assert (
        (tmp_path / "out" / "summary.csv")
        .read_text()
        .splitlines()[1]
        .startswith('ann,"All, small",1.500000,million tokens in,1,1.50,USD,2025-10-01T00:00:00+02:00')
    )
