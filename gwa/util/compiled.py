"""
Functions that numba compiles when they first run, and keeps: what runs none does not load numba.

numba is an extra. Without it the same functions run plainly, with the same results, which takes up to some
hundred times as long; what would take too long says what to install.
"""

import sys
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from types import FunctionType
from typing import Any, Final, TypeVar

from gwa.errors import SimulationError
from gwa.util.version import DISTRIBUTION

T = TypeVar("T", bound=Callable[..., Any])

EXTRA: Final = "simulate"
"""The extra that installs numba."""


@cache
def can_compile() -> bool:
    """Whether numba is installed."""
    return find_spec("numba") is not None


def is_worth_compiling(steps: int, few: int, most: int, what: str) -> bool:
    """
    Whether a loop of *steps* steps is to be compiled: it has more than a *few*, and numba is installed.

    Raise `SimulationError` for more than *most* without numba, which says *what* they are.
    """
    if steps <= few or can_compile():
        return steps > few
    if steps > most:
        raise SimulationError(
            f"to simulate {steps:,} {what} takes too long without numba, more than {most:,}:"
            f" `pip install '{DISTRIBUTION}[{EXTRA}]'` installs it"
        )
    return False


def jit(*, cache: bool = False) -> Callable[[T], T]:
    """Return what compiles a function when it first runs, and leaves it as it is where numba is missing."""
    if not can_compile():
        return lambda function: function
    from numba import njit

    def compile_lazily(function: T) -> T:
        found: Any = njit(cache=cache)(function)
        return found  # type: ignore[no-any-return]

    return compile_lazily


def compiled(function: T) -> T:
    """
    Return a function of a module compiled, with all functions of that module that it calls.

    To load numba takes longer than thousands of steps of a loop, so that it is for long ones. Where it is not
    installed, the function is returned as it is.
    """
    if not can_compile():
        return function
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
