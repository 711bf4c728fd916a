"""Who used the system."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from gwa.analysis.answers.base import Known, Statement, question
from gwa.report.document import Figure
from gwa.report.figures.spark import spark
from gwa.report.formatting import fraction, number
from gwa.report.message import joined, message


class _Holders(NamedTuple):
    prefix: str
    many: str
    one: str


HOLDERS: Final = (_Holders("users", "users", "user"), _Holders("groups", "groups", "group"))


@question("who", message("Who used it?"), "overview", "users", "groups")
def who(known: Known) -> Statement:
    """Return who held most core-hours."""
    for holders in HOLDERS:
        total, half = (
            known.get(f"trace.{holders.prefix}"),
            known.get(f"{holders.prefix}.half_cpu"),
        )
        ranking = known.get(f"{holders.prefix}.by_cpu") or []
        if total and half:
            return Statement(
                "known", *_holding(total, half, holders, ranking), "users", _ranking(ranking, holders.many)
            )
    return Statement("unknown", "", message("Users and groups are not recorded."), "users")


def _holding(
    total: int, half: int, holders: _Holders, ranking: Sequence[Mapping[str, Any]]
) -> tuple[str, str]:
    """Return who accounts for half of the core-hours, as a number and a sentence."""
    if total == 1:
        return message("1 {one}", one=holders.one), message(
            "A single {one} submitted all jobs.", one=holders.one
        )
    largest = (
        message(", the largest for {cpu_share}", cpu_share=fraction(ranking[0]["cpu_share"]))
        if ranking
        else ""
    )
    account = "accounts" if half == 1 else "account"
    text = message(
        "{half} of {total} {many} {account} for half of all core-hours{largest}.",
        half=number(half),
        total=number(total),
        many=holders.many,
        account=account,
        largest=largest,
    )
    return message("{half} of {total}", half=number(half), total=number(total)), text


def _ranking(ranking: Sequence[Mapping[str, Any]], many: str) -> Figure | None:
    shares = [one["cpu_share"] for one in ranking]
    if len(shares) <= 1:
        return None
    alt = message(
        "Shares of core-hours of the top {shares} {many}: {fraction}.",
        shares=number(len(shares)),
        many=many,
        fraction=joined(", ", map(fraction, shares)),
    )
    return spark(
        "answer-who",
        message("Core-hours of the top {shares} {many}", shares=number(len(shares)), many=many),
        shares,
        alt,
        shape="bars",
    )
