"""How long jobs of each size run."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from gwa.analysis.base import Chapter, analysis
from gwa.report.document import Block, Note
from gwa.report.figures.density import density
from gwa.store.store import Store
from gwa.words.compared import single_largest
from gwa.words.formatting import decimal, seconds
from gwa.words.message import message

BY_SIZE: Final = """
select n_procs, floor(ln(greatest(run_time, 1)) / ln(10) * 4 + 1e-9) as quarter, count(*) as jobs
from ran group by 1, 2 order by 1, 2
"""
"""Run times by quarters of a power of ten, as fine as they are drawn."""


@analysis("Sizes and run times", Chapter.SIZES, facts=(), needs=("run_time", "n_procs"), order=2)
def sizes_and_run_times(store: Store) -> Iterator[Block]:
    """
    How long jobs of each size run.

    A cell is a factor of two in processors and a quarter of a power of ten in run time; run times below a
    second stand with those of one. Minh and Wolters (2010) call it spatial burstiness when a few sizes have
    most of the run time; the section on burstiness measures it by an entropy.
    """
    columns = store.arrays(BY_SIZE)
    if not len(columns["jobs"]):
        yield Note("No job ran.")
        return
    jobs = np.asarray(columns["jobs"], np.float64)
    times = 10 ** (np.asarray(columns["quarter"], np.float64) / 4 + 0.01)
    sizes = np.asarray(columns["n_procs"], np.float64)
    fullest = single_largest(range(len(jobs)), lambda place: float(jobs[place]))
    yield density(
        "sizes-run-times",
        "Jobs by size and run time",
        times,
        sizes,
        jobs,
        message(
            "Number of jobs by processors, from {min} to {max}, and run time{most}.",
            min=decimal(sizes.min(), ".0f"),
            max=decimal(sizes.max(), ".0f"),
            most=""
            if fullest is None
            else message(
                "; the most, {jobs}, ran on {sizes} for about {times}",
                jobs=decimal(jobs[fullest], ",.0f"),
                sizes=decimal(sizes[fullest], ".0f"),
                times=seconds(times[fullest]),
            ),
        ),
        xlabel="Run time",
        ylabel="Processors",
        unit="seconds",
        label="Jobs",
        note="The stronger the colour of a cell, the more jobs, on a logarithmic scale.",
    )
