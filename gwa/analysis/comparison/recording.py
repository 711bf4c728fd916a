"""What each log records at all: differences of book-keeping, which are not differences of the systems."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Self

from gwa.metrics.window import window
from gwa.store.store import Store
from gwa.words.message import Message, Verbatim, joined, message

FIELDS: Final = {
    "submit_time": message("Submissions"),
    "wait_time": message("Wait times"),
    "run_time": message("Run times"),
    "n_procs": message("Numbers of processors per job"),
    "req_time": message("Requested times"),
    "user_id": message("Users"),
}
"""The fields that comparisons need, as a sentence begins with them."""

OUTCOMES: Final = {1: message("completed"), 0: message("failed"), 5: message("cancelled")}
"""The outcomes that are told apart, by the status of a job."""

STATUSES: Final = "select distinct status from all_jobs where status in (0, 1, 5)"


@dataclass(frozen=True)
class Recording:
    """
    What a log records.

    The *fields* that any job has, the *outcomes* that it tells apart anywhere (codes of `OUTCOMES`), whether
    the number of processors is stated (*has_size*), and whether the load is known rather than a lower bound
    of it (*has_load*).
    """

    fields: frozenset[str] = frozenset()
    outcomes: frozenset[int] = frozenset()
    has_size: bool = False
    has_load: bool = False

    @classmethod
    def of(cls, store: Store) -> Self:
        """Return what the log of *store* records; of a part of a trace, what the whole does."""
        whole, system = store.whole, store.system
        return cls(
            frozenset(name for name in FIELDS if whole.has(name)),
            frozenset(int(status) for (status,) in whole.rows(STATUSES))
            if whole.has("status")
            else frozenset(),
            bool(system.largest),
            window(store).period is not None,
        )

    @property
    def has_outcomes(self) -> bool:
        """Whether outcomes are told apart: a log that uses one code for all jobs does not do so."""
        return len(self.outcomes) > 1


NOTHING: Final = Recording()
"""What a log records of which nothing is known."""

Named = Sequence[tuple[str, Recording]]
"""What logs record, by their names."""


def recording_remarks(logs: Named) -> Iterator[Message]:
    """Yield what is not compared, since only some of the *logs* record it, or record it in another way."""
    for field, title in FIELDS.items():
        without = [name for name, log in logs if field not in log.fields]
        if 0 < len(without) < len(logs):
            yield message(
                "{field} are not compared with {names}: the log does not record them."
                if len(without) == 1
                else "{field} are not compared with {names}: the logs do not record them.",
                field=title,
                names=_names(without),
            )
    yield from _of_outcomes(logs)
    yield from _of_load(logs)


def _of_outcomes(logs: Named) -> Iterator[Message]:
    """Yield that outcomes are not compared, if logs use different codes, or one for all jobs."""
    if len({log.outcomes for _, log in logs}) == 1:
        first = logs[0][1]
        if first.outcomes and not first.has_outcomes:
            yield message(
                "Outcomes are not compared, because the logs record only one: {code}.", code=_codes(first)
            )
        return
    used = joined(
        "; ", (message("{name}: {codes}", name=Verbatim(name), codes=_codes(log)) for name, log in logs)
    )
    yield message("Outcomes are not compared, because the logs record different ones ({used}).", used=used)


def _codes(log: Recording) -> Message:
    names = [title for status, title in OUTCOMES.items() if status in log.outcomes]
    return joined(", ", names) if names else message("none")


def _of_load(logs: Named) -> Iterator[Message]:
    """Yield why utilization is not compared."""
    unsized = [name for name, log in logs if not log.has_size]
    bounded = [name for name, log in logs if log.has_size and not log.has_load and "run_time" in log.fields]
    if unsized:
        yield message(
            "Utilization and other values per processor are not compared with {names}: the number of"
            " processors is not stated.",
            names=_names(unsized),
        )
    if bounded:
        yield message(
            "Utilization is not compared with {names}: at most a lower bound of it is known.",
            names=_names(bounded),
        )


def _names(names: Sequence[str]) -> Message:
    """Return names in a list, as a sentence says it."""
    *others, last = map(Verbatim, names)
    return joined(message(" and "), [joined(", ", others), last] if others else [last])
