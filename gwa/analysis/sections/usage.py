"""What jobs held while the log knows the load."""

from collections.abc import Iterator
from typing import Final

from gwa.analysis.base import Chapter, analysis
from gwa.breakdown.dimensions import OUTCOME_NAMES
from gwa.breakdown.held import KNOWN_OF, held, whole_gpu_seconds
from gwa.metrics.outcomes import OUTCOMES, coding
from gwa.report.document import Block, Fact, Facts, Note
from gwa.report.facts import facts_of, number
from gwa.store.store import Store
from gwa.words.message import message
from gwa.words.unit import Unit

AMOUNTS: Final[dict[str, tuple[str, Unit]]] = {
    "cpu_seconds": (message("CPU time held"), "cpu seconds"),
    "gpu_seconds": (message("GPU time held"), "held seconds"),
    "node_seconds": (message("Node time held"), "held seconds"),
    "gpu_used_seconds": (message("GPU time used, where that is known"), "held seconds"),
    "gpu_known_seconds": (message("GPU time whose use is known"), "held seconds"),
    "gpu_idle_seconds": (message("GPU time of idle GPUs, where that is known"), "held seconds"),
    "gpu_idle_known_seconds": (message("GPU time of which idle GPUs are known"), "held seconds"),
}


EARLIER: Final = message("CPU time held by runs that were not the last of their job")
BY_SUM: Final = message("CPU time known by its sum only, counted at the end of its time")


@analysis("Usage", Chapter.UTILIZATION, facts=("usage",), needs=("submit_time", "run_time"), order=4)
def usage(store: Store) -> Iterator[Block]:
    """
    What jobs held of processors, GPUs and nodes within the window of observation, and how these jobs ended.

    Of a period, it is the part that lies in it, of all jobs that overlap it, whenever they were submitted.
    Jobs that had not ended when the log did count until then. A job that ran several times counts with what
    each of its runs held; where only the sum of several runs is known, it is put at the end of the time in
    which they lie.
    """
    found = held(store)
    if found is None:
        yield Note(
            "The log does not know all of the load at any time, so that what jobs held would be too low."
        )
        return
    # What is measured of nothing is not known to be nothing.
    unknown = {name for name, of in KNOWN_OF.items() if not found.amounts.get(of)}
    yield Facts(
        tuple(
            Fact(f"usage.{name}", None if name in unknown else number(value), *AMOUNTS[name])
            for name, value in found.amounts.items()
        )
    )
    whole_gpus = whole_gpu_seconds(store)
    if whole_gpus is not None:
        title = message("GPU time held in whole GPUs, of parts whose size is known")
        yield Facts((Fact("usage.whole_gpu_seconds", number(whole_gpus), title, "held seconds"),))
    if found.earlier is not None:
        yield Facts(
            facts_of(
                "usage",
                ("earlier_runs", number(found.earlier), EARLIER, "cpu seconds"),
                ("by_sum", number(found.by_sum), BY_SUM, "cpu seconds"),
            )
        )
    known = coding(store)
    yield Facts(
        tuple(
            Fact(
                f"usage.outcomes.{name}",
                number(found.outcomes.get(name)) if known.tells(name) else None,
                message("CPU time held by outcome: {outcome}", outcome=OUTCOME_NAMES[name]),
                "cpu seconds",
            )
            for name in OUTCOMES
        )
    )
