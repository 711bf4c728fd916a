"""How many there are of something as a line of a picture: a number that is stated, or the most at once."""

from gwa.words.message import Message, message

PROCESSORS = message("processors")


def size_line(total: float, title: str = PROCESSORS, *, is_inferred: bool = False) -> tuple[float, Message]:
    """
    Return *total* and what its line is called: of a system of unknown size it is a bound, not all there is.

    >>> size_line(64)[1], size_line(64, "GPUs", is_inferred=True)[1]
    ('all processors', 'most GPUs at once')
    """
    if is_inferred:
        return total, message("most {title} at once", title=title)
    return total, message("all {title}", title=title)
