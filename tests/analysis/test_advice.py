"""Advice is given in worlds where it is due, and in no other."""

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import given as given_some
from hypothesis import strategies as st

from gwa.analysis.advice import held_by, letter, users
from gwa.metrics.alerts import alerts
from gwa.metrics.efficiency import SUFFICIENT
from gwa.report.letter import as_html, as_text, subject

NUMBER = 40
GOOD: dict[str, list[Any]] = {
    "submit_time": [1e9 + 60.0 * n for n in range(NUMBER)],
    "wait_time": [5.0] * NUMBER,
    "run_time": [7000.0] * NUMBER,
    "req_time": [7200.0] * NUMBER,
    "n_procs": [4] * NUMBER,
    "n_nodes": [1] * NUMBER,
    "req_n_procs": [4] * NUMBER,
    "average_cpu_time": [6900.0] * NUMBER,
    "req_memory": [1048576.0] * NUMBER,
    "max_memory": [4e6] * NUMBER,
    "n_gpus": [1.0] * NUMBER,
    "gpu_utilization": [0.9] * NUMBER,
    "state": ["COMPLETED"] * NUMBER,
    "user_id": ["o'hara"] * NUMBER,
    "project_id": ["climate"] * NUMBER,
}

WORLDS: dict[str, tuple[dict[str, list[Any]], str]] = {
    "memory": ({"max_memory": [1e6] * NUMBER}, "Ask for at most 1.14 GB of memory for a job."),
    "time": ({"run_time": [600.0] * NUMBER, "average_cpu_time": [590.0] * NUMBER}, "Ask for at most 15 min."),
    "serial-on-many": (
        {"average_cpu_time": [1740.0] * NUMBER},
        "Ask for one core for programs that use one",
    ),
    "low-cpu-use": ({"average_cpu_time": [3000.0] * NUMBER}, "of several cores, use fewer"),
    "idle-gpu-hours": (
        {"gpu_utilization": [0.0] * NUMBER, "gpu_memory": [0.0] * NUMBER},
        "Check that the program finds its GPUs",
    ),
    "low-gpu-use": ({"gpu_utilization": [0.2] * NUMBER}, "Give each GPU more work"),
    "ended-memory": (
        {"state": ["OUT_OF_MEMORY"] * 4 + ["COMPLETED"] * (NUMBER - 4)},
        "Ask for more memory for jobs that asked for 4 GB, or use less.",
    ),
    "ended-time": ({"state": ["TIMEOUT"] * 4 + ["COMPLETED"] * (NUMBER - 4)}, "Ask for more time"),
}


def ids(given):
    return [advice.id for advice in given.advice]


def test_jobs_that_use_what_they_ask_for_get_no_advice(make_store):
    given = letter(make_store(**GOOD), "o'hara")
    assert ids(given) == []
    assert given.jobs == NUMBER
    assert given.cpu_hours == pytest.approx(NUMBER * 4 * 7000 / 3600)
    assert "nothing that should be changed" in as_text(given, "heron")


@pytest.mark.parametrize("name", WORLDS)
def test_each_advice_is_given_where_it_is_due_and_alone(name, make_store):
    changed, words = WORLDS[name]
    given = letter(make_store(**(GOOD | changed)), "o'hara")
    assert ids(given) == [name]
    assert words in as_text(given, "heron")


def test_a_limit_of_queues_is_no_request_of_a_user(make_store):
    queues = ["short"] * 20 + ["long"] * 20
    limits = [3600.0] * 20 + [7200.0] * 20
    world = GOOD | WORLDS["time"][0] | {"req_time": limits}
    assert ids(letter(make_store(**world), "o'hara")) == ["time"]
    assert ids(letter(make_store(**world, queue_id=queues), "o'hara")) == []
    own = [limit + 60 * (number % 3) for number, limit in enumerate(limits)]
    assert ids(letter(make_store(**(world | {"req_time": own}), queue_id=queues), "o'hara")) == ["time"]


@pytest.mark.parametrize("name", ["memory", "time"])
def test_a_few_jobs_say_nothing_of_what_would_do(name, make_store):
    changed = GOOD | WORLDS[name][0]
    few = {field: values[:9] for field, values in changed.items()}
    assert name not in ids(letter(make_store(**few), "o'hara"))


def test_nothing_is_said_of_what_is_not_recorded(make_store):
    plain = {name: GOOD[name] for name in ("submit_time", "run_time", "n_procs", "user_id")}
    assert ids(letter(make_store(**plain), "o'hara")) == []


def test_the_jobs_of_others_are_not_mentioned(make_store):
    mixed = GOOD | {"user_id": ["o'hara"] * 20 + ["eve"] * 20, "gpu_utilization": [0.9] * 20 + [0.0] * 20}
    store = make_store(**mixed)
    assert users(store) == ["eve", "o'hara"]
    assert ids(letter(store, "o'hara")) == []
    text = as_text(letter(store, "eve"), "heron")
    assert "20 jobs held GPUs whose mean use was 0 %, for 38.9 GPU-hours." in text
    assert "Measured: 20 of 20 jobs with GPUs." in text
    assert "and 10 more" in text
    assert "o'hara" not in text


def test_what_one_alert_says_another_does_not_say_again(make_store):
    """Idle GPUs are little used, and so are the cores of sequential programs."""
    for name in ("idle-gpu-hours", "serial-on-many"):
        store = make_store(**(GOOD | WORLDS[name][0]))
        general = {"idle-gpu-hours": "low-gpu-use", "serial-on-many": "low-cpu-use"}[name]
        assert {one.rule.id for one in alerts(store) if one.holders} >= {name, general}
        assert ids(letter(store, "o'hara")) == [name]


def test_idle_gpus_are_no_reason_to_ask_for_fewer_processors(make_store):
    idle = GOOD | WORLDS["idle-gpu-hours"][0]
    text = as_text(letter(make_store(**idle), "o'hara"), "heron")
    assert "processors" not in text


def test_an_alert_on_requests_says_what_to_ask_for(make_store):
    """65 TB-hours and more: the advice on memory is not given a second time."""
    large = {"req_memory": [1e9] * NUMBER, "max_memory": [1e8] * NUMBER, "n_gpus": [0.0] * NUMBER}
    given = letter(make_store(**(GOOD | large)), "o'hara")
    assert ids(given) == ["excess-memory"]
    assert given.advice[0].do == "Ask for at most 114 GB of memory for a job."
    assert "TB-hours were not used" in given.advice[0].because


def test_a_letter_on_a_project_names_the_users_of_its_jobs(make_store):
    mixed = GOOD | {"user_id": ["ann", "bob"] * 20, "gpu_utilization": [0.0] * NUMBER}
    store = make_store(**mixed)
    assert held_by(store, "project") == ["climate"]
    given = letter(store, "climate", "project")
    table = given.advice[0].jobs
    assert table
    assert [column.key for column in table.columns][:2] == ["job", "user"]
    assert "Jobs of project climate in heron: 40 jobs" in as_text(given, "heron")
    assert {row[1] for row in table.rows} == {"ann", "bob"}
    assert "your project" in subject(given, "heron")


def test_names_are_escaped_and_stay_in_their_line(make_store):
    odd = "<b>&\nBcc: eve@example.org"
    store = make_store(**(GOOD | WORLDS["idle-gpu-hours"][0] | {"user_id": [odd] * NUMBER}))
    given = letter(store, odd)
    assert as_text(given, "<i>").startswith("Hello <b>& Bcc: eve@example.org,\n\nYour jobs in <i>: ")
    page = as_html(given, "<i>\nx")
    assert "&lt;b&gt;&amp; Bcc" in page
    assert "<b>" not in page
    assert "<i>" not in page
    assert "\n" not in subject(given, "a\r\nb")


# --- A letter does not contradict itself ---

HOUR = 3600.0


def of_kinds(*kinds):
    """Return a world of kinds of jobs, each of a number, what they asked for, ran for, and their state."""
    rows = [kind[1:] for kind in kinds for _ in range(kind[0])]
    return {
        "submit_time": [1e9 + 60.0 * n for n in range(len(rows))],
        "wait_time": [5.0] * len(rows),
        "n_procs": [4] * len(rows),
        "user_id": ["ann"] * len(rows),
        "req_time": [asked for asked, _, _ in rows],
        "run_time": [ran for _, ran, _ in rows],
        "state": [state for _, _, state in rows],
    }


def test_kinds_of_jobs_that_need_more_and_less_are_told_apart(make_store):
    world = of_kinds((30, 2 * HOUR, 2 * HOUR, "TIMEOUT"), (100, 24 * HOUR, 5 * HOUR, "COMPLETED"))
    said = {advice.id: advice for advice in letter(make_store(**world), "ann").advice}
    assert said["time"].do == (
        "Ask for at most 6 h 15 min. This is not about jobs that asked for 2 h: they need more."
    )
    assert said["ended-time"].do == (
        "Ask for more time for jobs that asked for 2 h, or save what they have done."
    )
    assert "95 % of 100 jobs" in said["time"].because


def test_where_the_same_jobs_end_at_their_limit_or_early_only_one_thing_is_said(make_store):
    world = of_kinds((30, 24 * HOUR, 24 * HOUR, "TIMEOUT"), (500, 24 * HOUR, 5 * HOUR, "COMPLETED"))
    assert ids(letter(make_store(**world), "ann")) == ["ended-time"]


def test_jobs_that_last_exactly_so_long_are_not_told_to_ask_for_that(make_store):
    world = of_kinds((40, 7.2 * HOUR, 6 * HOUR, "COMPLETED"))
    assert ids(letter(make_store(**world), "ann")) == []
    world = of_kinds((40, 24 * HOUR, 6 * HOUR, "COMPLETED"))
    assert letter(make_store(**world), "ann").advice[0].do == "Ask for at most 7 h 30 min."


KINDS = st.tuples(
    st.integers(1, 60),
    st.sampled_from([1.0, 2.0, 6.0, 12.0, 24.0, 48.0, 240.0]),
    st.floats(0.01, 1.0),
    st.sampled_from(["COMPLETED", "COMPLETED", "FAILED", "TIMEOUT"]),
)


@pytest.mark.slow
@settings(
    max_examples=6,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],  # to shrink one takes minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given_some(kinds=st.lists(KINDS, min_size=1, max_size=6))
def test_no_letter_contradicts_itself(kinds, make_store):
    """Who is told to ask for less would have had enough time, and is not told to ask for more."""
    jobs = [
        (number, asked * HOUR, HOUR * asked * (1.0 if state == "TIMEOUT" else share), state)
        for number, asked, share, state in kinds
    ]
    said = {advice.id: str(advice.do) for advice in letter(make_store(**of_kinds(*jobs)), "ann").advice}
    less = said.get("time", "")
    tight = {asked for _, asked, _, state in jobs if state == "TIMEOUT"}
    if "ended-time" in said and less:
        assert "they need more" in less
        tight = {
            asked
            for asked in tight
            if f"{asked / HOUR:.0f} h" in less or f"{asked / HOUR / 24:.0f} d" in less
        }
        assert tight
    else:
        tight = set()
    if less:
        others = [ran for number, asked, ran, _ in jobs for _ in range(number) if asked not in tight]
        enough = in_seconds(re.findall(r"at most (.*?)\.(?: |$)", less)[0])
        assert sum(ran <= enough for ran in others) >= SUFFICIENT * len(others)
        assert enough < max(asked for _, asked, _, _ in jobs if asked not in tight)
    for rule in ("limit-cpu", "limit-gpu"):
        assert not ("ended-time" in said and "with a margin" in said.get(rule, ""))


def in_seconds(text):
    units = {"day": 86400.0, "days": 86400.0, "d": 86400.0, "h": HOUR, "min": 60.0, "s": 1.0}
    parts = re.findall(r"([\d.,]+)\s([a-z]+)\b", text)
    assert parts, text
    return sum(float(number.replace(",", "")) * units[unit] for number, unit in parts)
