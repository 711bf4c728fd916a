"""
Who schedules for whom: the resource management architectures.

Each resource manager has a queue, from which it schedules tasks to its own clusters. Under fcondor, what a
user submits at one instant goes to one manager, since it is not known before whether it starts at once; if a
part of it is queued, the user's next submission goes to the next one. Source: the thesis, section 5.2.2.

Of the six architectures that its section 2.5 counts, three more could be here. With job pull,
a cluster with an idle processor asks the central queue for a task, as in AliEn (Saiz et al. 2003): who
places tasks is the cluster that asks, and clusters ask in turn. Independent clusters with matchmaking
(Raman, Livny and Solomon 1998) are sep-c, since in one cluster any sequential task matches any processor.
Delegated matchmaking (Iosup et al. 2007) is left out: its hierarchy of sites, its thresholds and the time for
which processors are delegated are parameters that the thesis does not give.
"""

from dataclasses import dataclass
from typing import Final

from gwa.errors import SimulationError


@dataclass(frozen=True)
class Architecture:
    """
    What an architecture is.

    It has one manager for all clusters if it is *central*, else one for each. Users *flock* if they turn to
    the next manager when one does not start a task at once. If clusters *pull*, a policy has no say in where
    tasks go.
    """

    meaning: str
    central: bool = False
    flocks: bool = False
    pulls: bool = False


_ARCHITECTURES: Final = {
    "sep-c": Architecture("separated clusters: each user submits to one cluster, and each cluster is alone"),
    "csp": Architecture("one central scheduler, which monitors the processors of all clusters", central=True),
    "fcondor": Architecture(
        "flocking as in Condor: whose tasks are queued at one cluster submits the next ones to the next one",
        flocks=True,
    ),
    "pull": Architecture(
        "one central queue, from which clusters with idle processors pull tasks in turn",
        central=True,
        pulls=True,
    ),
}

ARCHITECTURES: Final = {name: structure.meaning for name, structure in _ARCHITECTURES.items()}
"""What each architecture is, by name."""


def architecture(name: str) -> Architecture:
    """Return an architecture; raise `SimulationError` for an unknown *name*."""
    if name not in _ARCHITECTURES:
        raise SimulationError(f"'{name}' is not an architecture, expected one of {', '.join(ARCHITECTURES)}")
    return _ARCHITECTURES[name]
