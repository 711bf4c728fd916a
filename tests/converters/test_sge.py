# mypy: disable-error-code="operator,attr-defined,misc"
"""Grid Engine: accounting files of all versions, what their colons do to them, and what qacct prints."""

import calendar
import json
import re
import time
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gwa.errors import StrictError
from gwa.formats.open import open_trace
from gwa.ingest.readers.gridengine import CELLS, join_cells
from gwa.store.schema import NAMES
from tests.mutation import VALUES
from tests.written import Written

SUBMITTED = 1_741_600_000
USUAL = {
    "qname": "all.q", "hostname": "node01.example.org", "unix_group": "physics", "owner": "user042",
    "job_name": "run.sh", "job_number": "7", "account": "sge", "submission_time": SUBMITTED,
    "start_time": SUBMITTED + 10, "end_time": SUBMITTED + 70, "ru_wallclock": "60", "ru_maxrss": "2048",
    "project": "NONE", "department": "defaultdepartment", "granted_pe": "NONE", "slots": 1, "cpu": "50.0",
    "category": "NONE", "pe_taskid": "NONE", "maxvmem": "4194304.000000", "job_class": "NONE",
    "qdel_info": "NONE", "submit_host": "login1", "cwd": "/home/user042", "submit_cmd": "qsub run.sh",
}  # fmt: skip


def row(width=45, sep=":", **said):
    return sep.join(str({**USUAL, **said}.get(name, 0)) for name in CELLS[:width])


def at(submit, start, end):
    """Return the times of a row, in seconds from a common one."""
    names = ("submission_time", "start_time", "end_time")
    return {
        name: 0 if time is None else SUBMITTED + time
        for name, time in zip(names, (submit, start, end), strict=True)
    }


@pytest.fixture
def jobs(tmp_path):
    with Written(tmp_path / "accounting", "sge") as written:
        yield written


def a(width=45, **said):
    """Return a function from the number of a job to its row."""
    return lambda number: row(width, **{"job_number": number, **said})


# Lines and their fields.


def test_every_version_has_its_number_of_fields(jobs):
    found = jobs.each(
        *map(a, (43, 45, 46, 48, 52, 55)), fields="submit_time, wait_time, run_time, n_procs, status"
    )
    assert found == [[SUBMITTED, 10, 60, 1, 1]] * 6


def test_later_versions_may_have_any_number_of_fields(jobs):
    assert jobs(row(55) + ":NONE" * 21) == [(SUBMITTED, 10, 60, 1, 1)]
    assert jobs(row(55) + ":1:x:0:NONE:0:0" * 20) == [(SUBMITTED, 10, 60, 1, 1)]


def test_versions_may_follow_each_other_in_one_file(jobs):
    widths = (43, 45, 52, 45, 55, 43, 46)
    assert jobs.each(*map(a, widths), fields="user_id, req_time") == [["user042", None]] * 7
    assert jobs.stores[-1].rows("select count(*) from rejects") == [(0,)]


CATEGORIES = (
    "-l h_rt=01:30:00",
    "-l h_rt=1:30:0,h_vmem=1G",
    "-l h_vmem=1G,h_rt=:90: -q all.q",
    "-l s_rt=5400",
    "-l h_rt=1:30:00,s_rt=1:00:00,h_cpu=10:00:00,x=0:0,y=0.000000:NONE -pe mpi 4",
    "-l h_rt=1:30:00 " + "a:0:" * 40,
)


def test_colons_in_the_category_move_no_field(jobs):
    rows = [
        a(width, category=category, pe_taskid=task, maxvmem="8388608", ru_maxrss=0, slots=2)
        for width in (43, 45, 46, 52, 55)
        for category in CATEGORIES
        for task in ("NONE", "1.node07", "12.node07.example.org")
    ]
    found = jobs.each(*rows, fields="req_time, used_memory, user_id, n_procs")
    assert found == [[5400, 4096, "user042", 2]] * len(rows)


def test_a_colon_may_have_become_another_sign(jobs):
    signs = (b"\xad", b"\xff", "\ufffd".encode(), b":", "\u00ad".encode())
    said = row(52, category="-l h_rt=00@10@30,h_vmem=1.5G", submit_cmd="qsub -v A=1@2 run.sh", job_number="%")
    rows = [
        said.encode().replace(b"@", sign).replace(b"%", b"%d" % place) for place, sign in enumerate(signs)
    ]
    assert jobs(*rows, fields="req_time, req_memory") == [(630, 1.5 * 1024**2)] * 5


def test_colons_in_a_name_move_no_field(jobs):
    names = ["a:b", "a:1:2:b", ":", "::", "12:34", "a b:c"]
    rows = [
        a(job_name=name, account=account, category="-l h_rt=0:0:30")
        for account in ("sge", "12")
        for name in names
    ]
    found = jobs.each(*rows, fields="executable_id, req_time, user_id")
    assert found == [[name, 30, "user042"] for name in names * 2]


def test_joined_cells_of_a_line_without_colons_are_its_cells():
    cells = row().split(":")
    assert join_cells(cells) == cells
    assert join_cells(cells[:40]) is None


REFUSED = {
    "hello": "1 fields, expected the 43, 45 or more of an accounting file",
    row(42): "42 fields, expected the 43, 45 or more of an accounting file",
    row(44): "its fields are not where they should be, expected the 43, 45 or more of an accounting file",
    row(submission_time="yesterday"): "its fields are not where they should be, expected the 43, 45 or more",
    row(submission_time="1,000"): "submission_time is '1,000', expected a number",
    row(cpu="much"): "cpu is 'much', expected a number",
    row().replace(":sge:", "::::"): "its fields are not where they should be, expected the 43, 45 or more",
    ":" * 5000: "5001 fields, expected the 43, 45 or more of an accounting file",
    ":".join(
        "0" * 900
    ): "its fields are not where they should be, expected the 43, 45 or more of an accounting",
}


def test_what_is_no_row_is_refused_with_its_line(jobs):
    assert jobs("# comment", row(), *REFUSED, row(job_number=8), fields="source_id") == [("7",), ("8",)]
    assert jobs.account() == (12, 2, 0, 9, 1)
    for number, ((line, why), reason) in enumerate(zip(jobs.rejects(), REFUSED.values(), strict=True), 3):
        assert line == number
        assert why.startswith(reason)


def test_a_line_that_breaks_off_is_refused(jobs):
    assert len(jobs(row(), row(job_number=8)[:180])) == 1
    assert jobs.account() == (2, 1, 0, 1, 0)


# Times.


def test_milliseconds_are_told_row_by_row(jobs):
    ms = {"submission_time": SUBMITTED * 1000 + 250, "start_time": SUBMITTED * 1000 + 10_250}
    assert jobs(
        row(),
        row(52, job_number=8, **ms, end_time=SUBMITTED * 1000 + 70_500, ru_wallclock="60.250"),
    ) == [(SUBMITTED, 10, 60, 1, 1), (SUBMITTED + 0.25, 10, 60.25, 1, 1)]


@pytest.mark.parametrize("none", [0, 4294967295])
def test_a_job_that_never_started_has_no_run(none, jobs):
    never = {"start_time": none, "end_time": none, "ru_wallclock": 0, "slots": 0}
    fields = "submit_time, wait_time, run_time, n_procs, average_cpu_time, used_memory, status"
    assert jobs(row(**never, failed=1), fields=fields) == [(SUBMITTED, None, None, None, None, None, 0)]
    assert jobs(row(**never), fields="status") == [(None,)]


def test_ru_wallclock_stands_in_for_a_time(jobs):
    assert jobs(row(end_time=0)) == [(SUBMITTED, 10, 60, 1, 1)]
    assert jobs(row(start_time=0)) == [(SUBMITTED, 10, 60, 1, 1)]


def test_odd_times_are_repaired(jobs):
    late = 221_876_927_999
    rows = (
        row(job_number=1, **at(0, 10, 5)),
        row(job_number=2, **at(0, 10, -5000)),
        row(job_number=3, submission_time=late, start_time=late, end_time=late),
        row(job_number=4, submission_time=-2_208_988_800),
        row(job_number=5, submission_time=2**63 - 1),
        row(job_number=6, submission_time=-(2**63)),
    )
    found = jobs(*rows, fields="source_id, submit_time, run_time")
    assert {number: rest for number, *rest in found} == {
        "1": [SUBMITTED, 0],
        "2": [SUBMITTED, 60],
        "3": [late, 0],
        "4": [None, 60],
        "5": [None, 0.06],
        "6": [None, 60],
    }


# How jobs end.


def test_failed_and_the_exit_status_decide(jobs):
    ends = {
        (0, 0): 1, (0, 1): 0, (1, 0): 0, (100, 137): 0, (37, 137): 0, (44, 137): 0, (25, 0): 0, (0, -1): None,
    }  # fmt: skip
    rows = [a(failed=failed, exit_status=code) for failed, code in ends]
    assert jobs.each(*rows, fields="status") == [[status] for status in ends.values()]


def test_univa_says_who_deleted_a_job(jobs):
    assert jobs(row(52, failed=100, exit_status=137, qdel_info="user042@login1"), fields="status") == [(5,)]
    assert jobs(row(52, qdel_info="user042@login1"), fields="status") == [(1,)]


def test_cancelled_is_guessed_on_demand_only(jobs):
    rows = [
        row(job_number=1, failed=100, exit_status=137, category="-l h_rt=60"),
        row(job_number=2, failed=100, exit_status=137, category="-l h_rt=600"),
        row(job_number=3, failed=100, exit_status=143),
        row(job_number=4, failed=100, exit_status=1),
    ]
    assert jobs(*rows, fields="status") == [(0,)] * 4
    guessed = jobs(*rows, fields="status", format_options={"guess_cancelled": "yes"})
    assert guessed == [(0,), (5,), (5,), (0,)]


# Requests and usage.


ASKED = {
    "-l h_rt=3600,h_vmem=1G": [3600, 1024**2],
    "-u user042 -q a.q -l h_vmem=1g,s_rt=60": [60, 1e9 / 1024],
    "-l hard -soft -l h_vmem=512M,h_rt=INFINITY": [None, 512 * 1024],
    "-l h_vmem=INFINITY,mem_free=100k": [None, 100_000 / 1024],
    "-l m_mem_free=4.000G": [None, 4 * 1024**2],
    "-l virtual_free=2048": [None, 2],
    "-l h_vmem=1.5T": [None, 1.5 * 1024**3],
    "-l xh_rt=5,my_h_vmem=7": [None, None],
    "-l h_rt=0:0:0": [None, None],
    "NONE": [None, None],
}


def test_requests_are_in_the_category(jobs):
    rows = [a(category=category) for category in ASKED]
    assert jobs.each(*rows, fields="req_time, req_memory") == list(ASKED.values())


def test_slots_are_asked_for_in_ranges(jobs):
    asked = {
        "-pe mpi 8": 8, "-pe mpi 4-16": 16, "-pe mpi 4-16:4 -q a": 16, "-pe mpi 2,4,8": 8, "-pe mpi 4-": 6,
        "-pe mpi 4-9999999": 6, "-l x=1": 6,
    }  # fmt: skip
    rows = [a(category=category, granted_pe="mpi", slots=6) for category in asked]
    assert jobs.each(*rows, a(slots=1), fields="req_n_procs") == [*([slots] for slots in asked.values()), [1]]


def test_other_requests_are_kept_by_name(jobs):
    said = row(category="-q a.q -l arch=lx-amd64,gpu=2,h_rt=60,num_proc=8 -l scratch=10G -pe mpi 2")
    assert jobs(said, fields="req_platform, req_resources, n_procs") == [
        ("lx-amd64", "gpu:2,num_proc:8,scratch:10G", 1)
    ]


def test_memory_and_cpu_time_are_averages(jobs):
    fields = "used_memory, average_cpu_time, used_resources"
    assert jobs(row(slots=4, granted_pe="mpi", cpu=200, io=0.5), fields=fields) == [(512, 50, "io_gb:0.5")]
    assert jobs(row(52, maxrss=8 << 20), fields=fields) == [(8192, 50, None)]
    assert jobs(row(ru_maxrss=0), fields=fields) == [(4096, 50, None)]
    assert jobs(row(ru_maxrss=0, maxvmem=-1), fields=fields) == [(None, 50, None)]


def test_names_and_places(jobs):
    said = row(qname="long.q@node01", project="wings", job_name="<script>'; drop table jobs; --")
    fields = "queue_id, project_id, executable_id, user_id, group_id, partition_id, orig_site_id"
    system = {"name": "Heron", "site": "Institute"}
    assert jobs(said, fields=fields, system=system) == [
        ("long.q", "wings", "<script>'; drop table jobs; --", "user042", "physics", "Heron", "Institute")
    ]
    assert jobs(row(qname="UNKNOWN"), fields="queue_id, project_id") == [(None, None)]


# Several rows of one job.


def test_tasks_of_an_array_are_a_bag(jobs):
    rows = [row(task_number=task) for task in (1, 2, 3)]
    assert jobs(*rows, fields="source_id, job_structure, job_structure_params") == [
        (f"7.{task}", "BoT", "7") for task in (1, 2, 3)
    ]


def test_slave_tasks_are_folded_into_their_master(jobs):
    parallel = {"granted_pe": "mpi", "slots": 16}
    rows = [
        row(
            **parallel, **at(None, 12, 60), pe_taskid="1.node02", cpu=600, ru_maxrss=16_000, hostname="node02"
        ),
        row(**parallel, **at(11, 12, 60), pe_taskid="2.node03", cpu=640, ru_maxrss=16_000, hostname="node03"),
        row(**parallel, cpu=40, ru_maxrss=0, maxvmem=0),
    ]
    fields = "submit_time, wait_time, run_time, n_procs, average_cpu_time, used_memory, status"
    for order in (rows, rows[::-1]):
        assert jobs(*order, fields=fields) == [(SUBMITTED, 10, 60, 16, 80, 2000, 1)]
        assert jobs.account() == (3, 1, 2, 0, 0)


def test_cpu_times_of_slave_tasks_are_added_in_one_order_by_any_number_of_threads(jobs):
    used = np.random.default_rng(0).uniform(0, 1000, 3000).round(6).tolist()
    rows = [row(**at(None, 12, 60), pe_taskid=f"{n}.node02", cpu=cpu) for n, cpu in enumerate(used)]
    expected = reduce(add, [0.3, *reversed(used)])
    for _ in range(3):
        assert jobs(row(cpu=0.3), *rows, fields="average_cpu_time") == [(expected,)]


def test_slave_tasks_without_their_master_are_a_job(jobs):
    parallel = {"granted_pe": "mpi", "slots": 16}
    rows = [row(**parallel, **at(None, 12, end), pe_taskid=f"{end}.node02", cpu=160) for end in (50, 60)]
    assert jobs(*rows, fields="wait_time, run_time, n_procs, average_cpu_time") == [(None, 48, 16, 20)]


@pytest.mark.parametrize("first", [{"failed": 25}, {"failed": 24}, {"exit_status": 99}])
def test_the_last_attempt_is_the_job(first, jobs):
    rows = [
        row(**at(0, 10, 30), **first, cpu=10),
        row(**at(0, 20, 25), pe_taskid="1.node02", cpu=1000),
        row(**at(0, 100, 400), cpu=300),
        row(**at(0, 110, 390), pe_taskid="1.node03", cpu=200),
    ]
    fields = "submit_time, wait_time, run_time, average_cpu_time, status, runs"
    runs = "10/20//1///requeued;100/300//1///ended"
    for order in (rows, rows[::-1]):
        assert jobs(*order, fields=fields) == [(SUBMITTED, 10, 300, 500, 1, runs)]
        assert jobs.account() == (4, 1, 3, 0, 0)


def test_an_attempt_without_any_time_belongs_to_its_job(jobs):
    rows = [row(**at(None, None, None), failed=1, ru_wallclock=0, slots=0), row()]
    for order in (rows, rows[::-1]):
        assert jobs(*order) == [(SUBMITTED, 10, 60, 1, 1)]


def test_numbers_begin_again(jobs):
    year = 365 * 86_400
    rows = [
        row(owner="user001"),
        row(owner="user002", **at(year, year + 5, year + 50)),
        row(owner="user002", **at(None, year + 6, year + 40), pe_taskid="1.node02", cpu=7),
        row(owner="user001", **at(None, 12, 60), pe_taskid="1.node02", cpu=3),
    ]
    for order in (rows, rows[::-1]):
        assert jobs(*order, fields="user_id, run_time, average_cpu_time, source_id") == [
            ("user001", 60, 53, "7"),
            ("user002", 45, 57, "7"),
        ]


def test_a_row_that_is_there_twice_is_one_job(jobs):
    assert jobs(row(), row(), row()) == [(SUBMITTED, 10, 60, 1, 1)]
    assert jobs.account() == (3, 1, 2, 0, 0)


def test_the_reporting_file_has_a_row_for_every_midnight(jobs):
    running = {"exit_status": 4294967295}
    rows = [
        "1741600001:new_job:1741600000:7:-1:NONE:run.sh:user042:physics::defaultdepartment:sge:1024",
        "1741600002:acct:" + row(**at(0, 10, 100), **running, cpu=80, ru_maxrss=0),
        "1741600002:job_log:1741600000:deleted:7:0:NONE:T:scheduler:node01:0:1024:1:x:y:z:0:0:sge:done",
        "1741600003:acct:" + row(**at(0, 100, 200), **running, cpu=90, ru_maxrss=0),
        "1741600004:acct:" + row(**at(0, 200, 250), cpu=40, category="-l h_rt=0:5:00"),
        "1741600005:acct:" + row(**at(0, 300, 400), **running, job_number=8),
    ]
    fields = "source_id, wait_time, run_time, average_cpu_time, used_memory, req_time, status"
    assert jobs(*rows, fields=fields) == [
        ("7", 10, 240, 210, 2048, 300, 1),
        ("8", 300, None, 50, 2048, None, None),
    ]
    assert jobs.account() == (6, 2, 2, 0, 2)


# Whatever comes in.


def test_any_value_in_any_column_is_kept_repaired_or_refused(jobs):
    rows = [
        row(48, **{"job_number": 1000 * place + number, column: value})
        for place, column in enumerate(CELLS[:48], 1)
        for number, value in enumerate(VALUES)
    ]
    assert len(jobs(row(), *rows)) > 1000
    assert jobs.account()[0] == 1 + len(rows)


def test_long_lines_and_odd_bytes(jobs):
    long = row(job_name="x" * (1 << 21))
    category = row(job_number=9, category="-l h_rt=60," + ",".join(f"a{n}=0:0" for n in range(300)))
    odd = row(job_number=8).encode().replace(b"user042", b"us\xe9r\x00\xff")
    assert jobs(row(), long, category, odd, fields="source_id, user_id, req_time") == [
        ("7", "user042", None),
        ("8", "us\xe9r \xff", None),
        ("9", "user042", 60),
    ]
    assert jobs.account() == (4, 3, 0, 1, 0)


def test_strictness_names_the_line(jobs):
    with pytest.raises(StrictError, match=r"accounting:2: 1 fields, expected"):
        jobs(row(), "hello", strict=True)


# The real logs, read independently: none of them has a colon inside a field.

SIZES = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "T": 1024**4}
MAPPED = r"([hs]_rt|h_vmem|(m_)?mem_free|virtual_free|arch)="


def by_hand(line):
    """Return the number of a job and, by name, what its row says."""
    cells = line.split(":")
    said = dict(zip(CELLS, cells, strict=False))
    unit = 1000 if len(said["submission_time"]) == 13 or len(said["end_time"]) == 13 else 1
    submit, start, end = (int(said[name]) for name in ("submission_time", "start_time", "end_time"))
    slots, category = max(int(said["slots"]), 1), said["category"]
    asked = {
        key: re.search(rf"[ ,]{key}=([^ ,]+)", category)
        for key in ("h_rt", "h_vmem", "m_mem_free", "mem_free")
    }
    memory = asked["h_vmem"] or asked["m_mem_free"] or asked["mem_free"]
    size = re.fullmatch(r"([\d.]+)(\D?)", memory[1]) if memory else None
    used = float(said.get("maxrss", 0)) / 1024 or float(said["ru_maxrss"]) or float(said["maxvmem"]) / 1024
    others = [one for part in re.findall(r" -l (\S+)", " " + category) for one in part.split(",")]
    platform, pe = re.search(r"arch=([^ ,]+)", category), re.search(r"-pe \S+ (\d+)", category)
    ended = int(said["failed"]), int(said["exit_status"])
    gpus = re.search(r"[ ,]gpu=(\d+)", category)
    known = {
        "submit_time": submit / unit or None,
        "wait_time": (start - submit) / unit if start else None,
        "run_time": (end - start) / unit if start else None,
        "n_procs": slots if start else None,
        "average_cpu_time": pytest.approx(float(said["cpu"]) / slots) if start else None,
        "used_memory": pytest.approx(used / slots) if start else None,
        "req_n_procs": int(pe[1]) if pe else slots,
        "req_time": float(asked["h_rt"][1]) if asked["h_rt"] else None,
        "req_memory": float(size[1]) * SIZES[size[2]] / 1024 if size else None,
        "status": int(ended == (0, 0)),
        "user_id": said["owner"],
        "group_id": said["unix_group"],
        "executable_id": said["job_name"],
        "queue_id": said["qname"],
        "job_structure": "UNITARY",
        "used_resources": f"io_gb:{float(said['io'])}" if float(said["io"]) else None,
        "req_platform": platform[1] if platform else None,
        "req_resources": ",".join(one.replace("=", ":") for one in others if not re.match(MAPPED, one))
        or None,
        "project_id": said["project"] if said["project"] != "NONE" else None,
        "n_nodes": 1 if start and said["granted_pe"] == "NONE" else None,
        "node_list": said["hostname"] if start and (said["granted_pe"] == "NONE" or slots == 1) else None,
        "n_gpus": float(gpus[1]) if gpus and start else None,
        "req_gpus": float(gpus[1]) if gpus else None,
        "exit_code": ended[1] if start else None,
        "max_memory": pytest.approx(used) if start else None,
    }
    return said["job_number"], end, tuple(known.get(name) for name in NAMES[1:])


@pytest.mark.logs
@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("uge820-accounting", (25, 16, 5, 0, 4)),
        ("apel-sge-lines.txt", (7, 5, 2, 0, 0)),
        ("xdmod-sge-accounting.log", (2, 1, 1, 0, 0)),
        ("xdmod-uge-accounting.log", (2, 2, 0, 0, 0)),
    ],
)
def test_every_field_of_real_logs_is_as_a_few_lines_of_python_read_it(name, found, logs):
    path = logs / "gridengine" / name
    rows = [by_hand(line) for line in path.read_text().splitlines() if not line.startswith("#")]
    expected = {number: fields for number, _, fields in sorted(rows, key=lambda one: one[1])}
    with open_trace([path]) as store:
        account = store.account
        assert store.provenance["format"] == "sge"
        assert (account.rows, account.jobs, account.folded, account.rejected, account.comments) == found
        assert store.rows("select * from rejects") == store.rows("select * from repairs") == []
        rows = store.rows("select source_id, jobs.* exclude job_id from jobs join source_ids using (job_id)")
    assert {number: tuple(fields) for number, *fields in rows} == expected


# GPUs, nodes, and what else is recorded beside the 29 fields.

GPUS_ASKED = {
    "-l gpu=2,h_rt=60": (2, 2, None),
    "-l h_rt=60,ngpus=1,gpu_type=v100 -pe smp 4": (1, 1, "v100"),
    "-l NUM_GPUS=3": (3, 3, None),
    "-l hard gpus=0.25 -pe smp 4": (1, 1, None),
    "-l a=b -soft -l gpu=4": (None, None, None),
    "-l gpu=0": (0, 0, None),
    "-l gpu_model=a100": (None, None, "a100"),
    "-l cpu=2,xgpu=3,gpu=x": (None, None, None),
}


def test_gpus_are_those_of_hard_requests(jobs):
    rows = [a(category=text, slots=4 if "-pe" in text else 1, granted_pe="smp") for text in GPUS_ASKED]
    found = jobs.each(*rows, fields="n_gpus, req_gpus, gpu_type")
    assert [tuple(values) for values in found] == list(GPUS_ASKED.values())
    assert jobs(row(category="-l gpu=2", **at(0, None, None)), fields="n_gpus, req_gpus") == [(None, 2)]


def test_gpus_may_be_asked_for_by_slot(jobs):
    one = row(category="-l gpu=2 -pe smp 4", slots=4, granted_pe="smp")
    for wishes, found in (({}, 2), ({"gpus_per": "job"}, 2), ({"gpus_per": "slot"}, 8)):
        assert jobs(one, fields="n_gpus, req_gpus", format_options=wishes) == [(found, found)]


def test_nodes_exit_codes_and_the_peak_of_memory(jobs):
    rows = [
        a(exit_status=137, failed=100),
        a(granted_pe="mpi", slots=4, exit_status=1),
        a(exit_status=70_000, ru_maxrss=0, maxvmem=0),
        a(**at(0, None, None)),
    ]
    fields = "n_nodes, exit_code, max_memory, energy, state, qos, eligible_time"
    nothing = [None] * 4
    assert jobs.each(*rows, fields=fields) == [
        [1, 137, 2048, *nothing],
        [None, 1, 2048, *nothing],
        [1, None, None, *nothing],
        [None, None, None, *nothing],
    ]


# What qacct prints: the same mapping.


def local(seconds):
    """Return a time as qacct prints it in UTC."""
    return time.strftime("%a %b %d %H:%M:%S %Y", time.gmtime(SUBMITTED + seconds))


PRINTED = {
    "qname": "all.q", "hostname": "node01.example.org", "group": "physics", "owner": "user042",
    "jobname": "run.sh", "jobnumber": 7,
    "taskid": "undefined", "qsub_time": local(0), "start_time": local(10), "end_time": local(70),
    "granted_pe": "NONE", "slots": 1, "failed": 0, "exit_status": 0, "ru_wallclock": 60, "ru_maxrss": 2048,
    "cpu": "50.0", "maxvmem": "4.000M",
}  # fmt: skip


def printed(**said):
    lines = [f"{key:<12} {value}" for key, value in {**PRINTED, **said}.items() if value is not None]
    return "\n".join(["=" * 62, *lines])


@pytest.fixture
def blocks(tmp_path):
    with Written(tmp_path / "jobs.qacct", "sge-qacct") as written:
        yield written


def test_a_job_that_qacct_prints_is_as_in_the_accounting_file(jobs, blocks):
    for said in (
        {},
        {"exit_status": 137, "failed": 100, "slots": 4, "granted_pe": "mpi"},
        {"cpu": "3.5", "project": "wings", "category": "-l gpu=2,h_rt=90 -q long.q"},
    ):
        every = "jobs.* exclude (job_id)"
        assert jobs(row(**said), fields=every) == blocks(printed(**said), fields=every)


# What version 9 writes as JSON: the same mapping.


OF_USAGE = {
    "ru_wallclock": "rusage",
    "ru_maxrss": "rusage",
    "cpu": "usage",
    "maxvmem": "usage",
    "io": "usage",
}


def as_json(**said):
    """Return a row as version 9 writes it: times in microseconds, what was used by itself."""
    used: dict[str, dict[str, float]] = {"rusage": {}, "usage": {}}
    record: dict[str, object] = {"usage": used}
    for name, value in {**USUAL, **said}.items():
        if name in OF_USAGE:
            used[OF_USAGE[name]][name] = float(value)
        elif name.endswith("_time"):
            record[name] = int(value * 1_000_000)
        elif name != "qdel_info":
            record["group" if name == "unix_group" else name] = int(value) if name == "job_number" else value
    if {**USUAL, **said}["qdel_info"] != "NONE":
        record["deleted_by"] = said["qdel_info"]
    return json.dumps({"task_number": 0, "failed": 0, "exit_status": 0, **record})


@pytest.fixture
def records(tmp_path):
    with Written(tmp_path / "accounting.jsonl", "sge-json") as written:
        yield written


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.fixed_dictionaries(
            {
                "job_number": st.integers(1, 3),
                "wait": st.integers(0, 500),
                "run": st.integers(1, 5000),
                "slots": st.integers(1, 64),
                "failed": st.sampled_from([0, 25, 100]),
                "exit_status": st.sampled_from([0, 1, 137]),
                "qdel_info": st.sampled_from(["NONE", "user042@login1"]),
                "category": st.sampled_from(["NONE", "-l gpu=2,h_rt=90", "-pe mpi 4-16"]),
            }
        ),
        min_size=1,
        max_size=6,
    )
)
def test_the_same_jobs_come_out_of_text_and_of_json(rows, jobs, records):
    """Jobs of several attempts among them; whole seconds, since the text holds no others."""
    said = []
    for row_ in rows:
        start = SUBMITTED + row_["wait"]
        fields = {name: value for name, value in row_.items() if name not in {"wait", "run"}}
        said.append({**fields, "start_time": start, "end_time": start + row_["run"]})
    every = "jobs.* exclude (job_id)"
    of_text = jobs(*(row(52, **one) for one in said), fields=every)
    assert records(*(as_json(**one) for one in said), fields=every) == of_text


def test_who_ended_a_job_beyond_its_limit_did_not_cancel_it(records, blocks):
    ended = {"failed": 37, "exit_status": 137}
    assert records(as_json(**ended, qdel_info="execd@node7"), fields="status") == [(0,)]
    assert records(as_json(**ended, qdel_info="user042@login1"), fields="status") == [(5,)]
    assert blocks(printed(**ended, deleted_by="execd@node7"), fields="status") == [(0,)]


@pytest.mark.parametrize(
    ("said", "field", "value"),
    [
        (
            {"end_time": "2025-03-10 09:47:55.500000", "start_time": "2025-03-10 09:46:50.000000"},
            "run_time",
            65.5,
        ),
        ({"ru_maxrss": "1.500GB"}, "max_memory", 1.5 * 1024**2),
        ({"ru_maxrss": "512.0KB"}, "max_memory", 512),
        ({"ru_maxrss": 0, "maxvmem": "2.000G"}, "max_memory", 2 * 1024**2),
        ({"maxrss": "12.000M"}, "max_memory", 12 * 1024),
        ({"maxrss": "1024.000B"}, "max_memory", 1),
        ({"ru_maxrss": "NONE", "maxvmem": "NONE"}, "max_memory", None),
        ({"cpu": "12.5s"}, "average_cpu_time", 12.5),
        ({"io": "0.500"}, "used_resources", "io_gb:0.5"),
        ({"io": "512.0M"}, "used_resources", "io_gb:0.5"),
        ({"exit_status": "137                  (Killed)"}, "exit_code", 137),
        ({"failed": "100 : assumedly after job"}, "status", 0),
        ({"failed": "100 : assumedly after job", "deleted_by": "user042"}, "status", 5),
        ({"start_time": "-/-", "end_time": "-/-", "ru_wallclock": 0}, "run_time", None),
        ({"end_time": "-/-"}, "run_time", 60),
        ({"end_time": "03/10/2025 09:47:55.500"}, "run_time", 65.5),
        ({"taskid": 3}, "source_id", "7.3"),
    ],
)
def test_what_qacct_prints(said, field, value, blocks):
    assert blocks(printed(**said), fields=field) == [(value,)]


def test_the_total_behind_the_blocks_is_no_job(blocks):
    total = f"Total System Usage\n    WALLCLOCK  UTIME\n{'=' * 114}\n       60  50.0"
    assert blocks("no job", printed(maxvmem="1.000G"), total, fields="source_id, status") == [("7", 1)]
    assert blocks.account() == (3, 1, 0, 1, 1)
    assert blocks.rejects() == [(1, "no record begins here")]


def by_hand_of_qacct(block):
    """Return the number of a job and, by name, what its block says."""
    said = {key: value.strip() for key, value in re.findall(r"(?m)^([a-z_]+) +(.*)$", block)}
    stamps = [said[name] for name in ("qsub_time", "start_time", "end_time")]
    submit, start, end = (None if one == "-/-" else calendar.timegm(time.strptime(one)) for one in stamps)
    slots, category = int(said["slots"]), said.get("category", "")
    failed, code = int(said["failed"].split()[0]), int(said["exit_status"].split()[0])
    peak = re.match(r"([\d.]+)(\D?)", said.get("maxrss", said["ru_maxrss"]))
    assert peak
    memory = float(peak[1]) * {"": 1, "M": 1024, "G": 1024**2}[peak[2]]
    asked = dict(pair.split("=") for part in re.findall(r"-l (\S+)", category) for pair in part.split(","))
    gpus = float(asked["gpu"]) if "gpu" in asked else None
    size = re.match(r"(\d+)G", asked.get("h_vmem", ""))
    others = {key: value for key, value in asked.items() if not re.match(MAPPED, f"{key}=")}
    task = said["taskid"]
    known = {
        "submit_time": submit,
        "wait_time": start - submit if start else None,
        "run_time": end - start if start else None,
        "n_procs": slots if start else None,
        "average_cpu_time": float(said["cpu"].rstrip("s")) / slots if start else None,
        "used_memory": memory / slots if start else None,
        "req_n_procs": slots,
        "req_time": float(asked["h_rt"]) if "h_rt" in asked else None,
        "req_memory": float(size[1]) * 1024**2 if size else None,
        "status": 1 if failed == code == 0 else 5 if "deleted_by" in said else 0,
        "user_id": said["owner"],
        "group_id": said["group"],
        "executable_id": said["jobname"],
        "queue_id": said["qname"],
        "job_structure": "UNITARY" if task == "undefined" else "BoT",
        "job_structure_params": None if task == "undefined" else said["jobnumber"],
        "used_resources": f"io_gb:{float(said['io'])}" if float(said["io"]) else None,
        "req_platform": asked.get("arch"),
        "req_resources": ",".join(f"{key}:{value}" for key, value in others.items()) or None,
        "n_nodes": 1 if start and said["granted_pe"] == "NONE" else None,
        "node_list": said["hostname"] if start and (said["granted_pe"] == "NONE" or slots == 1) else None,
        "n_gpus": gpus if start else None,
        "req_gpus": gpus,
        "gpu_type": asked.get("gpu_type"),
        "exit_code": code if start else None,
        "max_memory": memory if start else None,
    }
    number = said["jobnumber"] if task == "undefined" else f"{said['jobnumber']}.{task}"
    return number, tuple(known.get(name) for name in NAMES[1:])


def test_every_field_of_the_sample_of_qacct_is_as_a_few_lines_of_python_read_it(sample):
    path = sample / "sge-qacct" / "jobs.qacct"
    blocks = re.split(r"(?m)^={62}$", path.read_text().split("Total")[0])[1:]
    expected = dict(by_hand_of_qacct(block) for block in blocks if "pe_taskid" not in block)
    with open_trace([path]) as store:
        rows = store.rows("select source_id, jobs.* exclude job_id from jobs join source_ids using (job_id)")
        assert store.account.folded == len(blocks) - len(expected) == 1
    found = {number: tuple(fields) for number, *fields in rows}
    # Of the parallel job with a slave task the usage of both counts.
    summed = dict(zip(NAMES[1:], found.pop("808"), strict=True))
    assert (summed["average_cpu_time"], summed["max_memory"], summed["n_nodes"]) == (400, 40960, None)
    expected.pop("808")
    assert found == expected
