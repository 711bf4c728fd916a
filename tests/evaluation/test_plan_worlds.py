"""Plans of made worlds on hidden machines: how often the interval of an answer holds the true one."""

import sys

import numpy as np
import pytest

from gwa.evaluation.capacity.rule import Forecast, plan
from tests.evaluation.made_months import MACHINES, MONTHS, Made

SEEDS = 24


def answers(machine: str) -> list[tuple[float, Forecast]]:
    """Return the true ratio and the answer of each class of the worlds on a *machine* that are told."""
    worlds = [Made.of(seed, machine) for seed in range(SEEDS)]
    return [
        (made.truth(one.among), one)
        for made in worlds
        for one in plan(made.world, made.asked, capacity_is_stated=True, has_curve=False).outcomes
        if isinstance(one, Forecast)
    ]


@pytest.mark.slow
def test_the_true_answer_of_hidden_machines_is_in_three_intervals_of_four(capsys):
    held: list[bool] = []
    lines = []
    for machine in MACHINES:
        found = answers(machine)
        own = [one.low <= truth <= one.high for truth, one in found]
        error = np.sqrt(np.mean([np.log(one.ratio / truth) ** 2 for truth, one in found]))
        lines.append(
            f"{machine}: {sum(own)} of {len(own)} answers held, rms error of the logarithm {error:.2f}"
        )
        held += own
    lines.append(f"all: {sum(held)} of {len(held)} answers held ({np.mean(held):.0%})")
    with capsys.disabled():
        sys.stdout.write("\n".join([f"\n{MONTHS} months, {SEEDS} workloads, +20 %", *lines, ""]))

    assert len(held) >= 40
    assert np.mean(held) >= 0.75
