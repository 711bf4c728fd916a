"""A machine without one of its users."""

import numpy as np

from gwa.errors import ArgumentError
from gwa.evaluation.whatif.change import Aspect, change
from gwa.evaluation.whatif.world import World


@change(Aspect.WORKLOAD, "USER")
def without_user(world: World, text: str, _: np.random.Generator) -> World:
    """Leave out the jobs of a user (repeatable)."""
    own = world.user == text
    if not own.any():
        raise ArgumentError(f"--without-user: the log has no jobs of a user '{text}'")
    return world.only(~own)
