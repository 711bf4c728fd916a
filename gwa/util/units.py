"""
Units of time in seconds, and of energy in joules.

Those of time are whole: a query that must divide by a DOUBLE needs ``float(DAY)``.
"""

from typing import Final

MINUTE: Final = 60
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
WEEK: Final = 7 * DAY
YEAR: Final = 365 * DAY + 6 * HOUR
"""The Julian year of astronomers, 365.25 days."""

KILOWATT_HOUR: Final = 3.6e6
