"""Who recorded a log, who gave and converted it, and on what terms: what its header says, word for word."""

from collections.abc import Iterator
from typing import Final

from gwa.report.document import Credit
from gwa.store.system import SAYS_NOTHING, Header
from gwa.words.message import Message, Verbatim, message

CREDITS: Final[tuple[tuple[str, Message, tuple[str, ...]], ...]] = (
    ("installation", message("Installation"), ("installation",)),
    (
        "acknowledgement",
        message("Acknowledgement"),
        ("acknowledge", "acknowledgement", "acknowledgment", "acknowledgements"),
    ),
    ("information", message("More information"), ("information",)),
    ("conversion", message("Conversion"), ("conversion",)),
    ("archive", message("Archive"), ("archive",)),
    ("licence", message("Licence"), ("licence", "license")),
    ("citation", message("Citation"), ("citation", "cite", "reference", "doi")),
    ("terms", message("Terms of use"), ("terms",)),
)
"""What a report says of the origin of a log: id, heading, and the keys of header lines, in small letters."""

MAXIMUM_TEXT: Final = 2000
"""A longer text is cut."""


def credits_of(header: Header) -> tuple[Credit, ...]:
    """
    Return what a *header* says of the origin of its log, in the order of `CREDITS`.

    A key may repeat; the same text counts once.

    >>> for credit in credits_of((("Acknowledge", "Lars Malinowsky"), ("License", "CC BY 4.0"))):
    ...     print(credit.label, "|", credit.text)
    Acknowledgement | Lars Malinowsky
    Licence | CC BY 4.0
    """
    return tuple(
        Credit(id_, label, Verbatim(text))
        for id_, label, keys in CREDITS
        for text in dict.fromkeys(_texts(header, keys))
    )


def _texts(header: Header, keys: tuple[str, ...]) -> Iterator[str]:
    """Yield the texts under *keys* that say something, each on one line."""
    for key, value in header:
        text = " ".join(value.split())
        if key.lower() in keys and text.lower() not in SAYS_NOTHING:
            yield text if len(text) <= MAXIMUM_TEXT else f"{text[: MAXIMUM_TEXT - 1]}…"
