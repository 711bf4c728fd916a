"""In words, how large a system was whose number of processors changed."""

from collections.abc import Iterator
from typing import Final

from gwa.store.system import System
from gwa.words.formatting import day, number
from gwa.words.message import message

MAXIMUM_SIZES: Final = 4
"""Of more sizes the least and the largest are told."""


def sizes_in_words(system: System) -> str:
    """
    Return how many processors a *system* had, and since when, where that changed.

    >>> str(sizes_in_words(System(cpus=128, sizes=((float("-inf"), 64), (90000.0, 128)))))
    '64, then 128 from day 2'
    >>> sizes = [(float(number), 8 * number) for number in range(1, 6)]
    >>> str(sizes_in_words(System(cpus=32, sizes=tuple(sizes[:4]))))
    '8, then 16 from day 1, then 24 from day 1, then 32 from day 1'
    >>> str(sizes_in_words(System(cpus=40, sizes=tuple(sizes))))
    '8 to 40'
    """
    if len(system.sizes) > MAXIMUM_SIZES:
        every = [cpus for _, cpus in system.sizes]
        return message("{least} to {most}", least=number(min(every)), most=number(max(every)))
    *earlier, last = _parts(system)
    for part in reversed(earlier):
        last = message("{before}, then {after}", before=part, after=last)
    return last


def _parts(system: System) -> Iterator[str]:
    zone = None if system.relative else system.timezone.key
    (_, first), *later = system.sizes
    yield number(first)
    for since, cpus in later:
        yield message("{cpus} from {day}", cpus=number(cpus), day=day(since, zone))
