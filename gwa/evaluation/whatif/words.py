"""An answer in sentences: first what changes, and if the log bears it out."""

from typing import Final

from gwa.evaluation.capacity import words as plan_words
from gwa.evaluation.whatif.answer import WhatIfAnswer
from gwa.evaluation.whatif.effect import Effect
from gwa.evaluation.whatif.world import World
from gwa.words.formatting import fraction, number, seconds, significant

SHARE: Final = "about 4 in 5 such answers"

ASSUMPTIONS: Final = (
    "users submit the same jobs at the same times, however long they wait",
    "the machine is one pool, without priorities, limits of users, reservations or outages",
    "jobs take the recorded run times",
)

NOT_VALIDATED: Final = "Not validated against this log"


def trust(answer: WhatIfAnswer) -> str:
    """Return what the replays are about, and what is known of how well they follow the log."""
    of = f"Replays are of an ideal machine that schedules by {policy(answer.old.world)}"
    level = answer.validation.level
    if not level.recorded:
        return f"{of}, and not validated against this log."
    return (
        f"{of}, and not validated against this log: on the machine as it was, replayed jobs wait"
        f" {times(level.ratio)} times as long as recorded."
    )


def policy(world: World) -> str:
    """Return the policy of a world as it is written."""
    return {"easy": "EASY backfilling", "conservative": "conservative backfilling"}.get(
        world.policy, world.policy.upper()
    )


def times(ratio: float) -> str:
    """
    Return a ratio to two digits.

    >>> times(0.384), times(1.2), times(12.3), times(123), times(0.0051)
    ('0.38', '1.20', '12', '120', '0.0051')
    """
    return significant(ratio, 2) if ratio < 0.1 or ratio >= 10 else f"{ratio:.2f}"  # noqa: PLR2004


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
        "scheduler": f"jobs were scheduled by {policy(new)} instead of {policy(old)}",
        "without-user": f"user {text} submitted no jobs",
        "load": f"users submitted {text} times the work",
        "requests": f"every job requested {'its run time' if text == 'perfect' else 'twice the time'}",
        "walltime-cap": f"no job could run for longer than {text}",
    }.get(kind, f"{kind} were {text}")


def answer_sentence(answer: WhatIfAnswer) -> str:
    """
    Return the answer to the question in sentences that stand alone, with waits before and after.

    Of more processors they are what the log tells, or why it cannot; what a replay says that nothing in the
    log bears out is called so.
    """
    told = plan_words.sentences(answer.plan)[:1] if answer.plan else []
    if answer.forecasts:
        return told[0]
    found = _replayed_waits(answer)
    return " ".join([*told, f"{NOT_VALIDATED}: on an ideal machine, {found[:1].lower()}{found[1:]}"])


def _replayed_waits(answer: WhatIfAnswer) -> str:
    wait = answer.effects[0]
    if answer.is_unchanged:
        return "No job would start earlier or later."
    if answer.falls_behind:
        before, after = (seconds(one.backlog) for one in (answer.old, answer.new))
        return (
            "The machine would not keep up with the jobs: the work that waits would on average keep all of it"
            f" busy for {after} ({before} now)."
        )
    values = f"{seconds(wait.old)} now, {seconds(wait.new)} then"
    if not wait.is_sure:
        return (
            f"It is uncertain whether jobs would wait longer or less: on average {values},"
            f" {times(wait.ratio)} times as long ({_interval(wait)})."
        )
    way = "longer" if wait.ratio > 1 else "less"
    return (
        f"Jobs would wait {way}: on average {values}, {times(wait.ratio)} times as long ({_interval(wait)})."
    )


def _interval(wait: Effect) -> str:
    return f"{SHARE} lie within {times(wait.low)} to {times(wait.high)} times"


def remarks(answer: WhatIfAnswer) -> tuple[str, ...]:
    """Return what a reader has to know besides: what is assumed, and what was left out."""
    before, after = map(fraction, (answer.old.utilization, answer.new.utilization))
    said = [
        f"Utilization while jobs are submitted: {before} now, {after} changed.",
        f"Both sides of each replayed ratio are simulated, and {SHARE} lie between low and high.",
        f"Assumed: {'; '.join(ASSUMPTIONS)}.",
    ]
    return (*said, *exceptions(answer))


def exceptions(answer: WhatIfAnswer) -> tuple[str, ...]:
    """Return what holds of this answer and not of all: what was left out, and what a ratio is not."""
    said = list(answer.validation.gaps)
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
