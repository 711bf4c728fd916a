"""Advice is given in worlds where it is due, and in no other."""

from typing import Any

import pytest

from gwa.analysis.advice import held_by, letter, users
from gwa.metrics.alerts import alerts
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
    "memory": ({"max_memory": [1e6] * NUMBER}, "Ask for at most 977 MB of memory for a job."),
    "time": ({"run_time": [600.0] * NUMBER, "average_cpu_time": [590.0] * NUMBER}, "Ask for at most 10 min."),
    "serial-on-many": (
        {"average_cpu_time": [1740.0] * NUMBER},
        "Ask for one core for programs that use one",
    ),
    "low-cpu-use": ({"average_cpu_time": [3000.0] * NUMBER}, "of several cores, use fewer"),
    "idle-gpu-hours": ({"gpu_utilization": [0.0] * NUMBER}, "Check that the program finds its GPUs"),
    "low-gpu-use": ({"gpu_utilization": [0.2] * NUMBER}, "Give each GPU more work"),
    "ended-memory": (
        {"state": ["OUT_OF_MEMORY"] * 4 + ["COMPLETED"] * (NUMBER - 4)},
        "Ask for more memory, or use less.",
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
    assert given.advice[0].do == "Ask for at most 95.4 GB of memory for a job."
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
    assert "Jobs of <b>& Bcc: eve@example.org in <i>: " in as_text(given, "<i>")
    page = as_html(given, "<i>\nx")
    assert "&lt;b&gt;&amp; Bcc" in page
    assert "<b>" not in page
    assert "<i>" not in page
    assert "\n" not in subject(given, "a\r\nb")
