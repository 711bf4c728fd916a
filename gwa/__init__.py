"""
The toolbox and archive for workload traces of clusters, grids and clouds.

`gwa.open` gives a `Trace`: its facts, its jobs as tables, a report, and traces filtered from it.

- `open`, `Trace`: read a trace, ask it, filter it, save it.
- `convert`, `fetch`, `sample`, `fit`, `generate`, `score`, `simulate`, `compare`, `check`, `whatif`, `plan`,
  `wait`, `charge`: what the commands do. `FittedModel` is what `fit` returns.
- `Subset`: what a trace is filtered by.
- `Account`, `System`: what became of every row of a log, and what is known of the system.
- `Sample`: the distinct values of a field, with counts.
- `Report`, `Section`, `Fact`, `Facts`, `FactTable`, `Table`, `Column`, `Figure`, `Note`, `Finding`: a report
  and what it is made of.
- `Progress`: how a program follows long work.
- `GwaError`: any error that gwa raises on purpose. Its kinds are `TraceError`, `UnknownFormat`,
  `NothingReadError`, `RowsLostError`, `StrictError`, `QueryError`, `DefinitionError`, `ArgumentError`,
  `ModelError`, `SimulationError`, `EngineError`, `OutputError`, `DownloadError`, `DepositError` and
  `MissingAsset`.

Everything not named here is internal and may change.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from gwa.errors import (
    ArgumentError,
    DefinitionError,
    DepositError,
    DownloadError,
    EngineError,
    GwaError,
    MissingAsset,
    ModelError,
    NothingReadError,
    OutputError,
    QueryError,
    RowsLostError,
    SimulationError,
    StrictError,
    TraceError,
    UnknownFormat,
)
from gwa.util.version import __version__

if TYPE_CHECKING:
    from gwa.functions import (
        charge,
        check,
        compare,
        convert,
        fetch,
        fit,
        generate,
        plan,
        sample,
        score,
        simulate,
        wait,
        whatif,
    )
    from gwa.models.fitted import FittedModel
    from gwa.report.document import (
        Column,
        Fact,
        Facts,
        FactTable,
        Figure,
        Finding,
        Note,
        Report,
        Section,
        Table,
    )
    from gwa.statistics.sample import Sample
    from gwa.store.account import Account
    from gwa.store.subset import Subset
    from gwa.store.system import System
    from gwa.trace import Trace, open  # noqa: A004 - gwa.open reads as what it does
    from gwa.util.progress import Progress

__all__ = [
    "Account",
    "ArgumentError",
    "Column",
    "DefinitionError",
    "DepositError",
    "DownloadError",
    "EngineError",
    "Fact",
    "FactTable",
    "Facts",
    "Figure",
    "Finding",
    "FittedModel",
    "GwaError",
    "MissingAsset",
    "ModelError",
    "Note",
    "NothingReadError",
    "OutputError",
    "Progress",
    "QueryError",
    "Report",
    "RowsLostError",
    "Sample",
    "Section",
    "SimulationError",
    "StrictError",
    "Subset",
    "System",
    "Table",
    "Trace",
    "TraceError",
    "UnknownFormat",
    "__version__",
    "charge",
    "check",
    "compare",
    "convert",
    "fetch",
    "fit",
    "generate",
    "open",
    "plan",
    "sample",
    "score",
    "simulate",
    "wait",
    "whatif",
]

if not TYPE_CHECKING:
    # What needs an engine is imported when it is asked for, so that `gwa --help` answers at once.
    PLACES = {
        "gwa.functions": (
            "charge check compare convert fetch fit generate plan sample score simulate wait whatif"
        ),
        "gwa.models.fitted": "FittedModel",
        "gwa.report.document": "Column Fact Facts FactTable Figure Finding Note Report Section Table",
        "gwa.statistics.sample": "Sample",
        "gwa.store.account": "Account",
        "gwa.store.subset": "Subset",
        "gwa.store.system": "System",
        "gwa.trace": "Trace open",
        "gwa.util.progress": "Progress",
    }

    def __getattr__(name: str) -> object:
        """Import a public name from where it is defined."""
        for module, names in PLACES.items():
            if name in names.split():
                return globals().setdefault(name, getattr(import_module(module), name))
        raise AttributeError(f"module 'gwa' has no attribute '{name}'")


def __dir__() -> list[str]:
    """List what is public."""
    return __all__
