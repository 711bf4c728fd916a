"""Functions that numba compiles when they first run, and keeps: what runs none does not load numba."""

import sys
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any, TypeVar

T = TypeVar("T", bound=Callable[..., Any])


def compiled(function: T) -> T:
    """
    Return a function of a module compiled, with all functions of that module that it calls.

    To load numba takes longer than thousands of steps of a loop, so that it is for long ones.
    """
    found: T = _functions(function.__module__)[function.__name__]
    return found


@cache
def _functions(module: str) -> dict[str, Any]:
    """Return the names that a module knows, of which its own functions are compiled when they are called."""
    from numba import njit

    names = dict(vars(sys.modules[module]))
    for name, own in list(names.items()):
        if isinstance(own, FunctionType) and own.__module__ == module:
            names[name] = njit(cache=True)(FunctionType(own.__code__, names, name, own.__defaults__))
    return names
