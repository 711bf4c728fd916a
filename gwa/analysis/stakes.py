"""What is at stake in what a finding asks to be done: hours that jobs held, and their share of all."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from gwa.breakdown.charge.rates import Rates
from gwa.metrics.alert_rules import AMOUNTS, Stake
from gwa.report.document import Finding
from gwa.util.units import HOUR
from gwa.words.formatting import fraction, number
from gwa.words.message import Message, Verbatim, message

Facts = Mapping[str, Any]

TOTALS: Final[Mapping[Stake, str]] = {
    "core-hours": "usage.cpu_seconds", "GPU-hours": "usage.gpu_seconds", "node-hours": "usage.node_seconds",
}  # fmt: skip
"""The facts of all seconds that jobs held, by the unit of a stake."""

OF_WHOLE_GPUS: Final = "usage.whole_gpu_seconds"
"""The fact in place of that of GPU-hours, where jobs held parts of GPUs."""

OF_ALL_JOBS: Final = "trace.cpu_seconds"
"""The fact of all core-seconds of jobs, also outside of the time in which the log knows the load."""

PRICES: Final[Mapping[str, tuple[str, ...]]] = {
    "core-hours": ("cpu_hour",), "GPU-hours": ("whole_gpu_hour", "gpu_hour"),
}  # fmt: skip
"""The prices of an hour, by its unit: a log has one of them at most."""


class HeldHours(NamedTuple):
    """A number of *hours* that jobs held, of a *unit*; *of_all_jobs* whenever these ran."""

    hours: float
    unit: Stake = "core-hours"
    of_all_jobs: bool = False

    def share(self, facts: Facts) -> float | None:
        """Return their share of all hours held; None where these are unknown."""
        total = facts.get(TOTALS.get(self.unit, "")) or 0.0
        if self.unit == "GPU-hours":
            total = facts.get(OF_WHOLE_GPUS, total)
        if self.unit == "core-hours" and self.of_all_jobs:
            total = max(total, facts.get(OF_ALL_JOBS) or 0.0)
        return min(self.hours * HOUR / total, 1.0) if total else None

    def text(self, facts: Facts) -> Message:
        """Return them in words."""
        amount, share = message(AMOUNTS[self.unit], n=number(round(self.hours, 1))), self.share(facts)
        if share is None:
            return message("At stake: {amount}.", amount=amount)
        return message("At stake: {amount}, {share} of all.", amount=amount, share=fraction(share))


StakeOf = Callable[[Facts], HeldHours | None]
"""What is at stake, from facts; None where that is not known."""


def went_into(*outcomes: str) -> StakeOf:
    """Return what the core-hours are that went into some *outcomes*."""

    def stake(facts: Facts) -> HeldHours | None:
        known = [facts.get(f"usage.outcomes.{name}") for name in outcomes]
        held = math.fsum(one for one in known if one is not None)
        return HeldHours(held / HOUR) if held else None

    return stake


def nothing_ran(facts: Facts) -> HeldHours | None:
    """Return the core-hours of the outages, where the system has one size, which is stated."""
    cpus, lost = facts.get("trace.cpus"), facts.get("capacity.outages.seconds")
    is_one = facts.get("trace.cpus_inferred") is False and facts.get("trace.cpus_least") is None
    if not cpus or not lost or not is_one:
        return None
    return HeldHours(cpus * lost / HOUR)


def priced(found: Finding, rates: Rates, *, has_parts: bool) -> Finding:
    """
    Return a finding with what is at stake at the stated *rates*, where its hours have one price.

    GPU-hours are of whole GPUs: if jobs held parts (*has_parts*), a price of GPUs as counted is not of them.
    """
    names = [name for name in PRICES.get(found.stake_unit, ()) if not (has_parts and name == "gpu_hour")]
    price = next(filter(None, map(rates.of_all, names)), None)
    if not price:
        return found
    worth = (found.stake_hours or 0.0) * float(price)
    text = message(
        "{stake} At the rates that is {amount} {currency}.",
        stake=found.stake, amount=number(round(worth)), currency=Verbatim(rates.currency),
    )  # fmt: skip
    return replace(found, stake=text, stake_price=worth)
