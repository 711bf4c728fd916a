"""The window of observation: where logs are cut, what a cut log knows, and levels of a period."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.analysis.sections.outcomes import outcomes
from gwa.analysis.sections.performance import performance
from gwa.analysis.sections.utilization import utilization
from gwa.formats.open import open_trace
from gwa.metrics.extremes import extremes
from gwa.metrics.timeline import level
from gwa.metrics.window import window
from gwa.models.base import presets
from gwa.models.generate import GenerationRequest, generate, generate_store
from gwa.models.streams import Extent
from gwa.store.store import Store
from gwa.store.subset import Subset, select
from gwa.util.units import DAY, HOUR
from tests.conftest import examples
from tests.cuts import CUTS, Jobs, busy, cut, to_store


def facts(store, section=utilization):
    return {fact.id: fact.value for block in section.blocks(store) for fact in facts_of(block)}


def facts_of(block):
    if hasattr(block, "rows") and hasattr(block, "facts"):
        return block.facts
    return getattr(block, "facts", ())


def long_log(seed: int) -> Jobs:
    """Return the jobs of 200 days of a system with some 15 running jobs, of heavy tails, that begin busy."""
    rng = np.random.default_rng(seed)
    n = 9000
    submit = np.floor(np.sort(rng.uniform(-60 * DAY, 200 * DAY, n)))
    wait = np.floor(rng.exponential(2 * HOUR, n))
    run = np.ceil(rng.lognormal(8.5, 1.5, n))
    return Jobs(submit, submit + wait, submit + wait + run, rng.choice([1, 2, 4, 8, 16, 32], n))


@pytest.mark.parametrize("kind", CUTS)
@pytest.mark.parametrize("seed", [0, 2, 3, 4])
def test_a_log_shows_where_it_is_cut_and_what_it_knows(kind, seed):
    """A log that is cut nowhere, or at both ends, may be taken for one that is cut at one of them."""
    jobs = long_log(seed)
    borders = (20.0 * DAY + seed * 1000, 60.0 * DAY)
    kept = cut(jobs, kind, borders)
    with to_store(kept) as store:
        found = window(store)

    assert found.first is not None
    assert found.last is not None
    assert found.borders is not None
    assert kind in {found.cut, "none", "both"}
    assert borders[0] <= found.first < found.last <= borders[1]
    assert (found.first > found.borders[0] + HOUR / 2) == (found.cut in {"start", "both"})
    assert (found.last < found.borders[1] - HOUR / 2) == (found.cut in {"end", "both"})
    if kind != "both":
        period = (found.first, found.last)
        assert busy(kept, period) == pytest.approx(busy(jobs, period), rel=0.02)


def test_a_log_that_is_short_against_its_jobs_has_no_window_but_a_lower_bound():
    jobs = long_log(1)
    borders = (60.0 * DAY, 61.6 * DAY)
    kept = cut(jobs, "end", borders)
    with to_store(kept, cpus=1000) as store:
        said = facts(store)

    assert (said["window.first"], said["window.last"], said["window.cut"]) == (None, None, "end")
    assert said["utilization.mean"] is None
    span = (float(kept.submit.min()), float(kept.end.max()))
    assert (said["utilization.first"], said["utilization.last"]) == span
    assert said["utilization.at_least"] == pytest.approx(busy(kept, span) / 1000, rel=1e-9)
    assert said["utilization.at_least"] < busy(jobs, span) / 1000


def test_a_log_whose_load_few_jobs_carry_has_no_window_but_a_lower_bound():
    """Of 1,357 jobs of 40 days a few hold as much as all others: one of their kind that is missing counts."""
    jobs = long_log(1)
    kept = cut(jobs, "end", (20.0 * DAY + 1000, 60.0 * DAY))
    held = kept.procs * (kept.end - kept.start)
    assert held.sum() ** 2 / (held**2).sum() < 50 < len(held) / 20
    with to_store(kept, cpus=1000) as store:
        said = facts(store)

    assert (said["window.first"], said["window.last"], said["window.cut"]) == (None, None, "end")
    span = (float(kept.submit.min()), float(kept.end.max()))
    assert said["utilization.at_least"] == pytest.approx(busy(kept, span) / 1000, rel=1e-9)
    assert said["utilization.at_least"] < busy(jobs, span) / 1000


def test_a_lower_bound_of_a_period_is_of_that_period():
    kept = cut(long_log(1), "end", (60.0 * DAY, 61.6 * DAY))
    with to_store(kept, cpus=1000) as store:
        borders = window(store).borders
        assert borders
        day = int(borders[0] // DAY)  # the day in which the borders begin, and the one before
        parts = {n: facts(period_of(store, str(n + 1))) for n in (day - 1, day)}

    for n, said in parts.items():
        period = (n * DAY, min(float(kept.end.max()), (n + 1) * DAY))
        assert (said["utilization.first"], said["utilization.last"]) == period
        assert said["utilization.at_least"] == pytest.approx(busy(kept, period) / 1000, rel=1e-9)


def test_few_jobs_do_not_tell(make_store):
    store = make_store(submit_time=[0, 10], wait_time=[0, 0], run_time=[5, 5], n_procs=[1, 1])

    assert window(store).cut == "unknown"


JOBS = st.lists(
    st.tuples(st.integers(0, 5000), st.integers(0, 3000), st.integers(0, 4000), st.integers(1, 9)),
    min_size=1,
    max_size=30,
)


@examples(25)
@given(JOBS, st.integers(-500, 6000), st.integers(1, 6000))
def test_a_level_of_a_period_is_what_runs_in_it(rows, first, length):
    submit, wait, run, procs = (np.array(column) for column in zip(*rows, strict=True))
    jobs = Jobs(submit, submit + wait, submit + wait + run, procs)
    period = (float(first), float(first + length))
    with to_store(jobs) as store:
        found = level(store, "n_procs", ("start_time", "end_time"), "all_ran", width=600.0, period=period)
        peak, above = extremes(store, 10, period, width=600.0)

    edges = np.append(np.arange(period[0], period[1], 600.0), period[1])
    slow = [busy(jobs, pair) for pair in itertools.pairwise(edges)]
    assert found.between(edges) == pytest.approx(slow, abs=1e-6)
    assert found.durations.sum() == pytest.approx(length)
    seconds = [
        int(procs[(jobs.start <= second) & (jobs.end > second)].sum())
        for second in range(first, first + length)
    ]
    assert peak == max(seconds)
    assert above == sum(count > 10 for count in seconds)


def test_time_before_the_first_start_is_observed(make_store):
    """N9: the first job waits for 90 hours, in which nothing runs."""
    store = make_store(
        submit_time=[0.0] * 60, wait_time=[90.0 * HOUR] * 60, run_time=[100.0 * HOUR] * 60, n_procs=[1] * 60
    )
    busy_procs = level(
        store, "n_procs", ("start_time", "end_time"), "ran", width=600.0, period=(0.0, 190.0 * HOUR)
    )

    assert busy_procs.values.min() == 0
    assert busy_procs.mean() == pytest.approx(60 * 100 / 190)
    assert busy_procs.durations.sum() == 190 * HOUR


def test_who_waits_in_vain_waits(make_store):
    """N10: waiting jobs are all that wait, whether they later ran or not."""
    store = make_store(
        submit_time=[0.0, 0.0], wait_time=[0.0, 2.0 * DAY], run_time=[4.0 * DAY, None], n_procs=[1, 1],
        status=[1, 5],
    )  # fmt: skip

    assert facts(store, performance)["perf.waiting.mean"] == pytest.approx(0.5)


def period_of(store: Store, text: str) -> Store:
    return select(store, Subset(period=text))


def test_a_period_is_a_window_of_the_whole(make_store):
    """N1: what was submitted before it runs in it, and what runs after it does not count."""
    days = np.arange(100)
    store = make_store(
        header=(("Processors", "10"),),
        submit_time=(days * DAY).tolist(), wait_time=[0.0] * 100, run_time=[1.5 * DAY] * 100,
        n_procs=[2] * 100, status=[1, 0] * 50,
    )  # fmt: skip
    part = period_of(store, "51")

    said = facts(part)
    assert said["utilization.mean"] == pytest.approx(3 / 10)
    assert (said["window.first"], said["window.last"], said["window.cut"]) == (50 * DAY, 51 * DAY, "none")
    assert facts(part, performance)["perf.running.mean"] == pytest.approx(1.5)
    (table,) = (block for block in outcomes.blocks(part) if hasattr(block, "rows"))
    assert [row[:2] for row in table.rows] == [("failed", 1)]  # that of day 49, which ended on day 51
    assert part.row("select count(*) from jobs") == (1,)


def test_periods_and_other_conditions_compose(make_store):
    store = make_store(
        submit_time=[0.0, 0.5 * DAY, 1.5 * DAY], wait_time=[0.0] * 3, run_time=[3.0 * DAY] * 3,
        n_procs=[1, 2, 4], user_id=["a", "b", "b"],
    )  # fmt: skip
    part = select(select(store, Subset(period="1..2")), Subset(users=("b",)))
    again = select(part, Subset(period="2"))

    assert part.rows("select n_procs from jobs order by 1") == [(2,), (4,)]
    assert again.rows("select n_procs from jobs order by 1") == [(4,)]
    assert again.rows("select n_procs from all_ran order by 1") == [(2,), (4,)]
    assert again.period == (DAY, 2 * DAY)


def test_what_had_not_ended_runs_to_the_end(make_store):
    """N3: most of the load still runs when the log ends."""
    short = np.linspace(0, 10 * DAY, 400)
    submit = [0.0] * 300 + short.tolist()
    run = [None] * 300 + [3.0 * HOUR] * 395 + [None] * 5
    store = make_store(
        header=(("Processors", "1000"),),
        submit_time=submit, wait_time=[0.0] * 700, run_time=run, n_procs=[1] * 700,
        status=[None if seconds is None else 1 for seconds in run],
    )  # fmt: skip
    said = facts(store)

    assert said["utilization.unfinished"] == 305
    assert said["window.cut"] == "none"
    assert said["utilization.mean"] == pytest.approx(0.305, rel=0.01)
    assert said["utilization.span_mean"] < 0.006


MADE = GenerationRequest(presets()["thesis-das2"].model, Extent(jobs=3000), 1)


def test_a_workload_that_a_model_made_lacks_no_job():
    """Its window was unknown, its load a lower bound, and the edges of its figures grey."""
    with generate_store(MADE) as store:
        first, last, end = store.row("select min(submit_time), max(submit_time), max(end_time) from ran")
        found = window(store)
        levels = facts(store)

    assert (found.first, found.last, found.cut) == (first, last, "none")
    assert found.known == (first, end)
    assert levels["utilization.kind"] == "value"
    assert levels["utilization.mean"] is None  # no number of processors was asked for
    assert levels["utilization.busy"] > 0
    assert "utilization.at_least" not in levels


@pytest.mark.parametrize("suffix", ["gwf", "swf", "parquet", "duckdb"])
def test_files_of_all_formats_say_that_they_hold_all_that_was_made(tmp_path, suffix):
    generate(MADE, tmp_path / f"made.{suffix}")
    with open_trace([tmp_path / f"made.{suffix}"]) as store:
        assert store.is_generated
        assert window(store).is_generated
        third = store.filtered("job_id % 3 = 0")
        assert window(third).known == window(store).known, "jobs are selected, and none is missing"


def test_a_part_of_what_a_model_made_is_cut_as_a_log_is(tmp_path):
    generate(MADE, tmp_path / "made.gwf")
    lines = (tmp_path / "made.gwf").read_text().splitlines(keepends=True)
    (tmp_path / "half.gwf").write_text("".join(lines[:1500]))
    with open_trace([tmp_path / "half.gwf"]) as store:
        assert store.is_generated
        assert not store.has_all_generated
        assert not window(store).is_generated


def test_a_period_of_what_a_model_made_lacks_nothing():
    with generate_store(MADE) as store:
        whole = window(store)
        assert whole.first is not None
        assert whole.known is not None
        day = store.filtered("true", (whole.first - 9.0, whole.known[1] + 9.0))
        assert window(day).cut == "none"
        assert window(day).known == whole.known
        drain = store.filtered("true", (whole.known[1] - 5.0, whole.known[1]))
        assert window(drain).period is None


def test_a_log_is_not_generated(make_store):
    store = make_store(submit_time=[1.0, 9.0], run_time=[5.0, 5.0], n_procs=[1, 1])
    store.set_header((("Jobs", "2"),))
    assert not store.is_generated
    assert not store.has_all_generated
