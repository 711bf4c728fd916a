"""
Texts that can be translated: finished English that carries what it was made of.

A `Message` is a string like any other, so that whatever shows or compares texts need not know of it. A
`gwa.report.language.Language` looks up its template and fills in the arguments, which it translates first. A
`Number` is the text of a number with its unit, written with a comma for thousands and a point for decimals.
"""

from collections.abc import Iterable, Mapping
from typing import Literal, Self, TypeAlias

Level: TypeAlias = Literal["info", "warning", "error"]
"""How much a message matters."""


class Message(str):  # noqa: SLOT000 - it carries attributes
    """English text, the *template* that it fills with *arguments*, and the *plural* one for a *quantity*."""

    template: str
    plural: str
    quantity: float
    arguments: Mapping[str, object]

    def __new__(
        cls,
        text: str,
        template: str = "",
        arguments: Mapping[str, object] | None = None,
        plural: str = "",
        quantity: float = 1,
    ) -> Self:
        """Make a message of finished English."""
        self = super().__new__(cls, text)
        self.template, self.plural, self.quantity = template or text, plural, quantity
        self.arguments = arguments or {}
        return self

    def __str__(self) -> str:
        """Return the message itself, so that drawings keep what they are given."""
        return self

    def __add__(self, other: str) -> "Message":
        return joined("", (self, other))

    def __radd__(self, other: str) -> "Message":
        return joined("", (other, self))


class Number(str):
    """A number with its unit, if that is no word, as English writes it."""

    __slots__ = ()

    def __str__(self) -> str:
        """Return the number itself, as for a `Message`."""
        return self


class Verbatim(str):
    """What somebody or something is called, where words stand else: no language changes it."""

    __slots__ = ()


def message(template: str, /, **arguments: object) -> Message:
    """
    Return *template* with its places filled; strings are translated, too, but for names that are `Verbatim`.

    >>> text = message("{user} waits for {time}.", user="U1", time=Number("3.2 h"))
    >>> text, text.template
    ('U1 waits for 3.2 h.', '{user} waits for {time}.')
    """
    return Message(template.format(**arguments) if arguments else template, template, arguments)


def plural(one: str, many: str, count: float, /, **arguments: object) -> Message:
    """
    Return the template *one* or *many*, filled, by *count*; ``{n}`` in them is that number.

    >>> plural("{n} job", "{n} jobs", 1), plural("{n} job", "{n} jobs", 2500)
    ('1 job', '2,500 jobs')
    """
    filled = {"n": Number(f"{count:,}"), **arguments}
    return Message((one if count == 1 else many).format(**filled), one, filled, many, count)


def joined(separator: str, parts: Iterable[str]) -> Message:
    """
    Return *parts* one after the other, with a *separator* between them, as a text that can be translated.

    >>> joined(", ", ["a", message("b")])
    'a, b'
    """
    named = {f"part{place}": part for place, part in enumerate(parts)}
    template = "{separator}".join(f"{{{name}}}" for name in named)
    return message(template, separator=separator, **named)


def within_sentence(label: str) -> Message:
    """
    Return a *label* as English writes it within a sentence; other languages take it as it is.

    >>> within_sentence("Queue"), within_sentence("CPU time")
    ('queue', 'CPU time')
    """
    return _recased(label, label if label[:2].isupper() else label[:1].lower() + label[1:])


def capitalized(text: str) -> Message:
    """
    Return *text* as English begins a sentence with it; other languages take it as it is.

    >>> capitalized("memory")
    'Memory'
    """
    return _recased(text, text[:1].upper() + text[1:])


def _recased(text: str, english: str) -> Message:
    """Return what *text* is in other languages, and *english* in English."""
    if isinstance(text, Message):
        return Message(english, text.template, text.arguments, text.plural, text.quantity)
    return Message(english, text)
