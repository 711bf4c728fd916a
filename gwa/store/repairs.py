"""What a store says of values that were repaired, in English; of those of a field this is named in it."""

from collections.abc import Sequence
from typing import Final

from gwa.store.schema import MAXIMUM_NAME
from gwa.words.message import Message, Verbatim

CLOCK_SKEW: Final = "a slightly negative {field} was set to 0"
INVALID_VALUE: Final = "a {field} that is not a valid value was set to missing"
LONG_NAME: Final = f"a {{field}} of more than {MAXIMUM_NAME:,} bytes was cut, and ends in a hash of all of it"

EARLIER: Final = "earlier gwa"

LACKING: Final = "an earlier gwa made the store, which did not keep {field}: convert its log again to have it"

OF_A_FIELD: Final = (CLOCK_SKEW, INVALID_VALUE, LONG_NAME, LACKING)

UNSEALED: Final = (
    "no checksum",
    (
        "the store has no checksum of this content: an earlier gwa wrote it, or another program changed it,"
        " and damage to it would not be seen"
    ),
)
"""The name and the meaning of the remark on a store that could not be checked."""


def remark_on(lacking: Sequence[str]) -> tuple[str, str]:
    """Return the name and the meaning of the remark on fields that are *lacking* in a store."""
    return EARLIER, LACKING.format(field=", ".join(lacking))


def repair_message(meaning: str) -> Message:
    """
    Return the *meaning* of a repair as a text that can be translated.

    >>> repair_message("a slightly negative wait_time was set to 0").template
    'a slightly negative {field} was set to 0'
    """
    for template in OF_A_FIELD:
        head, tail = template.split("{field}")
        if meaning.startswith(head) and meaning.endswith(tail):
            field = meaning.removeprefix(head).removesuffix(tail)
            return Message(meaning, template, {"field": Verbatim(field)})
    return Message(meaning)
