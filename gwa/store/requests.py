"""
The store of a trace of requests to language models: the table ``requests``, and what is known of it.

Such a trace has no jobs: nothing holds processors from a start to an end. It is a kind of its own, with its
own fields, in the same kind of file as a store of jobs. Times are seconds, since 1970 where the header says
so, else since an unknown start; what a source does not tell is NULL.
"""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Final

from gwa.errors import TraceError
from gwa.store.schema import LATEST, MAXIMUM_DURATION, Field
from gwa.store.store import TABLES, Store, columns_of
from gwa.store.system import System, from_header

MAXIMUM_TOKENS: Final = 1e12
"""No request has more tokens."""

REQUEST_FIELDS: Final = (
    Field("request_id", "RequestID", "BIGINT", "", "number of the request, in the order of submission", 1),
    Field("submit_time", "SubmitTime", "DOUBLE", "s", "when the request was submitted", 0, LATEST),
    Field("tokens_in", "TokensIn", "BIGINT", "", "tokens of the prompt with its context", 0, MAXIMUM_TOKENS),
    Field("tokens_out", "TokensOut", "BIGINT", "", "tokens generated", 0, MAXIMUM_TOKENS),
    Field(
        "latency", "Latency", "DOUBLE", "s", "from submission to the end of the response", 0, MAXIMUM_DURATION
    ),
    Field(
        "first_token", "FirstToken", "DOUBLE", "s", "from submission to the first token", 0, MAXIMUM_DURATION
    ),
    Field("model", "Model", "VARCHAR", "", "language model that was asked"),
    Field("service", "Service", "VARCHAR", "", "way by which it was asked, such as an API"),
    Field("session_id", "SessionID", "VARCHAR", "", "conversation that the request belongs to"),
    Field("user_id", "UserID", "VARCHAR", "", "who asked"),
    Field("images", "Images", "BIGINT", "", "images in the prompt", 0, MAXIMUM_TOKENS),
    Field("turn", "Turn", "BIGINT", "", "number of the request in its conversation", 0, MAXIMUM_TOKENS),
    Field(
        "tokens_cached",
        "TokensCached",
        "BIGINT",
        "",
        "tokens of the prompt that a cache held",
        0,
        MAXIMUM_TOKENS,
    ),
    Field("blocks", "Blocks", "BIGINT[]", "", "identities of the blocks of the prompt, in order"),
)
"""The fields of a request."""

REQUEST_NAMES: Final = tuple(field.name for field in REQUEST_FIELDS)

ADDED: Final = frozenset({("requests", "turn bigint"), ("requests", "tokens_cached bigint")})
"""Columns that older stores lack, and the requests in them as well."""

BESIDE: Final = ("header", "sources", "rejects", "provenance")
"""The tables of a store of jobs that one of requests has, too."""

REQUEST_TABLES: Final = {
    **{name: TABLES[name] for name in BESIDE},
    "repairs": "name varchar, meaning varchar, requests bigint",
    "requests": ", ".join(f"{field.name} {field.sql.lower()}" for field in REQUEST_FIELDS),
}
"""The tables of a store of requests."""


class RequestStore(Store):
    """The requests of one trace, with header, rejects, repairs and provenance."""

    holds: ClassVar[str] = "requests"
    tables: ClassVar[Mapping[str, str]] = REQUEST_TABLES

    @cached_property
    def system(self) -> System:
        """What the header says of the system; its size cannot be inferred from requests."""
        return from_header(self.header)

    def _trust_nothing(self, path: Path) -> None:
        """Refuse a file that is not a store of requests, or that holds values which no request has."""
        actual = {(table, f"{name} {kind.lower()}") for table, name, kind in self._columns()}
        lacking = columns_of(self.tables) - actual
        odd = [f"it lacks {table}.{column}" for table, column in sorted(lacking - ADDED)]
        self._refuse(path, odd + self._defined())
        if older := sorted(column.split() for _, column in lacking & ADDED):
            nulls = ", ".join(f"cast(null as {kind}) as {name}" for name, kind in older)
            # This view takes precedence over the table in the file, which stays unchanged.
            self.connection.execute(f"create temp view requests as select *, {nulls} from main.requests")
        limits = [field for field in REQUEST_FIELDS if field.low is not None]
        conditions = " or ".join(
            f"not ({field.name} between {field.low!r} and {field.high or MAXIMUM_TOKENS!r})"
            for field in limits
        )
        impossible, untimed, requests = self.row(
            f"select count(*) filter (where {conditions}), count(*) - count(submit_time), count(*)"
            " from requests"
        )
        if impossible or untimed:
            raise TraceError(
                f"{path}: {impossible + untimed:,} requests have values that no request has:"
                " convert their log again"
            )
        if not self.account.adds_up or self.account.jobs != requests:
            raise TraceError(f"{path}: its account of rows does not add up: convert its log again")


def recorded(store: Store) -> dict[str, int]:
    """Return how many requests have a value of each field."""

    def counted() -> dict[str, int]:
        counts = ", ".join(f"count({name})" for name in REQUEST_NAMES)
        return dict(zip(REQUEST_NAMES, store.row(f"select {counts} from requests"), strict=True))

    return store.once("recorded", counted)
