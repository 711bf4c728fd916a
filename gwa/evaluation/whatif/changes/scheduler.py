"""Another policy of the scheduler."""

from dataclasses import replace

import numpy as np

from gwa.errors import ArgumentError
from gwa.evaluation.whatif.change import Aspect, change
from gwa.evaluation.whatif.world import World
from gwa.simulation.backfilling import POLICIES


@change(Aspect.POLICY, "|".join(POLICIES))
def scheduler(world: World, text: str, _: np.random.Generator) -> World:
    """Policy of the scheduler."""
    if text not in POLICIES:
        raise ArgumentError(f"--scheduler: '{text}' is not a policy, expected one of {', '.join(POLICIES)}")
    return replace(world, policy=text)
