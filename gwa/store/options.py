"""How a trace is to be read: what the user says of it, and how much of the machine may be used."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gwa.store.engines.config import Engine
from gwa.util.progress import SILENT, Progress


@dataclass(frozen=True)
class ReadOptions:
    """
    The wishes of a user: what a *system* file says, strictness, engine, progress, and *options*.

    Options are variables that a converter's SELECT may ask for. *target* is where the store is
    made; None stands for scratch space. *rows* is a folder to keep the rows of logs in, for a conversion that
    may be interrupted, or that others are to follow: then *already* are the hashes of the logs that the
    store holds whose rows stand there.
    """

    system: Mapping[str, object] | None = None
    strict: bool = False
    engine: Engine | None = None
    progress: Progress = SILENT
    target: Path | None = None
    rows: Path | None = None
    already: tuple[str, ...] | None = None
    options: Mapping[str, object] = field(default_factory=dict)

    @property
    def on_spark(self) -> bool:
        """Whether Spark is to answer what is asked of the jobs."""
        return self.engine is not None and self.engine.is_spark
