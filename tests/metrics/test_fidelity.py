"""Numbers that papers print, and those that a study of them found, on the very logs they are about."""

from collections import Counter
from typing import Any

import pytest

import gwa
from gwa.metrics.bags import MINH, bag_spans, gaps
from gwa.metrics.papers import minh2010
from gwa.metrics.papers.minh2010 import YEAR_2009, YEAR_2010
from gwa.metrics.papers.published import cells, printed
from gwa.metrics.timeline import counts
from gwa.statistics.dependence import entropy, poisson_entropy
from tests.conftest import LOGS

pytestmark = pytest.mark.logs

SCALES = (900, 1800, 3600, 21600, 86400)
"""The scales of figure 6 of 2010, in seconds."""

# Of the cells of each pair of tables, how many the capped log gives to the printed digit (14 each).
LCG = {
    ("4.2", "4.3"): 7, ("4.9", "4.10"): 13, ("4.11", "4.12"): 14, ("4.13", "4.14"): 14, ("4.15", "4.16"): 14,
    ("4.17", "4.18"): 6, ("4.6",): 1, ("4.19",): 2, ("4.20",): 1,
}  # fmt: skip

REPRODUCED: dict[str, dict[str, Any]] = {
    "HPC2N-2002-2.1-cln": {
        "selection": YEAR_2010, "jobs": 201998, "interarrival": 542.5, "in_bags": 0.643,
        "variability": [8.15, 152.6, 793.7, 6080, 27428], "gaps": (0.852, 200), "durations": (0.996, 16975),
        "labels": (17, 17), "spatial": 0.2996, "correlation": -0.0631,
        "temporal": [0.813, 0.831, 0.850, 0.896, 0.935], "poisson": 0.970, "repetitions": 1.116,
        "sizes": 4.03,
    },
    "LLNL-Thunder-2007-1.1-cln": {
        "selection": YEAR_2010, "jobs": 102972, "interarrival": 123.8, "in_bags": 0.394,
        "variability": [7.49, 177.17, 692.62, 5365.69], "gaps": (0.850, 151), "durations": (0.998, 6293),
        "labels": (17, 16), "spatial": 0.3305, "correlation": 0.2302,
        "temporal": [0.895, 0.899, 0.904, 0.923, 0.941], "poisson": 0.993, "repetitions": 1.088,
        "sizes": 2.97,
    },
    "KTH-SP2-1996-2.1-cln": {
        "selection": YEAR_2009, "jobs": 28475, "correlation": 0.0108, "repetitions": 1.022,
        "area": 2_016_591_520, "temporal": [0.864, None, 0.898, None, 0.975], "poisson": 0.939,
        "spatial": 0.493,
    },
    "SDSC-Par-1996-3.1-cln": {
        "selection": YEAR_2009, "jobs": 32135, "correlation": 0.3535, "repetitions": 1.063,
        "area": 9_559_663_355, "temporal": [0.861, None, 0.898, None, 0.957], "poisson": 0.940,
        "spatial": 0.326,
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def open_log():
    if not LOGS.is_dir():
        pytest.skip("there are no real logs beside the checkout")
    opened = {}

    def of(name):
        if name not in opened:
            opened[name] = gwa.open(LOGS / "swf" / f"{name}.swf.gz")
        return opened[name].store

    yield of
    for trace in opened.values():
        trace.close()


def temporal(store, scale, selection):
    """Return the temporal burstiness of the selected jobs, and that of a Poisson process."""
    first = store.row(f"select min(submit_time) from {selection.jobs}")[0]
    table = selection.jobs.removesuffix(" as selected")
    arrived = counts(store, f"(submit_time - {first!r})", 900.0, table).coarser(scale // 900)
    jobs, intervals = arrived.counts, int(arrived.bins[-1]) + 1
    return entropy(jobs, intervals), poisson_entropy(int(jobs.sum()), intervals)


def test_lcg_has_the_rows_of_the_thesis(open_log):
    found = list(cells(open_log("LCG")))
    agreeing = Counter(cell.source.rpartition(" ")[2] for cell in found if cell.agrees)

    assert {tables: sum(agreeing[table] for table in tables) for tables in LCG} == LCG
    assert max(abs(cell.difference) for cell in found) < 0.09
    (rate,) = (cell for cell in found if "4.10" in cell.source and not cell.agrees)
    assert rate.ours == pytest.approx(1.5349, abs=5e-5)


@pytest.mark.parametrize("name", REPRODUCED)
def test_minh_and_wolters_are_reproduced(name, open_log):
    store, said = open_log(name), dict(REPRODUCED[name])
    selection = said["selection"]

    assert minh2010.jobs(store, selection) == said["jobs"]
    assert minh2010.correlation(store, selection) == pytest.approx(said["correlation"], abs=5e-5)
    assert minh2010.repetitions(store, "run_time", selection.jobs).mean() == pytest.approx(
        said["repetitions"], abs=5e-4
    )
    assert minh2010.spatial(store, selection) == pytest.approx(said["spatial"], abs=5e-4)
    found = [temporal(store, scale, selection) for scale in SCALES]
    for (ours, _), expected in zip(found, said["temporal"], strict=True):
        assert expected is None or ours == pytest.approx(expected, abs=5.1e-4)
    assert found[0][1] == pytest.approx(said["poisson"], abs=1e-3)
    if "area" in said:
        assert minh2010.squashed_area(store, selection) == said["area"]


@pytest.mark.parametrize("name", [name for name, said in REPRODUCED.items() if "in_bags" in said])
def test_bags_of_minh_and_wolters_are_reproduced(name, open_log):
    store, said = open_log(name), dict(REPRODUCED[name])

    assert minh2010.mean_interarrival(store) == pytest.approx(said["interarrival"], abs=0.05)
    assert minh2010.in_bags(store) == pytest.approx(said["in_bags"], abs=5e-4)
    ours = [mean for mean, bags in minh2010.variability(store) if bags]
    assert ours == pytest.approx(said["variability"], rel=5e-4)
    between, durations = gaps(store, MINH), bag_spans(store, MINH)
    assert between.restrict(below=100).n / between.n == pytest.approx(said["gaps"][0], abs=5e-4)
    assert between.quantile(0.9) == said["gaps"][1]
    assert durations.restrict(below=1000).n / durations.n == pytest.approx(said["durations"][0], abs=5e-4)
    assert durations.max() == said["durations"][1]
    labels = minh2010.groups(store)
    assert (max(labels), len(labels)) == said["labels"]
    assert minh2010.repetitions(store, "procs", YEAR_2010.jobs).mean() == pytest.approx(
        said["sizes"], abs=5e-3
    )


def test_a_trace_that_no_paper_is_about_has_no_printed_numbers(make_store):
    assert list(cells(make_store(submit_time=[1.0], user_id=["a"]))) == []
    assert {trace["name"] for trace in printed()["thesis"]} >= {"LCG", "DAS-2", "NorduGrid"}
