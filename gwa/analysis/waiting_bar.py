"""What was true while jobs waited, as the first screen shows it: a bar of conditions and a sentence."""

from typing import Final

from gwa.analysis.waiting_conditions import CONDITION_NAMES, SEEN, as_shown
from gwa.analysis.waiting_sentences import in_short
from gwa.metrics.waiting import CONDITIONS, MINIMUM_MOMENTS, Waiting, waiting
from gwa.report.explorer import WaitingBar
from gwa.store.store import Store
from gwa.words.formatting import fraction, number
from gwa.words.message import Number

ANY_WAITED: Final = "select coalesce(max(wait_time), 0) > 0 as any_waited from all_jobs"

SHARE: Final = "{share}"

BOUNDS: Final = {"full_at_least": "≥ {share}", "room_at_least": "≤ {share}"}
"""How the share of a full machine is written that is a bound."""


def waiting_bar(store: Store) -> WaitingBar | None:
    """Return what was true while jobs of *store* waited; None where none did, or waits are not recorded."""
    if not store.has("wait_time") or not store.row(ANY_WAITED)[0]:
        return None
    found = waiting(store)
    shares = {} if found.why_unknown else as_shown(found, found.shares() or {})
    return WaitingBar(
        tuple((name, share, _written(name, share, found)) for name, share in shares.items() if share >= SEEN),
        tuple(in_short(found)),
        tuple((name, CONDITION_NAMES[name]) for name in CONDITIONS),
        {"why": found.missing, "most": number(found.capacity or 0.0)},
        MINIMUM_MOMENTS,
        found.is_bound,
        found.knows_room,
        found.knows_holds,
        found.partitions == "overlapping",
    )


def _written(name: str, share: float, found: Waiting) -> Number:
    """Return how the share of a condition is written: that of a full machine may be a bound."""
    form = BOUNDS.get(found.is_bound, SHARE) if name == "full" else SHARE
    return Number(form.format(share=fraction(share)))
