"""What may be said of who got their share: each sentence with the conditions under which it holds."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gwa.breakdown.fairness import Share
from gwa.breakdown.going_ahead import Order
from gwa.breakdown.starvation import Starved
from gwa.util.units import HOUR
from gwa.words.formatting import decimal, fraction, number
from gwa.words.message import Message, Verbatim, message, plural

MAXIMUM_NAMED_USERS: Final = 3
"""Where more users held above their split, those that held most are named."""

MINIMUM_STARVED: Final = 10
MINIMUM_STARVED_SHARE: Final = 0.2
"""A user is named who has at least this many of the jobs that waited longest, and this share of them."""

OWNERS: Final = {"users": message("User {id}"), "projects": message("Project {id}")}


def of_split(moved: float | None, shares: Sequence[Share]) -> Iterator[Message]:
    """Yield how far what users held was from an equal split, and who went without most."""
    if moved is None or not shares:
        return
    yield message(
        "An equal split among the users who asked for processors, hour by hour, would have given {share} of"
        " the processor-hours to others.",
        share=fraction(moved),
    )
    most = max(shares, key=lambda one: (one.lacked, one.name))
    if most.lacked >= HOUR:
        yield message(
            "User {id} lacked most: it held {hours} processor-hours less than an equal split would have given"
            " it, {share} of that.",
            id=Verbatim(most.name),
            hours=number(round(most.lacked / HOUR)),
            share=fraction(most.lacked / most.split),
        )


def of_users(shares: Sequence[Share], orders: Mapping[str, Order] | None) -> Iterator[Message]:
    """Yield who held more than an equal split by more than chance, and whose jobs went ahead of others."""
    tested = sum(one.chance is not None for one in shares)
    above = [one for one in shares if one.is_above]
    if not tested:
        yield message("Too few weeks, or users, to tell whether any user held more than an equal split.")
        return
    if not above:
        yield plural(
            "That {n} user could be tested, and did not hold more than an equal split by more than chance.",
            "Of {n} users that could be tested, none held more than an equal split by more than chance.",
            tested,
        )
        return
    for one in above[:MAXIMUM_NAMED_USERS]:
        yield _above(one, (orders or {}).get(one.name))
    yield from _order(above, orders)


def _above(one: Share, order: Order | None) -> Message:
    held = message(
        "User {id} held {ratio} times an equal split while others waited (at least {least} times, by weeks)",
        id=Verbatim(one.name),
        ratio=decimal(one.ratio or 0.0, ".2f"),
        least=decimal(one.least or 0.0, ".2f"),
    )
    if order is None or not order.goes_ahead:
        return message("{sentence}.", sentence=held)
    return message(
        "{sentence}, and its jobs went ahead of earlier like ones of others at {ahead} of {starts} starts.",
        sentence=held,
        ahead=number(order.ahead),
        starts=number(order.starts),
    )


def _order(above: Sequence[Share], orders: Mapping[str, Order] | None) -> Iterator[Message]:
    """Yield what is known of the order in which those started who held more."""
    if orders is None:
        yield message(
            "Who asks for more, and earlier, holds more in the order of arrival, too; requested times are not"
            " recorded, and it cannot be told whose jobs went ahead."
        )
    elif not any(one.name in orders and orders[one.name].goes_ahead for one in above):
        yield message(
            "Who asks for more, and earlier, holds more in the order of arrival, too: that their jobs went"
            " ahead of earlier like ones of others was not found."
        )


def of_stated(kind: str, shares: Sequence[Share]) -> Iterator[Message]:
    """Yield who held more than its stated share by more than chance."""
    for one in [one for one in shares if one.is_above][:MAXIMUM_NAMED_USERS]:
        yield message(
            "{owner} held {ratio} times its stated share of what was in use while others with a stated share"
            " waited (at least {least} times, by weeks).",
            owner=message(OWNERS[kind], id=Verbatim(one.name)),
            ratio=decimal(one.ratio or 0.0, ".2f"),
            least=decimal(one.least or 0.0, ".2f"),
        )


def of_starvation(found: Sequence[Starved]) -> Iterator[Message]:
    """Yield who submitted the jobs that waited longer than nearly all like ones, if many are of one user."""
    jobs, starved = sum(one.jobs for one in found), sum(one.starved for one in found)
    if not starved:
        return
    most = max(found, key=lambda one: (one.starved, one.name))
    share = most.starved / starved
    if most.starved < MINIMUM_STARVED or share < max(MINIMUM_STARVED_SHARE, 2 * most.jobs / jobs):
        return
    yield message(
        "Of {all} jobs that waited longer than 99 % of like ones, {starved} are of user {id}, who submitted"
        " {share} of the jobs compared.",
        all=number(starved),
        starved=number(most.starved),
        id=Verbatim(most.name),
        share=fraction(most.jobs / jobs),
    )
