"""The traces of an archive once each is published, or has failed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from gwa.archive.catalogue import CatalogueEntry
from gwa.archive.editions import TRACE_FILE, described
from gwa.errors import ArgumentError
from gwa.report.facts import busy_facts, has_gaps

WITHHELD: Final = "It still holds names of people, hosts or places, and is withheld until they are replaced."
BROKEN: Final = "It could not be read when this site was built."

NEEDED: Final = {"title", "name", "downloads"}
"""What is known of each published trace."""

MEMORY: Final = ("UsedMemory", "ReqMemory")


@dataclass(frozen=True)
class PublishedTrace:
    """A trace of the archive: its catalogue *entry*, what was found in it, and its *failure*, if any."""

    entry: CatalogueEntry
    about: Mapping[str, Any] = field(default_factory=dict)
    failure: str = ""

    @property
    def facts(self) -> Mapping[str, Any]:
        """The facts of its report by id."""
        return dict(self.about.get("facts", {}))

    @property
    def shares(self) -> Mapping[str, float]:
        """The share of jobs that record each field, by its title in GWF."""
        return {title: share for title, _, share in self.about.get("fields", ())}

    @property
    def editions(self) -> Sequence[Mapping[str, Any]]:
        """The editions in which it was published, the newest first."""
        return list(self.about.get("editions", ()))

    @property
    def version(self) -> str:
        """The version of the newest edition."""
        return str(self.editions[0]["version"]) if self.editions else "1.0.0"

    @property
    def news(self) -> list[str]:
        """What each edition but the first has that the one before had not, in words."""
        return [
            f"Version {edition['version']}: {described(edition['difference'])}."
            for edition in self.editions
            if "difference" in edition
        ]

    @property
    def not_modelled(self) -> Mapping[str, str]:
        """Fields of a synthetic trace that say nothing of any system, by title, each with the reason."""
        return dict(self.about.get("not modelled", {}))

    @property
    def busy(self) -> tuple[float | None, bool]:
        """The mean utilization, and whether it is only known to be at least that; None if it is unknown."""
        name, _ = busy_facts(self.facts, has_gaps=has_gaps(self.facts))
        return self.number(name), name == "utilization.at_least"

    def number(self, name: str) -> float | None:
        """Return a fact that is a number, or None."""
        value = self.facts.get(name)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def read_published(entry: CatalogueEntry, folder: Path, failure: str = "") -> PublishedTrace:
    """Return the trace in *folder*, with a *failure* nothing else; raise `ArgumentError` if it is damaged."""
    if failure:
        return PublishedTrace(entry, {}, failure)
    path = folder / TRACE_FILE
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        about = None
    if not isinstance(about, dict) or not about.keys() >= NEEDED:
        raise ArgumentError(f"{path}: is damaged, expected what gwa site build wrote there")
    return PublishedTrace(entry, about)
