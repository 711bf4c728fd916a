"""
A workload of a preset, fitted again by its model, gives the parameters back: how nearly, in one table.

Each line names parameters, how far they may be off, and in what measure. Where a parameter cannot be told
from the jobs, its line, or *instead*, says what is compared in its place. A parameter without a line is an
error, as is a preset without a table.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from gwa.models.arrivals.slots import SLOT, SLOTS
from gwa.models.arrivals.spectral import frequency_bands
from gwa.models.base import models, presets
from gwa.models.generate import GenerationRequest, generate_store
from gwa.models.similar_bags import bag_sizes, draw_bag_starts
from gwa.models.streams import Extent
from gwa.util.units import DAY

SHARES = (np.arange(2000) + 0.5) / 2000
"""Shares at which distributions are compared."""


def absolute(one, other):
    """Return the greatest difference of numbers."""
    return np.abs(np.subtract(other, one)).max()


def relative(one, other):
    """Return the greatest difference of numbers, as a part of what was said."""
    return np.abs(np.divide(other, one) - 1).max()


def typical(one, other):
    """Return the root of the mean square difference of numbers."""
    return np.sqrt(np.mean(np.subtract(other, one) ** 2))


def apart(one, other, weight=None, other_weight=None):
    """Return the Kolmogorov-Smirnov distance of two samples, whose values may have weights."""
    steps = np.union1d(one, other)
    curves = []
    for values, weights in ((one, weight), (other, other_weight)):
        order = np.argsort(values)
        mass = np.ones(len(values)) if weights is None else np.asarray(weights, float)
        total = np.concatenate(([0.0], np.cumsum(mass[order])))
        curves.append(total[np.searchsorted(np.asarray(values)[order], steps, side="right")] / total[-1])
    return np.abs(curves[0] - curves[1]).max()


def drawn(one, factor=1.0, most=np.inf):
    """Return whole numbers as a quantity has them, at least 1: the lesser count as that."""
    return np.clip(np.rint(factor * one.quantiles(SHARES)), 1.0, most)


def curve(one, other):
    """Return the distance of the distributions of a quantity, whatever their kind and base; none is one."""
    if one is None or other is None:
        return 0.0 if one is other else np.inf
    return apart(drawn(one), drawn(other))


def curve_cut(one, other):
    """Return the distance of the distributions of a quantity that is cut off at a greatest value."""
    return apart(*(drawn(quantity, most=most) for quantity, most in (one, other)))


def factor(one, other):
    """Return the logarithm of the factor between positive numbers."""
    return abs(np.log(other / one))


def curve_paced(one, other):
    """Return the distance of the distributions of gaps times the pace."""
    return apart(*(drawn(quantity, factor=pace) for quantity, pace in (one, other)))


def hours(one, other):
    """Return the greatest difference of the shares of the hours of the day, from midnight on."""
    shares = []
    for day in (one, other):
        days, rest = np.divmod(np.arange(25) * 3600.0 - day.begins, DAY)
        shares.append(np.diff(days + np.interp(rest, np.arange(SLOTS + 1) * SLOT, day.ends) / DAY))
    return absolute(*shares)


def halves(levels):
    """Return the distance of shapes: of the deviations of what goes to one half, the greatest difference."""

    def distance(one, other):
        return absolute(*(np.sqrt(1 / (8 * np.array(shapes[:levels]) + 4)) for shapes in (one, other)))

    return distance


def mean_row(one, other):
    """Return the relative difference of the mean lengths of rows."""
    return relative(*(stats.zipfian(rows.exponent, rows.longest).mean() for rows in (one, other)))


def common(one, other):
    """Return the difference of what is common to a user, a session or a bag, all together."""
    return abs(sum(vars(one).values()) - sum(vars(other).values()))


def of_users(one, other):
    """Return the greatest difference of the shares of sessions that the busiest users have together."""
    curves = []
    for popularity in (one, other):
        several = np.maximum(popularity.quantiles(SHARES), 1.0)[::-1]
        curves.append(np.cumsum(several) / several.sum())
    return absolute(*curves)


def often(one, other):
    """Return the greatest difference of the shares of jobs that the busiest have together."""
    curves = [np.cumsum(np.sort(each.jobs)[::-1]) / sum(each.jobs) for each in (one, other)]
    most = max(curve.size for curve in curves)
    return absolute(*(np.append(curve, np.ones(most - curve.size)) for curve in curves))


def of_cells(cells):
    """Return run times, processors and weights of points that are spread over cells."""
    points = [
        (run, procs, jobs)
        for cell in cells
        for run in cell.mean + cell.spread * np.linspace(-0.9, 0.9, 10)
        for procs, jobs in zip(cell.procs, cell.jobs, strict=True)
    ]
    return np.array(points).T


def of_clusters(clusters):
    """Return run times, processors and weights of points that are spread over clusters."""
    points = [
        (run, procs, one.weight * jobs / sum(one.jobs))
        for one in clusters
        for run in np.maximum(stats.norm(one.mean, one.sigma).ppf(SHARES[10::20]), 0.0)
        for procs, jobs in zip(one.procs, one.jobs, strict=True)
    ]
    return np.array(points).T


def jobs_of(points: Callable[[Any], Any]):
    """Return the distance of run times, of processors, or of their product, whichever is greatest."""

    def distance(one, other):
        (run, procs, weight), (its_run, its_procs, its_weight) = points(one), points(other)
        pairs = (run, its_run), (procs, its_procs), (run * procs, its_run * its_procs)
        return max(apart(*pair, weight, its_weight) for pair in pairs)

    return distance


def classes(one, other):
    """Return the distance of run times of all classes, of which there may be another number."""
    points = [
        np.array(
            [
                (run, each.frequency)
                for each in several
                for run in stats.lognorm(each.log_sigma, scale=np.exp(each.log_mean)).ppf(SHARES[::4])
            ]
        ).T
        for several in (one, other)
    ]
    return apart(points[0][0], points[1][0], points[0][1], points[1][1])


def hourly(one, other):
    """Return the distance of the numbers of arrivals in an hour."""
    return apart(one[0], other[0], one[1], other[1])


def rates(one, other):
    """Return the relative difference of how many jobs come in the same time."""
    return abs(one.mean_gap() / other.mean_gap() - 1)


def bags_of(name):
    """Return the distance of the sizes of bags that begin among the arrivals of a preset."""
    preset: Any = presets()[name].model

    def distance(one, other):
        times = preset.arrivals.first_times(np.random.default_rng(0), 60_000)
        return apart(
            *(bag_sizes(draw_bag_starts(np.random.default_rng(1), times, joins)) for joins in (one, other))
        )

    return distance


def product(one, other):
    """Return the relative difference of products."""
    return relative(np.prod(one), np.prod(other))


def at_most(one, other):
    """Return how much more the other is."""
    return max(other - one, 0.0)


def equal(one, other):
    """Return 0 for what is the same."""
    return 0.0 if one == other else np.inf


def without(lines, *paths):
    """Return lines but those that begin with one of *paths*."""
    return {line: bound for line, bound in lines.items() if line.split()[0] not in paths}


def spectrum(one, other):
    """Return the greatest difference of the shares of variance below some frequencies."""
    curves = []
    for often, power in (one, other):
        period = sum(often)
        bands = frequency_bands(period)
        below = np.cumsum(np.array(power) * np.diff(np.append(bands, period // 2 + 1)))
        hours = 1 / np.array([336, 168, 48, 24, 12, 6])
        curves.append(np.interp(hours, bands / period, below) / below[-1])
    return absolute(*curves)


def repetitions(jobs):
    """Return the mean number of jobs in a row that run equally long."""
    return jobs["run_time"].size / (1 + np.count_nonzero(np.diff(jobs["run_time"])))


def neighbours(jobs):
    """Return the correlation of the logarithms of run times of jobs next to each other."""
    x = np.log1p(jobs["run_time"])
    return np.corrcoef(x[1:], x[:-1])[0, 1]


STATISTICS = {"repetitions": repetitions, "neighbours": neighbours}


@dataclass(frozen=True)
class Refit:
    """
    What comes back of a workload of so many *jobs*.

    *parameters*: how far each may be off, and in what measure. In place of those named by *instead*, which
    jobs do not tell, the jobs that both models make are *alike*: their fields by the distance of
    distributions, `STATISTICS` by the difference. A refit that is not *quick* takes more than two seconds.
    """

    jobs: int
    parameters: Mapping[str, tuple[Callable[[Any, Any], Any], float]]
    alike: Mapping[str, float] = field(default_factory=dict)
    instead: tuple[str, ...] = ()
    quick: bool = False


def of(part, lines):
    """Return the lines of a part of a model."""
    return {" ".join(f"{part}.{path}" for path in line.split()): bound for line, bound in lines.items()}


def looser(lines, **bounds):
    """Return lines with other bounds; the first path of a line stands for it."""
    assert bounds.keys() <= {line.split()[0] for line in lines}
    return {line: (how, bounds.get(line.split()[0], bound)) for line, (how, bound) in lines.items()}


# What the tasks of a bag share is known to four standard errors of as many bags as the tasks are worth,
# sum(n)**2 / sum(n**2): 0.04 for some 2500 of most presets. Of the few parallel bags it is known less well.
TASKS = {
    "arrivals.gap arrivals.pace": (curve_paced, 0.03),
    "arrivals.day": (hours, 0.004),
    "run_time longest": (curve_cut, 0.04),
    # It makes up for the mean of run times, most of which is a few of the longest.
    "stretch": (factor, 1.0),
    "sequential": (absolute, 0.02),
    "size": (curve, 0.08),
    "powers_of_two": (absolute, 0.08),
    "requested": (curve, 0.04),
}
BAGS = {
    **TASKS,
    "singles": (absolute, 0.02),
    "bag_size": (curve, 0.02),
    "task_gap": (curve, 0.02),
    "simultaneous": (absolute, 0.01),
    # The variance of a bag's few tasks is what is drawn in the mean over bags only, and unknown below 1 s².
    "variance": (curve, 0.08),
    "correlation": (absolute, 0.1),
    "variability": (equal, 0),
}
USERS = {**BAGS, "exponent": (absolute, 0.1), "users": (relative, 0.05)}

# The two gammas of run times overlap, so that their shapes are loose; their means are not.
LUBLIN = {
    "arrivals.gap arrivals.pace": (curve_paced, 0.02),
    "arrivals.day": (hours, 0.006),
    "sizes.serial": (absolute, 0.03),
    "sizes.powers_of_two": (absolute, 0.03),
    "sizes.first": (absolute, 0.03),
    "sizes.low": (absolute, 0.15),
    "sizes.middle": (absolute, 0.15),
    "sizes.high": (absolute, 0.05),
    "run_times.shape1 run_times.scale1": (product, 0.08),
    "run_times.shape2 run_times.scale2": (product, 0.08),
    "run_times.slope": (absolute, 0.003),
    "run_times.intercept": (absolute, 0.04),
    # The longest run time is that of one job: over seeds it scatters by 0.1, and the stretch with it.
    "run_times.high": (absolute, 0.3),
    "run_times.stretch": (absolute, 0.3),
}

# Tasks that come within a second are one batch for who sees whole seconds, at gaps of 0.05 s and of 3.3 s.
# The 60,000 jobs come in 2,100 batches, the largest of some 20,000 jobs: over seeds the mean scatters by 0.2.
CLASSES = {
    "arrivals": (rates, 0.4),
    "classes.*.frequency": (absolute, 0.01),
    "classes.*.mass": (relative, 0.1),
    "classes.*.disparity": (relative, 0.1),
    "classes.*.rate": (relative, 0.05),
    "classes.*.status": (equal, 0),
    "longest": (at_most, 0),
}

# Classes that overlap are cut in other ones by k-means; their run times are what they describe.
CLUSTERS = {"arrivals": (rates, 0.4), "classes": (classes, 0.06), "longest": (at_most, 0)}

# Halves of less than half a minute seldom hold two jobs of this log. The period of a refit is the whole
# workload, whose frequencies are others.
SPECTRAL = {
    "arrivals.arrivals arrivals.often": (hourly, 0.03),
    "arrivals.cycle": (typical, 0.2),
    "arrivals.often arrivals.power": (spectrum, 0.1),
    "arrivals.shapes": (halves(7), 0.03),
    "arrivals.pace": (equal, 0),
}
WAVELET = {
    "arrivals.jobs": (relative, 0.001),
    "arrivals.span": (relative, 0.001),
    "arrivals.shapes": (halves(18), 0.04),
}

# As printed, laws are fitted to what comes of them: equal labels that follow each other by chance make rows
# longer, repetitions end with the row, and bags end with a long gap.
PRINTED = {
    **WAVELET,
    "clusters": (jobs_of(of_clusters), 0.03),
}
ROWS = {"rows": (mean_row, 0.1), "window": (equal, 0)}

GWA = {
    "ledger.period": (equal, 0),
    "ledger.block": (equal, 0),
    "ledger.least": (equal, 0),
    "ledger.pace": (equal, 0),
    "users": (relative, 0.1),
    "popularity": (of_users, 0.06),
    "rhythm.bags.values": (curve, 0.05),
    "rhythm.jobs.values": (curve, 0.02),
    "rhythm.pause.values": (curve, 0.05),
    "rhythm.gap.values": (curve, 0.05),
    "rhythm.bags.likeness": (common, 0.1),
    # Most bags have one job: equal numbers tell less of what a user's bags have in common.
    "rhythm.jobs.likeness": (common, 0.2),
    # Over seeds, these scatter by 0.03.
    "rhythm.pause.likeness": (common, 0.08),
    "rhythm.gap.likeness": (common, 0.08),
    "contents.procs": (common, 0.1),
    "contents.run_time": (common, 0.05),
    # Requests of jobs that would run longer are exchanged for those of other jobs, of whichever user.
    "contents.requested": (common, 0.4),
    "contents.uniform": (absolute, 0.1),
    "contents.keeps": (absolute, 0.1),
    "contents.stays": (absolute, 0.1),
    "contents.repeats": (absolute, 0.05),
    "contents.asked": (absolute, 0.01),
}

# A user who submits as often as another may change numbers with that one, and so may users who run as long.
ROWS_OF_JOBS = {
    "marginals.gap marginals.pace": (curve_paced, 0.02),
    "marginals.run_time": (curve, 0.02),
    "marginals.procs": (curve, 0.02),
    "marginals.user": (often, 0.02),
}

TABLE = {
    "thesis-average": Refit(400_000, USERS),
    "thesis-average-bags": Refit(400_000, BAGS),
    "thesis-average-tasks": Refit(100_000, TASKS, quick=True),
    # A fit is one of the lognormal variability; draws that are repeated lengthen run times.
    "thesis-average-printed": Refit(
        400_000,
        without(USERS, "run_time", "variance", "correlation", "variability"),
        {"run_time": 0.05},
        instead=("run_time", "longest", "variance", "correlation", "variability"),
    ),
    "thesis-das2": Refit(400_000, USERS),
    "thesis-auvergrid": Refit(400_000, BAGS),
    "thesis-ngs": Refit(400_000, USERS),
    # A fit's day begins at six, that of LCG 45 minutes later: slots of one are not slots of the other.
    "thesis-lcg": Refit(400_000, looser(USERS, **{"arrivals.day": 0.01})),
    # The largest bag has a sixth of all tasks, which are worth 25 bags.
    "thesis-sharcnet": Refit(
        400_000, looser(USERS, run_time=0.15, sequential=0.15, size=0.15, powers_of_two=0.2)
    ),
    # The largest bag has a tenth of all tasks, which are worth 94 bags. The pace makes up for what the mean
    # size of bags is off, by as much.
    "thesis-grid5000": Refit(
        400_000,
        looser(
            USERS,
            run_time=0.15,
            sequential=0.1,
            size=0.15,
            powers_of_two=0.15,
            requested=0.1,
            **{"arrivals.gap": 0.1},
        ),
    ),
    "thesis-nordugrid": Refit(400_000, USERS),
    # Two users have bags as good as 180, of which four standard errors are 0.15. The other one has run times
    # that are all alike, yet variances of hours.
    "thesis-explicit-lcg": Refit(
        400_000,
        of(
            "dominant.*",
            looser(
                BAGS,
                **{"arrivals.gap": 0.1, "arrivals.day": 0.03},
                bag_size=0.04,
                run_time=0.1,
                requested=0.1,
                variance=0.2,
            ),
        )
        | of("background", looser(USERS, **{"arrivals.day": 0.01})),
    ),
    "lublin": Refit(40_000, of("batch", LUBLIN) | of("interactive", LUBLIN), quick=True),
    "lublin-all": Refit(40_000, of("batch", LUBLIN)),
    "dacosta": Refit(60_000, CLASSES),
    "dacosta-fitted": Refit(60_000, CLASSES, quick=True),
    "dacosta-2": Refit(60_000, CLUSTERS),
    "dacosta-4": Refit(60_000, CLUSTERS),
    "copula-nasa": Refit(18_238, ROWS_OF_JOBS | {"correlations": (absolute, 0.05)}, quick=True),
    "boosted-nasa": Refit(
        18_238,
        # Trees of four classes move distributions a little: the jobs of the preset are not quite those of its
        # marginals, and a fit to them has theirs.
        looser(ROWS_OF_JOBS, **{"marginals.gap": 0.1, "marginals.procs": 0.05, "marginals.user": 0.05}),
        alike={"run_time": 0.05, "n_procs": 0.05, "repetitions": 0.1, "neighbours": 0.05},
        instead=("columns",),
    ),
    "mbc-ls-printed-nasa": Refit(18_239, PRINTED | ROWS),
    # Labels of run times that are uniform in cells are fewer and wider, and tell neighbours less.
    "mbc-ls-nasa": Refit(
        60_000,
        SPECTRAL | {"cells": (jobs_of(of_cells), 0.03), "window": (equal, 0)},
        {"run_time": 0.02, "n_procs": 0.01, "repetitions": 0.01, "neighbours": 0.12},
        instead=("rows",),
    ),
    "minh2009-printed-nasa": Refit(
        18_239, PRINTED | ROWS | {"values": (mean_row, 0.03), "repeated": (absolute, 0.02)}, quick=True
    ),
    "minh2009-nasa": Refit(
        60_000,
        SPECTRAL | {"cells": (jobs_of(of_cells), 0.03), "window": (equal, 0)},
        {"run_time": 0.02, "n_procs": 0.01, "repetitions": 0.02, "neighbours": 0.12},
        instead=("rows", "repeats"),
    ),
    "minh2010-printed-nasa": Refit(18_239, PRINTED | {"sizes": (mean_row, 0.1), "gap": (equal, 0)}),
    "minh2010-nasa": Refit(
        60_000,
        SPECTRAL
        | {
            "cells": (jobs_of(of_cells), 0.03),
            "joins": (bags_of("minh2010-nasa"), 0.02),
            "likeness": (absolute, 0.1),
            "exponent": (absolute, 0.1),
            "users": (relative, 0.05),
        },
        quick=True,
    ),
    # Sizes of sessions, and with them the classes of contents, are drawn, not written down. So are weeks of
    # the ledger: what comes back of it is the work of weeks, see test_ledger.
    "gwa-kth-sp2": Refit(
        40_000,
        GWA,
        {"run_time": 0.03, "n_procs": 0.03, "req_time": 0.05},
        instead=("contents.classes", "ledger"),
        quick=True,
    ),
}


def at(said, path):
    """Return the parameter at a *path*; a star stands for every member of a list."""
    first, _, rest = path.partition(".")
    if not first:
        return said
    if first == "*":
        return tuple(at(one, rest) for one in said)
    return at(getattr(said, first), rest)


def leaves(said, path=""):
    """Yield the paths of all numbers and texts."""
    if isinstance(said, dict):
        for name, value in said.items():
            if name != "kind":
                yield from leaves(value, f"{path}.{name}".lstrip("."))
    elif isinstance(said, list) and said and isinstance(said[0], dict):
        for one in said:
            yield from leaves(one, f"{path}.*")
    else:
        yield path


def pairs(one, found, line):
    """Yield the values of a line, said and found: as many pairs as a star stands for."""
    ours, theirs = ([at(model, path) for path in line.split()] for model in (one, found))
    if "*" in line:
        assert len(ours[0]) == len(theirs[0]), f"{line}: {len(theirs[0])} come back"
        yield from zip(zip(*ours, strict=True), zip(*theirs, strict=True), strict=True)
    else:
        yield ours, theirs


def distances(one, found, refit):
    """Return how far off each line is, as a list of what stands behind a star."""
    far = {}
    for line, (distance, _) in refit.parameters.items():
        values = (
            (ours[0], theirs[0]) if len(ours) == 1 else (ours, theirs)
            for ours, theirs in pairs(one, found, line)
        )
        far[line] = max(float(distance(*pair)) for pair in values)
    return far


def again(name, seed=3):
    """Return the model of a preset, and what a fit to a workload of it finds."""
    one: Any = presets()[name].model
    with generate_store(GenerationRequest(one, Extent(jobs=TABLE[name].jobs), seed)) as store:
        return one, type(one).fit(store)


def made(one, jobs, seed):
    """Return the first jobs of a model."""
    blocks = list(GenerationRequest(one, Extent(jobs=jobs), seed).blocks())
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


def differ(what, one, other):
    """Return how far a field of jobs, or a statistic of them, is from that of others."""
    if what in STATISTICS:
        return abs(STATISTICS[what](one) - STATISTICS[what](other))
    return apart(one[what], other[what])


QUICK = [name for name, refit in TABLE.items() if refit.quick]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in TABLE]
)
def test_the_parameters_come_back(name):
    refit = TABLE[name]
    one, found = again(name)
    far = distances(one, found, refit)

    bounds = {line: bound for line, (_, bound) in refit.parameters.items()}
    assert {line: off for line, off in far.items() if not off <= bounds[line]} == {}
    if refit.alike:
        # The stretch keeps the mean; what is compared is the shape.
        shape = replace(found, stretch=1.0) if hasattr(found, "stretch") else found
        jobs = made(one, refit.jobs, 1), made(shape, refit.jobs, 2)
        far = {each: differ(each, *jobs) for each in refit.alike}
        assert {each: off for each, off in far.items() if not off <= refit.alike[each]} == {}


@pytest.mark.parametrize("name", presets())
def test_no_parameter_is_left_out(name):
    one, refit = presets()[name].model, TABLE[name]
    lines = [path for line in refit.parameters for path in line.split()] + list(refit.instead)

    left = [
        leaf for leaf in leaves(one.plain()) if not any(f"{leaf}.".startswith(f"{path}.") for path in lines)
    ]
    assert left == []
    fitted = {kind for kind in models().values() if kind.extra != "deep"}
    assert {type(presets()[each].model) for each in TABLE} == fitted
