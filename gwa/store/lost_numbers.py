"""What is said of the numbers that jobs had in the source, where GWF, SWF or pseudonyms leave them out."""

from gwa.store.store import Store
from gwa.store.system import GIVEN_NUMBERS, NUMBERS_KEY, Header


def lost_numbers(store: Store) -> Header:
    """Return the entry of the header that says so of the jobs of *store*; none where nothing is lost."""
    (numbers,) = store.row("select count(*) from source_ids")
    entry = (NUMBERS_KEY, GIVEN_NUMBERS)
    return (entry,) if numbers and entry not in store.header else ()
