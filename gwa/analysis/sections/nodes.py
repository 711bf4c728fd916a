"""How nodes were used."""

from collections.abc import Iterator

from gwa.analysis.base import Chapter, analysis
from gwa.analysis.sections._resource import resource_blocks
from gwa.report.document import Block
from gwa.store.resources import NODE
from gwa.store.store import Store


@analysis(
    "Nodes",
    Chapter.UTILIZATION,
    facts=("nodes",),
    needs=("n_nodes",),
    when=lambda store: store.has("n_nodes"),
    order=2,
)
def nodes(store: Store) -> Iterator[Block]:
    """
    Nodes that jobs held: hours, in which sizes, and the waits and outcomes of these.

    A node that several jobs share counts once for each, so that more nodes may be held than there are.
    Waits and outcomes are of the jobs that held the resource.
    """
    yield from resource_blocks(store, NODE)
