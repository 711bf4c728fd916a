"""LSF's bhist -l and bjobs -l: what their events tell, broken lines, and years that times do not have."""

import pytest

from gwa.errors import TraceError
from gwa.formats.open import open_trace
from gwa.store.options import ReadOptions

HEAD = "Job <7>, Job Name <fit>, User <ada>, Project <bio>, Command <./fit.sh 3>"
SUBMITTED = "Mon Mar 10 08:00:00 2025: Submitted from host <h>, to Queue <q>, CWD <$HOME>, 4 Task(s);"
STARTED = (
    "Mon Mar 10 09:00:00 2025: Dispatched 4 Task(s) on Host(s) <4*n1>, Allocated 4 Slot(s) on Host(s) <4*n1>;"
)


def at(clock, said):
    return f"Mon Mar 10 {clock} 2025: {said};"


DONE = at("10:00:00", "Done successfully. The CPU time used is 100.0 seconds")
USAGE = "\n MEMLIMIT\n 48 G\n\nMEMORY USAGE:\nMAX MEM: 48 Mbytes;  AVG MEM: 1.3 Mbytes\n"


@pytest.fixture
def jobs(tmp_path):
    """Return a function that yields *fields* of the jobs of an output, of which lines are given."""

    def read(*lines, fields, **options):
        path = tmp_path / "bhist.txt"
        path.write_text("\n".join([*lines, ""]))
        with open_trace([path], options=ReadOptions(format_options=options)) as store:
            store.account.check()
            return store.rows(f"select {fields} from jobs order by job_id")

    return read


@pytest.mark.parametrize(
    ("events", "fields", "values"),
    [
        ([STARTED, DONE], "wait_time, run_time, n_procs, average_cpu_time, status", (3600, 3600, 4, 25, 1)),
        ([STARTED, DONE, USAGE], "max_memory", (48 * 1024,)),
        (
            [STARTED, at("10:00:00", "Exited with exit code 3. The CPU time used is unknown")],
            "status, exit_code",
            (0, 3),
        ),
        (
            [
                STARTED,
                at("10:00:00", "Exited by signal 9"),
                at("10:00:01", "Completed <exit>; TERM_OWNER: killed"),
            ],
            "run_time, status, exit_code",
            (3600, 5, 137),
        ),
        (
            [at("10:00:00", "Exited"), at("10:00:00", "Completed <exit>; TERM_OWNER: killed")],
            "run_time, status, n_procs",
            (None, 5, None),
        ),
        ([], "wait_time, run_time, status, n_procs, req_n_procs", (None, None, None, None, 4)),
        ([STARTED], "wait_time, run_time, status, runs", (3600, None, None, None)),
        # Suspended time is part of a run.
        (
            [
                STARTED,
                at("09:10:00", "Suspended by the user or administrator"),
                at("09:20:00", "Running"),
                DONE,
            ],
            "run_time, runs",
            (3600, None),
        ),
        # It was queued again, and waits, runs, or has run.
        (
            [STARTED, at("09:30:00", "Pending: Job has been requeued")],
            "status, runs, n_requeues",
            (None, "3600/1800//4//1/requeued", None),
        ),
        (
            [STARTED, at("09:30:00", "Pending: Job has been requeued"), STARTED.replace("09:00", "09:40")],
            "n_requeues, run_time",
            (1, None),
        ),
        # When a run ended that nothing ends is unknown.
        (
            [STARTED, STARTED.replace("09:00", "09:30"), DONE],
            "n_requeues, runs, run_time",
            (1, "5400/1800//4//1/ended", 1800),
        ),
        # Older words, and those of bjobs.
        (
            [at("09:00:00", "Dispatched to 4 Hosts/Processors <2*n1> <2*n2>"), DONE],
            "n_procs, n_nodes",
            (4, 2),
        ),
        ([at("09:00:00", "Dispatched to <n1>"), DONE], "n_procs, n_nodes", (1, 1)),
        (
            [at("09:00:00", "Started 4 Task(s) on Host(s) <4*n1>, Execution Home </home/ada>"), DONE],
            "n_procs",
            (4,),
        ),
    ],
)
def test_what_events_tell_of_a_job(events, fields, values, jobs):
    assert jobs(HEAD, SUBMITTED, *events, fields=fields) == [values]


def broken(line, width):
    """Return a line as the tools break it: anywhere, to go on behind 21 blanks."""
    first, rest = line[:width], line[width:]
    step = width - 21
    return "\n".join(
        [first, *(f"{'':21}{rest[place : place + step]}" for place in range(0, len(rest), step))]
    )


@pytest.mark.parametrize("width", [40, 58, 80])
def test_broken_lines_say_what_whole_ones_do(width, jobs):
    fields = "wait_time, run_time, n_procs, n_nodes, req_n_procs, user_id, queue_id, project_id, status"
    lines = [HEAD, SUBMITTED, STARTED, DONE]
    whole = jobs(*lines, fields=fields)
    assert whole == [(3600, 3600, 4, 1, 4, "ada", "q", "bio", 1)]
    assert jobs(*(broken(line, width) for line in lines), fields=fields) == whole


def test_a_job_of_many_lines_is_whole(jobs):
    stops = [at("09:30:00", "Suspended by the user or administrator"), at("09:30:01", "Running")] * 200
    assert jobs(HEAD, SUBMITTED, STARTED, *stops, DONE, fields="run_time") == [(3600,)]


def test_a_task_of_an_array_has_its_index_and_a_later_output_is_of_the_same_job(jobs):
    head = "Job <7[3]>, Job Name <fit[1-9]>, User <ada>, Project <bio>, Command <./fit.sh>"
    lines = [head, SUBMITTED, STARTED, "", head, SUBMITTED, STARTED, DONE]
    assert jobs(*lines, fields="job_structure_params, run_time, runs") == [("7", 3600, None)]


# Times without a year.

YEARLESS = [HEAD, *(line.replace(" 2025:", ":") for line in (SUBMITTED, STARTED, DONE))]


def test_a_time_without_a_year_asks_for_it(jobs):
    with pytest.raises(TraceError, match=r"'Mar 10 08:00:00', which has no year; -O year=2025 states that"):
        jobs(*YEARLESS, fields="run_time")
    assert jobs(*YEARLESS, fields="submit_time", year=2025) == jobs(HEAD, SUBMITTED, fields="submit_time")


def test_a_day_of_the_week_tells_a_wrong_year(jobs):
    with pytest.raises(TraceError, match="'Mon Mar 10 08:00:00', which is another day of the week in 2024"):
        jobs(*YEARLESS, fields="run_time", year=2024)


def test_a_year_goes_on_where_months_begin_again(jobs):
    lines = [
        HEAD,
        "Tue Dec 31 23:00:00: Submitted from host <h>, to Queue <q>, CWD <$HOME>;",
        "Tue Dec 31 23:30:00: Dispatched to <n1>;",
        "Wed Jan  1 00:30:00: Done successfully. The CPU time used is 1.0 seconds;",
    ]
    assert jobs(*lines, fields="run_time", year=2024) == [(3600,)]
