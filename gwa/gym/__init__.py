"""
Scheduling as an environment of Gymnasium, over the simulator of `gwa.simulation` and any trace or model.

``import gwa.gym`` registers ``gwa/Backfill-v0`` (`Backfill`) and ``gwa/Schedule-v0`` (`Schedule`). It needs
the package gymnasium.

>>> import gymnasium, gwa.gym
>>> env = gymnasium.make("gwa/Backfill-v0", workload="sample_traces/swf/tiny.swf", jobs=50, cpus=40)
>>> last = gwa.gym.play(env, gwa.gym.easy, seed=1)
>>> len(last["start"])
50
"""

from gwa.util.version import DISTRIBUTION

try:
    import gymnasium
except ImportError as error:
    # Who imports a module expects this error, and `pytest.importorskip` understands it.
    MISSING = f"gwa.gym needs the package gymnasium: `pip install '{DISTRIBUTION}[gym]'` installs it"
    raise ImportError(MISSING, name=error.name) from error

from gwa.gym.environments import Backfill, Schedule
from gwa.gym.policies import POLICIES, easy, fcfs, play, sjbf, sjf
from gwa.gym.rewards import REWARDS
from gwa.gym.window import FEATURES
from gwa.gym.workload import Workload

__all__ = [
    "FEATURES",
    "POLICIES",
    "REWARDS",
    "Backfill",
    "Schedule",
    "Workload",
    "easy",
    "fcfs",
    "play",
    "sjbf",
    "sjf",
]

gymnasium.register("gwa/Backfill-v0", entry_point="gwa.gym.environments:Backfill")
gymnasium.register("gwa/Schedule-v0", entry_point="gwa.gym.environments:Schedule")
