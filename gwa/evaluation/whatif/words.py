"""An answer in sentences: first what changes, and if the log bears it out."""

from typing import Final

from gwa.evaluation.capacity import words as plan_words
from gwa.evaluation.capacity.words import times
from gwa.evaluation.whatif.answer import WhatIfAnswer
from gwa.evaluation.whatif.world import World
from gwa.util.units import MINUTE
from gwa.words.formatting import fraction, number, seconds

SHARE: Final = "about 4 in 5 such answers"

EXACT: Final = 10 * MINUTE
"""Simulated waits from here on are told in minutes: replays do not know them to the second."""

ASSUMPTIONS: Final = (
    "users submit the same jobs at the same times, however long they wait",
    "the machine is one pool, without priorities, limits of users, reservations or outages",
    "jobs take the recorded run times",
)

SHOWN_CEILINGS: Final = 5

WITH_CEILINGS: Final = "the machine is one pool, without priorities, other limits, reservations or outages"
"""What is assumed of a machine whose users have ceilings."""

NOT_VALIDATED: Final = "Not validated against this log"


def trust(answer: WhatIfAnswer) -> str:
    """Return what is replayed and, where the answer does not say it, how well that follows the log."""
    of = f"Replays are of an ideal machine that schedules by {policy(answer.old.world)}."
    return f"{of} {likeness(answer)}" if answer.forecasts else of


def likeness(answer: WhatIfAnswer) -> str:
    """Return how the waits of the machine as it was, replayed, are like those of the log."""
    level = answer.validation.level
    if not level.jobs:
        return f"{NOT_VALIDATED}, which records no waits."
    if not level.recorded:
        return (
            f"{NOT_VALIDATED}, in which no job waited; replayed without the change, jobs wait for"
            f" {wait_text(level.simulated)} on average."
        )
    if not level.simulated:
        return f"{NOT_VALIDATED}: replayed without the change, no job waits, and recorded ones did."
    return (
        f"{NOT_VALIDATED}: replayed without the change, jobs wait {times(level.ratio)} times as long as"
        " recorded."
    )


def wait_text(value: float) -> str:
    """
    Return a simulated time in seconds as text, longer ones in whole minutes.

    >>> wait_text(2593.9), wait_text(45.2), wait_text(0.4), wait_text(0.0)
    ('43 min', '45 s', '< 1 s', '0 s')
    """
    if 0 < value < 1:
        return "< 1 s"
    return seconds(round(value) if value < EXACT else round(value / MINUTE) * MINUTE)


def policy(world: World) -> str:
    """Return the policy of a world as it is written."""
    names = {
        "easy": "EASY backfilling",
        "conservative": "conservative backfilling",
        "fcfs": "FCFS",
        "sjf": "SJF",
        "sjf-backfill": "SJF backfilling",
    }
    return names.get(world.policy, world.policy)


def question(answer: WhatIfAnswer) -> str:
    """Return what is asked, such as what if there were 120 processors instead of 100."""
    clauses = [_clause(answer, one.kind.id, one.text) for one in answer.changes]
    return f"What if {' and '.join(clauses)}?"


def _clause(answer: WhatIfAnswer, kind: str, text: str) -> str:
    old, new = answer.old.world, answer.new.world
    size = f"there were {number(new.capacity)} {old.unit} instead of {number(old.capacity)}"
    return {
        "cpus": size,
        "gpus": size,
        "limit": "no user had a ceiling"
        if text.endswith("none")
        else f"no user held more than {number(max(new.ceilings.values(), default=0))} {new.unit} at once",
        "scheduler": f"jobs were scheduled by {policy(new)} instead of {policy(old)}",
        "without-user": f"user {text} submitted no jobs",
        "load": f"users submitted {text} times the work",
        "requests": f"every job requested {'its run time' if text == 'perfect' else 'twice the time'}",
        "walltime-cap": f"no job could run for longer than {text}",
    }.get(kind, f"{kind} were {text}")


def answer_sentence(answer: WhatIfAnswer) -> str:
    """
    Return the answer to the question in sentences that stand alone: what waits become, then how sure that is.

    Of more processors it is what the log tells, where it does; else what a replay says, which is called so.
    """
    if answer.plan and answer.forecasts:
        return plan_words.sentences(answer.plan)[0]
    return f"In a replay on an ideal machine, {_replayed_waits(answer)} {likeness(answer)}"


def _replayed_waits(answer: WhatIfAnswer) -> str:
    """Return the end of a sentence that says what a replay gives."""
    wait = answer.effects[0]
    jobs = "other jobs" if answer.not_submitted else "jobs"
    if answer.is_unchanged:
        return f"no{' other' if answer.not_submitted else ''} job starts earlier or later."
    if answer.falls_behind:
        before, after = (wait_text(one.backlog) for one in (answer.old, answer.new))
        return (
            "the scheduler does not keep up with the jobs: the work that waits would on average keep all of"
            f" the machine busy for {after}{'' if after == before else f' ({before} now)'}."
        )
    if wait_text(wait.new) == wait_text(wait.old):
        return f"{jobs} wait for {wait_text(wait.new)} on average, with the change or without it."
    way = f"{jobs} wait for {wait_text(wait.new)} on average instead of {wait_text(wait.old)}"
    if max(wait.old, wait.new) < MINUTE:
        return f"{way}: waits of less than a minute are not told apart."
    added = ", a minute added to each" if min(wait.old, wait.new) < EXACT else ""
    open_ = "" if wait.is_sure else ", so that it is not sure whether they wait longer or shorter"
    return (
        f"{way}: {times(wait.ratio)} times as long{added} (4 in 5 such answers: {times(wait.low)} to"
        f" {times(wait.high)}){open_}."
    )


def remarks(answer: WhatIfAnswer) -> tuple[str, ...]:
    """Return what a reader has to know besides: what is assumed, and what was left out."""
    before, after = map(fraction, (answer.old.utilization, answer.new.utilization))
    levels = before if before == after else f"{before} now, {after} changed"
    busy = f"Utilization while jobs are submitted: {levels}."
    said = [
        *untold(answer),
        *([] if answer.is_at_once else [busy]),
        f"Both sides of each replayed ratio are simulated, and {SHARE} lie between low and high.",
        f"Assumed: {'; '.join(assumptions(answer))}.",
    ]
    return (*said, *exceptions(answer))


def reach(answer: WhatIfAnswer) -> tuple[str, ...]:
    """Return how much of the waiting of the log the change touches, and whether rules kept much of it."""
    found = answer.touched
    if found is None:
        return ()
    return (found.sentence(), *([f"{found.rules()}."] if found.is_by_rules else []))


def assumptions(answer: WhatIfAnswer) -> tuple[str, ...]:
    """Return what replays assume."""
    if not (answer.old.world.ceilings or answer.new.world.ceilings):
        return ASSUMPTIONS
    return (ASSUMPTIONS[0], WITH_CEILINGS, *ASSUMPTIONS[2:])


def untold(answer: WhatIfAnswer) -> tuple[str, ...]:
    """Return what the log itself cannot tell of more processors, and why."""
    told = plan_words.sentences(answer.plan) if answer.plan else []
    return tuple(told[len(answer.forecasts) :])


def _ceilings(answer: WhatIfAnswer) -> str:
    """Return the users with ceilings on the machine as it was, the lowest ceilings first."""
    ordered = sorted(answer.old.world.ceilings.items(), key=lambda one: (one[1], one[0]))
    shown = [f"{user} {number(most)}" for user, most in ordered[:SHOWN_CEILINGS]]
    more = len(ordered) - len(shown)
    return ", ".join(shown) + (f" and {number(more)} more" if more else "")


def exceptions(answer: WhatIfAnswer) -> tuple[str, ...]:
    """Return what holds of this answer and not of all: what was left out, and what a ratio is not."""
    said = list(answer.validation.gaps)
    if answer.old.world.ceilings:
        said.append(
            f"The machine as it was has the ceilings of users that the log shows: {_ceilings(answer)}."
        )
    if answer.falls_behind:
        said.append("Ratios of a machine that does not keep up hold for a log of this length only.")
    if answer.not_submitted:
        said.append(
            f"{number(answer.not_submitted)} of {number(len(answer.old.world))} jobs are not submitted."
        )
    if answer.too_large:
        said.append(f"{number(answer.too_large)} jobs larger than the machine were not replayed.")
    if answer.left_out:
        said.append(f"Left out, for the queue is too long: a replay with {', '.join(answer.left_out)}.")
    return tuple(said)
