"""Say what to generate: a model with changes, for how long, and of which seed."""

from dataclasses import dataclass

from gwa.errors import ArgumentError
from gwa.models.arrival_process import find_process
from gwa.models.base import Model
from gwa.models.generate import PROCESSORS, GenerationRequest, replace_arrivals
from gwa.models.pacing import reach_utilization
from gwa.models.streams import Extent


@dataclass(frozen=True)
class WantedWorkload:
    """
    What is wanted of a model: a number of *jobs* or *days*, with a *seed*.

    With *cpus*, no job is larger than that; with a *utilization* of them, arrivals are rescaled to it.
    *arrivals* names another arrival process.
    """

    jobs: int | None = None
    days: float | None = None
    seed: int = 1
    cpus: int | None = None
    utilization: float | None = None
    arrivals: str | None = None

    def __post_init__(self) -> None:
        """Raise `ArgumentError` for values that contradict each other."""
        if (self.jobs is None) == (self.days is None):
            raise ArgumentError("expected either jobs or days")
        if self.utilization is not None and self.cpus is None:
            raise ArgumentError("a utilization needs cpus: of how many processors?")

    def of(self, model: Model) -> GenerationRequest:
        """Return the request; raise `ModelError` for what the model cannot do."""
        changed = model.limit_processors(self.cpus) if self.cpus else model
        changed = replace_arrivals(changed, find_process(self.arrivals)) if self.arrivals else changed
        header = ((PROCESSORS, str(self.cpus)),) if self.cpus else ()
        request = GenerationRequest(changed, Extent(self.jobs, self.days), self.seed, header)
        if self.cpus is None or self.utilization is None:
            return request
        return reach_utilization(request, self.cpus, self.utilization)
