"""Make the text of a figure's data fit to be shown: names in logs hold whatever somebody typed."""

import re
from collections.abc import Mapping
from typing import Any


def one_line(text: str) -> str:
    r"""
    Return *text* on one line, without the characters that XML has no way to write.

    >>> one_line("a\n b\x00")
    'a b\ufffd'
    """
    return re.sub(r"[^ -~\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", re.sub(r"\s+", " ", text))


def clean(data: Any) -> Any:  # noqa: ANN401 - any value
    """Return *data* with all its text printable."""
    if isinstance(data, str):
        return one_line(data)
    if isinstance(data, Mapping):
        return {name: clean(value) for name, value in data.items()}
    return [clean(value) for value in data] if isinstance(data, list | tuple) else data
