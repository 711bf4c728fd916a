"""The worlds of the findings on data, system, users, waits, outcomes and jobs."""

import numpy as np

from tests.claims.worlds import (
    DAY,
    HOUR,
    Columns,
    World,
    arrivals,
    calm,
    false_of,
    random_calm,
    seen,
    true_of,
)

Rng = np.random.Generator


# --- the system


@true_of("fullness")
def slots_that_are_always_taken(rng: Rng) -> World:
    """Fifty processors, each of which runs one job after the other with short pauses."""
    per_slot, slots = 150, 50
    runs = np.round(rng.exponential(15_000, (slots, per_slot))) + 60
    pauses = np.round(rng.exponential(500, (slots, per_slot)))
    starts = np.cumsum(runs + pauses, axis=1) - runs
    whole = starts + runs <= starts[:, -1].min()
    starts, runs = starts[whole], runs[whole]
    order = np.argsort(starts)
    jobs = calm(rng, len(order), n_procs=np.ones(len(order), int))
    waits = np.minimum(jobs["wait_time"], starts[order])
    jobs |= {"wait_time": waits, "run_time": runs[order], "submit_time": starts[order] - waits}
    return seen(World(jobs, cpus=slots))


@true_of("fullness")
def hardly_any_job(rng: Rng) -> World:
    return seen(World(calm(rng, 800)), mean=0.1)


@false_of("fullness", "too-small")
def half_of_the_processors_are_busy(rng: Rng) -> World:
    world = seen(World(calm(rng, 20_000)))
    return seen(
        World(world.jobs), mean=world.known["utilization.mean"] * 0.6 / world.known["utilization.mean"]
    )


@false_of("fullness", "outages")
def three_days_of_a_log_cut_by_end_time(rng: Rng) -> World:
    """The jobs that ended in three days: the span is long, and the window three days of it."""
    jobs = calm(rng, 8000, 30)
    long = rng.random(8000) < 0.2
    jobs["run_time"] = np.where(long, np.round(rng.uniform(2, 8, 8000) * DAY), jobs["run_time"])
    end = jobs["submit_time"] + jobs["wait_time"] + jobs["run_time"]
    last = np.quantile(jobs["submit_time"], 0.7)
    kept = (end >= last - 3 * DAY) & (end < last)
    cut = {name: values[kept] for name, values in jobs.items()}
    known = {"window.first": last - 3 * DAY, "window.last": last, "window.cut": "end"}
    return seen(World(cut, known=known), mean=0.15)


@false_of("fullness", "too-small")
def nobody_says_how_many_processors_there_are(rng: Rng) -> World:
    world = seen(World(calm(rng, 800)))
    world.cpus = None
    world.known |= {"trace.cpus_inferred": True, "utilization.mean": 0.1}
    return world


@true_of("too-small")
@false_of("fullness")
def more_are_busy_than_there_are(rng: Rng) -> World:
    return seen(World(calm(rng, 6000)), mean=0.9)


@false_of("too-small")
def more_are_busy_for_a_moment(rng: Rng) -> World:
    """One job of an hour starts though nearly nothing is free: a log's clock is not that exact."""
    world = seen(World(calm(rng, 4000)))
    jobs, cpus = world.jobs, world.cpus or 0
    jobs["n_procs"][7], jobs["run_time"][7] = cpus + 20, HOUR
    return seen(World(jobs, cpus=cpus))


def _down(jobs: Columns, hours: list[tuple[float, float]]) -> Columns:
    """Return jobs none of which runs in some intervals: those that would, wait until these are over."""
    start = jobs["submit_time"] + jobs["wait_time"]
    origin = jobs["submit_time"][0]
    for begin, length in hours:
        low, high = origin + begin * HOUR, origin + (begin + length) * HOUR
        jobs["run_time"] = np.where(start < low, np.minimum(jobs["run_time"], low - start), jobs["run_time"])
        start = np.where((start >= low) & (start < high), high, start)
    jobs["run_time"] = np.maximum(jobs["run_time"], 1)
    return jobs | {"wait_time": start - jobs["submit_time"]}


@true_of("outages")
def down_for_maintenance(rng: Rng) -> World:
    return seen(World(_down(calm(rng, 6000), [(200, 12), (500, 20)])))


@false_of("outages")
def a_night_without_work(rng: Rng) -> World:
    """Nobody submits at night, and what runs is short: nothing waits."""
    jobs = calm(rng, 3000)
    late = (jobs["submit_time"] % DAY) / DAY
    jobs["submit_time"] = np.sort(jobs["submit_time"] - np.round(late * DAY / 2))
    jobs["run_time"] = np.minimum(jobs["run_time"], 1800)
    return seen(World(jobs | {"wait_time": np.zeros(3000)}))


@false_of("outages")
def always_something_runs(rng: Rng) -> World:
    return seen(World(calm(rng, 9000)))


# --- the data


def _cut(kind: str, share: float):
    def maker(rng: Rng) -> World:
        world = random_calm(rng)
        length = world.known["window.last"] - world.known["window.first"]
        edge = float(rng.uniform(0.02, share)) * length
        world.known["window.cut"] = kind
        world.known["window.last"] -= edge if kind != "start" else 0
        world.known["window.first"] += edge if kind != "end" else 0
        return world

    maker.__name__ = f"cut_at_{kind}"
    return maker


for _kind in ("start", "end", "both"):
    true_of("cut-log")(_cut(_kind, 0.4))
false_of("cut-log", "still-running", "waits-unknown", "rejected-rows")(random_calm)


@false_of("cut-log", "still-running", "rejected-rows", "waits-unknown")
def a_whole_log_with_comments(rng: Rng) -> World:
    world = random_calm(rng)
    world.account = (0, 40)
    world.known["utilization.unfinished"] = 2
    return world


@true_of("rejected-rows")
def rows_that_were_rejected(rng: Rng) -> World:
    world = random_calm(rng)
    world.account = (int(rng.integers(1, 500)), 5)
    return world


@true_of("still-running")
def a_first_part_of_a_log(rng: Rng) -> World:
    world = random_calm(rng)
    running = rng.random(len(world.jobs["run_time"])) < rng.uniform(0.05, 0.6)
    world.jobs["run_time"] = np.where(running, np.nan, world.jobs["run_time"])
    world.known["utilization.unfinished"] = int(running.sum())
    return world


@true_of("waits-unknown")
def waits_are_not_recorded(rng: Rng) -> World:
    jobs = calm(rng)
    unknown = rng.random(2500) < rng.uniform(0.05, 1)
    return seen(World(jobs | {"wait_time": np.where(unknown, np.nan, jobs["wait_time"])}))


@false_of("waits-unknown")
def waits_of_what_never_ran_are_unknown(rng: Rng) -> World:
    jobs = calm(rng)
    never = rng.random(2500) < 0.3
    columns = {name: np.where(never, np.nan, jobs[name]) for name in ("wait_time", "run_time")}
    return World(jobs | columns | {"status": np.where(never, 5, 1)}, cpus=300)


# --- waits


@true_of("long-waits")
def long_queues(rng: Rng) -> World:
    return seen(World(calm(rng, wait_time=np.round(rng.lognormal(np.log(4000), 1.5, 2500)))))


@false_of("long-waits", "worst-served")
def everybody_starts_within_the_hour(rng: Rng) -> World:
    return seen(World(calm(rng, wait_time=np.round(rng.uniform(0, 3600, 2500)))))


@false_of("long-waits")
def only_long_waits_are_recorded(rng: Rng) -> World:
    """A log that names a start only for the jobs that were held: the others' waits are unknown."""
    held = rng.random(2500) < 0.1
    return World(
        calm(rng, wait_time=np.where(held, np.round(rng.uniform(6, 60, 2500)) * HOUR, np.nan)), cpus=200
    )


@true_of("worst-served")
def large_jobs_wait_longer(rng: Rng) -> World:
    jobs = calm(rng)
    jobs["n_procs"] = np.where(rng.random(2500) < 0.2, 128, jobs["n_procs"])
    factor = np.where(jobs["n_procs"] > 64, rng.uniform(5, 30), 1)
    return World(jobs | {"wait_time": np.round(rng.exponential(600 * factor))}, cpus=500)


@true_of("worst-served")
def one_queue_waits_longer(rng: Rng) -> World:
    jobs = calm(rng)
    factor = np.where(jobs["queue_id"] == "Q1", rng.uniform(5, 30), 1)
    return World(jobs | {"wait_time": np.round(rng.exponential(600 * factor))}, cpus=500)


@false_of("worst-served")
def bad_days_for_everybody(rng: Rng) -> World:
    """Waits are long on some days, for whoever submits then; users come for a few days each."""
    jobs = calm(rng, days=60)
    day = ((jobs["submit_time"] - jobs["submit_time"][0]) // DAY).astype(int)
    level = rng.lognormal(np.log(1500), 1.5, 61)[day]
    user = (day // 4 + rng.integers(0, 4, 2500)) % 18
    columns = {
        "wait_time": np.round(rng.exponential(level)),
        "user_id": np.array([f"U{u}" for u in user], object),
    }
    return World(jobs | columns, cpus=500)


@false_of("worst-served")
def bags_of_one_size_that_wait_together(rng: Rng) -> World:
    """Bags of a hundred jobs: of the same user, size and queue, and of nearly the same wait."""
    bags = np.repeat(np.arange(60), 50)
    submit = np.sort(arrivals(rng, 60, 40))[bags] + rng.integers(0, 60, 3000)
    order = np.argsort(submit)
    wait = np.round(rng.lognormal(np.log(3000), 1.5, 60)[bags] * rng.uniform(0.9, 1.1, 3000))
    users = np.array([f"U{number}" for number in rng.integers(0, 12, 60)], object)[bags]
    sizes = rng.choice([1, 3, 10, 30], 60)[bags]
    made = {"submit_time": submit, "wait_time": wait, "user_id": users, "n_procs": sizes}
    return World(calm(rng, 3000) | {name: values[order] for name, values in made.items()}, cpus=5000)


# --- outcomes


@true_of("failures")
def many_fail(rng: Rng) -> World:
    return World(calm(rng, status=rng.choice([0, 1, 5], 2500, p=[0.15, 0.7, 0.15])), cpus=200)


@false_of("failures", "never-ran")
def few_fail(rng: Rng) -> World:
    return World(calm(rng, status=rng.choice([0, 1, 5], 2500, p=[0.04, 0.93, 0.03])), cpus=200)


@false_of("failures")
def only_failures_are_recorded(rng: Rng) -> World:
    """The outcome is recorded only of what failed, a fifth: of how many jobs nobody knows."""
    return World(calm(rng, status=np.where(rng.random(2500) < 0.2, 0, np.nan)), cpus=200)


@true_of("never-ran")
def cancelled_in_the_queue(rng: Rng) -> World:
    jobs = calm(rng)
    never = rng.random(2500) < rng.uniform(0.04, 0.3)
    value = rng.choice([0.0, np.nan])
    ended = np.where(never | (rng.random(2500) < 0.05), 5, 1)
    return World(jobs | {"run_time": np.where(never, value, jobs["run_time"]), "status": ended}, cpus=200)


@false_of("never-ran")
def run_times_of_failed_jobs_are_not_recorded(rng: Rng) -> World:
    jobs = calm(rng)
    failed = rng.random(2500) < 0.2
    return World(
        jobs | {"run_time": np.where(failed, np.nan, jobs["run_time"]), "status": np.where(failed, 0, 1)},
        cpus=200,
    )


# --- users


def _of_users(rng: Rng, shares: np.ndarray, jobs: int = 2500) -> np.ndarray:
    return np.array(
        [f"U{number}" for number in rng.choice(len(shares), jobs, p=shares / shares.sum())], object
    )


@true_of("few-users")
def users_by_zipfs_law(rng: Rng) -> World:
    return World(calm(rng, user_id=_of_users(rng, 1 / np.arange(1, 61.0) ** 1.6)), cpus=200)


@false_of("few-users", "one-user")
def all_users_are_alike(rng: Rng) -> World:
    return World(calm(rng, users=int(rng.integers(10, 60))), cpus=200)


@false_of("few-users", "one-user")
def a_handful_of_users(rng: Rng) -> World:
    return World(calm(rng, users=int(rng.integers(2, 5))), cpus=200)


@false_of("few-users")
def most_users_are_unknown(rng: Rng) -> World:
    """Two users have half of the jobs whose user is known: a tenth of all jobs."""
    users = _of_users(rng, 1 / np.arange(1, 61.0) ** 2)
    return World(calm(rng, user_id=np.where(rng.random(2500) < 0.9, np.array(None, object), users)), cpus=200)


@true_of("one-user")
def one_user_of_many(rng: Rng) -> World:
    shares = np.ones(30)
    shares[3] = rng.uniform(18, 60)
    return World(calm(rng, user_id=_of_users(rng, shares)), cpus=200)


def _burst(rng: Rng, jobs: Columns, length: float, count: int) -> Columns:
    """Return *jobs* with a burst of *count* by one user."""
    more = calm(rng, count, length, user_id=np.array(["burst"] * count, object))
    more["submit_time"] += 10 * DAY
    both = {name: np.concatenate((jobs[name], more[name])) for name in jobs}
    order = np.argsort(both["submit_time"])
    return {name: values[order] for name, values in both.items()}


@true_of("flurries")
def a_burst_of_one_user(rng: Rng) -> World:
    return World(_burst(rng, calm(rng, 2500, 60), 2, int(rng.integers(1500, 4000))), cpus=2000)


@false_of("flurries", "bags")
def steady_users(rng: Rng) -> World:
    return World(calm(rng, users=int(rng.integers(3, 30))), cpus=300)


@false_of("flurries")
def a_log_that_is_one_burst(rng: Rng) -> World:
    """A log of a week, most of which one user submits in a day or two: nothing is usual there."""
    jobs = _burst(rng, calm(rng, 300, 5), 1, 3000)
    jobs["submit_time"] = np.where(
        jobs["user_id"] == "burst", jobs["submit_time"] - 8 * DAY, jobs["submit_time"]
    )
    order = np.argsort(jobs["submit_time"])
    return World({name: values[order] for name, values in jobs.items()}, cpus=2000)


@false_of("flurries")
def a_system_that_grows(rng: Rng) -> World:
    """Use grows tenfold over half a year, for all users alike."""
    share = rng.random(6000) ** 0.5
    submit = arrivals(rng, 6000, 180)[0] + np.sort(np.round(share * 180 * DAY))
    return World(calm(rng, 6000, users=8, submit_time=submit), cpus=500)


# --- requests


def _requested(rng: Rng, jobs: int = 2500) -> np.ndarray:
    """Return requests in round numbers, as users choose them."""
    return rng.choice([900.0, 1800, 3600, 7200, 14_400, 43_200, 86_400], jobs)


@true_of("cut-off")
def jobs_that_are_killed_at_their_limit(rng: Rng) -> World:
    requested = _requested(rng)
    wanted = requested * rng.lognormal(np.log(0.4), 0.7, 2500)
    runs = np.minimum(np.round(wanted), requested + rng.integers(0, 20, 2500))
    return World(calm(rng, run_time=runs, req_time=requested), cpus=400)


@true_of("limits-ignored")
@false_of("cut-off")
def limits_that_nobody_enforces(rng: Rng) -> World:
    requested = _requested(rng)
    runs = np.round(requested * rng.lognormal(np.log(0.5), 1, 2500))
    return World(calm(rng, run_time=runs, req_time=requested), cpus=400)


@false_of("cut-off", "limits-ignored")
def perfect_requests(rng: Rng) -> World:
    jobs = calm(rng)
    return World(jobs | {"req_time": jobs["run_time"].copy()}, cpus=200)


@false_of("cut-off", "limits-ignored", "overestimates", "longest-request")
def users_who_estimate_well(rng: Rng) -> World:
    """Requests a little above what jobs take, whatever that is: many lie close, none piles up."""
    jobs = calm(rng)
    return World(jobs | {"req_time": np.ceil(jobs["run_time"] * rng.uniform(1, 1.6, 2500))}, cpus=200)


@false_of("limits-ignored")
def a_grace_of_five_minutes(rng: Rng) -> World:
    requested = rng.choice([60.0, 300, 900, 1800], 2500)
    runs = np.minimum(np.round(requested * rng.lognormal(0, 1, 2500)), requested + 300)
    return World(calm(rng, run_time=runs, req_time=requested), cpus=200)


@true_of("overestimates")
def requests_ten_times_too_long(rng: Rng) -> World:
    jobs = calm(rng)
    return World(jobs | {"req_time": np.ceil(jobs["run_time"] * rng.uniform(4, 20, 2500))}, cpus=200)


@false_of("overestimates", "round-requests")
def requests_twice_too_long(rng: Rng) -> World:
    jobs = calm(rng)
    return World(jobs | {"req_time": np.ceil(jobs["run_time"] * rng.uniform(1, 3, 2500))}, cpus=200)


@true_of("round-requests")
@false_of("longest-request")
def a_default_of_an_hour(rng: Rng) -> World:
    default = rng.random(2500) < rng.uniform(0.25, 0.6)
    return World(calm(rng, req_time=np.where(default, 3600.0, _requested(rng))), cpus=200)


@true_of("longest-request")
@false_of("round-requests")
def a_queue_that_allows_a_day(rng: Rng) -> World:
    """Everybody asks for as much as there is: a day, in the queue of most jobs."""
    longest = rng.random(2500) < rng.uniform(0.25, 0.6)
    return World(calm(rng, req_time=np.where(longest, 86_400.0, _requested(rng))), cpus=200)


@true_of("longest-request")
@false_of("round-requests")
def a_short_queue_beside_a_long_one(rng: Rng) -> World:
    """Two hours is the most common request, as it is the limit of the short queue; others allow days."""
    jobs = calm(rng)
    short = jobs["queue_id"] == "Q0"
    in_short = np.where(rng.random(2500) < 0.8, 7200.0, 1800.0)
    in_long = rng.choice(np.arange(1, 60) * 7000.0, 2500)
    return World(jobs | {"req_time": np.where(short, in_short, in_long)}, cpus=200)


@false_of("round-requests", "longest-request")
def one_users_script(rng: Rng) -> World:
    """A quarter of the jobs come from one user's script, which always requests the same."""
    shares = np.ones(25)
    shares[0] = 12
    users = _of_users(rng, shares)
    others = np.ceil(rng.uniform(500, 90_000, 2500))
    return World(calm(rng, user_id=users, req_time=np.where(users == "U0", 5400.0, others)), cpus=200)


@false_of("round-requests", "longest-request")
def one_users_script_that_asks_for_the_most(rng: Rng) -> World:
    """Half of the jobs come from one user's script, which requests the longest time of all."""
    shares = np.ones(25)
    shares[0] = 24
    users = _of_users(rng, shares)
    return World(
        calm(rng, user_id=users, req_time=np.where(users == "U0", 86_400.0, _requested(rng))), cpus=200
    )


@false_of("round-requests")
def two_classes_of_requests(rng: Rng) -> World:
    """By day half an hour, by night two hours: hardly any other time is requested."""
    requested = rng.choice([1800.0, 7200, 300], 2500, p=[0.65, 0.34, 0.01])
    return World(calm(rng, req_time=requested), cpus=200)


# --- sizes and run times


@true_of("sequential")
def mostly_sequential(rng: Rng) -> World:
    sizes = np.where(rng.random(2500) < rng.uniform(0.85, 1), 1, rng.integers(2, 17, 2500))
    return World(calm(rng, n_procs=sizes), cpus=200)


@false_of("sequential", "powers-of-two")
def sizes_of_all_kinds(rng: Rng) -> World:
    return World(calm(rng, n_procs=rng.integers(1, int(rng.integers(12, 100)), 2500)), cpus=2000)


@false_of("sequential", "powers-of-two")
def whole_nodes_of_24(rng: Rng) -> World:
    return World(calm(rng, n_procs=24 * rng.integers(1, 20, 2500)), cpus=9000)


@false_of("powers-of-two")
def small_jobs_on_two_to_four(rng: Rng) -> World:
    """Two thirds use a power of two as two of the three sizes are one; the few larger jobs do not."""
    sizes = np.where(rng.random(2500) < 0.95, rng.integers(2, 5, 2500), rng.integers(5, 60, 2500))
    return World(calm(rng, n_procs=sizes), cpus=900)


@false_of("powers-of-two")
def one_size(rng: Rng) -> World:
    return World(calm(rng, n_procs=np.full(2500, 16)), cpus=900)


@true_of("powers-of-two")
def users_think_in_powers_of_two(rng: Rng) -> World:
    powers = 2 ** rng.integers(0, 8, 2500)
    sizes = np.where(rng.random(2500) < rng.uniform(0.7, 1), powers, rng.integers(1, 128, 2500))
    return World(calm(rng, n_procs=sizes), cpus=3000)


@true_of("short-jobs")
def many_are_over_at_once(rng: Rng) -> World:
    jobs = calm(rng)
    short = rng.random(2500) < rng.uniform(0.07, 0.4)
    return World(jobs | {"run_time": np.where(short, rng.integers(0, 2, 2500), jobs["run_time"])}, cpus=200)


@false_of("short-jobs")
def run_times_in_minutes(rng: Rng) -> World:
    """A log that counts minutes: 0 is any time below one."""
    runs = np.floor(rng.lognormal(np.log(200), 1.5, 2500) / 60) * 60
    return World(calm(rng, run_time=runs), cpus=200)


@false_of("short-jobs", "odd-run-times")
def lognormal_run_times(rng: Rng) -> World:
    return World(calm(rng), cpus=200)


@true_of("odd-run-times")
def two_programs_and_nothing_else(rng: Rng) -> World:
    """Two programs of fixed length each."""
    short = rng.random(1500) < 0.5
    runs = np.where(short, rng.integers(8, 12, 1500), rng.integers(80_000, 90_000, 1500))
    return World(calm(rng, 1500, run_time=runs), cpus=900)


@false_of("odd-run-times")
def a_few_exponential_run_times(rng: Rng) -> World:
    """Too few to tell: forty values are off by a tenth from their own distribution."""
    return World(calm(rng, 40, run_time=np.round(rng.exponential(3000, 40)) + 1), cpus=200)


# --- arrivals


@true_of("bags")
def bags_of_tasks(rng: Rng) -> World:
    bag = np.repeat(np.arange(150), rng.integers(3, 30, 150))
    submit = arrivals(rng, 150, 30)[bag] + rng.integers(0, 60, len(bag))
    users = np.array([f"U{number}" for number in rng.integers(0, 25, 150)], object)[bag]
    order = np.argsort(submit)
    return World(calm(rng, len(bag), submit_time=submit[order], user_id=users[order]), cpus=300)


@false_of("bags")
def busy_users_by_chance(rng: Rng) -> World:
    """A few users each submit hundreds of jobs in the eight hours of a day, one by one, at random."""
    days = rng.integers(0, 20, 12_000)
    submit = arrivals(rng, 1, 1)[0] // DAY * DAY + days * DAY + 8 * HOUR + rng.integers(0, 8 * HOUR, 12_000)
    return World(calm(rng, 12_000, users=4, submit_time=np.sort(submit).astype(float)), cpus=3000)


@true_of("daily-cycle")
def a_working_day(rng: Rng) -> World:
    hours = np.r_[np.full(8, 1.0), np.full(10, rng.uniform(4, 12)), np.full(6, 1.5)]
    hour = rng.choice(24, 2500, p=hours / hours.sum())
    submit = arrivals(rng, 1, 1)[0] // DAY * DAY + rng.integers(0, 30, 2500) * DAY + hour * HOUR
    return World(calm(rng, submit_time=np.sort(submit + rng.integers(0, HOUR, 2500)).astype(float)), cpus=300)


@false_of("daily-cycle")
def arrivals_without_a_clock(rng: Rng) -> World:
    return World(calm(rng, int(rng.integers(100, 3000))), cpus=300)


@false_of("daily-cycle")
def bursts_at_any_hour(rng: Rng) -> World:
    """Bags of very different sizes at random times: some hour of the day has ten times another's jobs."""
    sizes = np.minimum(np.round(rng.pareto(1.1, 300) * 5 + 1).astype(int), 1500)
    bag = np.repeat(np.arange(300), sizes)
    submit = np.sort(arrivals(rng, 300, 40)[bag] + rng.integers(0, 300, len(bag)))
    return World(calm(rng, len(bag), submit_time=submit), cpus=3000)


@false_of("daily-cycle")
def three_days(rng: Rng) -> World:
    return World(calm(rng, 60, 3), cpus=300)
