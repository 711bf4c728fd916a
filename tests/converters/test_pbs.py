"""PBS, OpenPBS and Torque: accounting records joined to jobs."""

import calendar
import json
import re
import time

import pytest

from gwa.errors import StrictError, TraceError
from gwa.formats.open import open_trace
from gwa.store.schema import NAMES
from tests.mutation import VALUES
from tests.written import FIELDS, Written

CREATED = 1_741_600_000
USUAL = {
    "user": "user042", "group": "physics", "jobname": "run", "queue": "workq", "ctime": CREATED,
    "qtime": CREATED, "start": CREATED + 10, "exec_host": "node01/0*4", "Resource_List.ncpus": 4,
    "Resource_List.walltime": "01:00:00", "end": CREATED + 70, "Exit_status": 0,
    "resources_used.cput": "00:03:20", "resources_used.mem": "8192kb", "resources_used.walltime": "00:01:00",
}  # fmt: skip
STARTED = [name for name in USUAL if name not in {"end", "Exit_status"} and "used" not in name]


def record(kind="E", number="7.server", stamp="03/10/2025 10:00:00", **said):
    """Return a record; names of PBS in which signs are replaced by _, and None for what is not there."""
    names = STARTED if kind == "S" else USUAL if kind == "E" else []
    given = {name.replace(".", "_"): value for name, value in ((name, USUAL[name]) for name in names)}
    given |= {name.rstrip("_"): value for name, value in said.items()}
    dotted = {name: re.sub(r"^(Resource_List|resources_used)_", r"\1.", name) for name in given}
    pairs = [f"{dotted[name]}={value}" for name, value in given.items() if value is not None]
    return f"{stamp};{kind};{number};{' '.join(pairs)}"


def e(**said):
    """Return a function from the number of a job to the record of its end."""
    return lambda number: record(number=f"{number}.server", **said)


@pytest.fixture
def jobs(tmp_path):
    with Written(tmp_path / "20250310", "pbs") as written:
        yield written


# Records and their pairs.


def test_an_end_says_all_of_a_job(jobs):
    fields = f"{FIELDS}, average_cpu_time, used_memory, req_n_procs, req_time, user_id, group_id, queue_id"
    assert jobs(record(), fields=fields) == [
        (CREATED, 10, 60, 4, 1, 50, 2048, 4, 3600, "user042", "physics", "workq")
    ]


def test_values_in_quotes_may_hold_blanks(jobs):
    rows = [
        e(account='"wind tunnel"'),
        e(account="'a b'"),
        e(account='"a'),
        e(account='a"b"'),
        e(account='""'),
    ]
    found = jobs.each(*rows, fields="project_id, run_time")
    assert found == [["wind tunnel", 60], ["a b", 60], ['"a', 60], ['a"b"', 60], ["", 60]]


def test_names_are_kept_whatever_they_are(jobs):
    names = ["a=b", "x;y", "<script>", "';--", "123", "end=5"]
    assert jobs.each(*(e(jobname=name) for name in names), fields="executable_id, run_time") == [
        [name, 60] for name in names
    ]


@pytest.mark.parametrize("more", ["", 'account="a b" '])
def test_names_of_groups_may_hold_blanks_without_quotes(more, jobs):
    text = record(group="domain users", project="my lab").replace("queue=", f"{more}queue=")
    found = jobs(text, record(number="8.server"), fields="group_id, project_id, queue_id")
    assert found == [("domain users", "a b" if more else "my lab", "workq"), ("physics", None, "workq")]


def test_a_deletion_after_the_end_changes_nothing(jobs):
    late = record("D", stamp="03/10/2025 13:00:00", requestor="user042")
    early = record("D", stamp="03/10/2025 09:59:00", requestor="user042")
    assert jobs(record(Exit_status=1), late, fields="status") == [(0,)]
    assert jobs(early, record(Exit_status=1), fields="status") == [(5,)]
    assert jobs(early, record(Exit_status=1), late, fields="status") == [(5,)]


def test_a_whole_array_that_ended_without_a_start_did_not_run(jobs):
    nothing = {"resources_used_walltime": None, "resources_used_cput": None, "resources_used_mem": None}
    array = record(number="7[].server", start=0, **nothing)
    assert jobs(array, fields="n_procs, run_time, n_nodes, status") == [(None, None, None, 1)]


@pytest.mark.parametrize("letter", "BF")
def test_an_array_whose_tasks_are_not_listed_holds_what_nobody_knows(letter, tmp_path):
    """Its start is that of its first task; how many there were, and for how long, it does not say."""
    array = {
        "Job_Owner": "ada@login", "job_state": letter, "array": "True", "queue": "workq",
        "ctime": "Mon Mar  2 08:00:00 2026", "stime": "Mon Mar  2 08:01:00 2026",
        "obittime": "Mon Mar  2 09:01:00 2026", "Exit_status": 0, "Resource_List": {"ncpus": 2},
    }  # fmt: skip
    path = tmp_path / "jobs.json"
    path.write_text(json.dumps({"pbs_version": "22.05", "Jobs": {"15[].pbs": array}}))
    with open_trace([path]) as store:
        rows = store.rows("select wait_time, run_time, n_procs, req_n_procs from jobs")
        assert rows == [(None, None, None, 2)]
        assert ("tasks of an array", 1) in store.rows("select name, jobs from repairs")


def test_a_record_may_be_torn_by_a_line_break(jobs):
    whole = record()
    place = whole.index(" Resource_List")
    assert jobs(whole[:place], whole[place + 1 :], record(number="8")) == [(CREATED, 10, 60, 4, 1)] * 2
    assert jobs.account() == (2, 2, 0, 0, 0)


def test_a_line_may_hold_several_records(jobs):
    assert jobs(record() + record(number="8") + " " + record(number="9")) == [(CREATED, 10, 60, 4, 1)] * 3
    assert jobs.account() == (3, 3, 0, 0, 0)
    assert len(jobs(record() * 3 + record(number="8"))) == 2
    assert jobs.account() == (4, 2, 2, 0, 0)


def test_what_is_no_record_is_refused_with_its_line(jobs):
    rest = ["no pairs", record(), "nor here", record(number=""), "", record(number="8"), *["x=y"] * 120]
    assert jobs(*rest, fields="source_id") == [("7.server",), ("8",)]
    found = dict(jobs.rejects())
    assert found.keys() == {1, 3, 4, *range(106, 127)}
    assert (found[1], found[4]) == ("no record begins here", "no number of a job")
    assert jobs.account() == (27, 2, 0, 24, 1)


def test_records_of_other_things_are_comments(jobs):
    others = [record(kind, "R1.server") for kind in "LBUYFKk"]
    assert len(jobs(*others, record())) == 1
    assert jobs.account() == (8, 1, 0, 0, 7)
    with pytest.raises(TraceError, match="no job in it"):
        jobs(*others)


def test_strictness_names_the_line(jobs):
    with pytest.raises(StrictError, match="20250310:2: no number of a job"):
        jobs(record(), record(number=""), strict=True)


# Times.


def test_what_stands_in_for_a_time_that_is_missing(jobs):
    rows = [
        e(ctime=None),
        e(start=None),
        e(end=None),
        e(start=None, end=None, resources_used_walltime="90"),
        e(start=0, resources_used_walltime=None),
        e(end=CREATED + 5),
        e(end=CREATED - 9000),
    ]
    # The stamp of these records is four hours after the creation of the job.
    late = 1_741_600_800 - CREATED - 10
    assert jobs.each(*rows, fields="submit_time, wait_time, run_time") == [
        [CREATED, 10, 60],
        [CREATED, None, 60],
        [CREATED, 10, late],
        [CREATED, None, 90],
        [CREATED, None, None],
        [CREATED, 10, 0],
        [CREATED, 10, 60],
    ]


def test_stamps_are_of_local_time(jobs):
    rows = [record("Q", queue="workq"), record("D", requestor="user042")]
    assert jobs(*rows, fields="submit_time") == [(1_741_600_800,)]
    assert jobs(*rows, fields="submit_time", system={"zone": "America/New_York"}) == [(1_741_615_200,)]
    with pytest.raises(TraceError, match="has a submit time or a run time"):
        jobs(record("Q", stamp="99/99/2025 10:00:00"), fields="submit_time")


def test_durations(jobs):
    texts = {
        "00:00:30": 30, "100:00:00": 360_000, "45": 45, "1:30": 90, "": None, "long": None, "1:x:0": None,
    }  # fmt: skip
    rows = [e(Resource_List_walltime=text) for text in texts]
    assert jobs.each(*rows, fields="req_time") == [[seconds] for seconds in texts.values()]


def test_sizes(jobs):
    sizes = {
        "2048kb": 2048, "1gb": 1024**2, "12.5M": 12_800, "1TB": 1024**3, "2048b": 2, "2048": 2, "512w": 4,
        "1kw": 8, "0kb": None, "": None, "big": None,
    }  # fmt: skip
    rows = [e(Resource_List_pmem=size) for size in sizes]
    assert jobs.each(*rows, fields="req_memory") == [[kilobytes] for kilobytes in sizes.values()]


def test_memory_is_asked_for_by_processor_or_in_all(jobs):
    rows = [e(Resource_List_mem="4gb"), e(Resource_List_mem="4gb", Resource_List_pmem="2gb")]
    assert jobs.each(*rows, fields="req_memory") == [[1024**2], [2 * 1024**2]]


# Processors.


def test_processors_are_those_of_the_hosts(jobs):
    hosts = {
        "n1/0+n1/1+n2/0": 3, "n1/0-7": 8, "n1/0,2,4-6": 5, "n1/0*8+n2/0*4": 12, "n1/0": 1, "n1": 1,
        "c-1/0*2": 2, "n1/0*0": 4, "": 4, None: 4, "n1/0*99999999999999999999": None, "n1/7-0": None,
    }  # fmt: skip
    rows = [e(exec_host=text) for text in hosts]
    assert jobs.each(*rows, fields="n_procs") == [[count] for count in hosts.values()]


def test_processors_asked_for(jobs):
    def asked(**said):
        return e(exec_host=None, **{"Resource_List_ncpus": None, **said})

    rows = {
        asked(Resource_List_nodes="4:ppn=8:big"): 32,
        asked(Resource_List_nodes="2:ppn=4+1:ppn=2", Resource_List_ncpus=1): 10,
        asked(Resource_List_nodes="n1:ppn=4+n2.example.org"): 5,
        asked(Resource_List_nodes="3"): 3,
        asked(Resource_List_select="2:ncpus=8:mem=4gb+1:ncpus=1", Resource_List_ncpus=17): 17,
        asked(Resource_List_select="5"): 5,
        asked(Resource_List_procs=12): 12,
        asked(Resource_List_ncpus=6): 6,
        asked(): None,
    }
    assert jobs.each(*rows, fields="req_n_procs, n_procs") == [[count, count] for count in rows.values()]
    used = asked(Resource_List_nodes="3", resources_used_ncpus=2)
    assert jobs.each(used, fields="req_n_procs, n_procs") == [[3, 2]]


def test_gpus_projects_and_servers(jobs):
    rows = [
        record(number="1.pbs.example.org", Resource_List_ngpus=2, project="_pbs_project_default"),
        record(number="2", Resource_List_gpus=1, project="wings", Resource_List_arch="x86"),
        record(number="3.[h]", project="wings", account="tunnel"),
    ]
    assert jobs(*rows, fields="partition_id, project_id, req_resources, req_platform") == [
        ("pbs.example.org", None, "gpus:2", None),
        (None, "wings", "gpus:1", "x86"),
        ("[h]", "tunnel", None, None),
    ]


# How jobs end.


def test_the_exit_status_decides(jobs):
    ends = {0: 1, 1: 0, 271: 0, 143: 0, -2: 0, 265: 0, None: None, "x": None}
    rows = [e(Exit_status=code) for code in ends]
    assert jobs.each(*rows, fields="status") == [[status] for status in ends.values()]


def test_deleted_and_aborted_jobs(jobs):
    rows = [
        record("Q", "1"), record("D", "1"),
        record("Q", "2"), record("A", "2"),
        record("S", "3"), record("D", "3"), record("E", "3", Exit_status=271),
        record("S", "4"), record("D", "4"), record("E", "4", Exit_status=0),
        record("Q", "5"), record("S", "6"),
    ]  # fmt: skip
    for order in (rows, rows[::-1]):
        found = jobs(*order, fields="source_id, status, wait_time, run_time, n_procs")
        assert sorted(found) == [
            ("1", 5, None, None, None),
            ("2", 0, None, None, None),
            ("3", 5, 10, 60, 4),
            ("4", 1, 10, 60, 4),
            ("5", None, None, None, None),
            ("6", None, 10, None, 4),
        ]
        assert jobs.account() == (12, 6, 6, 0, 0)


def test_the_last_end_counts(jobs):
    rows = [
        record("Q"), record("S"), record("E", Exit_status=1), record("R"),
        record("S", start=CREATED + 100), record("E", start=CREATED + 100, end=CREATED + 400, run_count=2),
    ]  # fmt: skip
    for order in (rows, rows[::-1]):
        assert jobs(*order) == [(CREATED, 10, 300, 4, 1)]
        assert jobs.account() == (6, 1, 5, 0, 0)


AGAIN = "wait_time, run_time, n_procs, status, n_requeues, runs"


def test_a_job_whose_last_run_was_stopped_waits_again(jobs):
    """It holds nothing then, also where it is deleted later; what its run held is kept."""
    run = record("S", run_count=1)
    stopped = record("R", start=CREATED + 10, end=CREATED + 70, exec_host="node01/0*4", ctime=CREATED)
    for rows, status in (([run, stopped], None), ([run, stopped, record("D")], 5), ([stopped], None)):
        assert jobs(*rows, fields=AGAIN) == [(10, None, None, status, 1, "10/60//4///requeued")]


def test_runs_that_the_log_lacks_are_counted_and_the_wait_is_unknown(jobs):
    end = {"start": CREATED + 900, "end": CREATED + 960}
    third = "900/60/////ended"
    assert jobs(record(**end, run_count=3), fields=AGAIN) == [(None, 60, 4, 1, 2, third)]
    second = [record("R", start=CREATED + 10, end=CREATED + 70, ctime=CREATED), record(**end, run_count=3)]
    assert jobs(*second, fields=AGAIN) == [(None, 60, 4, 1, 2, f"10/60/////requeued;{third}")]
    assert jobs(record(**end, run_count=1), fields=AGAIN) == [(900, 60, 4, 1, None, None)]


def test_numbers_begin_again(jobs):
    later = {"ctime": CREATED + 10**7, "start": CREATED + 10**7 + 5, "stamp": "07/04/2025 03:00:00"}
    rows = [
        record("Q"), record(), record("Q", stamp="07/04/2025 02:00:00"), record("S", **later),
        record("D", stamp="07/04/2025 04:00:00"),
        record("E", **later, end=CREATED + 10**7 + 50, Exit_status=271),
    ]  # fmt: skip
    for order in (rows, rows[::-1]):
        assert jobs(*order) == [(CREATED, 10, 60, 4, 1), (CREATED + 10**7, 5, 45, 4, 5)]
        assert jobs.account() == (6, 2, 4, 0, 0)


def test_tasks_of_an_array_are_a_bag_and_the_array_is_no_job(jobs):
    rows = [record("Q", "7[].s"), record(number="7[1].s"), record(number="7[2].s", Exit_status=271)]
    rows += [record("D", "7[].s"), record(number="7[].s", start=None, exec_host=None)]
    fields = "source_id, job_structure, job_structure_params, status, n_procs"
    for order in (rows, rows[::-1]):
        assert jobs(*order, fields=fields) == [("7[1].s", "BoT", "7", 1, 4), ("7[2].s", "BoT", "7", 5, 4)]
        assert jobs.account() == (5, 2, 3, 0, 0)
    assert jobs(record(number="7-1.s"), fields=fields) == [("7-1.s", "BoT", "7", 1, 4)]
    assert jobs(record("Q", "7[].s"), record("D", "7[].s"), fields=fields) == [("7[].s", "BoT", "7", 5, None)]


# Whatever comes in.


def test_any_value_of_any_key_is_kept_repaired_or_refused(jobs):
    keys = [name.replace(".", "_") for name in USUAL]
    keys += ["Resource_List_nodes", "Resource_List_select", "Resource_List_pmem", "run_count"]
    rows = [
        record(number=f"{place}.{number}", **{key: value})
        for number, key in enumerate(keys)
        for place, value in enumerate(
            (*VALUES, "1*2", "0-9223372036854775807", "9223372036854775807:ppn=9", "+", "/")
        )
    ]
    assert len(jobs(*rows)) == len(rows)
    assert jobs.account() == (len(rows), len(rows), 0, 0, 0)


def test_long_lines_and_odd_bytes(jobs):
    odd = record(number="8").encode().replace(b"user042", b"us\xe9r\x00\xff")
    long = record(number="9", exec_host="+".join(f"n{place}/0" for place in range(50_000)))
    assert jobs(record(), record(jobname="x" * (1 << 21)), odd, long, fields="n_procs, user_id") == [
        (4, "user042"),
        (4, "us\xe9r"),
        (50_000, "user042"),
    ]
    assert jobs.account() == (4, 3, 0, 1, 0)


# The real log, read independently.

UNITS = {"kb": 1, "mb": 1024, "M": 1024, "gb": 1024**2}


def seconds(text):
    hours, minutes, rest = map(int, text.split(":"))
    return hours * 3600 + minutes * 60 + rest


def kilobytes(text):
    (unit,) = re.findall("[a-zA-Z]+", text)
    return float(text.removesuffix(unit)) * UNITS[unit]


def placed(exec_host):
    """Return the hosts of a job with the processors that it held of each, the only one without."""
    places = [place.split("/") for place in exec_host.split("+")]
    if len({host for host, _ in places}) == 1:
        return places[0][0]
    if all(place.isdigit() for _, place in places):
        names = [host for host, _ in places]
        return ",".join(f"{name}*{names.count(name)}" for name in sorted(set(names)))
    counted = []
    for host, place in places:
        spans = [span.split("-") for span in place.split(",")]
        cpus = (
            int(place.split("*")[1])
            if "*" in place
            else sum(int(span[-1]) - int(span[0]) + 1 for span in spans)
        )
        counted.append(f"{host}*{cpus}")
    return ",".join(counted)


def by_hand(line):
    """Return the id of a job and, by name, what the record of its end says."""
    _, _, number, text = line.split(";", 3)
    said = dict(pair.split("=", 1) for pair in text.split())
    spans = re.findall(r"/(\d+)(?:-(\d+)|\*(\d+))?", said.get("exec_host", ""))
    counted = sum(
        int(times) if times else int(last or first) - int(first) + 1 for first, last, times in spans
    )
    shape = said.get("Resource_List.select") or said.get("Resource_List.nodes")
    chunk = re.match(r"(\d+):(?:.*:)?(?:ncpus|ppn)=(\d+)", shape) if shape else None
    asked = int(chunk[1]) * int(chunk[2]) if chunk else int(said.get("Resource_List.ncpus", 0)) or None
    cpus = counted or asked
    cput, memory, wanted = (
        said.get(key) for key in ("resources_used.cput", "resources_used.mem", "Resource_List.mem")
    )
    gpus = said.get("Resource_List.ngpus") or said.get("Resource_List.gpu")
    chunk_gpus = re.match(r"(\d+):.*gpus=(\d+)", shape) if shape else None
    all_gpus = int(gpus) if gpus else int(chunk_gpus[1]) * int(chunk_gpus[2]) if chunk_gpus else None
    hosts = {place.split("/")[0] for place in said["exec_host"].split("+")} if "exec_host" in said else ()
    code = int(said["Exit_status"])
    project = said.get("account") or said.get("project")
    known = {
        "submit_time": float(said["ctime"]),
        "wait_time": float(said["start"]) - float(said["ctime"]),
        "run_time": float(said["end"]) - float(said["start"]),
        "n_procs": cpus,
        "average_cpu_time": seconds(cput) / cpus if cput else None,
        "used_memory": pytest.approx(kilobytes(memory) / cpus) if memory else None,
        "req_n_procs": asked,
        "req_time": seconds(said["Resource_List.walltime"]) if "Resource_List.walltime" in said else None,
        "req_memory": kilobytes(wanted) / asked if wanted else None,
        "status": int(said["Exit_status"] == "0"),
        "user_id": said["user"],
        "group_id": said["group"],
        "executable_id": said["jobname"],
        "queue_id": said["queue"],
        "partition_id": number.partition(".")[2] or None,
        "job_structure": "UNITARY",
        "req_resources": f"gpus:{gpus}" if gpus else None,
        "project_id": None if project == "_pbs_project_default" else project,
        "n_nodes": len(hosts) or int(said.get("Resource_List.nodect", 0)) or None,
        # In the real log, names of hosts were replaced by what no host is called.
        "node_list": placed(said["exec_host"]) if "[" not in said.get("exec_host", "[") else None,
        "n_gpus": all_gpus,
        "req_gpus": all_gpus,
        "eligible_time": float(said["etime"]) if "etime" in said else None,
        "exit_code": code - 128 if code > 256 else code if code >= 0 else None,
        "max_memory": kilobytes(memory) if memory else None,
    }
    return number, tuple(known.get(name) for name in NAMES[1:])


@pytest.mark.logs
def test_every_field_of_a_real_log_is_as_a_few_lines_of_python_read_it(logs):
    path = logs / "pbs" / "xdmod-accounting-logs.log"
    expected = dict(by_hand(line) for line in path.read_text().splitlines())
    with open_trace([path]) as store:
        account = store.account
        assert store.provenance["format"] == "pbs"
        assert account.rows == account.jobs == len(expected) == 9
        assert store.rows("select * from rejects") == []
        assert store.rows("select meaning, jobs from repairs") == [
            ("a node_list that is not a valid value was set to missing", 1)
        ]
        rows = store.rows("select source_id, jobs.* exclude job_id from jobs join source_ids using (job_id)")
    assert {number: tuple(fields) for number, *fields in rows} == expected


# GPUs, nodes, and what else is recorded beside the 29 fields.


def test_gpus_are_those_of_the_job_and_totals_are_not_added_to_their_parts(jobs):
    rows = {
        e(Resource_List_ngpus=4, Resource_List_select="2:ncpus=8:ngpus=2:gpu_type=v100"): (4, 4, "v100"),
        e(Resource_List_select="2:ncpus=8:ngpus=2:gpu_model=b+1:ngpus=1:gpu_model=a"): (5, 5, "a,b"),
        e(Resource_List_ngpus=2, exec_vnode="(n1:ncpus=2:ngpus=1)+(n2:ncpus=2:ngpus=1)"): (2, 2, None),
        e(Resource_List_ngpus=2, exec_vnode="(n1:ncpus=2)"): (2, 2, None),
        e(Resource_List_nodes="2:ppn=2:gpus=3"): (6, 6, None),
        e(Resource_List_nodes="1:ppn=2", exec_gpus="n1-gpu/0+n1-gpu/1"): (2, None, None),
        e(Resource_List_gpus="2:exclusive_process", Resource_List_gpu_type="k80"): (2, 2, "k80"),
        e(Resource_List_ngpus=0): (0, 0, None),
        e(Resource_List_ngpus="many"): (None, None, None),
        e(exec_vnode="(n1:ncpus=2)"): (None, None, None),
    }
    found = jobs.each(*rows, fields="n_gpus, req_gpus, gpu_type")
    assert [tuple(values) for values in found] == list(rows.values())
    waits = record("S", "1", start=None, Resource_List_ngpus=2)
    assert jobs(waits, fields="n_gpus, req_gpus, n_nodes") == [(None, 2, None)]


def test_nodes_are_different_hosts_and_on_a_cray_what_it_counts(jobs):
    rows = {
        e(exec_host="n1/0*8+n2/0*4+n1/1*4"): 2,
        e(exec_host="n1/0-7"): 1,
        e(exec_host=None, Resource_List_nodect=3): 3,
        e(exec_host=None): None,
        e(exec_host="login1/0", Resource_List_mppwidth=64, Resource_List_mppnppn=24): 3,
        e(exec_host="login1/0", Resource_List_mppwidth=64): None,
        e(exec_host="login1/0", Resource_List_mppwidth=64, Resource_List_mppnppn=0): None,
    }
    assert jobs.each(*rows, fields="n_nodes") == [[count] for count in rows.values()]


def test_exit_codes_are_those_of_a_shell(jobs):
    codes = {
        0: 0,
        1: 1,
        137: 137,
        255: 255,
        256: None,
        271: 143,
        265: 137,
        -2: None,
        None: None,
        70_000: None,
    }
    rows = [e(Exit_status=code) for code in codes]
    assert jobs.each(*rows, fields="exit_code") == [[code] for code in codes.values()]


def test_what_else_a_record_says(jobs):
    rows = [
        e(etime=CREATED + 7, Resource_List_qos="high", resources_used_energy="0.5"),
        e(resources_used_energy=0, resources_used_mem="0kb"),
    ]
    fields = "eligible_time, qos, energy, max_memory, state, gpu_utilization, gpu_memory"
    assert jobs.each(*rows, fields=fields) == [
        [CREATED + 7, "high", 1_800_000, 8192, None, None, None],
        [None, None, None, None, None, None, None],
    ]


# What qstat prints: the same mapping.

STATES = "source_id, wait_time, run_time, n_procs, status, state, exit_code"


def printed(number="7.s", **said):
    """Return a block of `qstat -f`; None for what is not there."""
    usual = {"Job_Owner": "user042@login1", "job_state": "F", "ctime": "Mon Mar 10 09:46:40 2025"}
    dotted = {
        re.sub(r"^(Resource_List|resources_used)_", r"\1.", name): value
        for name, value in (usual | said).items()
    }
    lines = [f"    {name} = {value}" for name, value in dotted.items() if value is not None]
    return "\n".join([f"Job Id: {number}", *lines, ""])


@pytest.fixture
def blocks(tmp_path):
    with Written(tmp_path / "jobs.qstat", "pbs-qstat") as written:
        yield written


def test_the_same_jobs_are_the_same_as_json_as_text_and_as_records(sample, jobs):
    query = (
        "select source_id, jobs.* exclude (job_id, state, submit_time)"
        " from jobs join source_ids using (job_id)"
        " where source_id not like '7%' order by source_id"
    )
    paths = sample / "pbs-json" / "jobs.json", sample / "pbs-qstat" / "jobs.qstat"
    with open_trace([paths[0]]) as one, open_trace([paths[1]]) as other:
        assert one.rows(query) == other.rows(query) != []
    said = {
        "user": "user001", "group": None, "jobname": "train", "etime": CREATED + 2, "start": CREATED + 60,
        "end": CREATED + 3660, "exec_host": "node01/0*8+node02/0*8", "Resource_List.mem": "16gb",
        "exec_vnode": "(node01:ncpus=8:ngpus=2:mem=8388608kb)+(node02:ncpus=8:ngpus=2:mem=8388608kb)",
        "Resource_List.ncpus": 16, "Resource_List.ngpus": 4, "Resource_List.walltime": "02:00:00",
        "Resource_List.select": "2:ncpus=8:ngpus=2:gpu_model=a100:mem=8gb", "Exit_status": 0,
        "resources_used.cput": "15:06:40", "resources_used.mem": "16777216kb", "resources_used.ncpus": 16,
        "resources_used.walltime": "01:00:00",
    }  # fmt: skip
    jobs(record(number="601.pbs1", **said))
    with open_trace([paths[0]]) as one:
        assert jobs.stores[-1].rows(query) == one.rows(f"from ({query}) where source_id = '601.pbs1'")


def test_what_became_of_a_job_that_qstat_tells_of(blocks):
    start = {"stime": "Mon Mar 10 09:46:50 2025", "exec_host": "n1/0*4"}
    wall = {**start, "resources_used_walltime": "00:01:00"}
    end = {**start, "obittime": "Mon Mar 10 09:47:50 2025"}
    rows = [
        printed("1", **wall, Exit_status=0, substate=92), printed("2", **end, Exit_status=3, substate=93),
        printed("3", **wall, Exit_status=271, substate=91),
        printed("4", **wall, Exit_status=271, substate=93),
        printed("5", substate=91), printed("6", Exit_status=-1), printed("7", job_state="R", **wall),
        printed("8", job_state="Q"), printed("9", job_state="C", Exit_status=271),
    ]  # fmt: skip
    assert blocks(*rows, fields=STATES) == [
        ("1", 10, 60, 4, 1, "F", 0),
        ("2", 10, 60, 4, 0, "F", 3),
        ("3", 10, 60, 4, 5, "F", 143),
        ("4", 10, 60, 4, 0, "F", 143),
        ("5", None, None, None, 5, "F", None),
        ("6", None, None, None, 0, "F", None),
        ("7", 10, None, 4, None, "R", None),
        ("8", None, None, None, None, "Q", None),
        ("9", None, None, None, 5, "C", None),
    ]


def test_times_that_qstat_prints_are_local(blocks):
    row = printed(ctime="Sat Mar  1 00:00:05 2025", job_state="Q")
    assert blocks(row, fields="submit_time") == [(1_740_787_205,)]
    assert blocks.stores[-1].rows("select name, jobs from repairs") == [("no time zone", 1)]
    assert blocks(row, fields="submit_time", system={"zone": "America/New_York"}) == [(1_740_805_205,)]
    assert blocks.stores[-1].rows("select name, jobs from repairs") == []


def test_lines_that_are_wrapped_are_joined_without_a_blank(blocks):
    hosts = "+".join(f"node{number:03}/0*2" for number in range(300))
    text = printed(exec_host=hosts, stime="Mon Mar 10 09:46:50 2025", queue="workq")
    wrapped = "\n".join(
        line[:78] + "".join(f"\n\t{line[at : at + 70]}" for at in range(78, len(line), 70))
        for line in text.splitlines()
    )
    assert blocks("no job", wrapped, fields="n_procs, n_nodes, queue_id") == [(600, 300, "workq")]
    assert blocks.rejects() == [(1, "no record begins here")]


def by_hand_of_json(number, said):
    """Return by name what a job of `qstat -F json` says."""

    def at(name):
        return calendar.timegm(time.strptime(said[name])) if name in said else None

    wanted, used = said["Resource_List"], said.get("resources_used", {})
    start, over = at("stime"), said["job_state"] in "FX"
    code = said.get("Exit_status")
    procs = used.get("ncpus") or sum(map(int, re.findall(r"ncpus=(\d+)", said.get("exec_vnode", ""))))
    wall = seconds(used["walltime"]) if used else at("obittime") - start if start and over else None
    ran = start is not None
    gpus = sum(map(int, re.findall(r"ngpus=(\d+)", said.get("exec_vnode", ""))))
    memory = kilobytes(used["mem"]) if used and over else None
    array = re.match(r"\d+(?=\[)", number)
    return {
        "submit_time": at("ctime"),
        "wait_time": start - at("ctime") if ran else None,
        "run_time": wall if ran and over else None,
        "n_procs": procs if ran else None,
        "average_cpu_time": seconds(used["cput"]) / procs if used and over else None,
        "used_memory": memory / procs if memory else None,
        "req_n_procs": wanted.get("ncpus", 64),
        "req_time": seconds(wanted["walltime"]),
        "req_memory": kilobytes(wanted["mem"]) / wanted["ncpus"] if "mem" in wanted else None,
        "status": 5 if said["substate"] == 91 else None if not over else int(code == 0),
        "user_id": said["Job_Owner"].split("@")[0],
        "executable_id": said["Job_Name"],
        "queue_id": said["queue"],
        "partition_id": "pbs1",
        "job_structure": "BoT" if array else "UNITARY",
        "job_structure_params": array[0] if array else None,
        "req_resources": f"gpus:{wanted['ngpus']}" if "ngpus" in wanted else None,
        "n_nodes": len(set(re.findall(r"node\d+", said["exec_host"]))) if ran else None,
        "node_list": placed(said["exec_host"]) if ran else None,
        "n_gpus": gpus or None,
        "req_gpus": wanted.get("ngpus"),
        "gpu_type": "a100" if "a100" in wanted["select"] else None,
        "eligible_time": at("etime"),
        "state": said["job_state"],
        "exit_code": None if code is None or code < 0 or not ran else code - 128 if code > 256 else code,
        "max_memory": memory,
    }


def test_every_field_of_json_is_as_a_few_lines_of_python_read_it(sample):
    path = sample / "pbs-json" / "jobs.json"
    told = json.loads(path.read_text())["Jobs"]
    expected = {
        number: tuple(by_hand_of_json(number, said).get(name) for name in NAMES[1:])
        for number, said in told.items()
        if "[]" not in number
    }
    with open_trace([path]) as store:
        assert store.account.rows == len(told) == len(expected) + store.account.folded == 12
        rows = store.rows("select source_id, jobs.* exclude job_id from jobs join source_ids using (job_id)")
    assert {number: tuple(fields) for number, *fields in rows} == expected


@pytest.mark.parametrize(
    ("said", "processors"),
    [
        ({"Resource_List_mppwidth": "64"}, 64),
        ({"Resource_List_mppwidth": "64", "Resource_List_mppnppn": "32"}, 64),
        ({"Resource_List_mppwidth": "16", "Resource_List_mppdepth": "4"}, 64),
        ({"Resource_List_mppwidth": "0"}, 1),
    ],
)
def test_processors_of_a_cray_are_its_processing_elements(said, processors, jobs):
    assert jobs(record(exec_host="login1/0", **said), fields="n_procs") == [(processors,)]


def test_a_submission_that_only_a_stamp_tells_has_no_zone(jobs):
    rows = [record("Q", queue="workq"), record("D", requestor="user042")]
    for system, said in ((None, [("no time zone", 1)]), ({"zone": "UTC"}, [])):
        jobs(*rows, system=system)
        assert jobs.stores[-1].rows("select name, jobs from repairs") == said


BROKEN = r"""{
    "timestamp":1601300000,
    "pbs_version":"20.0.0",
    "Jobs":{
        "60.pbs1":{
            "Job_Name":007,
            "Job_Owner":"u60@login",
            "job_state":"F",
            "ctime":"Mon Sep 28 10:00:00 2020",
            "stime":"Mon Sep 28 10:01:00 2020",
            "Variable_List":{"HOME":"/home/u1","A":"\'\"x\"\'","B":"a\,c",
                "C":.123,
                "D":005},
            "comment":"Job run "fast" at Mon",
            "resources_used":{"ncpus":4,"walltime":"00:05:00"},
            "Exit_status":0
        },
    "Jobs":{
        "61.pbs1":{
            "Job_Name":"STDIN",
            "Job_Owner":"u61@login",
            "job_state":"F",
            "ctime":"Mon Sep 28 10:00:00 2020",
            "stime":"Mon Sep 28 10:01:00 2020",
            "resources_used":{"ncpus":2,"walltime":"00:06:00"},
            "Exit_status":0
        }
    }
}
"""
"""As versions of OpenPBS before 20 print it: #1255, #585, #830, #2049."""


def test_what_old_versions_of_qstat_print_is_read_as_it_was_meant(tmp_path):
    path = tmp_path / "jobs.json"
    path.write_text(BROKEN)
    with open_trace([path]) as store:
        assert (store.account.jobs, store.account.rejected) == (2, 0)
        rows = store.rows(
            "select user_id, executable_id, run_time, n_procs, status from jobs order by job_id"
        )
    assert rows == [("u60", "007", 300, 4, 1), ("u61", "STDIN", 360, 2, 1)]
