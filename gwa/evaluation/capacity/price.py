"""What added processors would cost in a year, by a price that is given: it needs no forecast."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from gwa.breakdown.charge.rates import CONDITIONS, Rates, exact
from gwa.errors import DefinitionError

HOURS_A_YEAR: Final = Decimal(8766)
"""Hours of a year of 365.25 days."""


@dataclass(frozen=True)
class Price:
    """The price of a processor for a *year*, in a *currency* that may be unknown, and the *rate* it is of."""

    year: Decimal
    currency: str = ""
    decimals: int = 2
    rate: str = ""

    def of(self, processors: int) -> Decimal:
        """Return the price of *processors* processors for a year, rounded once, halves up."""
        return (self.year * processors).quantize(Decimal(1).scaleb(-self.decimals), ROUND_HALF_UP)


def by_rates(rates: Rates) -> Price:
    """
    Return the price of a processor that is charged in every hour of a year.

    Taken is the rate without conditions, which fits whatever others do not. Raise `DefinitionError` where no
    rate is so, or where it has no price of an hour of a processor.
    """
    conditions = (*CONDITIONS, "classes")
    for rate in rates.rates:
        if not any(getattr(rate, key) for key in conditions) and rate.cpu_hour is not None:
            return Price(exact(rate.cpu_hour) * HOURS_A_YEAR, rates.currency, rates.decimals, rate.name)
    raise DefinitionError(
        "the file of rates has no price of added processors, expected a rate without conditions with a"
        " cpu_hour"
    )
