"""What the money of a project's jobs went into: work that finished, work that did not, and earlier runs."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final

from gwa.breakdown.charge.charges import SERVICES, BillingPeriod, charged_boxes, priced, sums_of
from gwa.breakdown.charge.rates import Rates
from gwa.metrics.outcomes import coding
from gwa.store.store import Store

Worth = Mapping[str | None, Mapping[str, Fraction]]
"""What each part is worth, by project; without free hours and discounts, which are of all parts."""

SUMS: Final = """
select project, place,
    case when not is_last_run then 'restarted' when outcome = 'completed' then 'finished' else outcome end
        as part,
    {sums}
from ({charged}) as charged where state = 'charged'
group by project, place, part order by project, place, part
"""

ORDER: Final = ("finished", "limit", "failed", "cancelled", "running", "unknown", "restarted")
"""The parts, in the order of bars."""


def became(store: Store, rates: Rates, parts: Sequence[BillingPeriod]) -> Worth:
    """Return what the parts of each project's use are worth; nothing if it is not known how jobs ended."""
    if coding(store).codes != "several":
        return {}
    keys = priced(rates)
    found: dict[str | None, dict[str, Fraction]] = {}
    for part in parts:
        for project, place, name, *amounts in store.rows(
            SUMS.format(sums=sums_of(keys), charged=charged_boxes(store, rates, part))
        ):
            prices = rates.rates[place].prices
            worth = sum(
                (
                    Fraction(int(amount or 0), SERVICES[key].per) * Fraction(prices[key])
                    for key, amount in zip(keys, amounts, strict=True)
                    if key in prices
                ),
                Fraction(0),
            )
            of_project = found.setdefault(project, dict.fromkeys(ORDER, Fraction(0)))
            of_project[name] += worth
    return found
