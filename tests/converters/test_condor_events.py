"""HTCondor's event log: what events tell of jobs, years that dates do not have, and events that are cut."""

from datetime import UTC, datetime

import pytest

from gwa.errors import TraceError
from gwa.formats.open import open_trace
from gwa.store.options import ReadOptions

DAY = "2025-03-10"
BEGIN = datetime(2025, 3, 10, tzinfo=UTC).timestamp()


def event(kind, clock, *details, job="7.000", day=DAY, said="x"):
    """Return the text of an event."""
    return "\n".join([f"{kind:03} ({job}.000) {day} {clock} {said}", *details, "...", ""])


def submitted(clock="08:00:00", **more):
    return event(0, clock, said="Job submitted from host: <192.0.2.1:9618?alias=ap1.example.org&x>", **more)


def ended(clock="10:00:00", *details, **more):
    return event(5, clock, "\t(1) Normal termination (return value 0)", *details, **more)


@pytest.fixture
def jobs(tmp_path):
    """Return a function that yields *fields* of the jobs of a log, and what became of its events."""

    def read(text, fields, system=None, **options):
        path = tmp_path / "events.log"
        path.write_text(text)
        given = ReadOptions(system=system, format_options=options)
        with open_trace([path], options=given) as store:
            store.account.check()
            rows = store.rows(f"select {fields} from jobs order by job_id")
            return rows, store.account

    return read


RUN = submitted() + event(1, "09:00:00")


@pytest.mark.parametrize(
    ("text", "fields", "values"),
    [
        (RUN + ended(), "wait_time, run_time, status, exit_code, state", (3600, 3600, 1, 0, "Completed")),
        (
            RUN + event(5, "10:00:00", "\t(1) Normal termination (return value 3)"),
            "status, exit_code",
            (0, 3),
        ),
        (RUN + event(5, "10:00:00", "\t(0) Abnormal termination (signal 9)"), "status, exit_code", (0, 137)),
        (RUN + event(5, "10:00:00"), "status, exit_code", (None, None)),
        (RUN + event(9, "10:00:00"), "run_time, status, runs, state", (3600, 5, None, "Removed")),
        (RUN + ended() + event(9, "11:00:00"), "run_time, status", (3600, 1)),
        (submitted() + event(9, "10:00:00"), "wait_time, run_time, status, n_nodes", (None, None, 5, None)),
        (RUN, "wait_time, run_time, status, runs, state", (3600, None, None, None, "Running")),
        # It waits again, or is held.
        (
            RUN + event(4, "10:00:00"),
            "run_time, status, runs, state",
            (None, None, "3600/3600/////evicted", "Idle"),
        ),
        (RUN + event(7, "10:00:00") + event(12, "10:00:01"), "runs, state", ("3600/3600/////failed", "Held")),
        # Lost and found again, lost for good, and nothing known of it since.
        (RUN + event(22, "09:10:00") + event(23, "09:20:00") + ended(), "run_time, runs", (3600, None)),
        (RUN + event(22, "09:10:00") + event(24, "09:50:00"), "runs, state", ("3600/600/////lost", "Idle")),
        (RUN + event(22, "09:10:00"), "run_time, runs, state", (None, None, "Running")),
        # A run whose end has no event is counted, and nothing else is known of it.
        (
            RUN + event(1, "09:30:00") + ended(),
            "n_requeues, runs, run_time",
            (1, "5400/1800/////completed", 1800),
        ),
        (
            RUN + event(4, "10:00:00", "\t(0) Job terminated and was requeued") + event(1, "11:00:00"),
            "wait_time, run_time, n_requeues, runs",
            (3600, None, 1, "3600/3600/////requeued;10800//////running"),
        ),
        # On hold from the first: it could have started when it was released.
        (
            submitted() + event(12, "08:00:01") + event(13, "08:30:00") + event(1, "09:00:00"),
            f"wait_time, eligible_time - {BEGIN!r}",
            (3600, 30_600),
        ),
        # Without a submission, nothing says how long it waited.
        (event(1, "09:00:00") + ended(), "submit_time, wait_time, run_time", (None, None, 3600)),
        # The whole log twice.
        ((RUN + ended()) * 2, "run_time, n_requeues, runs", (3600, None, None)),
        (RUN + ended(), "orig_site_id, last_run_site_id", ("ap1.example.org", None)),
    ],
)
def test_what_events_tell_of_a_job(text, fields, values, jobs):
    assert jobs(text, fields)[0] == [values]


TABLE = "\tPartitionable Resources :    Usage  Request Allocated"


@pytest.mark.parametrize(
    ("details", "fields", "values"),
    [
        ((TABLE, "\t   Cpus                 :     1.84        3         8"), "n_procs, req_n_procs", (8, 3)),
        ((TABLE, "\t   Cpus                 :                 3         8"), "n_procs, req_n_procs", (8, 3)),
        # What versions before 8.2 wrote: what was requested is what is known.
        (
            (
                "\tPartitionable Resources :    Usage  Request",
                "\t   Cpus                 :                 3",
            ),
            "n_procs, req_n_procs",
            (3, 3),
        ),
        (
            (TABLE, "\t   Memory (MB)          :       12       64       128"),
            "max_memory, n_procs",
            (12_288, None),
        ),
        (
            (TABLE, '\t   GPUs                 :     0.50        1         2 "GPU-12345678, GPU-9"'),
            "n_gpus, req_gpus, gpu_utilization",
            (2, 1, 0.25),
        ),
        ((TABLE, "\t   GPUs                 :                           0"), "n_gpus, req_gpus", (0, None)),
        (
            (
                "\t\tUsr 1 01:00:00, Sys 0 00:00:30  -  Run Remote Usage",
                "\t\tUsr 9 00:00:00, Sys 0 00:00:00  -  Run Local Usage",
                TABLE,
                "\t   Cpus                 :                 2         2",
            ),
            "average_cpu_time",
            (45_015,),
        ),
    ],
)
def test_what_the_table_of_resources_tells(details, fields, values, jobs):
    assert jobs(RUN + ended("10:00:00", *details), fields)[0] == [values]


def test_a_slot_tells_processors_gpus_and_a_site(jobs):
    slot = (
        "\tSlotName: slot1_1@w5.example.org",
        "\tCpus = 8",
        '\tGPUs_GPU_1 = [ Capability = 8.0; DeviceName = "NVIDIA A100" ]',
        "\tGPUs = 2",
    )
    fields = "n_procs, n_gpus, gpu_type, last_run_site_id"
    assert jobs(submitted() + event(1, "09:00:00", *slot), fields)[0] == [
        (8, 2, "NVIDIA A100", "example.org")
    ]


def test_processes_of_a_cluster_are_a_bag_and_a_number_used_again_is_another_job(jobs):
    again = {"day": "2025-04-10"}
    text = RUN + submitted(job="7.001") + ended() + submitted(**again) + event(1, "09:00:00", **again)
    found, account = jobs(text, "job_structure, run_time, status")
    assert found == [("BoT", 3600, 1), ("BoT", None, None), ("UNITARY", None, None)]
    assert (account.jobs, account.folded) == (3, 3)


def test_times_of_utc_and_of_fractions(jobs):
    text = submitted("08:00:00.250Z") + event(1, "09:00:00.750Z") + ended("10:00:00.500Z")
    fields = f"submit_time - {BEGIN!r}, wait_time, run_time"
    chicago = {"zone": "America/Chicago"}
    assert jobs(text, fields, chicago)[0] == [(28_800.25, 3600.5, 3599.75)]
    assert jobs(RUN, f"submit_time - {BEGIN!r}", chicago)[0] == [(28_800 + 5 * 3600,)]


# Dates without a year.


def test_a_date_without_a_year_asks_for_it(jobs):
    with pytest.raises(
        TraceError, match="its date 03/10 has no year: -O year=2025 states that of the first event"
    ):
        jobs(submitted(day="03/10"), "submit_time")


@pytest.mark.parametrize(
    ("days", "dates"),
    [
        (["12/30", "12/31", "01/01", "06/01"], ["2024-12-30", "2024-12-31", "2025-01-01", "2025-06-01"]),
        # A clock was set back, two logs were joined, and a log pauses.
        (["03/10", "03/09"], ["2024-03-10", "2024-03-09"]),
        (["12/31", "01/02", "12/30", "01/01"], ["2024-12-31", "2025-01-02", "2024-12-30", "2025-01-01"]),
        (["02/29", "11/30"], ["2024-02-29", "2024-11-30"]),
        (["12/01", "01/10", "2026-03-01", "01/20"], ["2024-12-01", "2025-01-10", "2026-03-01", "2025-01-20"]),
    ],
)
def test_a_year_goes_on_where_dates_begin_anew(days, dates, jobs):
    text = "".join(submitted(day=day, job=f"{number}.000") for number, day in enumerate(days, 1))
    day = "cast(make_timestamp(cast(submit_time * 1e6 as bigint)) as date)::varchar"
    found, _ = jobs(text, day, year=2024)
    assert sorted(found) == sorted((date,) for date in dates)


def test_a_day_that_the_year_does_not_have_is_refused(jobs):
    found, account = jobs(submitted(day="02/29") + submitted(day="03/01", job="8.000"), "status", year=2025)
    assert (len(found), account.rejected) == (1, 1)


# What is cut.


@pytest.mark.parametrize("size", [5, 15, 30])
def test_an_event_that_a_log_breaks_off_in_is_refused(size, jobs):
    """What its last line says may be half of it: a return value of 1 of 13."""
    text = RUN + event(5, "10:00:00", "\t(1) Normal termination (return value 13)")
    found, account = jobs(text[:-size], "status, run_time")
    assert found == [(None, None)]
    assert account.rejected == 1


def test_a_log_that_begins_in_the_midst_of_an_event(jobs):
    text = "\tSlotName: slot1@w1\n...\n" + submitted().removesuffix("...\n") + RUN + ended()
    found, account = jobs(text, "run_time")
    assert found == [(3600,)]
    assert (account.rejected, account.folded) == (2, 2)


def test_kinds_of_events_that_are_not_read_are_comments(jobs):
    found, account = jobs(RUN + event(8, "09:30:00") + event(40, "09:31:00") + ended(), "run_time")
    assert found == [(3600,)]
    assert account.comments == 2
