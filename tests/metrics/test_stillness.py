"""Idle stretches, waits and levels against obvious references; what stands still, and what does not."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.metrics.idleness import idle_stretches, idleness
from gwa.metrics.job_numbers import JobNumbers
from gwa.metrics.standstill_levels import levels
from gwa.metrics.stillness import (
    LEVELS,
    LONG_IDLE,
    WAITERS,
    Stretch,
    _jobs,
    _stride,
    known_area,
    stillness,
    unaccounted_of,
)
from tests.claims.machine import Machine
from tests.claims.worlds import DAY, HOUR, MONDAY
from tests.conftest import _stores, examples

ZONED = (("Times", "Unix seconds, UTC"), ("TimeZoneString", "UTC"), ("MaxProcs", "128"))


def listed(columns: dict[str, Any]) -> dict[str, list[Any]]:
    return {name: np.asarray(values).tolist() for name, values in columns.items()}


@st.composite
def logs(draw: st.DrawFn) -> dict[str, list[Any]]:
    """Return a small log with ties, waits of all lengths, and jobs whose wait is not known."""
    size = draw(st.integers(1, 25))

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=size, max_size=size))

    return {
        "submit_time": sorted(column(st.integers(0, 60).map(lambda n: 1e9 + 1200.0 * n))),
        "wait_time": column(st.sampled_from([0.0, 0.0, 60.0, 1200.0, 7200.0, 30_000.0, None])),
        "run_time": column(st.sampled_from([0.0, 10.0, 1190.0, 1200.0, 9000.0])),
        "n_procs": column(st.integers(1, 4)),
        "user_id": column(st.sampled_from(["a", "b"])),
    }


def spans(log: dict[str, list[Any]]) -> list[tuple[float, float, float, int, str, bool]]:
    """Return submission, start, end, processors, user and whether the wait is known, of each job."""
    found = []
    for submit, wait, run, procs, user in zip(*log.values(), strict=True):
        start = submit + (wait or 0)
        found.append((submit, start, start + run, procs, user, wait is not None))
    return found


def idle_reference(jobs: list[Any]) -> list[tuple[float, float]]:
    """Return, for each start, the latest end of all that started before, if that is earlier."""
    ran = [(start, end) for _, start, end, *_ in jobs if end > start]
    found = set()
    for start, _ in ran:
        earlier = [end for other, end in ran if other < start]
        if earlier and max(earlier) < start:
            found.add((max(earlier), start))
    return sorted(found)


@examples(25)
@given(logs())
def test_idle_stretches_are_between_the_latest_end_and_the_next_start(log):
    with _stores_of(log) as store:
        found = store.rows(f"select begin, finish from {idle_stretches(store)} as idle order by begin")
    assert found == idle_reference(spans(log))


@examples(25)
@given(logs())
def test_users_who_wait_are_those_whose_jobs_span_the_end_of_a_stretch(log):
    jobs = spans(log)
    by_user = len({job[4] for job in jobs}) > 1
    expected = []
    for begin, finish in idle_reference(jobs):
        if finish - begin < HOUR:
            continue
        waiting = [
            (user if by_user else submit // HOUR, submit, start)
            for submit, start, _, _, user, known in jobs
            if known and submit < finish - 600 and start >= finish and start - submit >= 600
        ]
        for who in {who for who, *_ in waiting}:
            own = [(submit, start) for other, submit, start in waiting if other == who]
            long = [(submit, start) for submit, start in own if submit < finish - HOUR]
            expected.append(
                (
                    begin,
                    finish,
                    len(own),
                    min(submit for submit, _ in own),
                    min((submit for submit, _ in own if submit >= begin), default=None),
                    sum(submit < begin for submit, _ in own),
                    len(long),
                    sum(start < finish + 1800 for _, start in long),
                )
            )
    with _stores_of(log) as store:
        found = store.rows(WAITERS.format(idle=idle_stretches(store), jobs=_jobs(store)))
    assert sorted(found, key=str) == sorted(expected, key=str)


@examples(25)
@given(logs())
def test_levels_at_submissions_are_those_of_all_jobs_one_by_one(log):
    jobs = spans(log)
    long = [(begin, finish) for begin, finish in idle_reference(jobs) if finish - begin >= HOUR]
    expected: Counter[tuple[int, float, float]] = Counter()
    for place, (submit, start, _, procs, _, known) in enumerate(jobs):
        busy = sum(n for _, s, e, n, *_ in jobs if s < submit <= e and e > s)
        ahead = sum(k and (s < submit or (s == submit and n < place)) for n, (s, *_, k) in enumerate(jobs))
        served = sum(k and s < submit for _, s, _, _, _, k in jobs)
        idle = any(begin <= submit < finish for begin, finish in long)
        if known and ahead <= served and not idle:
            expected[1, busy + procs, start - submit] += 1
    for begin, _ in long:
        expected[4, sum(n for _, s, e, n, *_ in jobs if s <= begin - 60 < e), begin] += 1
    edges = [(e, 2, place, -n) for place, (_, s, e, n, *_) in enumerate(jobs) if e > s]
    edges += [(s, 3, place, n if e > s else 0) for place, (_, s, e, n, *_) in enumerate(jobs)]
    level = 0
    for _, kind, _, change in sorted(edges):
        level += change
        expected[kind, level, 0] += 1
    with _stores_of(log) as store:
        stretches = idle_stretches(store)
        found = store.rows(LEVELS.format(idle=stretches, jobs=_jobs(store), every=1))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("gwa.metrics.spans.SMALL_TRACE", -1)
            kept = levels(store, _jobs(store), LONG_IDLE.format(idle=stretches), 60.0, 1)
    assert kept
    assert Counter(zip(kept.busy.tolist(), kept.waits.tolist(), strict=True)) == {
        key[1:]: count for key, count in expected.items() if key[0] == 1
    }
    assert kept.before == {key[2]: key[1] for key in expected if key[0] == 4}
    assert Counter(kept.after.tolist()) == Counter(
        held for kind, held, _ in expected.elements() if kind in (2, 3)
    )
    counted: Counter[tuple[int, float, float]] = Counter()
    for kind, held, seconds, count in found:
        counted[kind, held, seconds] += count
    assert counted == expected


def _stores_of(log):
    """Return a context that holds the store of a log."""

    class Opened:
        def __enter__(self):
            self.stores = _stores()
            return self.stores.__enter__()(ZONED, **log)

        def __exit__(self, *error):
            self.stores.__exit__(*error)

    return Opened()


def test_of_a_large_log_some_hours_are_looked_at_of_all_hours_of_the_week():
    for jobs in (1, 600_000, 10_000_000):
        stride = _stride(jobs)
        assert len({hour % 168 for hour in range(0, 168 * stride * 2, stride)}) == 168


def test_levels_of_some_hours_are_those_of_all_in_these_hours(make_store):
    store = make_store(ZONED, **listed(Machine(load=0.3, days=28).log(np.random.default_rng(1))))
    query = {"idle": idle_stretches(store), "jobs": _jobs(store)}
    kinds = "(select * from ({}) as every where kind <> 4) as levels"
    total, part = (
        store.rows(
            "select kind, sum(jobs) as n from "
            + kinds.format(LEVELS.format(**query, every=every))
            + " group by kind order by kind"
        )
        for every in (1, 5)
    )
    for (kind, every), (same, some) in zip(total, part, strict=True):
        assert kind == same
        assert some == pytest.approx(every / 5, rel=0.3)


def test_idle_time_is_exact_whatever_the_bins(make_store):
    """A job of ten seconds every 599: no interval of ten minutes is empty, and 98 % of the time is."""
    size = 3000
    store = make_store(
        ZONED,
        submit_time=[1e9 + 599.0 * n for n in range(size)],
        wait_time=[0.0] * size,
        run_time=[10.0] * size,
        n_procs=[1] * size,
    )
    idle = idleness(store)
    assert idle is not None
    first, last = idle.period
    assert idle.seconds / (last - first) == pytest.approx(589 / 599, abs=1e-4)


def test_idle_time_of_a_period_counts_its_borders(make_store):
    store = make_store(
        ZONED,
        submit_time=[MONDAY + 0.0, MONDAY + 40_000.0],
        wait_time=[0.0, 0.0],
        run_time=[10_000.0, 10_000.0],
        n_procs=[1, 1],
    )
    part = store.filtered("true", (MONDAY + 20_000.0, MONDAY + 45_000.0))
    idle = idleness(part)
    assert idle is not None
    assert idle.seconds == 20_000
    assert (idle.begins.tolist(), idle.ends.tolist()) == ([MONDAY + 20_000], [MONDAY + 40_000])


def kinds_of(store):
    return Counter(stretch.kind for stretch in stillness(store).stretches)


def without(log, moments, begin, end):
    """Return a log without the rows whose *moments* lie between two, and with the numbers that it had."""
    kept = ~((moments >= begin) & (moments < end))
    numbers = np.arange(1, len(moments) + 1)
    return {"job_id": numbers[kept], **{name: values[kept] for name, values in log.items()}}


BEGIN = MONDAY + 80 * DAY + 9 * HOUR


def test_an_outage_is_found_with_its_end_and_the_jobs_that_waited(make_store):
    end = BEGIN + 12 * HOUR
    log = Machine(load=0.85).log(np.random.default_rng(5), ((BEGIN, end),))
    start = log["submit_time"] + log["wait_time"]
    (found,) = stillness(make_store(ZONED, **listed(log))).stretches

    assert found.kind == "outage"
    assert found.end == start[start >= end].min()
    assert BEGIN <= found.begin <= BEGIN + HOUR
    waiting = (log["submit_time"] < found.end - 600) & (start >= found.end) & (log["wait_time"] >= 600)
    assert found.jobs == waiting.sum()
    assert found.users == len(set(log["user_id"][waiting]))


@pytest.mark.parametrize(
    ("begin", "end", "is_known"), [(1, 3, True), (0, 4, True), (1, 5, False), (5, 7, False)]
)
def test_stillness_within_an_outage_is_that_outage(begin, end, is_known):
    outage, still = Stretch("outage", 0.0, 4.0 * DAY), Stretch("still", begin * DAY, end * DAY)
    assert unaccounted_of((outage, still)) == (() if is_known else (still,))


def test_an_outage_is_the_same_in_a_period_and_for_one_user(make_store):
    end = BEGIN + 12 * HOUR
    store = make_store(ZONED, **listed(Machine(load=0.85).log(np.random.default_rng(5), ((BEGIN, end),))))
    (whole,) = stillness(store).stretches
    (of_user,) = stillness(store.filtered("user_id = 'U1'")).stretches
    (of_period,) = stillness(store.filtered("true", (BEGIN - DAY, end - HOUR))).stretches
    assert of_user == whole
    assert (of_period.begin, of_period.end, of_period.jobs) == (whole.begin, end - HOUR, whole.jobs)
    assert not stillness(store.filtered("true", (end + DAY, end + 9 * DAY))).stretches


def test_without_users_sessions_wait(make_store):
    log = Machine(load=0.85).log(np.random.default_rng(5), ((BEGIN, BEGIN + 12 * HOUR),))
    del log["user_id"]
    (found,) = stillness(make_store(ZONED, **listed(log))).stretches
    assert (found.kind, found.users) == ("outage", None)


@pytest.mark.parametrize("missing", ["wait_time", "run_time", "n_procs"])
def test_where_parts_are_missing_no_outage_is_looked_for(make_store, missing):
    log = Machine(load=0.85).log(np.random.default_rng(5), ((BEGIN, BEGIN + 5 * DAY),), closed=True)
    del log[missing]
    found = stillness(make_store(ZONED, **listed(log)))
    assert not found.knows_waits
    assert found.knows_runs == (missing == "wait_time")
    assert [one.kind for one in found.stretches] == ["still" if missing == "wait_time" else "silent"]


@pytest.mark.parametrize("zone", ["Europe/Amsterdam", None])
def test_stretches_do_not_depend_on_the_clock(make_store, zone):
    header = (("MaxProcs", "128"),) if zone is None else (*ZONED[:1], ("TimeZoneString", zone), ZONED[2])
    log = Machine(load=0.85).log(np.random.default_rng(5), ((BEGIN, BEGIN + 3 * DAY),), closed=True)
    (found,) = stillness(make_store(header, **listed(log))).stretches
    assert found.kind == "still"
    assert BEGIN - DAY < found.begin <= BEGIN
    assert found.end >= BEGIN + 3 * DAY


@pytest.mark.parametrize("by", ["submission", "end"])
def test_rows_that_are_missing_show_in_job_numbers(make_store, by):
    log = Machine(load=0.85).log(np.random.default_rng(6))
    moments = log["submit_time"] + (log["wait_time"] + log["run_time"] if by == "end" else 0)
    store = make_store(ZONED, **listed(without(log, moments, BEGIN, BEGIN + 10 * DAY)))
    assert kinds_of(store) == {"missing": 1}
    (found,) = stillness(store).stretches
    assert found.numbers is not None
    assert found.numbers.passed > 20


def test_numbers_of_the_source_prove_that_nothing_was_submitted(make_store):
    log = Machine(load=0.85).log(np.random.default_rng(6), ((BEGIN, BEGIN + 10 * DAY),), closed=True)
    size = len(log["submit_time"])
    store = make_store(ZONED, **listed(log))
    (archived,) = stillness(store).stretches
    assert archived.kind == "still"
    assert archived.numbers is not None
    assert not archived.numbers.shows_no_missing_rows
    assert (
        archived.unknown.begin == log["submit_time"][log["submit_time"] < archived.end].max() < archived.begin
    )

    sourced = make_store(ZONED, **listed(log))
    sourced.insert("source_ids", [(n, f"{7000 + n}.server") for n in range(1, size + 1)])
    (proven,) = stillness(sourced).stretches
    assert proven.kind == "still"
    assert proven.numbers is not None
    assert proven.numbers.shows_no_missing_rows
    assert proven.unknown == proven


def test_numbers_of_the_source_are_asked_where_those_of_the_store_are_its_rows(make_store):
    log = Machine(load=0.85).log(np.random.default_rng(6))
    cut = without(log, log["submit_time"], BEGIN, BEGIN + 10 * DAY)
    numbers = cut.pop("job_id")
    store = make_store(ZONED, **listed(cut))
    store.insert("source_ids", [(n + 1, f"{number}_{n % 3}") for n, number in enumerate(numbers.tolist())])
    assert kinds_of(store) == {"missing": 1}


def test_numbers_that_do_not_rise_prove_nothing(make_store):
    log = Machine(load=0.85, days=60).log(np.random.default_rng(6))
    log["job_id"] = np.random.default_rng(7).permutation(len(log["submit_time"])) + 1
    store = make_store(ZONED, **listed(log))
    assert JobNumbers.of(store, (0.0, 1e11)) is None


def test_the_mean_outside_missing_rows_is_that_of_what_is_known(make_store):
    log = Machine(load=0.85).log(np.random.default_rng(6))
    cut = without(log, log["submit_time"], BEGIN, BEGIN + 60 * DAY)
    store = make_store(ZONED, **listed(cut))
    (missing,) = stillness(store).stretches
    period = (MONDAY + 10.0 * DAY, MONDAY + 170.0 * DAY)
    start = cut["submit_time"] + cut["wait_time"]
    end = start + cut["run_time"]

    def held(first, last):
        return float(
            (np.clip(np.minimum(end, last) - np.maximum(start, first), 0, None) * cut["n_procs"]).sum()
        )

    area, seconds = known_area(store, period)
    assert area == pytest.approx(held(*period) - held(missing.begin, missing.end))
    assert seconds == pytest.approx(160 * DAY - missing.seconds)


def test_stragglers_begin_and_end_no_silence(make_store):
    log = Machine(load=0.5, days=100).log(np.random.default_rng(8))
    log["submit_time"] = np.concatenate(
        ([MONDAY - 300 * DAY], log["submit_time"][1:-1], [MONDAY + 900 * DAY])
    )
    assert not stillness(make_store(ZONED, **listed(log))).of("silent")


# Worlds: nothing may be found in those without outages, and most of those that are planted.

STATIONARY = {
    "flat .2": Machine(load=0.2, rhythm="flat"),
    "flat .6": Machine(load=0.6, rhythm="flat"),
    "flat .9": Machine(load=0.9, rhythm="flat"),
    "week .3": Machine(load=0.3),
    "week .6": Machine(load=0.6),
    "week .85": Machine(load=0.85),
    "a year": Machine(load=0.5, days=364),
    "bags of twenty": Machine(load=0.5, session=20.0),
    "long runs": Machine(load=0.7, mean_run=12.0 * HOUR),
    "sixteen processors": Machine(processors=16, load=0.3),
    "eight processors": Machine(processors=8, load=0.1, mean_run=1.0 * HOUR),
    "office": Machine(processors=16, load=0.1, rhythm="office", mean_run=0.2 * HOUR),
    "holds": Machine(load=0.3, held=0.05),
    "many holds": Machine(processors=16, load=0.2, held=0.2),
    "office with holds": Machine(processors=16, load=0.1, rhythm="office", mean_run=0.2 * HOUR, held=0.1),
}


def found_in(machine, seed, outages=(), *, closed=False):
    with _stores_of(listed(machine.log(np.random.default_rng(seed), outages, closed=closed))) as store:
        return stillness(store).stretches


@pytest.mark.parametrize("name", STATIONARY)
def test_nothing_is_found_where_nothing_happened(name):
    assert found_in(STATIONARY[name], 1) == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", STATIONARY)
def test_nothing_is_found_in_forty_worlds_where_nothing_happened(name):
    false = sum(bool(found_in(STATIONARY[name], seed)) for seed in range(100, 140))
    print(f"{name}: false in {false} of 40")  # noqa: T201
    assert false <= 1


def power(machine, hours, seeds, *, closed=False):
    """Return the share of planted outages of which something is found, half of it or more."""
    hits = 0
    for seed in seeds:
        begin = MONDAY + np.random.default_rng(seed).uniform(30, 150) * DAY
        end = begin + hours * HOUR
        found = found_in(machine, seed, ((begin, end),), closed=closed)
        hits += any(
            min(one.end, end) - max(one.begin, begin) >= 0.5 * min(end - begin, one.seconds) for one in found
        )
    return hits / len(seeds)


@pytest.mark.parametrize("load", [0.5, 0.85])
def test_most_outages_of_half_a_day_are_found(load):
    assert power(Machine(load=load), 12, range(4)) >= 0.75


@pytest.mark.slow
@pytest.mark.parametrize(
    ("load", "hours", "closed", "minimum"),
    [
        (0.5, 6, False, 0.8), (0.85, 6, False, 0.8), (0.5, 24, False, 0.95), (0.85, 24, False, 0.95),
        (0.25, 24, False, 0.8), (0.85, 24, True, 0.9), (0.5, 24, True, 0.6), (0.5, 72, True, 0.95),
        (0.85, 72, True, 0.95),
    ],
)  # fmt: skip
def test_power(load, hours, closed, minimum):
    found = power(Machine(load=load), hours, range(500, 540), closed=closed)
    print(f"load {load}, {hours} h, {'closed' if closed else 'open'}: {found:.0%} of 40")  # noqa: T201
    assert found >= minimum


@pytest.mark.slow
@pytest.mark.parametrize(
    ("load", "by", "days", "minimum"),
    [
        (0.85, "submission", 1, 0.8), (0.5, "submission", 3, 0.95), (0.85, "end", 3, 0.7),
        (0.5, "end", 10, 0.95),
    ],
)  # fmt: skip
def test_power_of_rows_taken_out(load, by, days, minimum):
    hits = 0
    for seed in range(700, 730):
        rng = np.random.default_rng(seed)
        begin = MONDAY + rng.uniform(40, 120) * DAY
        log = Machine(load=load).log(rng)
        moments = log["submit_time"] + (log["wait_time"] + log["run_time"] if by == "end" else 0)
        with _stores_of(listed(without(log, moments, begin, begin + days * DAY))) as store:
            found = stillness(store).of("missing")
        hits += any(one.begin < begin + days * DAY and one.end > begin for one in found)
    print(f"load {load}, rows taken out by {by}, {days} days: {hits} of 30")  # noqa: T201
    assert hits >= minimum * 30


@pytest.mark.slow
def test_a_closed_machine_is_never_called_missing():
    for seed in range(20):
        begin = MONDAY + np.random.default_rng(seed).uniform(30, 120) * DAY
        found = found_in(Machine(load=0.85), seed, ((begin, begin + 3 * DAY),), closed=True)
        assert "missing" not in {one.kind for one in found}
