"""Who got their share of what they asked for, and who waited meanwhile."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gwa.analysis.base import Chapter, MadeWhen, analysis
from gwa.analysis.fairness_sentences import of_split, of_starvation, of_stated, of_users
from gwa.breakdown.dimensions import by_name
from gwa.breakdown.fairness import DIMENSIONS, Asked, Share, asked, by_month, chosen
from gwa.breakdown.going_ahead import Order, orders
from gwa.breakdown.records import Records
from gwa.breakdown.starvation import Starved, starvation
from gwa.metrics.absent_numbers import absent_share
from gwa.metrics.quotas import Quotas
from gwa.metrics.stated_shares import StatedShares
from gwa.metrics.waiting import cannot_tell, missing_jobs
from gwa.report.columns import column
from gwa.report.document import Block, Column, Fact, Facts, Note, note_of
from gwa.report.facts import number
from gwa.store.store import Store
from gwa.words.message import message
from gwa.words.unit import Value

KINDS: Final = {"users": "user", "projects": "project", "queues": "queue"}

TITLES: Final = {
    "users": message("Shares held and asked for, by user"),
    "projects": message("Shares held and asked for, by project"),
    "queues": message("Shares held and asked for, by queue"),
}

MONTHS: Final = 24
"""The table of more months has the last."""


@analysis(
    "Who got their share",
    Chapter.USERS,
    facts=("fairness",),
    needs=("submit_time", "wait_time", "run_time", "n_procs"),
    order=3,
    made=MadeWhen.ON_REQUEST,
)
def who_got_their_share(store: Store) -> Iterator[Block]:
    """
    What users, projects and queues held of what they asked for, and whose jobs waited meanwhile.

    Asked for are the processors that jobs hold, and those for which jobs wait that could start, of jobs that
    started; what is held in a partition is looked at by itself. The equal split gives no user more than is
    asked for, and what one leaves is divided among the others (max-min fairness), hour by hour: what was held
    against what was due is the resource equality of Sabin and Sadayappan (2005). Jobs cannot be divided, so
    that a few hours far from the split are no injustice. A user is said to hold more than the split if that
    is a quarter more, and chance explains it in fewer than one log in twenty, by whole weeks, of all users
    together.

    An equal split is a measure and no rule: in the order of arrival, who asks for more holds more. Jobs go
    ahead if they start while an earlier like job of another user waits on, that asked for no more processors,
    GPUs and time, in the same partition; 10,000 starts are looked at. Where --shares, Slurm's sshare, or else
    --quota states what projects or users may use, the split in proportion to that is the stated share, of
    those that are named. A wait is long that is beyond the 99th percentile of like jobs: those of one queue,
    and of about as many processors and as much requested time. Where jobs are missing in the log, what others
    held is not known, and nothing is said of splits. What is held and asked for is always of the whole log; a
    selection chooses whose shares are listed, a period the hours.
    """
    why = cannot_tell(store.whole)
    missing = why or missing_jobs(store.whole, absent_share(store.whole))
    yield Facts((Fact("fairness.missing", missing or None, "Why shares are not compared", text="none"),))
    if why:
        yield Note(message("Who got their share cannot be told: {why}.", why=why))
        return
    found = {kind: of_kind for kind in DIMENSIONS if (of_kind := asked(store, kind))}
    if "users" in found:
        yield from _users(store, found["users"], missing)
    for kind, of_kind in found.items():
        yield from _shares(store, kind, of_kind)
    if "users" in found:
        yield from _months(store, found["users"])
    if not missing:
        yield from _stated(store)
    if store.has("user_id"):
        yield from _starvation(store, starvation(store))


def _users(store: Store, found: Asked, missing: str) -> Iterator[Block]:
    """Yield what is said of users, and the facts of it."""
    if missing:
        yield note_of(
            "Jobs may be missing ({why}): what others held is not known, and nothing is said of an equal"
            " split.",
            why=missing,
        )
        return
    shares, order = chosen(store, "users", found.shares()), orders(store)
    if not store.is_selection:
        for sentence in of_split(found.moved, shares):
            yield Note(sentence)
    for sentence in of_users(shares, order):
        yield Note(sentence)
    tested = sum(one.chance is not None for one in shares)
    above = [_above(one, (order or {}).get(one.name)) for one in shares if one.is_above]
    label = message("Share of the CPU time that an equal split would have given to others")
    moved = Fact("fairness.moved", number(found.moved), label, "fraction")
    yield Facts((moved, Fact("fairness.tested", tested, "Users whose share can be tested", "count")))
    title = message("Users who held more than an equal split by more than chance")
    yield Facts((Fact("fairness.above", above, title),), listed=False)


def _above(one: Share, order: Order | None) -> dict[str, Value]:
    return {
        "id": one.name,
        "ratio": number(one.ratio),
        "ratio_at_least": number(one.least),
        "starts": order.starts if order else None,
        "ahead": number(order.ahead) if order else None,
        "passed": number(order.passed) if order else None,
        "goes_ahead": order.goes_ahead if order else None,
    }


def _shares(store: Store, kind: str, found: Asked) -> Iterator[Block]:
    """Yield what each class held, asked for, and would have had by an equal split."""
    every = found.shares()
    held, waited = sum(one.held for one in every), sum(one.waited for one in every)
    if not held:
        return
    rows: list[dict[str, Value]] = [
        {
            "id": one.name,
            "cpu_seconds": number(one.held),
            "held_share": one.held / held,
            "asked_share": (one.held + one.waited) / (held + waited),
            "split_share": one.split / held,
            "ratio": number(one.ratio),
            "waited_seconds": number(one.waited),
            "waited_below": one.waited_below / one.waited if one.waited else None,
        }
        for one in chosen(store, kind, every)[: store.top]
    ]
    columns = (
        Column("id", by_name(kind).heading),
        column("cpu_seconds"),
        column("held_share"),
        Column("asked_share", "Share asked for", "fraction"),
        Column("split_share", "Equal split", "fraction"),
        Column("ratio", "Held ÷ split while others waited"),
        column("waited_seconds"),
        Column("waited_below", "Of that, while below split", "fraction"),
    )
    records = Records(f"fairness.by_{KINDS[kind]}", TITLES[kind], columns, rows)
    yield from records.blocks(f"fairness-{KINDS[kind]}")


def _months(store: Store, found: Asked) -> Iterator[Block]:
    rows: list[dict[str, Value]] = [
        {
            "id": month,
            "cpu_seconds": number(held),
            "waited_seconds": number(waited),
            "held_of_asked": held / (held + waited),
            "moved": moved,
            "waited_below": below / waited if waited else None,
        }
        for month, held, waited, moved, below in by_month(store, found)
    ]
    columns = (
        Column("id", "Month"),
        column("cpu_seconds"),
        column("waited_seconds"),
        Column("held_of_asked", "Held, of what was asked for", "fraction"),
        Column("moved", "An equal split would give to others", "fraction"),
        Column("waited_below", "Waited for while below split", "fraction"),
    )
    records = Records(
        "fairness.by_month", message("Shares held and asked for, by month"), columns, rows[-MONTHS:]
    )
    yield from records.blocks("fairness-month")


def _stated(store: Store) -> Iterator[Block]:
    """Yield what those held of whom --shares or --quota say what they may use, against that."""
    stated_in = store.stated.get("shares") or store.stated.get("quota")
    if not isinstance(stated_in, StatedShares | Quotas):
        return
    if isinstance(stated_in, Quotas) and stated_in.of != "cpu_hours":
        return
    limits: Mapping[str, Mapping[str, float]] = {"users": stated_in.users, "projects": stated_in.projects}
    for kind, of_kind in limits.items():
        found = asked(store, kind, of_kind) if of_kind else None
        if found is None:
            continue
        shares, stated = chosen(store, kind, found.shares()), sum(of_kind.values())
        for sentence in of_stated(kind, shares):
            yield Note(sentence)
        held = sum(one.held for one in shares)
        rows: list[dict[str, Value]] = [
            {
                "id": one.name,
                "stated_share": of_kind[one.name] / stated,
                "held_share": one.held / held,
                "ratio": number(one.ratio),
                "above": one.is_above,
            }
            for one in shares
            if one.name in of_kind and held
        ]
        columns = (
            Column("id", by_name(kind).heading),
            Column("stated_share", "Share stated", "fraction"),
            column("held_share"),
            Column("ratio", "Held ÷ stated share while others waited"),
        )
        title = message("Shares held and stated")
        yield from Records(f"fairness.stated_{kind}", title, columns, rows).blocks(f"fairness-stated-{kind}")


def _starvation(store: Store, found: Sequence[Starved]) -> Iterator[Block]:
    for sentence in of_starvation(found):
        yield Note(sentence)
    starved = sum(one.starved for one in found)
    rows: list[dict[str, Value]] = []
    for one in [one for one in found if one.starved][: store.top]:
        counts: dict[str, Value] = {"id": one.name, "jobs": one.jobs, "starved": one.starved}
        rows.append(counts | {"starved_share": one.starved / starved, "of_own": one.starved / one.jobs})
    columns = (
        Column("id", "User"),
        Column("jobs", "Jobs compared", "count"),
        Column("starved", "Waited longer than 99 % of like jobs", "count"),
        Column("starved_share", "Share of these", "fraction"),
        Column("of_own", "Of their own jobs", "fraction"),
    )
    title = message("Jobs that waited longer than 99 % of like jobs, by user")
    yield from Records("fairness.starved", title, columns, rows).blocks("fairness-starved")
