"""Another number of processors."""

from dataclasses import replace

import numpy as np

from gwa.evaluation.whatif.change import Aspect, change, resized
from gwa.evaluation.whatif.world import World


@change(Aspect.CAPACITY, "+20%")
def cpus(world: World, text: str, _: np.random.Generator) -> World:
    """
    Size of the machine: a number of processors, or a difference such as +20% or -64.

    Jobs that no longer fit are not submitted.
    """
    capacity = resized(world.capacity, text, "--cpus")
    return replace(world.only(world.size <= capacity), capacity=capacity)
