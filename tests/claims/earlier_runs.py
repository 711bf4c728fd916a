"""
How often the alert on earlier runs names somebody by chance: `python -m tests.claims.earlier_runs 400`.

Runs are interrupted alike for all users, so that of nobody's core-hours earlier runs hold a quarter but by
luck. Of each log there is another, in which the runs of one user are interrupted two times of three.
"""

import sys
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gwa.metrics.alerts import alerts
from gwa.store.store import Store
from tests.claims import Counted

Floats = NDArray[Any]

JOBS: Final = 3000
USERS: Final = 25
RUNS: Final = 6
"""A run that would be the seventh is not interrupted."""

DAY: Final = 86_400.0
AMISS: Final = "U1"


@dataclass(frozen=True)
class Interruptions:
    """
    What interrupts runs.

    A *share* of them, each at any moment of its time or, where they are *early*, within so many seconds;
    what fails once in *hours* of each processor; and *stops*, which interrupt all that runs then.
    """

    share: float = 0.0
    early: float = np.inf
    hours: float = np.inf
    stops: int = 0


WORLDS: Final = {
    "nothing is interrupted but 1 % of the runs": Interruptions(0.01),
    "urgent jobs preempt 5 % of the runs": Interruptions(0.05),
    "urgent jobs preempt 15 % of the runs": Interruptions(0.15),
    "30 % of the runs are evicted within ten minutes": Interruptions(0.3, early=600.0),
    "processors fail once in 20,000 hours": Interruptions(hours=20_000.0),
    "all is stopped three times in a month": Interruptions(stops=3),
}


@dataclass(frozen=True)
class Named(Counted):
    """In how many *logs* somebody was *wrongly* named, and of the logs in which one is *amiss*, *found*."""

    logs: int = 0
    wrongly: int = 0
    amiss: int = 0
    found: int = 0


def logged(world: Interruptions, rng: np.random.Generator, *, amiss: bool) -> dict[str, Any]:
    """Return the columns of a log."""
    weights = 1 / np.arange(1, USERS + 1)
    user = rng.choice(USERS, JOBS, p=weights / weights.sum())
    submitted = rng.integers(0, int(30 * DAY), JOBS).astype(np.float64)
    seconds = np.round(np.clip(rng.lognormal(8.2, 1.4, JOBS), 60, 5 * DAY))
    procs = 2 ** rng.integers(0, 7, JOBS)
    stops = np.sort(rng.uniform(0, 30 * DAY, world.stops))
    of_one = replace(world, share=2 / 3, early=np.inf) if amiss else world
    runs = [
        _runs(world if who else of_one, at, run, count, stops, rng)
        for at, run, count, who in zip(submitted, seconds, procs, user, strict=True)
    ]
    return {
        "job_id": np.arange(1, JOBS + 1),
        "submit_time": submitted,
        "wait_time": np.zeros(JOBS),
        "run_time": seconds,
        "n_procs": procs,
        "status": np.ones(JOBS),
        "user_id": np.array([f"U{who + 1}" for who in user], object),
        "n_requeues": np.array([text.count(";") for text in runs]),
        "runs": np.array([text if ";" in text else None for text in runs], object),
    }


def _runs(
    world: Interruptions,
    submitted: float,
    seconds: float,
    procs: int,
    stops: Floats,
    rng: np.random.Generator,
) -> str:
    """Return the runs of a job of some *seconds*."""
    boxes, begin = [], 0
    for _ in range(RUNS):
        ends = [rng.exponential(world.hours * 3600 / procs)] if world.hours < np.inf else []
        ends += [stop - submitted - begin for stop in stops if stop > submitted + begin]
        if rng.random() < world.share:
            ends.append(rng.uniform(0, min(seconds, world.early)))
        held = int(min([*ends, seconds]))
        if not 0 < held < seconds:
            break
        boxes.append(f"{begin}/{held}/////preempted")
        begin += held + 600
    return ";".join([*boxes, f"{begin}/{int(seconds)}/////completed"])


def named(columns: dict[str, Any]) -> set[str]:
    """Return the users that the alert names in a log."""
    with Store.create() as store:
        store.begin(list(columns))
        store.connection.register("made", columns)
        recorded = [row[0] for row in store.rows("describe recorded")]
        values = ", ".join(name if name in columns else "null" for name in recorded)
        store.connection.execute(f"insert into recorded select {values} from made")
        store.connection.unregister("made")
        (alert,) = (one for one in alerts(store) if one.rule.id == "earlier-runs")
        assert alert.about
        return {holder.name for holder in alert.holders}


def judged(world: Interruptions, rng: np.random.Generator) -> Named:
    """Return who is named in a log in which nobody is amiss, and in one in which a user is."""
    honest = named(logged(world, rng, amiss=False))
    given = named(logged(world, rng, amiss=True))
    return Named(1, bool(honest), 1, AMISS in given)


def rates(world: str, logs: int, seed: int = 7) -> Named:
    """Return what is said of a number of *logs* of a *world*."""
    rng = np.random.default_rng([seed, list(WORLDS).index(world)])
    return sum((judged(WORLDS[world], rng) for _ in range(logs)), Named())


if __name__ == "__main__":
    for name in WORLDS:
        all_logs = rates(name, int(sys.argv[1]))
        share = f"{100 * all_logs.wrongly / all_logs.logs:.1f} % of {all_logs.logs} logs"
        sys.stdout.write(
            f"{name}: somebody named in {share}; amiss found in {all_logs.found} of {all_logs.amiss}\n"
        )
        sys.stdout.flush()
