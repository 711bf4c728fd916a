"""What the hours of the machine became."""

from collections.abc import Iterator

from gwa.analysis.base import Chapter, analysis
from gwa.breakdown.budget import Budget, budget, gpu_parts
from gwa.report.document import Block, Fact, Facts
from gwa.report.facts import number
from gwa.store.store import Store
from gwa.words.message import message

LABELS = {
    "total": message("Processor time that is divided up"),
    "finished": message("Held by jobs that completed"),
    "unfinished": message("Held by jobs that ran without finishing"),
    "running": message("Held by jobs that still ran at the end"),
    "unknown": message("Held by jobs whose end is not recorded"),
    "used": message("Processor time held, as far as the log records it"),
    "requeued": message("Held by runs that were started again"),
    "outages": message("Processor time of outages"),
    "unused": message("Processor time that went unused"),
}

GPU_LABELS = {
    "computed": message("GPU time that computed"),
    "still": message("GPU time held without computing"),
    "unmeasured": message("GPU time held and not measured"),
    "held": message("GPU time held, in the time counted"),
    "not_held": message("GPU time that was not held"),
}


@analysis(
    "What the hours became",
    Chapter.UTILIZATION,
    facts=("budget", "gpu.budget"),
    order=-1,
)
def budget_of_hours(store: Store) -> Iterator[Block]:
    """
    What the processor-hours of the machine became: finished work, work that did not finish, and the rest.

    Counted is what jobs held in the window of observation, or the period, without missing rows and without
    stillness of a day or more. Each second stands once: what runs held that were not the last of their job is
    apart. The machine's own hours are its processors times the time counted, where its size is recorded; else
    the parts are of what was used, and where the log does not know all that ran, of what is in it. Unused is
    what is left: machines that were drained, partly down, reserved or empty. Outages are apart from one in a
    hundred on. Whole numbers add up to 100, by largest remainder. Where most of what was used has no known
    outcome, how jobs ended is not said; where the log has no code for failed jobs, these are among the
    finished ones.
    """
    found = budget(store)
    yield Facts(tuple(_facts(found)))
    gpus = gpu_parts(store, found)
    if gpus:
        yield Facts(
            tuple(
                Fact(f"gpu.budget.{name}", number(value), GPU_LABELS[name], "held seconds")
                for name, value in gpus.items()
            )
        )


def _facts(found: Budget) -> Iterator[Fact]:
    """Yield what is known of the parts; a part that is not told apart is unknown."""
    yield Fact("budget.kind", found.kind, "What is divided up: the machine's hours, or those used")
    yield Fact("budget.seconds", number(found.seconds), "Time counted", "seconds")
    parts: dict[str, float | None] = dict(found.parts.items())
    used = found.used if found.kind != "none" else None
    parts |= {"total": found.total, "requeued": found.parts.get("restarted"), "used": used}
    for name, label in LABELS.items():
        yield Fact(f"budget.{name}", number(parts.get(name)), label, "cpu seconds")
