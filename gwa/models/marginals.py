"""Jobs as rows of shares: each column has its distribution, by which a share becomes a value, and back."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Final, Self

import numpy as np

from gwa.errors import ModelError
from gwa.models.arrival_process import sample_gaps
from gwa.models.base import Model
from gwa.models.knots import Knots
from gwa.models.parameters import Parameters, Quantity, positive
from gwa.models.streams import Block
from gwa.statistics.distribution import FitError
from gwa.statistics.sample import Floats, Ints, Sample
from gwa.store.schema import MAXIMUM_DURATION
from gwa.store.store import Store

MAXIMUM_ROWS: Final = 1_000_000
"""Jobs of a trace that are looked at; later ones are ignored."""

MIDPOINTS: Final = (np.arange(1 << 17) + 0.5) / (1 << 17)
"""Shares at which quantiles are averaged to the mean of a distribution."""

NOBODY: Final = 0
"""The number of the user of a job whose user is unknown."""

NO_REQUEST: Final = 0.0
"""The requested time of a job that requested none."""

ROWS: Final = f"""
with known as (select user_id, row_number() over (order by count(*) desc, user_id) as number
    from ran where user_id is not null group by user_id)
select submit_time, run_time, n_procs, coalesce(req_time, {NO_REQUEST!r}) as req_time,
    coalesce(number, {NOBODY}) as user_id
from ran left join known on ran.user_id = known.user_id
where submit_time is not null order by submit_time, job_id limit {MAXIMUM_ROWS}
"""


@dataclass(frozen=True)
class Counted(Parameters):
    """Whole numbers, each as often as in the trace, in an order of their own."""

    values: Annotated[tuple[int, ...], Quantity("values", "of the quantity", 0.0, 1e12)]
    jobs: Annotated[tuple[int, ...], Quantity("jobs of each value", "", 1.0, 1e12)]

    def check(self) -> None:
        """Refuse values without their numbers of jobs."""
        if len(self.values) != len(self.jobs):
            raise ModelError(f"jobs has {len(self.jobs)} numbers, expected one for each of values")

    def quantiles(self, share: Floats) -> Floats:
        """Return the value at each *share*."""
        ends = np.cumsum(self.jobs) / sum(self.jobs)
        place = np.minimum(np.searchsorted(ends, share, side="right"), len(self.values) - 1)
        return np.array(self.values, np.float64)[place]

    def limited(self, maximum: int) -> Self | None:
        """Return the values up to a *maximum*, None if there are none."""
        kept = [pair for pair in zip(self.values, self.jobs, strict=True) if pair[0] <= maximum]
        return (
            replace(self, **dict(zip(("values", "jobs"), zip(*kept, strict=True), strict=True)))
            if kept
            else None
        )


@dataclass(frozen=True)
class Marginals(Parameters):
    """
    The distribution of each column of jobs.

    Columns are the *gap* to the job before, the *user* by number, 0 for none, in the order of the mean rank
    of their run times, the processors, the *requested* time, 0 for none, and the run time. What a trace does
    not record has no column. Gaps are multiplied by *pace*, so that their mean is that of the trace.
    """

    gap: Knots
    procs: Counted
    run_time: Knots
    user: Counted | None = None
    requested: Knots | None = None
    pace: Annotated[float, positive("what gaps are multiplied by")] = 1.0

    @property
    def columns(self) -> dict[str, Knots | Counted]:
        """The distributions by name, in the order of the columns."""
        every = {
            "gap": self.gap, "user": self.user, "procs": self.procs, "requested": self.requested,
            "run_time": self.run_time,
        }  # fmt: skip
        return {name: column for name, column in every.items() if column is not None}

    def rows(self, shares: Floats) -> dict[str, Floats]:
        """Return the values at *shares*, of which each row has one for each column."""
        return {
            name: column.quantiles(shares[:, place])
            for place, (name, column) in enumerate(self.columns.items())
        }

    def block(self, rows: dict[str, Floats], after: float) -> Block:
        """Return the *rows* as jobs submitted *after* some seconds: those of the job before the first."""
        block: Block = {
            "submit_time": np.floor(after + np.cumsum(rows["gap"]) * self.pace),
            "run_time": np.minimum(rows["run_time"], MAXIMUM_DURATION),
            "n_procs": rows["procs"].astype(np.int64),
        }
        if "requested" in rows:
            block["req_time"] = np.where(rows["requested"] == NO_REQUEST, np.nan, rows["requested"])
        if "user" in rows:
            block["user_id"] = np.where(rows["user"] == NOBODY, -1, rows["user"]).astype(np.int64)
        return block

    def limit_processors(self, cpus: int) -> Self:
        """Return the same without sizes above *cpus*; raise `ModelError` where none is left."""
        procs = self.procs.limited(cpus)
        if procs is None:
            raise ModelError(f"cpus is {cpus}, and no job has so few processors")
        return replace(self, procs=procs)

    def scale_gaps(self, factor: float) -> Self:
        """Return the same with gaps multiplied by *factor*."""
        return replace(self, pace=self.pace * factor)


@dataclass(frozen=True, kw_only=True)
class RowModel(Model):
    """A model that draws rows of shares, which the distributions of the columns turn into jobs."""

    marginals: Marginals

    @abstractmethod
    def shares(self, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield an endless stream of rows, in arrays with a share in [0, 1] for each column."""

    def blocks(self, rng: np.random.Generator) -> Iterator[Block]:
        """Yield an endless stream of jobs in the order of submission."""
        after = 0.0
        for shares in self.shares(rng):
            rows = self.marginals.rows(shares)
            yield self.marginals.block(rows, after)
            after += float(rows["gap"].sum()) * self.marginals.pace

    def scale_gaps(self, factor: float) -> Self:
        """Return the model with interarrival gaps multiplied by *factor*."""
        return replace(self, marginals=self.marginals.scale_gaps(factor))

    def limit_processors(self, cpus: int) -> Self:
        """Return the model without jobs of more than *cpus* processors."""
        return replace(self, marginals=self.marginals.limit_processors(cpus))


@dataclass(frozen=True)
class Rows:
    """
    The jobs of a trace as rows: their *marginals*, and the *values* of each column by name.

    The first job is left out, since no gap leads to it. *times* are the submissions in seconds.
    """

    marginals: Marginals
    values: dict[str, Floats]
    times: Floats

    @classmethod
    def of(cls, store: Store) -> Self:
        """
        Return the jobs of *store* that ran and whose submission is known.

        Raise `FitError` where all run equally long, `ModelError` where they come at once.
        """
        sample_gaps(store, "ran", "submit_time")
        columns = {name: np.asarray(column, np.float64) for name, column in store.arrays(ROWS).items()}
        values = {
            "gap": np.rint(np.diff(columns["submit_time"])),
            "user": columns["user_id"][1:],
            "procs": columns["n_procs"][1:],
            "requested": np.rint(columns["req_time"][1:]),
            "run_time": np.rint(columns["run_time"][1:]),
        }
        if not np.ptp(values["run_time"]):
            raise FitError("run_time: all jobs run equally long")
        absent = {"user": NOBODY, "requested": NO_REQUEST}
        values = {name: x for name, x in values.items() if name not in absent or (x != absent[name]).any()}
        fitted = {
            name: Knots.fit(Sample.of(values[name]))
            for name in ("gap", "requested", "run_time")
            if name in values
        }
        marginals = Marginals(
            fitted["gap"],
            _counted(Sample.of(values["procs"])),
            fitted["run_time"],
            _by_run_time(values["user"], values["run_time"]) if "user" in values else None,
            fitted.get("requested"),
            pace=float(values["gap"].mean() / fitted["gap"].quantiles(MIDPOINTS).mean()),
        )
        return cls(marginals, values, columns["submit_time"])

    def spans(self) -> dict[str, tuple[Floats, Floats]]:
        """Return the share of jobs below, and up to, each value of a column, by name."""
        return {name: self._span(name) for name in self.marginals.columns}

    def _span(self, name: str) -> tuple[Floats, Floats]:
        """Return the shares below and up to each job's value, in the order of the column's values."""
        values = self.values[name]
        order = self.marginals.user.values if name == "user" and self.marginals.user else None
        if order is not None:
            place = np.empty(max(order) + 1, np.int64)
            place[list(order)] = np.arange(len(order))
            values = place[values.astype(np.int64)].astype(np.float64)
        sample = Sample.of(values)
        at = np.searchsorted(sample.values, values)
        upto = sample.cumulative[at] / sample.n
        return upto - sample.counts[at] / sample.n, upto


def _counted(sample: Sample) -> Counted:
    return Counted(tuple(sample.values.astype(int).tolist()), tuple(sample.counts.astype(int).tolist()))


def _by_run_time(user: Floats, run_time: Floats) -> Counted:
    """Return the users with their numbers of jobs, in the order of the mean rank of their run times."""
    number: Ints = user.astype(np.int64)
    ranks = np.argsort(np.argsort(run_time, kind="stable"), kind="stable")
    known, place, jobs = np.unique(number, return_inverse=True, return_counts=True)
    order = np.argsort(np.bincount(place, ranks) / jobs, kind="stable")
    return Counted(tuple(known[order].tolist()), tuple(jobs[order].tolist()))
