"""Flurries: many jobs of one user in a few days."""

from gwa.analysis.sections.flurries import sql_filter
from tests.analysis.sections.blocks import ABSOLUTE, DAY, START, facts, notes, tables


def busy_user(name="o'neill", *, ran=True):
    """Return 30 quiet days of ten jobs, and 300 jobs of one user on the tenth and eleventh."""
    quiet = [(START + day * DAY + job * 600, f"user {job}") for day in range(30) for job in range(10)]
    burst = [(START + 10 * DAY + job * 500.0, name) for job in range(300)]
    jobs = sorted([*quiet, *burst, (START + 20 * DAY, name)])
    return {
        "submit_time": [time for time, _ in jobs], "user_id": [user for _, user in jobs],
        "run_time": [60.0 if ran else None] * len(jobs), "n_procs": [1] * len(jobs),
    }  # fmt: skip


def test_a_flurry_is_found_and_its_filter_finds_its_jobs(section, make_store):
    store = make_store(ABSOLUTE, **busy_user())
    made = section("flurries", store)
    condition, numbers = tables(made)["flurries-filters"].rows[0]

    assert facts(made)["flurries.count"] == 1
    assert facts(made)["flurries.jobs"] == 300
    assert store.row(f"select count(*) from jobs where {condition}")[0] == 300
    assert "o''neill" in condition
    first, last = map(int, numbers.rpartition("=")[2].split("-"))
    within = f"job_id between {first} and {last} and user_id = 'o''neill'"
    assert store.row(f"select count(*) from jobs where {within}")[0] == 300
    assert facts(made)["flurries.without.jobs"] == 301
    assert facts(made)["flurries.with.users"] == facts(made)["flurries.without.users"] == 11
    assert facts(made)["flurries.without.cpu_seconds"] == 301 * 60


def test_a_flurry_of_jobs_that_never_ran_is_one(section, make_store):
    assert facts(section("flurries", make_store(ABSOLUTE, **busy_user(ran=False))))["flurries.count"] == 1


def test_ordinary_days_are_no_flurry(section, make_store):
    jobs = {name: values[:250] for name, values in busy_user().items()}
    jobs["user_id"] = ["one"] * 250
    jobs["submit_time"] = [START + job * 9000.0 for job in range(250)]
    made = section("flurries", make_store(ABSOLUTE, **jobs))

    assert facts(made)["flurries.count"] == 0
    assert "No user" in notes(made)


def test_a_filter_holds_fractions_of_seconds():
    assert sql_filter("u", 0.25, 3.0) == "user_id = 'u' and submit_time between 0.25 and 3"


def test_the_busiest_day_is_that_of_the_section_on_arrivals(section, make_store):
    tokyo = (*(pair for pair in ABSOLUTE if pair[0] != "TimeZoneString"), ("TimeZoneString", "Asia/Tokyo"))
    jobs = busy_user()
    midnight = START + 9 * DAY + 15 * 3600  # in Tokyo, as that of UTC is in the middle of the day there
    jobs["submit_time"] = [
        midnight + place * 280.0 if user == "o'neill" and time < START + 19 * DAY else time
        for place, (time, user) in enumerate(zip(jobs["submit_time"], jobs["user_id"], strict=True), -100)
    ]
    days = []
    for header in (tokyo, ABSOLUTE):
        store = make_store(header, **jobs)
        days.append(facts(section("flurries", store))["flurries.with.busiest_day"])
        assert days[-1] == facts(section("arrivals", store))["arrivals.day.max"]

    assert days[0] > days[1]
