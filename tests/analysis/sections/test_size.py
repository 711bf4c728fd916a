"""Of a system whose size is not known no picture has a line of all there is."""

from typing import Any, cast

from gwa.analysis.build import build
from tests.analysis.sections.blocks import START

DAY = 86400.0


def test_what_is_most_at_once_is_not_called_all(make_store):
    store = make_store(
        (("Times", "Unix seconds, UTC"),),
        submit_time=[START + DAY / 4 * n for n in range(240)],
        wait_time=[0.0] * 240,
        run_time=[5 * 3600.0] * 240,
        n_procs=[4] * 240,
        n_gpus=[2.0] * 240,
        n_nodes=[1] * 240,
        status=[1] * 240,
    )
    figures = {
        one.id: one
        for one in build(store, "log", only=["utilization", "capacity", "gpus", "nodes"]).figures()
    }
    for name in ("utilization", "capacity", "gpu", "nodes"):
        _, label = cast("list[Any]", figures[name].data["reference"])
        assert label.startswith("most "), name
        assert " of 4" not in figures[name].alt
