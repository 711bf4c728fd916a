"""The five answers say what the facts of the report say, and "unknown" where the log does not tell."""

import pytest

import gwa
from gwa.analysis.answers import answers
from gwa.analysis.answers.base import Known
from gwa.report.document import Fact, Facts, Section
from gwa.report.figures.series import series
from gwa.report.figures.spark import MAXIMUM_POINTS, spark
from gwa.report.formatting import show
from tests.conftest import HOME

SECTIONS = ("utilization", "users", "waits", "outcomes", "changes", "arrivals")
FIELDS = ("submit_time", "wait_time", "run_time", "n_procs", "status", "user_id", "group_id")


def asked(question, *figures, sections=SECTIONS, fields=FIELDS, is_selection=False, **facts):
    """Return the answer to a question in a report with these facts, whose points are written as __."""
    named = tuple(Fact(name.replace("__", "."), value, name) for name, value in facts.items())
    blocks = {"utilization": (Facts(named), *figures)}
    made = tuple(Section(name, name, "", blocks.get(name, ())) for name in sections)
    known = Known.of(made, fields, is_selection=is_selection)
    return next(one for one in answers(known, sections) if one.id == question)


BUSY = {"utilization__mean": 0.713, "utilization__busy": 365.056, "trace__cpus": 512}
AT_LEAST = {"utilization__at_least": 0.464, "utilization__busy_at_least": 237.6, "trace__cpus": 512}
INFERRED = {"trace__cpus_inferred": True}


@pytest.mark.parametrize(
    ("facts", "state", "number", "text"),
    [
        (BUSY, "known", "71.3 %", "On average, 71.3 % of 512 processors were busy."),
        (
            AT_LEAST,
            "bound",
            "≥ 46.4 %",
            "On average, at least 46.4 % of 512 processors were busy: the log does not show all that ran.",
        ),
        (
            BUSY | INFERRED,
            "known",
            "365.1 processors",
            (
                "On average, 365.1 processors were busy, at most 512 at once; the size of the system is not"
                " recorded."
            ),
        ),
        (
            AT_LEAST | INFERRED,
            "bound",
            "≥ 237.6 processors",
            (
                "On average, at least 237.6 processors were busy, at most 512 at once; the size of the system"
                " is not recorded."
            ),
        ),
        ({}, "unknown", "", "Utilization is unknown: no job ran."),
        (
            {"trace__ran": 3},
            "unknown",
            "",
            "Utilization is unknown: the number of processors is not recorded.",
        ),
    ],
)
def test_how_busy(facts, state, number, text):
    answer = asked("busy", **facts)
    assert (answer.state, answer.number, answer.text) == (state, number, text)
    assert answer.section == "utilization"


def test_how_busy_names_the_fields_that_are_not_recorded():
    answer = asked("busy", fields=("n_procs",))
    assert answer.text == "Utilization is unknown: run times and submission times are not recorded."


def test_some_jobs_are_not_called_the_system():
    answer = asked("busy", is_selection=True, **BUSY)
    assert answer.text == "These jobs kept 71.3 % of 512 processors busy on average. Other jobs are left out."


def test_how_busy_gpus_were():
    gpus = {"gpu__utilization": 0.25, "gpu__total": 16, "gpu__busy": 4.0}
    answer = asked("busy", **BUSY, **gpus)
    assert answer.text.endswith(" were busy. Of 16 GPUs, 25 % were allocated.")
    answer = asked("busy", **BUSY, **gpus, gpu__total_inferred=True)
    assert answer.text.endswith(" On average, 4 GPUs were allocated, at most 16 at once.")
    assert "GPU" not in asked("busy", is_selection=True, **BUSY, **gpus).text


def test_who_used_it():
    ranking = [{"id": "a", "cpu_share": 0.6}, {"id": "b", "cpu_share": 0.4}]
    answer = asked("who", trace__users=12, users__half_cpu=1, users__by_cpu=ranking)
    assert answer.number == "1 of 12"
    assert answer.text == "1 of 12 users accounts for 60 % of the core-hours."
    assert answer.picture.data["values"] == [0.6, 0.4]


def test_equal_shares_are_no_news():
    ranking = [{"id": "a", "cpu_share": 0.51}, {"id": "b", "cpu_share": 0.49}]
    answer = asked("who", trace__users=2, users__half_cpu=1, users__by_cpu=ranking)
    assert answer.number == "2 users"
    assert answer.text == "2 users share the core-hours almost evenly; the largest accounts for 51 %."


def test_a_single_user_is_not_said_to_have_submitted_jobs_that_name_nobody():
    answer = asked(
        "who", trace__users=1, users__by_cpu=[{"id": "a", "cpu_share": 0.7}], users__unknown_cpu=0.3
    )
    assert answer.number == "1 user"
    assert answer.text == (
        "All jobs with a known user are of one. 30 % of all core-hours went into jobs without a recorded"
        " user."
    )


def test_users_are_recorded_though_their_core_hours_are_not():
    ranking = [{"id": "a", "jobs_share": 0.25}]
    answer = asked("who", trace__users=40, users__by_jobs=ranking)
    assert (answer.state, answer.number) == ("known", "40 users")
    assert answer.text == (
        "40 users, a with the largest share of the jobs (25 %); their core-hours are unknown."
    )


def test_groups_stand_for_users_that_are_not_recorded():
    ranking = [{"id": "a", "cpu_share": 0.4}]
    answer = asked("who", trace__groups=6, groups__half_cpu=2, groups__by_cpu=ranking)
    assert answer.text == "2 of 6 groups account for half of the core-hours, the largest for 40 %."


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("who", "Users and groups are not recorded."),
        ("wait", "Wait times are not recorded."),
        ("wrong", "How jobs ended is not recorded."),
        ("changed", "Whether anything changed is unknown: the log has too few weeks with jobs."),
    ],
)
def test_what_is_not_recorded_is_unknown(question, text):
    answer = asked(question, fields=())
    assert (answer.number, answer.text) == ("", text)


def test_the_largest_change_is_said():
    changes = [
        {"what": "users", "when": "2012-05-07", "before": 10.0, "after": 12.0},
        {"what": "jobs", "when": "2012-06-04", "before": 300.0, "after": 900.0},
    ]
    answer = asked("changed", changes=changes)
    assert answer.number == "2 changes"
    assert answer.text == "Jobs per week went from 300 to 900 (from 2012-06-04). 1 more change."
    assert asked("changed", changes=[]).number == "none found"


def test_a_picture_is_the_figure_of_its_section():
    values = [0.0, 4.0, 8.0, 4.0]
    figure = series("utilization", "Busy", range(4), {"busy": values}, "Processors", "What is seen.")
    answer = asked("busy", figure, utilization__mean=0.5, utilization__busy=4.0, trace__cpus=8)
    assert answer.picture.data["values"] == values
    assert answer.picture.alt == "What is seen."


def test_only_sections_of_the_report_are_linked():
    assert asked("wait", sections=("utilization",), jobs__wait__median=1, jobs__wait__p95=2).section == ""


def test_long_courses_are_averaged():
    values = spark("id", "title", [1.0, 3.0] * 600, "alt").data["values"]
    assert values == [2.0] * MAXIMUM_POINTS
    assert spark("id", "title", [1.0, None, 2.0], "alt").data["values"] == [1.0, None, 2.0]


def test_a_report_of_a_trace_answers_all_five():
    with gwa.open(HOME / "sample_traces" / "swf" / "tiny.swf") as trace:
        report = trace.report()
    assert [answer.id for answer in report.answers] == ["busy", "who", "wait", "wrong", "changed"]
    assert report.answers[0].number == show(report.fact("utilization.mean").value, "fraction")
