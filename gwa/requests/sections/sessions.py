"""Conversations: which requests belong together."""

from collections.abc import Iterator

from gwa.analysis.base import analysis
from gwa.report.document import Block, Fact, list_of
from gwa.report.facts import summary, table
from gwa.requests.base import RequestChapter
from gwa.requests.measured import LENGTHS, PAUSES
from gwa.store.requests import recorded
from gwa.store.store import Store
from gwa.words.message import message


@analysis(
    "Sessions",
    RequestChapter.SERVICE,
    facts=("requests.sessions",),
    order=1,
    when=lambda store: recorded(store)["session_id"] > 0,
)
def sessions(store: Store) -> Iterator[Block]:
    """
    How many requests a session, such as a conversation, has, and how long its pauses are.

    A pause is the time from the submission of a request to that of the next in the same session. Requests of
    no session count in none.
    """
    lengths, pauses = store.sample("requests", LENGTHS), store.sample("pause", PAUSES)
    inside = recorded(store)["session_id"] / store.account.jobs
    yield list_of(
        Fact("requests.sessions.count", lengths.n, "Sessions", "count"),
        Fact("requests.sessions.share", inside, "Requests of a session", "fraction"),
    )
    rows: dict[str, tuple[Fact, ...]] = {
        message("Requests of a session"): summary(
            "requests.sessions.length", lengths, "", message("requests of a session")
        )
    }
    yield table("sessions", "Requests of a session", rows)
    if pauses.n:
        paused = summary("requests.sessions.pause", pauses, "seconds", message("pause in a session"))
        yield table("session-pauses", "Pauses in a session", {message("Pause"): paused})
