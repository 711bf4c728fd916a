"""What makes conclusions from a trace unsafe, against traces in which it is so, and in which it is not."""

import numpy as np
import pytest

from gwa.metrics.quality import LEVELS, problems, unsafe_levels

DAY = 86_400.0


@pytest.fixture
def jobs():
    """Return jobs of which nothing is wrong: a hundred days, a job each hour."""
    size = 2400
    return {
        "submit_time": [1e9 + 3600.0 * number for number in range(size)],
        "wait_time": [float(60 + number % 7) for number in range(size)],
        "run_time": [float(600 + number) for number in range(size)],
        "n_procs": [1 + number % 8 for number in range(size)],
        "req_time": [7200.0] * size,
        "req_n_procs": [8] * size,
        "status": [1] * size,
        "user_id": [f"U{number % 9}" for number in range(size)],
    }


@pytest.fixture
def found(make_store, jobs):
    """Return the problems of the jobs with some values replaced, by name."""

    def found(places=(), facts=None, **values):
        columns = {name: list(column) for name, column in jobs.items()}
        for name, value in values.items():
            for place in places:
                columns[name][place] = value
        store = make_store((("MaxProcs", "16"),), **columns)
        return {problem.name: problem for problem in problems(store, facts)}

    return found


def test_nothing_is_wrong_with_a_clean_trace(found):
    assert found() == {}


BROKEN = [
    ("no submit time", "warning", "submit_time", None, 3),
    ("no wait", "warning", "wait_time", None, 30),
    ("no wait", "info", "wait_time", None, 2),
    ("processors", "warning", "n_procs", 17, 1),
    ("request of processors", "warning", "req_n_procs", 17, 1),
    ("impossible request", "warning", "req_time", 23 * 366 * DAY, 1),
    ("no processors", "warning", "n_procs", 0, 1),
    ("no run time", "warning", "run_time", None, 1),
    ("no user", "info", "user_id", None, 2),
    ("no user", "warning", "user_id", None, 100),
    ("request exceeded", "info", "run_time", 9000.0, 4),
]


@pytest.mark.parametrize(("name", "level", "field", "value", "count"), BROKEN)
def test_each_problem_has_its_count_its_jobs_and_what_it_affects(found, name, level, field, value, count):
    problem = found(range(10, 10 + count), **{field: value})[name]

    assert (problem.level, problem.count) == (level, count)
    assert problem.examples == tuple(f"job {11 + number}" for number in range(min(count, 3)))
    assert problem.affects


def test_every_rule_is_shown_to_find_something():
    from gwa.metrics.quality import RULES

    assert {rule.name for rule in RULES} - {"CPU time"} == {name for name, *_ in BROKEN}


def test_a_clock_that_is_set_back_is_found(found, jobs):
    later = [
        moment + (3600.0 if number < 500 else -7200.0) for number, moment in enumerate(jobs["submit_time"])
    ]
    jobs["submit_time"] = later

    assert found()["clock jump"].examples == ("job 501",)
    assert found()["clock jump"].count == 1


def test_a_step_back_is_found_over_a_job_without_a_submit_time(found, jobs):
    jobs["submit_time"] = [
        moment + (3600.0 if number < 500 else -7200.0) for number, moment in enumerate(jobs["submit_time"])
    ]

    assert found([499], submit_time=None)["clock jump"].examples == ("job 501",)


def test_numbers_that_occur_more_than_once_are_counted_also_of_jobs_without_a_submit_time(found, jobs):
    jobs["job_id"] = [min(number, 2390) for number in range(2400)]

    problem = found(range(2395, 2400), submit_time=None)["job numbers"]
    assert (problem.level, problem.count, problem.examples) == ("error", 9, ("job 2390",))


def test_numbers_that_do_not_follow_submissions_are_no_clock_jump(found, jobs):
    jobs["submit_time"] = np.random.default_rng(3).permutation(jobs["submit_time"]).tolist()

    assert "clock jump" not in found()


def test_a_week_without_submissions_is_a_gap(found, jobs):
    jobs["submit_time"] = [
        moment + (7 * DAY if number >= 1200 else 0) for number, moment in enumerate(jobs["submit_time"])
    ]

    problem = found()["gaps"]
    assert (problem.count, problem.level) == (1, "warning")
    assert problem.examples[0].startswith("7 days from day 11,625, ")


def test_a_system_that_is_seldom_used_has_no_gaps(found, jobs):
    """A session of an hour about once in five days."""
    chance = np.random.default_rng(4)
    days = np.cumsum(1 + chance.geometric(0.2, 48))
    jobs["submit_time"] = [1e9 + float(days[number // 50]) * DAY + number % 50 for number in range(2400)]

    assert "gaps" not in found()


def test_jobs_that_stand_in_the_log_twice_are_found(make_store, jobs):
    twice = {name: [*column, *column[:200]] for name, column in jobs.items()}
    found = {problem.name: problem for problem in problems(make_store(**twice))}

    assert found["duplicates"].count == 200
    assert found["duplicates"].level == "warning"


def test_jobs_with_the_times_of_another_one_that_differ_otherwise_are_no_duplicates(make_store, jobs):
    twice = {name: [*column, *column[:200]] for name, column in jobs.items()}
    twice["user_id"][-200:] = ["another"] * 200

    assert "duplicates" not in {problem.name for problem in problems(make_store(**twice))}


def test_tasks_of_bags_that_differ_in_their_end_are_no_duplicates(found, jobs):
    jobs["submit_time"] = [moment - moment % DAY for moment in jobs["submit_time"]]

    assert "duplicates" not in found()


@pytest.mark.parametrize(
    ("facts", "name", "level", "said"),
    [
        (
            {"window.cut": "end", "window.first": 0.0, "window.last": DAY * 3},
            "cut log",
            "warning",
            "for 3 days only",
        ),
        ({"window.cut": "both"}, "cut log", "warning", "lower bounds"),
        ({"utilization.unfinished": 500}, "unfinished", "warning", "long ones"),
        ({"utilization.unfinished": 1}, "unfinished", "info", "long ones"),
        (
            {"utilization.above_capacity": 0.138, "utilization.peak": 28_416, "trace.cpus": 8192},
            "over capacity",
            "warning",
            "utilization",
        ),
    ],
)
def test_levels_that_are_not_safe_come_first(found, facts, name, level, said):
    problem = found(facts={"trace.jobs": 1000} | facts)[name]

    assert problem.level == level
    # Of the log as a whole there is no number of jobs.
    assert problem.count == facts.get("utilization.unfinished")
    assert said in problem.affects


def test_an_inferred_size_cannot_be_exceeded():
    facts = {"utilization.above_capacity": 0.1, "trace.cpus": 8, "trace.cpus_inferred": True}

    assert list(unsafe_levels(facts)) == []


def test_the_most_severe_comes_first(make_store, jobs):
    store = make_store((("MaxProcs", "4"),), **jobs | {"job_id": [1, 1, *range(3, 2401)]})
    store.repaired("eviction", "attempts were evicted", 300_787)
    levels = [LEVELS.index(problem.level) for problem in problems(store)]

    assert levels == sorted(levels)
    assert (levels[0], levels[-1]) == (0, 2)


def test_what_a_converter_remarks_is_no_warning(make_store, jobs):
    store = make_store(**jobs)
    store.repaired("eviction", "attempts were evicted", 300_787)
    store.repaired("invalid value", "a run_time that is not a valid value was set to missing", 2)

    assert [(problem.name, problem.level) for problem in problems(store)] == [
        ("invalid value", "warning"),
        ("eviction", "info"),
    ]
