"""
Real logs cut at random, borders not told: the kind of the cut, and what is known of the load.

The slow tests say their figures with ``--log-cli-level=info``.
"""

import logging
from typing import NamedTuple

import numpy as np
import pytest

import gwa
from gwa.metrics.window import window
from gwa.util.units import DAY
from tests.conftest import LOGS
from tests.cuts import Jobs, busy, cut, to_store

FILES = {
    "KTH": "KTH-SP2-1996-2.1-cln.swf.gz",
    "HPC2N": "HPC2N-2002-2.1-cln.swf.gz",
    "SDSC-Par": "SDSC-Par-1996-3.1-cln.swf.gz",
    "Curie": "CEA-Curie-2011-2.1-cln.swf.gz",
    "LANL": "LANL-CM5-1994-4.1-cln.swf.gz",
    "RICC": "RICC-2010-2.swf.gz",
}
MINIMUM_JOBS = 50


class Outcome(NamedTuple):
    """What became of some cuts of one kind: shares of them, and the errors of the means that are known."""

    right: float
    absent: float
    errors: np.ndarray

    @property
    def within(self) -> float:
        return float((np.abs(self.errors) < 0.02).mean())


def read(name: str) -> Jobs:
    path = LOGS / "swf" / FILES[name]
    if not path.exists():
        pytest.skip("the real logs are not beside the checkout")
    with gwa.open(path) as trace:
        columns = trace.store.arrays(
            "select submit_time, start_time, end_time, n_procs from ran where run_time > 0 order by job_id"
        )
    return Jobs(*(np.asarray(column) for column in columns.values()))


def cut_at_random(jobs: Jobs, kind: str, times: int, seed: int = 1) -> Outcome:
    """Cut *jobs* at random, 5 to 40 days each, and compare what the cut log says with the whole."""
    rng = np.random.default_rng(seed)
    low, high = np.quantile(jobs.start, [0.05, 0.95])
    right, absent, errors, total = 0, 0, [], 0
    while total < times:
        length = rng.uniform(5, 40) * DAY
        first = rng.uniform(low, high - length)
        kept = cut(jobs, kind, (first, first + length))
        if len(kept.submit) < MINIMUM_JOBS:
            continue
        total += 1
        with to_store(kept) as store:
            found = window(store)
        right += found.cut == kind
        if found.period is None:
            absent += 1
        else:
            errors.append(busy(kept, found.period) / busy(jobs, found.period) - 1)
    return Outcome(right / total, absent / total, np.array(errors))


def check(name: str, outcome: Outcome, kind: str) -> None:
    """Ask for what design.md asks for; RICC, with jobs of weeks, cannot know its own longest ones."""
    assert outcome.right >= 5 / 65
    if name != "RICC":
        assert outcome.within >= (0.95 if kind == "end" else 0.8)
        assert outcome.absent <= 1 / 3


def test_some_cuts_of_a_real_log():
    jobs = read("KTH")
    for kind in ("end", "start"):
        outcome = cut_at_random(jobs, kind, 6)

        assert outcome.right >= 0.9
        assert np.median(np.abs(outcome.errors)) < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["end", "start"])
@pytest.mark.parametrize("name", FILES)
def test_cuts_of_real_logs(name, kind):
    outcome = cut_at_random(read(name), kind, 60)
    errors = outcome.errors
    logging.getLogger(__name__).info(
        "%s %s: right %.3f, absent %.2f, error %+.3f ± %.3f, within 2 %% %.2f",
        name, kind, outcome.right, outcome.absent, errors.mean(), errors.std(), outcome.within,
    )  # fmt: skip

    check(name, outcome, kind)
