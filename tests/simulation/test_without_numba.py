"""Without numba, an extra, small simulations have the same results, and large ones say what to install."""

import json
import subprocess
import sys
from itertools import product

import numpy as np
import pytest

from gwa.errors import SimulationError
from gwa.simulation import _queue, _reservations, engine
from gwa.simulation.backfilling import POLICIES, schedule
from gwa.simulation.engine import simulate
from gwa.simulation.grid import Grid
from gwa.simulation.jobs import Jobs
from gwa.simulation.tasks import Tasks
from gwa.util import compiled
from tests.conftest import HOME

SAID = r"takes too long without numba, more than .*: `pip install 'gridworkloads\[simulate\]'` installs it"

GRIDS = list(
    product(("csp", "sep-c", "fcondor", "pull"), ("S-T", "S-U-B", "S-U-RR"), ("FPLT", "ECT-P", "WQR-2", "RR"))
)


def found():
    """Return what becomes of jobs and tasks drawn once, under each policy."""
    draws = np.random.default_rng(7)
    submit, run = np.sort(draws.integers(0, 16_000, 400)), draws.integers(1, 180, 400)
    jobs = Jobs.of(submit, run, draws.integers(1, 17, 400), run + draws.integers(0, 600, 400))
    starts = {policy: schedule(jobs, 24, policy).tolist() for policy in POLICIES}

    bag, user, site = np.sort(draws.integers(0, 30, 90)), draws.integers(0, 5, 90), draws.integers(0, 3, 90)
    tasks = Tasks.of(submit[:90], run[:90], bag, user, site)
    ends = {}
    for names in GRIDS:
        ran = simulate(tasks, Grid.of([3, 2, 4], speeds=[1, 2, 1]), *names, period=60)
        ends["/".join(names)] = [ran.end.tolist(), ran.processor.tolist(), ran.consumed.tolist()]
    return {"starts": starts, "ends": ends, "predicted": tasks.predicted.tolist()}


def test_the_results_are_those_of_what_numba_compiles(monkeypatch):
    code = (
        "import json, sys; sys.modules['numba'] = None;"
        " from tests.simulation.test_without_numba import found; print(json.dumps(found()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=HOME, capture_output=True, text=True, check=True, timeout=300
    )
    monkeypatch.setattr(_queue, "MINIMUM_COMPILED", 0)
    assert compiled.can_compile()
    assert json.loads(done.stdout) == json.loads(json.dumps(found()))


def test_a_small_log_is_reported_replayed_and_modelled_without_numba(tmp_path):
    log = HOME / "sample_traces" / "swf" / "tiny.swf"
    code = f"""
import sys
sys.modules["numba"] = None
import gwa
with gwa.open({str(log)!r}) as trace:
    assert not [one for one in trace.report().sections if one.failed]
    assert gwa.whatif(trace, "scheduler conservative")["processors"]
with gwa.generate("lublin", jobs=50, seed=7) as made:
    assert len(made) == 50
gwa.simulate({str(HOME / "experiments" / "example.toml")!r}, {str(tmp_path)!r}, repetitions=1)
"""
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, timeout=300)


@pytest.mark.parametrize("policy", POLICIES)
def test_too_many_jobs_say_what_to_install(policy, monkeypatch):
    monkeypatch.setattr(compiled, "can_compile", lambda: False)
    monkeypatch.setattr(_reservations, "MAXIMUM_UNCOMPILED", 4_500)
    monkeypatch.setattr(_queue, "MAXIMUM_UNCOMPILED", 4_500)
    many = np.arange(5_000)
    with pytest.raises(SimulationError, match=rf"5,000 jobs {SAID}"):
        schedule(Jobs.of(many, many % 7, many % 3 + 1), 4, policy)


def test_too_many_tasks_say_what_to_install(monkeypatch):
    monkeypatch.setattr(compiled, "can_compile", lambda: False)
    many = np.arange(engine.MAXIMUM_UNCOMPILED + 1)
    with pytest.raises(SimulationError, match=rf"10,001 tasks {SAID}"):
        simulate(Tasks.of(many, many), Grid.of([4]))
