"""
Every answer and finding, in each view, section and part of each trace, says what its facts say.

What is said to be unrecorded is empty, each number is that of a fact, and no choice of sections changes an
answer. `make slow` looks at all samples and real logs, the other suites at a few samples.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import gwa
from gwa.analysis.answers import evidence
from gwa.analysis.base import analyses
from gwa.analysis.endings import core_hour_shares, known_share
from gwa.analysis.finding import rules
from gwa.errors import GwaError
from gwa.formats.open import open_trace
from gwa.store.options import ReadOptions
from gwa.trace import Trace
from tests.analysis.test_gpu_log import COLUMNS
from tests.claims.sentences import derived, falsely_absent, numbers, sentences, written
from tests.conftest import HOME, LOGS, thinned
from tests.facts_reference import logs, samples

QUESTIONS = ["busy", "who", "wait", "wrong", "changed"]

SOURCES = {folder.name: logs(folder) for folder in samples()} | {
    path.name.partition(".")[0]: [path] for path in sorted((LOGS / "swf").glob("*.swf.gz"))
}
OTHERS = {
    "pozidriv": LOGS / "slurm" / "xdmod-pozidriv.log.gz",
    "phillips": LOGS / "slurm" / "xdmod-phillips.log",
    "hb-jobinfo": LOGS / "today" / "hb-jobinfo" / "sacct.txt",
    "google-parts": LOGS / "google2011" / "task_events",
}
SOURCES |= {name: [path] for name, path in OTHERS.items() if path.exists()}

STATED = {"hb-jobinfo": {"columns": COLUMNS}}
"""What users have to say of logs that do not say it themselves."""

FEW = {
    "gwf": ("all", "user", "parallel"),
    "slurm": ("all", "queue", "month"),
    "google2011": ("all", "long"),
    "alibaba2018": ("all", "completed"),
}
"""The samples and parts that all suites look at: a part of each kind, of a sample that has it."""

PARTS = {
    "all": {},
    "parallel": {"where": "n_procs > 1"},
    "long": {"where": "run_time > 3600"},
    "completed": {"where": "status = 1"},
    "user": {"user": "select user_id from jobs group by user_id order by count(*) desc, user_id limit 1"},
    "queue": {
        "queue": "select queue_id from jobs group by queue_id order by count(*) desc, queue_id limit 1"
    },
    "month": {"period": "last-month"},
}
"""The parts of a trace: for a user and a queue, what finds the largest."""

RULES = {rule.id: rule for rule in rules()}

OPTIONAL = {
    "sequential": ("jobs.sequential.cpu_seconds", "jobs.parallel.cpu_seconds"),
    "cut-log": ("window.first", "window.last"),
}
"""The facts that a finding states where they are known, beside those that it needs."""


def facts_of(what: str) -> tuple[str, ...]:
    """Return the facts that a finding rests on; those of an answer have the numbers that it states."""
    kind, name = what.split()
    return (*RULES[name].needs, *OPTIONAL.get(name, ())) if kind == "finding" and name in RULES else ()


def opened(name: str) -> Trace:
    """Open a whole trace, with what is stated of it."""
    if name not in STATED:
        return gwa.open(SOURCES[name])
    return Trace(open_trace(SOURCES[name], options=ReadOptions(format_options=STATED[name])), name)


@contextmanager
def part_of(name: str, part: str) -> Iterator[Trace]:
    """Open a part of a trace; skip where it has none of that kind."""
    condition = dict(PARTS[part])
    with opened(name) as trace:
        for kind in {"user", "queue"} & condition.keys():
            (largest,) = trace.store.row(condition[kind]) or (None,)
            if largest is None:
                pytest.skip(f"no {kind} is recorded")
            condition[kind] = largest
        try:
            chosen = trace.filter(**condition) if condition else trace
        except GwaError as error:
            pytest.skip(str(error))
        yield chosen


def is_one_of_few(name: str, part: str) -> bool:
    return part in FEW.get(name, ())


@pytest.mark.parametrize(("name", "part"), thinned(SOURCES, PARTS, kept=is_one_of_few))
def test_sentences_say_what_facts_say(name, part):
    with part_of(name, part) as trace:
        report = trace.report()
        known = evidence(trace.store, report.sections).facts
        texts = written([*known.values(), *core_hour_shares(known).values(), known_share(known)])
        assert [answer.id for answer in report.answers] == QUESTIONS
        for what, text in sentences(report).items():
            assert not falsely_absent(text, trace.store), (what, text)
            needs = facts_of(what)
            more = written(derived(known.get(fact) for fact in needs))
            strange = [number for number in numbers(text) if number not in texts | more]
            assert not strange, (what, text, strange)
            assert "nan" not in text.split()
            assert not re.search(r"\bNone\b(?! of the )", text), (what, text)


def sections_of(name: str) -> list[str]:
    """Return the sections that are looked at alone."""
    every = [analysis.id for analysis in analyses()]
    return every if name not in FEW else every[::12]


def is_seen_in_all_views(name: str, part: str) -> bool:
    return (name, part) in {("gwf", "all"), ("slurm", "all")}


@pytest.mark.parametrize(
    ("name", "part"), thinned(SOURCES, ("all", "user", "month"), kept=is_seen_in_all_views)
)
def test_no_view_changes_an_answer(name, part):
    with part_of(name, part) as trace:
        expected = answered(trace, None)
        for view in ("operator", "modeller"):
            assert answered(trace, [one.id for one in analyses() if one.view == view]) == expected, view
        for section in sections_of(name):
            assert answered(trace, [section]) == expected, section


def answered(trace: Trace, only: list[str] | None) -> list[tuple[str, str, str]]:
    """Return the answers of a report with some sections."""
    return [(one.state, one.number, one.text) for one in trace.report(only).answers]


def test_what_is_falsely_said_to_be_unrecorded_is_found():
    with gwa.open(HOME / "sample_traces" / "swf" / "tiny.swf") as trace:
        for text, wrong in {
            "Users and groups are not recorded.": ["users and groups"],
            "The log does not record wait times.": ["wait times"],
            "The colour of jobs is not recorded.": ["the colour of jobs"],
            "10 were busy; the size of the system is not recorded.": ["the size of the system"],
            "Half of the jobs waited 5 s or less.": [],
        }.items():
            assert falsely_absent(text, trace.store) == wrong
