"""A mapping whose values are made when somebody asks for them."""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

Key = TypeVar("Key")
Made = TypeVar("Made")


class Lazy(Mapping[Key, Made]):
    """
    The values of some keys, each made by *make* at the first time that it is asked for.

    >>> asked = []
    >>> lengths = Lazy({"one": 3, "three": 5}, lambda name: asked.append(name) or len(name))
    >>> "one" in lengths, len(lengths), lengths["three"], lengths["three"], asked
    (True, 2, 5, 5, ['three'])
    """

    def __init__(self, keys: Mapping[Key, object], make: Callable[[Key], Made]) -> None:
        """Take the *keys* of a mapping, in its order."""
        self._keys, self._make = keys, make
        self._made: dict[Key, Made] = {}

    def __getitem__(self, key: Key) -> Made:
        """Return the value of *key*; raise `KeyError` where it is none."""
        if key not in self._keys:
            raise KeyError(key)
        if key not in self._made:
            self._made[key] = self._make(key)
        return self._made[key]

    def __contains__(self, key: object) -> bool:
        """Return whether there is a *key*, without making its value."""
        return key in self._keys

    def __iter__(self) -> Iterator[Key]:
        """Return the keys."""
        return iter(self._keys)

    def __len__(self) -> int:
        """Return how many keys there are."""
        return len(self._keys)
