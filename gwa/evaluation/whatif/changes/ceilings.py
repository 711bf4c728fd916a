"""A ceiling of what each user holds, or none."""

import re
from dataclasses import replace

import numpy as np

from gwa.errors import ArgumentError
from gwa.evaluation.whatif.change import MAXIMUM, ChangeSubject, change
from gwa.evaluation.whatif.world import PROCESSORS, World

NO_CEILING = "none"


@change(ChangeSubject.CEILING, "user=128|user=none", ("ceiling",))
def limit(world: World, text: str, _: np.random.Generator) -> World:
    """
    Ceiling of the processors that each user holds at once, such as user=128; user=none removes ceilings.

    A job whose user would hold more is passed over, and others start. Larger jobs are not submitted. The
    machine as it was has the ceilings that the log shows; without any, there is none to remove.
    """
    match = re.fullmatch(rf"user=(\d{{1,9}}|{NO_CEILING})", text)
    if not match or not match[1].strip("0"):
        raise ArgumentError(
            f"--limit: '{text}' is not a ceiling, expected one such as user=128, of nine digits at most, or"
            " user=none"
        )
    if world.unit != PROCESSORS:
        raise ArgumentError("--limit is of processors, and --gpus replays GPUs alone, expected one of them")
    users = sorted(set(world.user.tolist()) - {""})
    if not users:
        raise ArgumentError("--limit: the log does not record users, expected some")
    if match[1] == NO_CEILING:
        if not world.ceilings:
            raise ArgumentError(
                "--limit user=none: the log shows no ceiling of a user, expected user=128 to try one"
            )
        return replace(world, ceilings={})
    most = min(int(match[1]), MAXIMUM)
    is_small = (world.size <= most) | (world.user == "")
    return replace(world.only(is_small), ceilings=dict.fromkeys(users, most))
