"""Better or worse requests of time."""

from dataclasses import replace

import numpy as np

from gwa.errors import ArgumentError
from gwa.evaluation.whatif.change import Aspect, change
from gwa.evaluation.whatif.world import World

PERFECT, DOUBLED = "perfect", "doubled"


@change(Aspect.REQUESTS, f"{PERFECT}|{DOUBLED}")
def requests(world: World, text: str, _: np.random.Generator) -> World:
    """
    Requested times: perfect, each the run time of its job, or doubled.

    Where no time was requested, the scheduler plans with the run time, of which doubled is the double.
    """
    if text not in (PERFECT, DOUBLED):
        raise ArgumentError(f"--requests: '{text}' is no kind of request, expected {PERFECT} or {DOUBLED}")
    if text == PERFECT:
        return replace(world, requested=world.run)
    return replace(world, requested=2 * np.where(world.requested > 0, world.requested, world.run))
