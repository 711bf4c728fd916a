"""How much of the prompts earlier requests had already."""

from collections.abc import Iterator
from typing import Final

from gwa.analysis.base import analysis
from gwa.report.document import Block, Facts
from gwa.report.facts import facts_of, number
from gwa.requests.base import RequestChapter
from gwa.requests.measured import HELD
from gwa.store.requests import recorded
from gwa.store.store import Store
from gwa.words.message import message

REUSE: Final = f"""
select
    count(*), sum(blocks), sum(held), count(*) filter (where held > 0),
    (select count(distinct block) from (select unnest(blocks) as block from requests))
from {HELD} as held
"""  # noqa: S608 - a constant of another constant


@analysis(
    "Reuse of prefixes",
    RequestChapter.SERVICE,
    facts=("requests.reuse",),
    order=2,
    when=lambda store: recorded(store)["blocks"] > 0,
)
def prefix_reuse(store: Store) -> Iterator[Block]:
    """
    How much of the prompts an unlimited cache of prefixes would hold, by the identities of their blocks.

    A block of a request is held if it, and every block before it in the same prompt, stood in an earlier
    request. This is the most that a cache of any size could save; a real one forgets.
    """
    requests, blocks, held, hit, distinct = store.row(REUSE)
    share, hits = int(held) / int(blocks) if blocks else None, hit / requests if requests else None
    yield Facts(
        facts_of(
            "requests.reuse",
            ("requests", requests, message("Requests with known blocks"), "count"),
            ("blocks", int(blocks or 0), message("Blocks of their prompts"), "count"),
            ("distinct", distinct, message("Different blocks"), "count"),
            ("held", number(share), message("Blocks that an unlimited cache holds"), "fraction"),
            ("hit", number(hits), message("Requests whose first block it holds"), "fraction"),
        )
    )
