"""Another number of processors or GPUs."""

from dataclasses import replace

import numpy as np

from gwa.evaluation.touched import REPLAYED
from gwa.evaluation.whatif.change import ChangeSubject, change, resized
from gwa.evaluation.whatif.world import World


@change(ChangeSubject.CAPACITY, "+20%", REPLAYED)
def cpus(world: World, text: str, _: np.random.Generator) -> World:
    """
    Size of the machine: a number of processors, or a difference such as +20% or -64.

    Jobs that no longer fit are not submitted.
    """
    capacity = resized(world.capacity, text, "--cpus")
    return replace(world.only(world.size <= capacity), capacity=capacity)


@change(ChangeSubject.CAPACITY, "+20%", ("gpu", *REPLAYED))
def gpus(world: World, text: str, _: np.random.Generator) -> World:
    """
    Number of GPUs, or a difference such as +20%; only jobs with GPUs are replayed, on the GPUs alone.

    A part of a GPU counts as a whole one. Jobs that no longer fit are not submitted.
    """
    capacity = resized(world.capacity, text, "--gpus")
    return replace(world.only(world.size <= capacity), capacity=capacity)
