"""Who used the system."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gwa.analysis.answers.base import NOTICEABLE, AnswerStatement, Known, question
from gwa.report.document import Figure
from gwa.report.figures.spark import spark
from gwa.words.compared import single_largest
from gwa.words.formatting import fraction, number
from gwa.words.message import Message, Verbatim, joined, message, plural


@dataclass(frozen=True)
class Holders:
    """Those who may hold core-hours: the *family* of their facts, their *field*, and words for them."""

    family: str
    field: str
    many: str
    one: str


HOLDERS: Final = (
    Holders("users", "user_id", "users", "user"),
    Holders("groups", "group_id", "groups", "group"),
)

EVEN: Final = 0.4
"""Where half of the core-hours takes as large a share of the users, the shares are close to even."""

MAXIMUM_EVEN: Final = 1.5
MAXIMUM_ABOVE_EVEN: Final = 0.1
"""Where shares are close to even: the maximum of the largest, as a multiple of an equal one and above it."""


@question("who", message("Who used it?"), "overview", "users", "groups", "inequality")
def who(known: Known) -> AnswerStatement:
    """
    Return how many users, else groups, account for half of the core-hours, or else of the jobs.

    Core-hours are those held while the log knows the load, as in the lists of a page.
    """
    for holders in HOLDERS:
        total = known.get(f"trace.{holders.family}")
        if total:
            number_text, caption, text = _holding(known, holders, total)
            picture = _picture(known, holders)
            return AnswerStatement("known", number_text, text, "users", picture, caption)
    if known.has("user_id") or known.has("group_id"):  # recorded, but the section says nothing of them
        return AnswerStatement("unknown", "", message("Who used it is unknown: no job counts."), "users")
    return AnswerStatement("unknown", "", message("Users and groups are not recorded."), "users")


def _holding(known: Known, holders: Holders, total: int) -> tuple[Message, Message, Message]:
    """Return who holds how much: a number, what it is of, and a sentence."""
    half = known.get(f"{holders.family}.half_held")
    number_text, caption = _count(holders, total), message("")
    if total == 1:
        text = message("All jobs with a known {one} are of one.", one=holders.one)
    elif not half:
        text = _by_jobs(known, holders, total)
    elif half >= EVEN * total and _is_even(known, holders, total):
        text = _evenly(known, holders, total)
    else:
        number_text = message("{half} of {total}", half=number(half), total=number(total))
        caption = message("{many} hold half of the core-hours", many=holders.many)
        text = _concentrated(known, holders, total, half)
    return number_text, caption, joined(" ", (text, *_without(known, holders)))


def _count(holders: Holders, total: int) -> Message:
    if holders.field == "user_id":
        return plural("{n} user", "{n} users", total)
    return plural("{n} group", "{n} groups", total)


def _is_even(known: Known, holders: Holders, total: int) -> bool:
    """Whether the largest share is about an equal one: of two, one has half in any case."""
    largest = float(known.get(f"{holders.family}.by_held")[0]["held_share"])
    return largest <= min(MAXIMUM_EVEN / total, 1 / total + MAXIMUM_ABOVE_EVEN)


def _evenly(known: Known, holders: Holders, total: int) -> Message:
    """Return that *total* users or groups hold nearly equal shares of the core-hours."""
    return message(
        "{total} {many} share the core-hours almost evenly; the largest accounts for {share}.",
        total=number(total),
        many=holders.many,
        share=_largest(known, holders),
    )


def _concentrated(known: Known, holders: Holders, total: int, half: int) -> Message:
    """Return that *half* of *total* users or groups hold half of the core-hours."""
    words = {"total": number(total), "many": holders.many, "share": _largest(known, holders)}
    if half == 1:
        return message("1 of {total} {many} accounts for {share} of the core-hours.", **words)
    return message(
        "{half} of {total} {many} account for half of the core-hours, the largest for {share}.",
        half=number(half),
        **words,
    )


def _largest(known: Known, holders: Holders) -> str:
    """Return the largest share of all core-hours that were held."""
    return fraction(known.get(f"{holders.family}.by_held")[0]["held_share"])


def _by_jobs(known: Known, holders: Holders, total: int) -> Message:
    """Return who submitted most, where no core-hours are known."""
    ranking: Sequence[Mapping[str, Any]] = known.get(f"{holders.family}.by_jobs") or []
    unknown = message("their core-hours are unknown")
    count = _count(holders, total)
    first = single_largest(ranking, lambda row: float(row["jobs_share"]))
    if first is None:
        return message("{count}; {unknown}.", count=count, unknown=unknown)
    return message(
        "{count}, {name} with the largest share of the jobs ({share}); {unknown}.",
        count=count,
        name=Verbatim(first["id"]),
        share=fraction(first["jobs_share"]),
        unknown=unknown,
    )


def _without(known: Known, holders: Holders) -> list[Message]:
    """Return which share of the core-hours is of jobs whose holder is not recorded, if it is noticeable."""
    share = known.get(f"{holders.family}.unknown_cpu")
    if share is None or share < NOTICEABLE:
        return []
    return [
        message(
            "{share} of all core-hours went into jobs without a recorded {one}.",
            share=fraction(share),
            one=holders.one,
        )
    ]


def _picture(known: Known, holders: Holders) -> Figure | None:
    shares = [row["held_share"] for row in known.get(f"{holders.family}.by_held") or []]
    if len(shares) <= 1:
        return None
    count = number(len(shares))
    alt = message(
        "Shares of core-hours of the top {shares} {many}: {fraction}.",
        shares=count,
        many=holders.many,
        fraction=joined(", ", map(fraction, shares)),
    )
    return spark(
        "answer-who",
        message("Core-hours of the top {shares} {many}", shares=count, many=holders.many),
        shares,
        alt,
        shape="bars",
    )
