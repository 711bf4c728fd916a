"""Of a system whose size is not known no picture has a line of all there is."""

from gwa.analysis.build import build
from tests.analysis.sections.blocks import START

DAY = 86400.0


def test_what_is_most_at_once_is_not_called_all(make_store):
    store = make_store(
        submit_time=[START + DAY * n for n in range(40)],
        wait_time=[0.0] * 40,
        run_time=[20 * 3600.0] * 40,
        n_procs=[4] * 40,
        n_gpus=[2.0] * 40,
        n_nodes=[1] * 40,
    )
    figures = {
        one.id: one
        for one in build(store, "log", only=["utilization", "capacity", "gpus", "nodes"]).figures()
    }
    for name in ("utilization", "capacity", "gpu", "nodes"):
        assert figures[name].data["reference"][1].startswith("most "), name
        assert " of 4" not in figures[name].alt
