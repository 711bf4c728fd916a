"""
The toolbox and archive for workload traces of clusters, grids and clouds.

`gwa.open` gives a `Trace`: facts, tables, samples, a report. Everything not named here is internal
and may change.
"""

from typing import TYPE_CHECKING

from gwa.errors import DefinitionError, GwaError, OutputError, TraceError
from gwa.util.version import __version__

if TYPE_CHECKING:
    from gwa.store.subset import Subset
    from gwa.trace import Trace, open  # noqa: A004 - gwa.open reads as what it does


__all__ = [
    "DefinitionError",
    "GwaError",
    "OutputError",
    "Subset",
    "Trace",
    "TraceError",
    "__version__",
    "open",
]


def __getattr__(name: str) -> object:
    """Import what needs an engine only when it is asked for, so that `gwa --help` answers at once."""
    if name in {"Trace", "open"}:
        from gwa import trace

        return getattr(trace, name)
    if name == "Subset":
        from gwa.store.subset import Subset

        return Subset
    raise AttributeError(f"module 'gwa' has no attribute '{name}'")
