"""What a report says first: sentence, bar, basis and months agree with each other and with what is right."""

import json
import re

import numpy as np
import pytest

import gwa
from gwa.analysis.answers.base import Known
from gwa.analysis.lead import captions, lead, on_another_machine, side_by_side
from gwa.breakdown.budget import budget
from gwa.breakdown.charge.rates import from_table
from gwa.report.as_json import as_json
from gwa.report.html import html
from gwa.report.language import read_language, translated
from gwa.words.hours import LABELS
from tests.conftest import HOME

CASES = HOME.parent / "shared" / "cases" / "budget"

RIGHT = {
    "grown": ("39 went unused", "may have been smaller"),
    "hole": ("36 went unused", "20 days without a record left out"),
    "nosize": (
        "Of every 100 processor-hours used, 90 became finished work and 10 ran without finishing.",
        "what stood unused is not known",
    ),
    "over": ("Of every 100 processor-hours used, ", "its size or the times are wrong"),
    "three": ("3 jobs held 16 processor-hours; 50 % of that did not finish.", ""),
    "allfail": ("how jobs ended is not recorded", ""),
    "tiny": ("Of every 100 processor-hours, less than 1 was used.", ""),
}
"""Of made logs what the sentence says, and what the line below the bar."""


@pytest.mark.parametrize("name", RIGHT)
def test_situations_have_their_sentence_and_their_basis(name):
    path = CASES / f"{name}.swf.gz"
    if not path.exists():
        pytest.skip(f"{path.name} is not beside the checkout")
    with gwa.open(path) as trace:
        said = trace.report(["overview"]).lead
    assert said
    sentence, basis = RIGHT[name]
    assert sentence in said.sentence
    assert basis in said.basis
    if name in {"nosize", "over"}:
        assert not {"unused", "outages"} & {one.id for one in said.segments}


DAY = 86_400.0
NEW_YEAR = 1_704_067_200.0


@pytest.fixture
def store(make_store):
    """Return the store of a machine of 64 processors in four months, of two outcomes and more."""
    rng, size = np.random.default_rng(3), 900
    header = (("Times", "Unix seconds, UTC"), ("TimeZoneString", "UTC"), ("MaxProcs", "64"))
    return make_store(
        header,
        submit_time=np.sort(NEW_YEAR + rng.uniform(0, 120 * DAY, size)).tolist(),
        wait_time=rng.integers(0, 900, size).astype(float).tolist(),
        run_time=rng.integers(60, 9 * 3600, size).astype(float).tolist(),
        n_procs=rng.integers(1, 32, size).tolist(),
        status=rng.choice([0, 1, 1, 1, 5], size).tolist(),
        state=rng.choice(["COMPLETED", "FAILED", "TIMEOUT"], size).tolist(),
    )


def test_months_add_up_to_the_whole_and_each_to_a_hundred(store):
    said = lead(store, Known({}, {}))
    whole = {one.id: one.amount for one in said.segments}

    assert [row.label for row in said.rows] == ["2024-01", "2024-02", "2024-03", "2024-04"]
    for name, amount in whole.items():
        of_months = sum(one.amount for row in said.rows for one in row.segments if one.id == name)
        assert of_months == pytest.approx(amount, rel=1e-9)
    for row in said.rows:
        assert sum(int(number) for number in row.numbers if number) == 100
        assert sum(one.share for one in row.segments) == pytest.approx(1)


def test_what_stands_below_the_bar_says_what_the_sentence_does(store):
    said, found = lead(store, Known({}, {})), budget(store)
    numbers = {one.id: int(one.text.split()[0]) for one in captions(found) if not one.text.startswith("<")}
    clauses = {one.id: int(one.text.split()[0]) for one in said.clauses}

    assert sum(numbers.values()) == 100
    assert numbers["finished"] == clauses["finished"]
    bad = sum(numbers.get(name, 0) for name in ("limit", "failed", "cancelled"))
    assert bad == clauses["unfinished"]
    assert all(one.text in said.sentence for one in said.clauses)


@pytest.mark.parametrize("failed", [0, 1])
def test_100_is_said_of_finished_work_only_if_nothing_else_was_held(make_store, failed):
    """One job of a thousand failed after a second."""
    jobs = range(1000)
    made = make_store(
        (("Times", "Unix seconds, UTC"), ("TimeZoneString", "UTC")),
        submit_time=[NEW_YEAR + 3600.0 * n for n in jobs],
        wait_time=[0.0] * 1000,
        run_time=[1.0 if n == 500 else 3600.0 for n in jobs],
        n_procs=[8] * 1000,
        status=[0 if n == 500 and failed else 5 if n == 501 else 1 for n in jobs],
        state=["FAILED" if n == 500 and failed else "CANCELLED" if n == 501 else "COMPLETED" for n in jobs],
    )
    below = {one.id: one.text.replace("\u00a0", " ") for one in captions(budget(made))}
    assert below == {"finished": "> 99 %", "failed" if failed else "cancelled": "< 1 %"}


def test_a_month_of_which_nothing_is_counted_has_no_numbers(make_store):
    """Job numbers jump over a month and more: what ran then is not known."""
    days = [*range(40), *range(95, 130)]
    jobs = [(day * DAY + n * 3600.0, n) for day in days for n in range(12)]
    numbers = [place + (20_000 if at >= 95 * DAY else 0) for place, (at, _) in enumerate(jobs)]
    made = make_store(
        (("Times", "Unix seconds, UTC"), ("TimeZoneString", "UTC"), ("MaxProcs", "64")),
        job_id=[number + 1 for number in numbers],
        submit_time=[NEW_YEAR + at for at, _ in jobs],
        wait_time=[0.0] * len(jobs),
        run_time=[3000.0] * len(jobs),
        n_procs=[8] * len(jobs),
        status=[n % 2 for _, n in jobs],
    )
    rows = {row.label: row for row in lead(made, Known({}, {})).rows}
    assert rows["2024-03"].segments == ()
    assert set(rows["2024-03"].numbers) == {""}
    assert sum(int(number) for number in rows["2024-01"].numbers if number) == 100


def test_a_mean_without_a_bar_names_its_span(make_store):
    made = make_store(
        (("Times", "Unix seconds, UTC"), ("TimeZoneString", "UTC")),
        submit_time=[NEW_YEAR + n * 3600.0 for n in range(900)],
        wait_time=[0.0] * 900,
        run_time=[3000.0] * 900,
        n_procs=[4] * 900,
    )
    said = lead(made, Known({}, {}))
    assert "processors on average" in said.sentence
    assert not said.segments
    assert said.basis.startswith("2024-01-01 to 2024-02-")


def test_on_a_larger_machine_the_same_jobs_leave_more_unused(make_store):
    made = make_store(
        (("Times", "Unix seconds, UTC"), ("TimeZoneString", "UTC"), ("MaxProcs", "40")),
        submit_time=[NEW_YEAR + n * 3600.0 for n in range(900)],
        wait_time=[0.0] * 900,
        run_time=[3600.0] * 900,
        n_procs=[20] * 900,
        status=[1, 0] * 450,
    )
    rows = on_another_machine(made, 50)
    assert rows
    assert [row.label for row in rows.rows] == ["40 processors", "50 processors"]
    assert [row.numbers for row in rows.rows] == [("25", "25", "50"), ("20", "20", "60")]
    assert on_another_machine(made, 40) is None
    assert on_another_machine(made, 10) is None  # too small for what ran
    assert on_another_machine(made.filtered("n_procs = 20 and status = 1"), 50) is None


FLAT = {"currency": "EUR", "rates": [{"name": "all", "cpu_hour": 0.25}]}


def test_where_an_hour_has_one_price_the_basis_says_what_the_parts_are_worth(store):
    found = budget(store)
    store.stated = {"rates": from_table(FLAT)}
    said = lead(store, Known({}, {})).basis.partition("at 0.25 EUR a processor-hour: ")[2]
    worth = {
        label: float(amount.replace(",", ""))
        for amount, label in re.findall(r"([\d.,]+) EUR ([a-z ]+)", said)
    }
    expected = {LABELS[name]: 0.25 * amount / 3600 for name, amount in found.parts.items() if amount}
    assert worth == pytest.approx(expected, rel=0.005)
    assert sum(worth.values()) == pytest.approx(0.25 * (found.total or 0) / 3600, rel=0.01)


@pytest.mark.parametrize(
    "changed",
    [
        {"rates": [{"name": "some", "queues": ["1"], "cpu_hour": 1.0}, {"name": "others", "cpu_hour": 0.25}]},
        {"rates": [{"name": "all", "cpu_hour": 0.25, "minimum_seconds": 60}]},
        {"discounts": {"projects": {"p": 10.0}}},
        {"free": {"projects": {"p": {"cpu_hours": 100.0}}}},
        {"rates": [{"name": "all", "gb_hour": 0.25}]},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_where_prices_differ_nothing_is_said_in_money(store, changed):
    store.stated = {"rates": from_table(FLAT | changed)}
    assert "EUR" not in lead(store, Known({}, {})).basis


def test_clauses_are_those_of_the_sentence(store):
    part = lead(store.filtered("n_procs > 8"), Known({}, {}))
    assert part.segments
    assert not part.clauses, "of some jobs the sentence says no parts of a hundred"


def test_systems_are_compared_by_shares(store):
    rows = side_by_side([("one", store), ("other", store)])
    assert [row.label for row in rows.rows] == ["one", "other"]
    assert rows.rows[0].numbers == rows.rows[1].numbers
    assert not rows.sentence


def test_a_german_page_says_it_in_german(store):
    german = read_language("de")
    with gwa.Trace(store, "log") as trace:
        report = translated(trace.report(["overview"]), german)
    assert report.lead
    assert report.lead.sentence.startswith("Von je 100 Prozessorstunden wurden ")
    page = html(report, language=german)
    shown = page[page.index('<div class="lead"') : page.index("</header>")]
    for english in ("Of every 100", "went unused", "Month by month", ">finished<", "not finished"):
        assert english not in shown


def test_json_has_what_a_page_says_first(store):
    with gwa.Trace(store, "log") as trace:
        report = trace.report(["overview"])
    said = json.loads(as_json(report))
    assert report.lead
    assert said["answer"] == said["lead"]["sentence"] == report.lead.sentence
    assert sum(one["share"] for one in said["lead"]["segments"]) == pytest.approx(1)
