"""Why a log cannot tell how waits would change: each reason with its number and the one needed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gwa.evaluation.capacity.record import MAXIMUM_SCORE, MAXIMUM_WIDTH, MINIMUM_COVER, EstimatorRecord
from gwa.words.formatting import fraction, number, significant
from gwa.words.message import Message, Number, message


@dataclass(frozen=True)
class Reason:
    """
    Why a log cannot tell: what was *found*, what is *needed*, None where no number is, and both in words.

    Neither number is an answer: they are of the log, or of how estimators did on held-out months.
    """

    id: str
    found: float | None
    needed: float | None
    text: Message


WAYS: Final[Mapping[str, Message]] = {
    "joint": message("predicted from load and replay"),
    "replay": message("predicted by the replay alone"),
}
"""How each estimator is called in a sentence."""


def of_record(estimator: str, found: EstimatorRecord) -> Iterator[Reason]:
    """Yield why an *estimator* may not answer, by its record."""
    way = WAYS[estimator]
    if found.score is None:
        yield Reason(
            f"{estimator}.score", None, MAXIMUM_SCORE,
            message(
                "{way}, the p95 wait is the same in all {months} months, so that nothing shows what it"
                " depends on",
                way=way, months=number(found.windows),
            ),
        )  # fmt: skip
        return
    if found.score > MAXIMUM_SCORE:
        yield Reason(
            f"{estimator}.score", found.score, MAXIMUM_SCORE,
            message(
                "{way}, bands of held-out months score {score} of 'no change' ({most} or less is needed)",
                way=way, score=Number(f"{found.score:.2f}"), most=number(MAXIMUM_SCORE),
            ),
        )  # fmt: skip
    if found.width > MAXIMUM_WIDTH:
        yield Reason(
            f"{estimator}.width", found.width, MAXIMUM_WIDTH,
            message(
                "{way}, bands of held-out months are a factor of {width} wide ({most} or less is needed)",
                way=way, width=significant(found.width, 2), most=number(MAXIMUM_WIDTH),
            ),
        )  # fmt: skip
    if found.cover < MINIMUM_COVER:
        yield Reason(
            f"{estimator}.cover", found.cover, MINIMUM_COVER,
            message(
                "{way}, bands hold {held} of {months} held-out months ({cover}; {least} or more is needed)",
                way=way, held=number(found.held), months=number(found.windows), cover=fraction(found.cover),
                least=fraction(MINIMUM_COVER),
            ),
        )  # fmt: skip
