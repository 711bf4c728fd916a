"""Who uses the system."""

from collections.abc import Iterator

from gwa.analysis.base import Chapter, analysis
from gwa.analysis.sections._top_lists import gini, top_lists
from gwa.report.document import Block
from gwa.store.store import Store
from gwa.words.message import message


@analysis("Users", Chapter.USERS, facts=("users",), needs=("user_id",))
def users(store: Store) -> Iterator[Block]:
    """
    The users with most jobs and with most CPU time.

    Utilization is the user's CPU time as a fraction of processors times span; jobs a day are over the
    days between the user's first and last submission.
    """
    yield gini(store, "user_id", "users")
    yield from top_lists(store, "user_id", "users", message("User"))
