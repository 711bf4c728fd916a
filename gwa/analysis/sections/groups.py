"""Which groups use the system."""

from collections.abc import Iterator

from gwa.analysis.base import Chapter, analysis
from gwa.analysis.sections._top_lists import top_lists
from gwa.report.document import Block
from gwa.store.store import Store
from gwa.words.message import message


@analysis("Groups", Chapter.USERS, facts=("groups",), needs=("group_id",), order=1)
def groups(store: Store) -> Iterator[Block]:
    """The groups with most jobs and with most CPU time; the columns are those of the users."""
    yield from top_lists(store, "group_id", "groups", message("Group"))
