"""Options for reading a trace: what the user states about it, and the resources that may be used."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from gwa.errors import TraceError
from gwa.store.engines.config import Engine
from gwa.util.progress import SILENT, Progress

if TYPE_CHECKING:
    from gwa.store.store import Store


class RebuildNeeded(TraceError):  # noqa: N818 - says what is to be done
    """A store cannot be appended to but by mapping all rows of its logs again; the message says why."""


@dataclass(frozen=True)
class ReadOptions:
    """
    The contents of a *system* file, strictness, engine, progress, and *format_options*.

    Format options are variables that a converter's SELECT may use. The store is created at *target*, or
    in scratch space if that is None. *rows_folder* is the folder of a checkpoint, for a conversion that can
    be resumed or appended to; *stored_hashes* are those of the logs in the store that is appended to, and
    *stored_skips* its sources that were skipped. Of a conversion that *appends*, *target* is a copy of that
    store, and of its first *settled_logs* the rows were not kept. *unread* are files beside those that are
    read. *cluster* is the one that the logs are of, where they do not say it. *join* is called with the store
    when it is filled, and may write to it, and then *inspect*. Traces of *requests* to language models are
    refused unless the caller takes them, too.
    """

    system: Mapping[str, object] | None = None
    strict: bool = False
    engine: Engine | None = None
    progress: Progress = SILENT
    target: Path | None = None
    rows_folder: Path | None = None
    stored_hashes: tuple[str, ...] | None = None
    stored_skips: Sequence[Sequence[object]] = ()
    appends: bool = False
    settled_logs: int = 0
    unread: Sequence[Path] = ()
    join: "Callable[[Store], object] | None" = None
    cluster: str | None = None
    inspect: "Callable[[Store], None] | None" = None
    format_options: Mapping[str, object] = field(default_factory=dict)
    requests: bool = False

    @property
    def stated_system(self) -> Mapping[str, object]:
        """What the user states of the system: the contents of a system file, and the option ``zone``."""
        zone = self.format_options.get("zone")
        return {**(self.system or {}), **({"zone": zone} if zone else {})}

    @property
    def is_copied(self) -> bool:
        """Whether what is a store already is copied rather than used where it stands."""
        return self.target is not None or self.join is not None

    @property
    def on_spark(self) -> bool:
        """Whether Spark answers queries on the jobs."""
        return self.engine is not None and self.engine.is_spark
