"""What a log predicts for a larger machine in sentences: the answer with its record, or why there is none."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby

from gwa.evaluation.capacity.price import Price
from gwa.evaluation.capacity.reasons import WAYS
from gwa.evaluation.capacity.rule import CapacityPlan, Forecast, Outcome, Recorded, Refusal
from gwa.evaluation.capacity.windows import ProcessorRange
from gwa.words.formatting import decimal, fraction, number, seconds, significant
from gwa.words.message import Message, Number, Verbatim, capitalized, joined, message, plural


def sentences(plan: CapacityPlan) -> list[Message]:
    """Return the answers first, then the refusals; classes that are refused for the same reasons once."""
    answers = [answer(plan, one) for one in plan.outcomes if isinstance(one, Forecast)]
    refused = [one for one in plan.outcomes if isinstance(one, Refusal)]
    alike = groupby(refused, lambda one: one.reasons)
    return [*answers, *(cannot_tell(plan, list(group)) for _, group in alike)]


def answer(plan: CapacityPlan, found: Forecast) -> Message:
    """Return the answer on a class with its record, as a text that stands alone."""
    return joined(" ", (effect(plan, found), record(found)))


def effect(plan: CapacityPlan, found: Forecast) -> Message:
    """Return what the wait of a class would be in the median month, and what it was in that of the log."""
    return message(
        "With {change} more processors ({new} instead of {old}) and the same jobs, the p95 wait of {jobs} in"
        " the median month would {become} (at least 4 in 5 such answers hold). It was {before} as"
        " recorded: the median of {months} of the log's {whole} months of four weeks, by the jobs submitted"
        " in them.",
        change=Number(f"{significant(100 * (found.processors / plan.processors - 1), 2)} %"),
        new=number(found.processors),
        old=number(plan.processors),
        jobs=jobs_of(found.among),
        become=_become(found),
        before=seconds(found.before),
        months=number(found.record.windows),
        whole=number(found.whole),
    )  # fmt: skip


def _become(found: Forecast) -> Message:
    """Return what the wait would do: a direction is said only where the interval has no other, as shown."""
    low, _, high = found.after
    ends = {"low": seconds(low), "high": seconds(high)}
    if high < found.before and ends["high"] != seconds(found.before):
        return message("fall to between {low} and {high}", **ends)
    if low > found.before and ends["low"] != seconds(found.before):
        return message("rise to between {low} and {high}", **ends)
    return message("be between {low} and {high}", **ends)


def record(found: Forecast) -> Message:
    """Return how well such waits were predicted on held-out months, and what is not in the answer."""
    return message(
        "{way}, each of {blocks} parts of the log from the others, the median month of a part is off by at"
        " most a factor of {off}, a minute added to waits; {seen} of the changed months are as loaded as"
        " months seen. Users who submit more when queues are short are not in it.",
        way=capitalized(WAYS[found.estimator]),
        blocks=number(found.record.blocks),
        off=times(found.record.off),
        seen=fraction(found.seen),
    )


def cannot_tell(plan: CapacityPlan, refused: Sequence[Refusal]) -> Message:
    """Return why the log cannot tell of classes that are *refused* for the same reasons."""
    return message(
        "Cannot tell what the p95 wait of {jobs} would be with {new} instead of {old}: {reasons}.",
        jobs=joined(message(" and of "), [jobs_of(one.among) for one in refused]),
        new=plural("{n} processor", "{n} processors", refused[0].processors),
        old=number(plan.processors),
        reasons=joined("; ", [reason.text for reason in refused[0].reasons]),
    )


def jobs_of(among: ProcessorRange) -> Message:
    """
    Return the jobs of a class in words.

    >>> jobs_of(ProcessorRange()), jobs_of(ProcessorRange(16))
    ('all jobs', 'jobs of 16 processors or more')
    >>> jobs_of(ProcessorRange(4, 8)), jobs_of(ProcessorRange(1, 1))
    ('jobs of 4 to 8 processors', 'jobs of 1 processor')
    """
    if among.least == among.most:
        return plural("jobs of {n} processor", "jobs of {n} processors", among.least)
    if among.most is not None:
        return message(
            "jobs of {least} to {most} processors", least=number(among.least), most=number(among.most)
        )
    if among.least <= 1:
        return message("all jobs")
    return message("jobs of {least} processors or more", least=number(among.least))


def times(ratio: float) -> Number:
    """
    Return a ratio to two digits, those behind the point written out.

    >>> times(0.384), times(1.2), times(12.3), times(123), times(0.0051)
    ('0.38', '1.20', '12', '120', '0.0051')
    """
    return Number(f"{ratio:.2f}") if 0.1 <= ratio < 10 else significant(ratio, 2)  # noqa: PLR2004


def factor(ratio: float) -> str:
    """Return a ratio as what something is multiplied by."""
    return f"× {times(ratio)}"


def added(plan: CapacityPlan) -> int:
    """Return how many processors are added, 0 where some are taken away."""
    return max(plan.asked - plan.processors, 0)


def cost(plan: CapacityPlan, price: Price) -> Message:
    """Return what the added processors would cost; without a currency where none is known."""
    amount = decimal(price.of(added(plan)), ",f")  # type: ignore[arg-type]
    said = plural(
        "{n} more processor would cost {amount} a year",
        "{n} more processors would cost {amount} a year",
        added(plan), amount=amount,
    )  # fmt: skip
    if price.currency:
        said = plural(
            "{n} more processor would cost {amount} {currency} a year",
            "{n} more processors would cost {amount} {currency} a year",
            added(plan), amount=amount, currency=Verbatim(price.currency),
        )  # fmt: skip
    if not price.rate:
        return joined("", (said, "."))
    rate = message(", charged for every hour at the rate {rate}.", rate=Verbatim(price.rate))
    return joined("", (said, rate))


def remarks(plan: CapacityPlan) -> Iterator[Message]:
    """Yield what a reader has to know besides: jobs that were left out, or whose waits are unknown."""
    if plan.too_large:
        yield plural(
            "{n} job larger than the machine was left out.",
            "{n} jobs larger than the machine were left out.",
            plan.too_large,
        )
    if plan.without_wait:
        yield plural(
            "{n} of {all} jobs has no recorded wait: its work counts, its wait does not.",
            "{n} of {all} jobs have no recorded wait: their work counts, their waits do not.",
            plan.without_wait, all=number(plan.jobs),
        )  # fmt: skip
    if any(isinstance(one, Forecast) for one in plan.outcomes):
        yield message("Such answers are tested on held-out months and made worlds, not on a purchase.")


COLUMNS = ("jobs_of_at_least", "jobs_of_at_most", "processors", "ratio", "low", "high", "p95_low_s", "p95_s",
           "p95_high_s", "refused_for")  # fmt: skip
"""Columns of a curve: the p95 wait in the median month relative to now, a minute added, and in seconds."""


def rows(plan: CapacityPlan) -> list[tuple[object, ...]]:
    """Return the curve of each class, smaller machines first; what is refused has no numbers."""
    return [_row(one) for curve in plan.curves for one in curve]


def _row(found: Outcome) -> tuple[object, ...]:
    start = (found.among.least, found.among.most, found.processors)
    if isinstance(found, Refusal):
        return (*start, *(None,) * 6, " ".join(reason.id for reason in found.reasons))
    low, ratio, high = (round(value, 4) for value in found.ratios)
    return (*start, ratio, low, high, *(round(value, 1) for value in found.after), None)


def plain(
    plan: CapacityPlan, beside: Sequence[Recorded] = (), price: Price | None = None
) -> dict[str, object]:
    """Return a plan as JSON holds it: times in seconds, None for what is refused."""
    costs = [cost(plan, price)] if price else []
    return {
        "processors": {"old": plan.processors, "new": plan.asked},
        "answers": [_plain(one) for one in plan.outcomes],
        "curve": [dict(zip(COLUMNS, row, strict=True)) for row in rows(plan)],
        "jobs": plan.jobs,
        "too_large": plan.too_large,
        "without_wait": plan.without_wait,
        "waiting": plan.touched.plain() if plan.touched else None,
        "price": str(price.of(added(plan))) if price else None,
        "without_forecast": [asdict(one) for one in beside],
        "sentences": [*sentences(plan), *costs],
    }


ANSWER = ("ratio", "low", "high", "now", "then_low", "then", "then_high", "of_months", "predicted_by", "seen",
          "held_out")  # fmt: skip
"""What an answer has, and a refusal has not."""


def _plain(found: Outcome) -> dict[str, object]:
    jobs = {"jobs": asdict(found.among), "is_answered": isinstance(found, Forecast)}
    if isinstance(found, Refusal):
        return {**jobs, **dict.fromkeys(ANSWER), "reasons": [asdict(one) for one in found.reasons]}
    held_out = {**asdict(found.record), "cover": found.record.cover}
    low, ratio, high = found.ratios
    answers = (ratio, low, high, found.before, *found.after)
    values = (*answers, found.whole, found.estimator, found.seen, held_out)
    return {**jobs, **dict(zip(ANSWER, values, strict=True)), "reasons": []}
