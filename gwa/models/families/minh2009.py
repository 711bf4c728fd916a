"""The temporal locality model of Minh and Wolters (2009): run times that repeat, and parallelism."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from gwa.errors import ModelError
from gwa.models.clustered import LabelledJobs
from gwa.models.families.mbc import MbcLs, MbcLsPrinted
from gwa.models.parameters import share
from gwa.models.size_cells import EvenPairs
from gwa.models.streams import Block
from gwa.models.temporal_locality import LabelRuns, positions_in_rows
from gwa.statistics.sample import Ints
from gwa.store.store import Store

SOURCE = (
    "T. N. Minh and L. Wolters, Modeling parallel system workloads with temporal locality,"
    " Job Scheduling Strategies for Parallel Processing (2009)"
)


@dataclass(frozen=True, kw_only=True)
class Minh2009Printed(MbcLsPrinted):
    """
    Minh and Wolters 2009 as printed: MBC-LS with repeated run times, and processors that go with the cluster.

    In a row of R labels, with probability *repeated* the first run time comes r times, r from Zipf's law of
    *values*, drawn again until r < R. Step 10 never ends for R = 1; there, nothing is repeated. *repeated*
    is, as step 4 says, the share of all rows in which a value repeats, those of one job included.
    """

    values: LabelRuns
    repeated: Annotated[float, share("of rows in which a run time is repeated")]

    name = "minh2009-printed"
    title = "Minh and Wolters 2009 as printed"
    source = SOURCE

    @classmethod
    def content_parameters(cls, store: Store, jobs: LabelledJobs) -> dict[str, Any]:
        """Fit the parameters, other than arrivals, to labelled *jobs*."""
        return super().content_parameters(store, jobs) | {
            "clusters": jobs.clusters(store),
            "values": LabelRuns.fit(jobs.row_lengths(store, "run_time")),
            "repeated": fit_repeated(store, jobs.table),
        }

    def draw_jobs(self, rng: np.random.Generator, n: int) -> Block:
        """Draw run times and processors of *n* jobs."""
        label, lengths = self.draw_labels(rng, n)
        repeats = np.zeros(lengths.size, np.int64)
        chosen = np.flatnonzero((lengths > 1) & (rng.random(lengths.size) <= self.repeated))
        repeats[chosen] = self.values.draw_below(rng, lengths[chosen])
        position = positions_in_rows(lengths)
        run_time = self.sampler.run_times(rng, label)
        origin = np.arange(n) - np.where(position < np.repeat(repeats, lengths), position, 0)
        return {"run_time": run_time[origin], "n_procs": self.sampler.procs(rng, label)}


@dataclass(frozen=True, kw_only=True)
class Minh2009(MbcLs):
    """
    Minh and Wolters 2009 improved: rows of labels, in which a job may repeat the one before.

    Run time and processors are drawn together, as in MBC-LS improved. Next to a job of its label, a job
    repeats it, run time and processors, with the probability *repeats* of its label: the mean length of
    repetitions comes out as in the trace, where the printed steps give a fifth to a half of what is beyond 1.
    """

    repeats: Annotated[tuple[float, ...], share("of jobs next to one of their label that repeat it")]

    name = "minh2009"
    title = "Minh and Wolters 2009 improved"
    source = f"After {SOURCE}"

    def check(self) -> None:
        """Refuse labels without their share of repeats."""
        super().check()
        if len(self.repeats) != len(self.rows):
            raise ModelError(
                f"repeats has {len(self.repeats)} shares, expected {len(self.rows)}, one for each label"
            )

    @classmethod
    def content_parameters(cls, store: Store, table: str) -> dict[str, Any]:
        """Fit the parameters, other than arrivals, to the jobs in a labelled *table*."""
        return super().content_parameters(store, table) | {"repeats": fit_repeats(store, table)}

    def draw_jobs(self, rng: np.random.Generator, label: Ints, pairs: EvenPairs) -> Block:
        """Draw run time and processors of a job for each label."""
        new = rng.random(label.size) >= np.array(self.repeats)[label]
        new[1:] |= label[1:] != label[:-1]
        new[0] = True
        origin = np.cumsum(new) - 1
        return {name: column[origin] for name, column in super().draw_jobs(rng, label[new], pairs).items()}


ORDER = "order by submit_time, job_id"


def fit_repeated(store: Store, table: str) -> float:
    """Return the share of rows of a label in which a run time follows itself (2009, section 3.3, step 4)."""
    same_label = f"label = lag(label) over ({ORDER})"
    return float(
        store.row(
            f"""
            select avg(repeats) from (
                select max(case when again then 1 else 0 end) as repeats from (
                    select again, sum(case when same then 0 else 1 end) over (
                        {ORDER} rows between unbounded preceding and current row) as place
                    from (
                        select *, coalesce({same_label}, false) as same,
                        coalesce({same_label} and run_time = lag(run_time) over ({ORDER}), false) as again
                        from {table}
                    ) as marked
                ) as numbered group by place
            ) as label_rows"""
        )[0]
    )


def fit_repeats(store: Store, table: str) -> tuple[float, ...]:
    """Return, by label, the share of jobs after a job of that label that repeat it other than by chance."""
    observed = store.arrays(
        f"""
        select label, sum(case when same then 1 else 0 end) as same,
        sum(case when same and run_time = before then 1 else 0 end) as again from (
            select label, run_time, label = lag(label) over ({ORDER}) as same,
            lag(run_time) over ({ORDER}) as before from {table}
        ) as pairs group by label order by label"""
    )
    chance = store.arrays(
        f"""
        select label, sum(n * n) / (sum(n) * sum(n)) as alike from (
            select label, run_time, cast(count(*) as double) as n from {table} group by label, run_time
        ) as counted group by label order by label"""
    )["alike"]
    share = observed["again"] / np.maximum(observed["same"], 1)
    return tuple(np.clip((share - chance) / np.maximum(1 - chance, 1e-9), 0.0, 1.0).tolist())
