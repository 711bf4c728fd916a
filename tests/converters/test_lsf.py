"""LSF: the fields of lsb.acct, their quotes and lists, and what bjobs prints."""

import calendar
import csv
import json
import re
import time
from collections import defaultdict
from itertools import chain, islice, repeat
from operator import itemgetter

import pytest

from gwa.errors import StrictError, TraceError
from gwa.formats.open import open_trace
from gwa.store.schema import NAMES
from tests.mutation import VALUES
from tests.written import FIELDS, Written

SUBMITTED = 1_741_600_000
USUAL = {
    "event_type": "JOB_FINISH", "version": "10.1", "event_time": SUBMITTED + 70, "job_number": 7,
    "user_number": 500, "options": 33554434, "num_processors": 1, "submit_time": SUBMITTED, "begin_time": 0,
    "term_time": 0, "start_time": SUBMITTED + 10, "user_name": "user042", "queue": "normal", "res_req": "",
    "depend_cond": "", "pre_exec_cmd": "", "from_host": "login1", "cwd": "/home/user042", "in_file": "",
    "out_file": "o.%J", "err_file": "", "job_file": "1741600000.7", "asked_hosts": [], "hosts": ["node01"],
    "j_status": 64, "host_factor": 60.0, "job_name": "", "command": "./run", "ru_utime": 45.0,
    "ru_stime": 5.0, **{f"ru_{place}": -1 for place in range(17)}, "mail_user": "",
    "project_name": "default", "exit_status": 0,
    "max_num_processors": 1, "login_shell": "", "time_event": "", "array_index": 0, "max_rmem": 2048,
    "max_rswap": 0, "in_file_spool": "", "command_spool": "", "rsv_id": "", "sla": "", "except_mask": 0,
    "additional_info": "", "exit_info": 0, "warning_action": "", "warning_time_period": -1,
    "charged_saap": "", "license_project": "", "app": "", "post_exec_cmd": "", "runtime_estimation": -1,
    "job_group": "", "requeue_evalues": "", "options2": 0, "resize_notify_cmd": "", "last_resize_time": 0,
    "rsv_id2": "", "job_description": "", "submit_ext": [], "host_rusage": [], "run_limit": -1,
    "options3": 0, "avg_mem": 1024, "effective_res_req": "select[type == any] ",
}  # fmt: skip
SIZES = {"submit_ext": 2, "host_rusage": 6}


def text(value):
    return '"' + value.replace('"', '""') + '"' if isinstance(value, str) else str(value)


def record(upto=None, **said):
    """Return a record, up to the field *upto*; a value in bytes stands there as it is."""
    cells = []
    for name, value in {**USUAL, **said}.items():
        if isinstance(value, bytes):
            cells.append(value.decode("latin-1"))
        elif isinstance(value, list):
            cells += [str(len(value) // SIZES.get(name, 1)), *map(text, value)]
        else:
            cells.append(text(value))
        if name == upto:
            break
    return " ".join(cells)


def a(**said):
    """Return a function from the number of a job to its record."""
    return lambda number: record(**{"job_number": number, **said})


@pytest.fixture
def jobs(tmp_path):
    with Written(tmp_path / "lsb.acct", "lsf") as written:
        yield written


# Records and their fields.


def test_a_record_says_all_of_a_job(jobs):
    fields = f"{FIELDS}, average_cpu_time, used_memory, req_n_procs, req_time, user_id, queue_id, project_id"
    assert jobs(record(), fields=fields) == [
        (SUBMITTED, 10, 60, 1, 1, 50, 2048, 1, None, "user042", "normal", "default")
    ]


def test_text_is_quoted_and_quotes_are_doubled(jobs):
    names = ['say "hello"', '"', '""', " ", "a b  c", "a\\", "\\", "'; drop table jobs; --", "<script>", "1"]
    found = jobs.each(
        *(a(job_name=name, command=name * 3) for name in names), fields="executable_id, run_time"
    )
    assert found == [[name, 60] for name in names]


def test_lists_may_have_any_length(jobs):
    hosts = [[f"n{place}"] * place for place in (1, 2, 7)] + [["16*n1", "16*n2"], ["4*n1", "n2"]]
    rows = [a(hosts=some, asked_hosts=asked) for some in hosts for asked in ([], ["n1"], ["n1", "n2"])]
    assert jobs.each(*rows, fields="n_procs, queue_id, status") == [
        [slots, "normal", 1] for slots in (1, 2, 7, 32, 5) for _ in range(3)
    ]


def test_the_run_limit_stands_behind_two_lists(jobs):
    usage = ["n1", 1, 2, 3, 4, 0]
    rows = [
        a(run_limit=3600),
        a(run_limit=3600, submit_ext=[b"1110", "default", b"1041", "x y"]),
        a(run_limit=3600, submit_ext=[b"5", "-1 -1 "], host_rusage=usage * 3),
        a(run_limit=-1),
        a(run_limit=0),
        a(upto="job_description"),
        a(upto="max_rswap"),
        a(upto="max_num_processors"),
        a(exit_info=b'"later"', run_limit=3600),
    ]
    assert jobs.each(*rows, fields="req_time, n_procs") == [[3600, 1]] * 3 + [[None, 1]] * 6


REFUSED = {
    record(upto="project_name"): "the record ends before exit_status",
    record(hosts=b'2 "n1"'): "host_factor is '', expected a number",
    record(hosts=b"200 n1"): "hosts is a list of 200, and the record ends before",
    record(hosts=b"-1"): "hosts is a list of -1, and the record ends before",
    record(hosts=b"1e300"): "hosts is a list of 1000",
    record(event_time="soon"): "event_time is 'soon', expected a number",
    record(event_time=b"1,000"): "event_time is '1,000', expected a number",
    record(ru_utime=b"nan"): "ru_utime is 'nan', expected a number",
    record(queue=b'"normal'): "a quote is not closed, or stands within a field",
    record(queue=b'nor"mal'): "a quote is not closed, or stands within a field",
    record(queue=b'"a"b'): "a quote is not closed, or stands within a field",
    "hello": "no record begins here",
    "0 1 2": "no record begins here",
}


def test_what_cannot_be_read_is_refused_with_its_line(jobs):
    assert jobs(record(), *REFUSED, "", record(job_number=8), fields="source_id") == [("7",), ("8",)]
    found = dict(jobs.rejects())
    assert set(found) == set(range(2, 2 + len(REFUSED)))
    for why, reason in zip(found.values(), REFUSED.values(), strict=True):
        assert why.startswith(reason)
    assert jobs.account() == (len(REFUSED) + 3, 2, 0, len(REFUSED), 1)


def test_a_text_may_hold_line_breaks(jobs):
    rows = [record(command='#!/bin/sh\necho "a"\n\nrun\n'), record(job_number=8, command='open "'), "next"]
    assert jobs(*rows, fields="source_id, status") == [("7", 1), ("8", 1)]
    assert jobs.rejects() == [(7, "no record begins here")]


def test_an_open_quote_takes_no_other_record_with_it(jobs):
    assert jobs(record(job_number=1)[:120], record(), record(command=b'"'), fields="source_id") == [("7",)]
    assert jobs.account() == (3, 1, 0, 2, 0)
    assert jobs(record(), record(command=b'"'), *["x"] * 200, record(job_number=8), fields="source_id") == [
        ("7",),
        ("8",),
    ]


def test_events_of_other_kinds_are_comments(jobs):
    other = '"EVENT_ADRSV_FINISH" "10.1" 1741600000 1741600000 "user042#1"'
    assert len(jobs("#1234", other, record())) == 1
    assert jobs.account() == (3, 1, 0, 0, 2)
    with pytest.raises(TraceError, match="no job in it"):
        jobs(other)


def test_strictness_names_the_line(jobs):
    with pytest.raises(StrictError, match=r"lsb\.acct:2: no record begins here"):
        jobs(record(), "hello", strict=True)


# Values.


def test_jobs_that_never_started(jobs):
    never = {"start_time": 0, "hosts": [], "j_status": 32, "ru_utime": -1.0, "ru_stime": -1.0, "max_rmem": 0}
    rows = [a(**never, exit_info=info) for info in (14, 15, 0, 5)]
    rows.append(lambda number: record("max_rswap", job_number=number, **never))
    fields = "wait_time, run_time, n_procs, average_cpu_time, used_memory, status"
    assert jobs.each(*rows, fields=fields) == [[None] * 5 + [status] for status in (5, 5, 5, 0, 5)]


def test_the_status_and_the_reason_decide(jobs):
    ends = {
        (64, 0): 1, (32, 0): 0, (32, 5): 0, (32, 14): 5, (32, 8): 5, (32, 9): 5, (32, 23): 5, (32, 16): 0,
        (64 | 128, 0): 1, (1, 0): None, (0, 0): None,
    }  # fmt: skip
    rows = [a(j_status=status, exit_info=info) for status, info in ends]
    assert jobs.each(*rows, fields="status") == [[status] for status in ends.values()]


def test_usage_is_an_average(jobs):
    rows = [
        a(hosts=["4*n1"], num_processors=4, max_num_processors=8),
        a(ru_utime=-1.0, max_rmem=-1),
        a(hosts=[], num_processors=2),
    ]
    fields = "n_procs, average_cpu_time, used_memory, req_n_procs"
    assert jobs.each(*rows, fields=fields) == [[4, 12.5, 512, 8], [1, None, None, 1], [2, 25, 1024, 2]]


def test_executables(jobs):
    said = {
        ("sim", "./run"): "sim", ("sim[1-10]%5", "./run"): "sim", ("", "/opt/bin/run.sh -x"): "run.sh",
        ("", "run;echo"): "run", ("", "#!/bin/sh;#;run"): None, ("", ""): None,
    }  # fmt: skip
    rows = [a(job_name=name, command=command) for name, command in said]
    assert jobs.each(*rows, fields="executable_id") == [[name] for name in said.values()]


def test_odd_times_are_repaired(jobs):
    times = {
        SUBMITTED + 5: [10, 0], SUBMITTED - 9000: [10, None], 253_402_300_799: [10, None], -1: [10, None],
        2**63 - 1: [10, None],
    }  # fmt: skip
    rows = [a(event_time=time) for time in times]
    assert jobs.each(*rows, fields="wait_time, run_time") == list(times.values())


# Several records of one job.


def test_tasks_of_an_array_are_a_bag(jobs):
    rows = [record(array_index=index, job_name="sweep[1-2]") for index in (1, 2)]
    assert jobs(*rows, fields="source_id, job_structure, job_structure_params, executable_id") == [
        ("7[1]", "BoT", "7", "sweep"),
        ("7[2]", "BoT", "7", "sweep"),
    ]


def test_a_job_that_was_queued_again_is_one_of_several_runs(jobs):
    rows = [
        record(j_status=32, exit_info=11),
        record(start_time=SUBMITTED + 200, event_time=SUBMITTED + 500),
        record(submit_time=SUBMITTED + 10**7, start_time=SUBMITTED + 10**7, event_time=SUBMITTED + 10**7 + 5),
    ]
    for order in (rows, rows[::-1]):
        assert jobs(*order) == [(SUBMITTED, 10, 300, 1, 1), (SUBMITTED + 10**7, 0, 5, 1, 1)]
        assert jobs.account() == (3, 2, 1, 0, 0)
        assert jobs(*order, fields="runs, n_requeues") == [
            ("10/60//1//1/requeued;200/300//1//1/ended", 1),
            (None, None),
        ]


def test_runs_are_those_that_started_and_are_there_once(jobs):
    first = record(j_status=32)
    killed = record(j_status=32, start_time=0, event_time=SUBMITTED + 900, exit_info=14)
    assert jobs(first, first, killed, fields="runs, n_requeues, n_procs, status") == [
        ("10/60//1//1/requeued", 1, None, 5)
    ]
    assert jobs(first, first, fields="runs, n_requeues, n_procs, status") == [(None, None, 1, 0)]


def test_runs_that_overlap_are_none(jobs):
    rows = [
        record(j_status=32, event_time=SUBMITTED + 300),
        record(start_time=SUBMITTED + 200, event_time=SUBMITTED + 500),
    ]
    assert jobs(*rows, fields="wait_time, runs, n_requeues") == [(200, None, None)]


# Whatever comes in.


def test_any_value_in_any_field_is_kept_repaired_or_refused(jobs):
    rows = [
        record(**{"job_number": 1000 * place + number, name: value.encode("latin-1", "replace")})
        for place, name in enumerate(USUAL, 1)
        for number, value in enumerate((*VALUES, '"', "*", "99*n"))
    ]
    assert len(jobs(record(), *rows)) > 1000
    assert jobs.account()[0] == 1 + len(rows)


def test_long_lines_and_odd_bytes(jobs):
    rows = [
        record(user_name="us\xe9r\x00\xff").encode("latin-1"),
        record(job_number=8, command="x" * (1 << 21)),
        record(job_number=9, hosts=["n"] * 50_000),
        record(job_number=10, command='"' * 100_001),
    ]
    assert jobs(*rows, fields="source_id, user_id, n_procs") == [
        ("10", "user042", 1),
        ("7", "us\xe9r \xff", 1),
        ("9", "user042", 50_000),
    ]
    assert jobs.account() == (4, 3, 0, 1, 0)


# The sample, read independently: the rules for quotes are those of tables, with a blank for the comma.


END = itemgetter(1)


def placed(hosts):
    """Return the hosts of a job with their slots, by name as LSF writes it."""
    of_each = [
        (host.split("*")[-1], host.partition("*")[0] if "*" in host else None) for host in sorted(set(hosts))
    ]
    slots = {name: int(told or hosts.count(name)) for name, told in of_each}
    return ",".join(
        name if count == 1 and told is None else f"{name}*{count}"
        for (name, told), count in zip(of_each, slots.values(), strict=True)
    )


def by_hand(row):
    """Return the number of a job, the time of its event, and what its fields are."""
    # Old versions have fewer fields.
    cells = chain(row, repeat("0"))
    said = {}
    for name, usual in islice(USUAL.items(), list(USUAL).index("run_limit") + 1):
        said[name] = next(cells)
        if isinstance(usual, list):
            said[name] = [next(cells) for _ in range(int(said[name]) * SIZES.get(name, 1))]
    number, index = said["job_number"], int(said["array_index"])
    submit, start, end = (float(said[f"{name}_time"]) for name in ("submit", "start", "event"))
    slots = sum(int(host.split("*")[0]) if "*" in host else 1 for host in said["hosts"])
    slots = slots or int(said["num_processors"])
    cpu, memory = float(said["ru_utime"]) + float(said["ru_stime"]), float(said["max_rmem"])
    killed = said["exit_info"] in {"8", "9", "14", "15", "23"} or (not start and said["exit_info"] == "0")
    hosts = {host.split("*")[-1] for host in said["hosts"]}
    gpus = re.search(r"ngpus_physical=([\d.]+)", said["res_req"])
    total, code = float(gpus[1]) * len(hosts) if gpus else None, int(said["exit_status"])
    program = said["command"].split("#")[0].split(";")[0].split()
    known = {
        "submit_time": submit,
        "wait_time": start - submit if start else None,
        "run_time": end - start if start else None,
        "n_procs": slots if start else None,
        "average_cpu_time": cpu / slots if start and cpu >= 0 else None,
        "used_memory": memory / slots if start and memory > 0 else None,
        "req_n_procs": max(int(said["num_processors"]), int(said["max_num_processors"])),
        "req_time": float(said["run_limit"]) if int(said["run_limit"]) > 0 else None,
        "status": {"64": 1, "32": 5 if killed else 0}[said["j_status"]],
        "user_id": said["user_name"],
        "executable_id": said["job_name"].split("[")[0] or program[0].split("/")[-1],
        "queue_id": said["queue"],
        "job_structure": "BoT" if index else "UNITARY",
        "job_structure_params": number if index else None,
        "project_id": said["project_name"],
        "n_nodes": len(hosts) if start else None,
        "node_list": placed(said["hosts"]) if start else None,
        "n_gpus": total if start else None,
        "req_gpus": total,
        "state": {"64": "DONE", "32": "EXIT"}[said["j_status"]],
        "exit_code": (128 + code if 0 < code < 128 else code >> 8) if start else None,
        "max_memory": memory if start and memory > 0 else None,
    }
    return f"{number}[{index}]" if index else number, end, tuple(known.get(name) for name in NAMES[1:])


def test_every_field_of_the_sample_is_as_a_few_lines_of_python_read_it(sample):
    path = sample / "lsf" / "lsb.acct"
    with path.open(newline="") as file:
        rows = [row for row in csv.reader(file, delimiter=" ") if row[0] == "JOB_FINISH"]
    expected, boxes = {}, defaultdict(list)
    for name, _, fields in sorted(map(by_hand, rows), key=END):
        said = dict(zip(NAMES[1:], fields, strict=True))
        boxes[name, fields[0]].append([said[key] for key in ("wait_time", "run_time", "n_procs", "n_nodes")])
        if len(held := boxes[name, fields[0]]) > 1:
            why = ["requeued"] * (len(held) - 1) + ["ended"]
            said |= {
                "wait_time": held[0][0],
                "n_requeues": len(held) - 1,
                "runs": ";".join(
                    f"{begin:.0f}/{length:.0f}//{procs}//{nodes}/{ended}"
                    for (begin, length, procs, nodes), ended in zip(held, why, strict=True)
                ),
            }
        expected[name, fields[0]] = tuple(said.values())
    with open_trace([path]) as store:
        found = store.rows("select source_id, jobs.* exclude job_id from jobs join source_ids using (job_id)")
    assert len(rows) > len(found) == len(expected)
    assert {(name, fields[0]): tuple(fields) for name, *fields in found} == expected


@pytest.mark.parametrize("width", [80, 113, 500])
def test_marks_of_lines_that_go_on_are_no_hosts(width, jobs):
    text = record(hosts=[f"node{place:03}" for place in range(60)])
    pieces = [text[begin : begin + width] for begin in range(0, len(text), width)]
    assert jobs("!\n".join(pieces), record(job_number=8), fields="n_procs, status") == [(60, 1), (1, 1)]
    assert jobs.rejects() == []


# GPUs, nodes, and what else is recorded beside the 29 fields.


def test_gpus_of_a_request_are_of_each_host(jobs):
    rows = {
        a(res_req="rusage[mem=2000,ngpus_physical=2.00]"): (2, 2, None),
        a(res_req="select[ngpus>0] rusage[ngpus_excl_p=1]", hosts=["2*n1", "n2"]): (2, 2, None),
        a(res_req="select[gpu_model0==TeslaV100] rusage[ngpus_physical=1]"): (1, 1, "TeslaV100"),
        a(res_req="select[ngpus_physical=2] rusage[mem=2000]"): (None, None, None),
        a(res_req="rusage[ngpus_physical=x]"): (None, None, None),
    }
    found = jobs.each(*rows, fields="n_gpus, req_gpus, gpu_type")
    assert [tuple(values) for values in found] == list(rows.values())
    waiting = record(start_time=0, hosts=[], res_req="rusage[ngpus_physical=2]")
    assert jobs(waiting, fields="n_gpus, req_gpus, n_nodes") == [(None, 2, None)]


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (0, 0),
        (256, 1),
        (35_072, 137),
        (65_280, 255),
        (9, 137),
        (139, 139),
        (15, 143),
        (-1, None),
        (1 << 20, None),
    ],
)
def test_exit_codes_are_those_of_a_shell(status, code, jobs):
    assert jobs(record(j_status=32, exit_status=status), fields="exit_code, state") == [(code, "EXIT")]


def test_nodes_and_the_peak_of_memory(jobs):
    rows = [a(hosts=["16*n1", "16*n2", "n1"], max_rmem=4096), a(max_rmem=-1), a(start_time=0)]
    assert jobs.each(*rows, fields="n_nodes, max_memory") == [[2, 4096], [1, None], [None, None]]


# What bjobs prints: the same mapping.

TOLD = {
    "JOBID": "7", "JOBINDEX": "0", "STAT": "DONE", "USER": "user042", "QUEUE": "normal", "SLOTS": "4",
    "NREQ_SLOT": "4", "EXEC_HOST": "2*n1:2*n2", "SUBMIT_TIME": "Mar 10 09:46:40 2025",
    "START_TIME": "Mar 10 09:46:50 2025", "FINISH_TIME": "Mar 10 09:47:50 2025 L",
    "CPU_USED": "20.0 second(s)", "MAX_MEM": "8 Mbytes", "RUNTIMELIMIT": "60.0", "EXIT_CODE": "",
    "EXIT_REASON": "", "PROJ_NAME": "default", "JOB_NAME": "run", "COMMAND": "./run", "GPU_NUM": "2",
}  # fmt: skip


def told(**said):
    return json.dumps({**TOLD, **said})


@pytest.fixture
def records(tmp_path):
    with Written(tmp_path / "jobs.json", "lsf-bjobs") as written:
        yield written


def test_a_job_that_bjobs_tells_of_is_as_in_the_accounting_log(jobs, records):
    one = record(
        job_number=7, user_name="user042", queue="normal", hosts=["2*n1", "2*n2"], submit_time=1_741_600_000,
        start_time=1_741_600_010, event_time=1_741_600_070, ru_utime=20.0, ru_stime=0.0, max_rmem=8192,
        num_processors=4, max_num_processors=4, run_limit=3600, job_name="run", j_status=64,
        res_req="rusage[ngpus_physical=1]",
    )  # fmt: skip
    assert records(told(), fields="jobs.* exclude (job_id)") == jobs(one, fields="jobs.* exclude (job_id)")


@pytest.mark.parametrize(
    ("said", "field", "value"),
    [
        ({"JOBINDEX": "3"}, "source_id", "7[3]"),
        ({"JOBID": "7[3]"}, "source_id", "7[3]"),
        ({"STAT": "RUN"}, "(run_time, status, state)", (None, None, "RUN")),
        (
            {"STAT": "PEND", "START_TIME": "-"},
            "(wait_time, n_procs, n_gpus, req_gpus)",
            (None, None, None, 2),
        ),
        ({"STAT": "EXIT", "EXIT_CODE": "130"}, "(status, exit_code)", (0, 130)),
        ({"STAT": "EXIT", "EXIT_REASON": "TERM_OWNER: killed"}, "status", 5),
        ({"STAT": "EXIT", "EXIT_REASON": "TERM_RUNLIMIT: x", "START_TIME": ""}, "status", 0),
        ({"STAT": "EXIT", "START_TIME": ""}, "status", 5),
        ({"MAX_MEM": "1.5 Gbytes"}, "max_memory", 1.5 * 1024**2),
        ({"MAX_MEM": "900 Kbytes"}, "max_memory", 900),
        ({"MAX_MEM": "-"}, "max_memory", None),
        ({"CPU_USED": "-"}, "average_cpu_time", None),
        ({"RUNTIMELIMIT": "90.5/n1"}, "req_time", 5430),
        ({"RUNTIMELIMIT": ""}, "req_time", None),
        ({"GPU_NUM": ""}, "n_gpus", None),
        ({"SUBMIT_TIME": "Mon Mar 10 09:46:30 2025"}, "wait_time", 20),
    ],
)
def test_what_bjobs_tells(said, field, value, records):
    assert records(told(**said), fields=field) == [(value,)]


def test_a_year_that_is_not_told_is_asked_for(records):
    short = {"SUBMIT_TIME": "Dec 31 23:59", "START_TIME": "Jan  1 00:09", "FINISH_TIME": "Jan  1 00:19 L"}
    dated = {name: f"{text.replace(' L', '')} 2025" for name, text in short.items()}
    assert records(told(**short), told(JOBID="8"), fields="source_id") == [("8",)]
    assert [line for line, _ in records.rejects()] == [1]
    assert records.rejects()[0][1] == (
        "SUBMIT_TIME is 'Dec 31 23:59', expected a time such as Mar 10 09:46 2025;"
        " -O year=2025 states the year of all that have none"
    )
    stated = {"format_options": {"year": "2024"}}
    assert records(told(**short), fields="submit_time, wait_time, run_time", **stated) == [
        (1_735_689_540, 600, 600)
    ]
    assert records(told(**dated), fields="wait_time, run_time", **stated) == [(None, None)]
    measured = told(**dated, RUN_TIME="590 second(s)")
    assert records(measured, fields="wait_time, run_time", **stated) == [(None, 590)]


def test_times_of_bjobs_are_local(records):
    records(told())
    assert records.stores[-1].rows("select name, jobs from repairs") == [("no time zone", 1)]
    assert records(told(), fields="submit_time", system={"zone": "America/New_York"}) == [(1_741_614_400,)]


def test_what_is_no_job_is_refused(records):
    assert records(told(), told(JOBID="x"), "7", fields="source_id") == [("7",)]
    reasons = {reason for _, reason in records.rejects()}
    assert reasons == {"is not a JSON object", "JOBID is 'x', expected a number"}


def by_hand_of_bjobs(said):
    """Return the number of a job and, by name, what its record says."""

    def at(text):
        text = text.removesuffix(" L").removesuffix(" E")
        return calendar.timegm(time.strptime(text, "%b %d %H:%M:%S %Y")) if text else None

    submit, start, end = (at(said[f"{name}_TIME"]) for name in ("SUBMIT", "START", "FINISH"))
    over, array = said["STAT"] in {"DONE", "EXIT"}, said["JOBINDEX"] != "0"
    slots, cpu = int(said["NREQ_SLOT"]), said["CPU_USED"].strip("-")
    size, _, unit = said["MAX_MEM"].strip("-").partition(" ")
    memory = float(size) * 1024 ** "KMG".index(unit[0]) if size and over else None
    killed = "OWNER" in said["EXIT_REASON"] or not start
    gpus = float(said["GPU_NUM"]) if said["GPU_NUM"] else None
    known = {
        "submit_time": submit,
        "wait_time": start - submit if start else None,
        "run_time": end - start if start and over else None,
        "n_procs": slots if start else None,
        "average_cpu_time": float(cpu.split()[0]) / slots if cpu and over else None,
        "used_memory": memory / slots if memory else None,
        "req_n_procs": slots,
        "req_time": float(said["RUNTIMELIMIT"].split("/")[0]) * 60 if said["RUNTIMELIMIT"] else None,
        "status": {"DONE": 1, "EXIT": 5 if killed else 0}.get(said["STAT"]),
        "user_id": said["USER"],
        "executable_id": said["JOB_NAME"].split("[")[0] or "run",
        "queue_id": said["QUEUE"],
        "job_structure": "BoT" if array else "UNITARY",
        "job_structure_params": said["JOBID"] if array else None,
        "project_id": said["PROJ_NAME"],
        "n_nodes": said["EXEC_HOST"].count(":") + 1 if start else None,
        "node_list": placed(said["EXEC_HOST"].split(":")) if start else None,
        "n_gpus": gpus,
        "req_gpus": gpus,
        "state": said["STAT"],
        "exit_code": int(said["EXIT_CODE"] or 0) if start and over else None,
        "max_memory": memory,
    }
    number = f"{said['JOBID']}[{said['JOBINDEX']}]" if array else said["JOBID"]
    return number, tuple(known.get(name) for name in NAMES[1:])


def test_every_field_of_the_sample_of_bjobs_is_as_a_few_lines_of_python_read_it(sample):
    path = sample / "lsf-bjobs" / "jobs.json"
    expected = dict(map(by_hand_of_bjobs, json.loads(path.read_text())["RECORDS"]))
    with open_trace([path]) as store:
        rows = store.rows("select source_id, jobs.* exclude job_id from jobs join source_ids using (job_id)")
    assert {number: tuple(fields) for number, *fields in rows} == expected
