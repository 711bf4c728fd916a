"""The five answers say what the facts of the report say, and "unknown" where the log does not tell."""

import pytest

from gwa.analysis.answers import answers
from gwa.analysis.answers.base import Known
from gwa.report.document import Fact, Facts, Section
from gwa.report.figures.series import series
from gwa.report.figures.spark import MAXIMUM_POINTS, spark
from gwa.words.formatting import show

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
            "365 processors",
            (
                "On average, 365 processors were busy, at most 512 at once; the size of the system is not"
                " recorded."
            ),
        ),
        (
            AT_LEAST | INFERRED,
            "bound",
            "≥ 238 processors",
            (
                "On average, at least 238 processors were busy, at one time at least 512; the size of the"
                " system is not recorded."
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


def test_more_processors_than_there_are_are_no_utilization():
    most = BUSY | {"utilization__mean": 1.064, "utilization__above_capacity": 0.4}
    answer = asked("busy", **most)
    assert (answer.state, answer.number) == ("unknown", "")
    assert answer.text == (
        "Utilization is unknown: by the log, 106.4 % of 512 processors were busy on average; the number of"
        " processors is wrong, or the times of the jobs are."
    )
    no_waits = asked("busy", fields=("n_procs", "run_time", "submit_time"), **most).text
    assert no_waits.endswith("; when jobs started is not known, as wait times are not recorded.")
    answer = asked("busy", **BUSY, utilization__above_capacity=0.22)
    assert answer.text.endswith(" were busy. For 22 % of the time, more were busy than there are.")


def test_how_busy_gpus_were():
    gpus = {"gpu__utilization": 0.25, "gpu__total": 16, "gpu__busy": 4.0}
    answer = asked("busy", **BUSY, **gpus)
    assert answer.text.endswith(" were busy. Of 16 GPUs, 25 % were allocated.")
    answer = asked("busy", **BUSY, **gpus, gpu__total_inferred=True)
    assert answer.text.endswith(" On average, 4 GPUs were allocated, at most 16 at once.")
    assert "GPU" not in asked("busy", is_selection=True, **BUSY, **gpus).text


def test_who_used_it():
    ranking = [{"id": "a", "held_share": 0.6}, {"id": "b", "held_share": 0.4}]
    answer = asked("who", trace__users=12, users__half_held=1, users__by_held=ranking)
    assert answer.number == "1 of 12"
    assert answer.text == "1 of 12 users accounts for 60 % of the core-hours."
    assert answer.picture.data["values"] == [0.6, 0.4]


def test_equal_shares_are_no_news():
    ranking = [{"id": "a", "held_share": 0.51}, {"id": "b", "held_share": 0.49}]
    answer = asked("who", trace__users=2, users__half_held=1, users__by_held=ranking)
    assert answer.number == "2 users"
    assert answer.text == "2 users share the core-hours almost evenly; the largest accounts for 51 %."


@pytest.mark.parametrize("share", [0.62, 0.735, 0.86])
def test_two_users_of_whom_one_has_far_more_do_not_share_evenly(share):
    ranking = [{"id": "a", "held_share": share}, {"id": "b", "held_share": 1 - share}]
    answer = asked("who", trace__users=2, users__half_held=1, users__by_held=ranking)
    assert answer.text == f"1 of 2 users accounts for {100 * share:.3g} % of the core-hours."


def test_a_single_user_is_not_said_to_have_submitted_jobs_that_name_nobody():
    answer = asked(
        "who", trace__users=1, users__by_held=[{"id": "a", "held_share": 0.7}], users__unknown_cpu=0.3
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
    ranking = [{"id": "a", "held_share": 0.4}]
    answer = asked("who", trace__groups=6, groups__half_held=2, groups__by_held=ranking)
    assert answer.text == "2 of 6 groups account for half of the core-hours, the largest for 40 %."


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("who", "Users and groups are not recorded."),
        ("wait", "Wait times are not recorded."),
        ("wrong", "How jobs ended is not recorded."),
        ("changed", "Submission times are not recorded, so that changes over time cannot be known."),
    ],
)
def test_what_is_not_recorded_is_unknown(question, text):
    answer = asked(question, fields=())
    assert (answer.number, answer.text) == ("", text)


def test_jobs_that_only_wait_or_run_have_states_and_no_outcome():
    answer = asked("wrong", fields=("submit_time", "state"))
    assert (answer.state, answer.text) == ("unknown", "No job with a known outcome ended.")


def test_outages_are_part_of_what_went_wrong():
    begin = {"begin": 0.0, "from": "2012-03-01 07:33:00", "to": "", "numbers_passed": None}
    short = {**begin, "kind": "outage", "end": 7200.0, "jobs": 9, "users": None}
    long = {**begin, "kind": "outage", "end": 36_000.0, "jobs": 102, "users": 13}
    other = {**begin, "kind": "silent", "end": 360_000.0, "jobs": 0, "users": None}
    answer = asked("wrong", stretches=[short])
    assert answer.text == (
        "How jobs ended is not recorded. Nothing ran for 2 h from 2012-03-01 07:33 while 9 jobs waited:"
        " an outage or maintenance."
    )
    answer = asked("wrong", stretches=[short, other, long])
    assert answer.text == (
        "How jobs ended is not recorded. In 2 stretches, 12 h in all, nothing ran while jobs waited: outages"
        " or maintenance. In the longest, 10 h from 2012-03-01 07:33, 102 jobs of 13 users waited."
    )


def test_runs_before_a_requeue_are_part_of_what_went_wrong():
    ended = {"completed": 0.9, "failed": 0.1, "limit": None, "cancelled": None, "not completed": 0.1}
    shares = [{"id": name, "jobs": share, "core_hours": share} for name, share in ended.items()]
    answer = asked(
        "wrong",
        outcomes__shares=shares,
        outcomes__requeued__jobs=3,
        outcomes__requeued__cpu_seconds=72_000.0,
    )
    assert (
        " 3 jobs were requeued after they had run: 20 CPU hours went into their earlier runs." in answer.text
    )
    untold = asked("wrong", outcomes__shares=shares, outcomes__requeued__jobs=3)
    assert " 3 jobs were requeued after they had run." in untold.text


def gap(kind, days):
    return {
        "kind": kind, "begin": 0.0, "end": days * 86_400.0, "from": "2012-03-01 07:33:00",
        "to": "2012-03-07 13:32:00", "jobs": 0, "users": 0, "numbers_passed": 14_200, "rows_complete": False,
        "unknown_from": "2012-03-01 07:33:00",
    }  # fmt: skip


OUTSIDE = {
    "utilization__known_mean": 0.62, "utilization__known_busy": 317.4,
    "capacity__unaccounted_seconds": 6 * 86_400.0,
}  # fmt: skip


def test_no_mean_across_a_gap_is_called_busyness():
    answer = asked("busy", **BUSY, **OUTSIDE, stretches=[gap("missing", 6)])
    assert (answer.number, answer.text) == (
        "62 %",
        (
            "On average, outside gaps of the log, 62 % of 512 processors were busy. Rows are missing:"
            " over 6 days from 2012-03-01 07:33 to 2012-03-07 13:32, job numbers jump by 14,200."
        ),
    )
    gpus = {"gpu__utilization": 0.25, "gpu__known_utilization": 0.3, "gpu__total": 16, "gpu__busy": 4.0}
    answer = asked("busy", **BUSY, **OUTSIDE, **gpus, stretches=[gap("missing", 6)])
    assert answer.text.endswith(" On average, outside gaps of the log, 30 % of 16 GPUs were allocated.")
    more = asked(
        "busy",
        **BUSY,
        **OUTSIDE,
        **gpus,
        gpu__total_inferred=True,
        gpu__known_busy=4.8,
        stretches=[gap("missing", 6)],
    ).text
    assert more.endswith(" On average, outside gaps of the log, 4.8 GPUs were allocated, at most 16 at once.")
    answer = asked("busy", **BUSY, **OUTSIDE, **INFERRED, stretches=[gap("still", 6)])
    assert (answer.number, answer.text) == (
        "317 processors",
        (
            "On average, outside gaps of the log, 317 processors were busy, at most 512 at once; the size"
            " of the system is not recorded. Nothing was submitted and nothing ran for 6 days from"
            " 2012-03-01 07:33 to 2012-03-07 13:32: the machine was down or closed, or rows are missing; the"
            " log does not tell."
        ),
    )
    outage, within = gap("outage", 8), gap("still", 6) | {"begin": 86_400.0, "end": 6.5 * 86_400.0}
    for stretches in ([], [gap("still", 0.9)], [gap("silent", 9)], [outage, within]):
        known = {**BUSY, **OUTSIDE, "capacity__unaccounted_seconds": 0.0}
        assert asked("busy", **known, stretches=stretches).number == "71.3 %"


CHANGES = [
    {"what": "users", "when": None, "before": 10.0, "after": 14.0, "shape": "line"},
    {"what": "jobs", "when": "2012-06-04", "before": 300.0, "after": 900.0, "shape": "step"},
]


def test_the_largest_change_is_said():
    answer = asked("changed", changes=CHANGES, changes__weeks=120)
    assert (answer.state, answer.number) == ("found", "2 changes")
    assert answer.text == (
        "From about the week of 2012-06-04, more jobs were submitted: 900 a week (median of weeks) against"
        " 300 before. Also changed: users."
    )
    answer = asked("changed", changes=CHANGES[:1], changes__weeks=60)
    assert answer.text == (
        "Over the log, users rose: 10 in the median week of the first third, 14 of the last."
        " In less than two years a season may look like this."
    )


def test_where_no_change_is_found_a_difference_is_said_and_what_would_not_be_seen():
    visible = [
        {"what": "jobs", "factor": 12.3, "from": 10, "to": 123},
        {"what": "wait", "factor": 1.3, "from": 4.64, "to": 24.0},
        {"what": "users", "factor": 2, "from": 7, "to": 14},
    ]
    largest = {"what": "runtime", "before": 277, "after": 1790}
    answer = asked(
        "changed", changes=[], changes__weeks=60, changes__largest=largest, changes__visible=visible
    )
    assert (answer.state, answer.number) == ("not found", "usual variation")
    assert answer.text == (
        "No measure changed by more than its weeks vary: median run times, for example, went from"
        " 4 min 37 s to 29 min 50 s (median weeks of the first and last third). A rise of mean waits from"
        " 4.64 s to less than 24 s might not be seen, nor one of jobs from 10 to less than 123 a week."
    )
    answer = asked(
        "changed", changes=[], changes__weeks=60, changes__largest=largest, changes__small=["users", "busy"]
    )
    assert answer.text.startswith(
        "Apart from small changes (users, busy processors), no measure changed by more"
    )


def test_no_absurd_factor_is_said_of_weeks_that_vary_too_much():
    rough = {"what": "busy", "factor": 16_942, "from": 0.1, "to": 1694.2}
    users = {"what": "users", "factor": 2.7, "from": 10, "to": 27}
    known = {"changes": [], "changes__weeks": 60, "changes__largest": None}
    assert asked("changed", **known, changes__visible=[rough, users]).text == (
        "No measure changed by more than its weeks vary. A rise of users from 10 to less than 27 a week"
        " might not be seen, and of busy processors hardly any would be."
    )
    assert asked("changed", **known, changes__visible=[rough]).text == (
        "No measure changed by more than its weeks vary. The weeks of this log vary so much that hardly any"
        " change would be seen."
    )


def test_a_change_with_strong_evidence_that_is_not_enough_is_said_to_be_unsure():
    doubtful = {"what": "wait", "before": 716.0, "after": 0.0}
    answer = asked(
        "changed", changes=[], changes__weeks=51, changes__largest=doubtful, changes__doubtful=doubtful,
        changes__visible=[{"what": "wait", "factor": 13.6, "from": 716.0, "to": 10_494.0}],
    )  # fmt: skip
    assert (answer.state, answer.number) == ("not found", "not sure")
    assert answer.text == (
        "Mean waits may have changed, from 11 min 56 s to 0 s (median weeks of the first and last third), but"
        " their weeks vary nearly as much. No other measure changed by more than its weeks vary. A rise of"
        " mean waits from 11 min 56 s to less than 2 h 55 min might not be seen."
    )


def test_few_weeks_are_not_judged():
    measures = [{"what": "users", "before": 3, "after": 4}, {"what": "jobs", "before": 1000, "after": 2260}]
    answer = asked("changed", changes=None, changes__weeks=11, changes__measures=measures)
    assert (answer.state, answer.number) == ("not tested", "")
    assert answer.text == (
        "11 weeks are too few to judge; jobs a week: 1,000 in the median week of the first third, 2,260 of"
        " the last."
    )
    assert asked("changed", changes__weeks=1).text == "1 week is too few to judge."
    assert asked("changed", changes__weeks=0).text == (
        "The log has no whole week, which is too little to judge what changed."
    )
    answer = asked("changed", changes__weeks=51, changes__weeks_unknown=26)
    assert answer.text == "Too many weeks are unknown to judge what changed: 26 of 51."


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


def test_a_report_of_a_trace_answers_all_five(tiny_report):
    assert [answer.id for answer in tiny_report.answers] == ["busy", "who", "wait", "wrong", "changed"]
    assert tiny_report.answers[0].number == show(tiny_report.fact("utilization.mean").value, "fraction")
