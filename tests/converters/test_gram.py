"""What Globus GRAM writes of jobs: gatekeeper lines, audit records, scheduler events."""

import csv
import re
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gwa.formats.open import open_trace, recognise
from gwa.ingest.source.head import FileHead
from gwa.store.options import ReadOptions
from gwa.store.schema import NAMES
from tests.conftest import HOME
from tests.written import Written

SAMPLES = {
    "gatekeeper": HOME / "sample_traces" / "gatekeeper" / "gram-gatekeeper.log",
    "gram-audit": HOME / "sample_traces" / "gram-audit" / "site.gramaudit",
    "seg": HOME / "sample_traces" / "seg" / "pbs.seg",
}


class Jobs:
    """Reads texts of a format and returns fields of their jobs, with the stores."""

    def __init__(self, folder):
        self.folder, self.stores = folder, []

    def __call__(self, text, fields, kind, table="jobs", **wishes):
        path = self.folder / "log"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        self.stores.append(open_trace([path], kind, ReadOptions(**wishes)))
        self.stores[-1].account.check()
        return self.stores[-1].rows(f"select {fields} from {table}")


@pytest.fixture
def jobs(tmp_path):
    """Return a function that reads a text and returns fields of its jobs."""
    found = Jobs(tmp_path)
    yield found
    for store in found.stores:
        store.close()


account, rejects = Written.account, Written.rejects


def remarks(jobs):
    return dict(jobs.stores[-1].rows("select name, jobs from repairs where name <> 'no time zone'"))


def ids(jobs):
    return [row[0] for row in jobs.stores[-1].rows("select source_id from source_ids order by job_id")]


# Gatekeeper lines.

JM = "2010-08-09.16:00:01.0000018423.0000000000"
STARTED = 1_281_369_601.0


def said(*messages, manager=JM):
    return "".join(f"JMA 2010/08/09 16:00:03 GATEKEEPER_JM_ID {manager} {message}\n" for message in messages)


WHOLE = (
    "for /CN=user042 on 192.0.2.17",
    "mapped to grid042 (5042, 1008)",
    "has GRAM_SCRIPT_JOB_ID 90417.b7 manager type pbs",
    "JM exiting",
)


def test_the_lines_of_a_manager_are_a_job(jobs):
    fields = (
        "submit_time, wait_time, run_time, n_procs, status, user_id, group_id, partition_id, orig_site_id"
    )
    expected = [(STARTED, None, None, None, None, "/CN=user042", "1008", "pbs", "192.0.2.17")]
    assert jobs(said(*WHOLE), fields, "gatekeeper") == expected
    assert jobs(said(*WHOLE[::-1]), fields, "gatekeeper") == expected
    assert account(jobs) == (4, 1, 3, 0, 0)
    assert ids(jobs) == ["90417.b7"]
    assert remarks(jobs) == {}


def test_the_lines_of_managers_interleave(jobs):
    others = [
        said(*WHOLE, manager=f"2010-08-09.16:00:01.00000{number}.0000000000") for number in range(10, 60)
    ]
    text = "".join(sorted("".join(others).splitlines(keepends=True), key=lambda line: (line[-12:], line)))
    assert jobs(text, "count(*), count(distinct partition_id), count(user_id)", "gatekeeper") == [(50, 1, 50)]
    assert account(jobs) == (200, 50, 150, 0, 0)


def test_what_is_not_known_of_a_job_is_missing(jobs):
    fields = "submit_time, user_id, group_id, partition_id"
    assert jobs(said("JM exiting"), fields, "gatekeeper") == [(STARTED, None, None, None)]
    assert remarks(jobs) == {"no batch job": 1}
    assert ids(jobs) == [JM]
    assert jobs(said(WHOLE[1]), fields, "gatekeeper") == [(STARTED, "grid042", "1008", None)]


def test_what_follows_a_pipe_is_not_the_id(jobs):
    text = said("has GRAM_SCRIPT_JOB_ID 90417.b7|/home/my out|/home/err manager type pbs")
    assert jobs(text, "partition_id", "gatekeeper") == [("pbs",)]
    assert ids(jobs) == ["90417.b7"]


def test_a_manager_with_several_batch_jobs_is_told(jobs):
    text = said(*(f"has GRAM_SCRIPT_JOB_ID {number} manager type pbs" for number in (9, 10)))
    jobs(text, "1", "gatekeeper")
    assert (account(jobs)[1], remarks(jobs)) == (1, {"several batch jobs": 1})


def test_times_are_local(jobs):
    system = {"zone": "Europe/Amsterdam"}
    assert jobs(said(*WHOLE), "submit_time", "gatekeeper", system=system) == [(STARTED - 7200,)]


def test_other_lines_are_comments_and_bad_ones_rejects(jobs):
    text = (
        "TIME: Mon Aug  9 16:00:00 2010\n\n PID: 7 -- Notice: 5: Authenticated globus user: x\n"
        f"PID: 7 -- Notice: 0: GATEKEEPER_JM_ID {JM} for /CN=on duty on 192.0.2.17\n"
        f"Aug  9 16:00:03 ce7 gatekeeper[7]: {said(WHOLE[2])}"
        "JMA 2010/08/09 16:00:03 GATEKEEPER_JM_ID none JM exiting\nGATEKEEPER_JM_ID \n"
        f"GATEKEEPER_JM_ID {JM.replace('08-09', '13-09')} JM exiting\n"
    )
    assert jobs(text, "user_id, submit_time, partition_id", "gatekeeper") == [
        (None, None, None),
        ("/CN=on duty", STARTED, "pbs"),
    ]
    assert account(jobs) == (8, 2, 1, 2, 3)
    reason = "its job manager's id is not as expected"
    assert rejects(jobs) == [(6, reason), (7, reason)]


@pytest.mark.logs
def test_a_real_gatekeeper_log_agrees_with_an_independent_reading(logs):
    path = logs / "globus" / "gram-gatekeeper-accounting-2010.log"
    known: dict[str, dict[str, str]] = defaultdict(dict)
    for line in path.read_text().splitlines():
        _, _, _, _, manager, message = line.split(" ", 5)
        one = known[manager]
        if message.startswith("for "):
            one["user_id"], _, one["orig_site_id"] = message.removeprefix("for ").rpartition(" on ")
        elif message.startswith("mapped to "):
            one["group_id"] = message.rpartition(", ")[2].rstrip(")")
        elif message.startswith("has "):
            words = message.split()
            one["id"], one["partition_id"] = words[2], words[-1]
    expected = [
        (
            dict.fromkeys(NAMES)
            | one
            | {
                "submit_time": datetime.strptime(manager[:19], "%Y-%m-%d.%H:%M:%S")
                .replace(tzinfo=UTC)
                .timestamp(),
                "job_structure": "UNITARY",
            }
        )
        for manager, one in known.items()
    ]
    with open_trace([path]) as store:
        names = [row[0] for row in store.rows("describe jobs")]
        found = store.rows("select j.*, source_id from jobs as j join source_ids using (job_id)")
        assert (store.account.rows, store.account.jobs, store.account.folded) == (144, 36, 108)
    rows = [dict(zip([*names, "id"], row, strict=True)) | {"job_id": None} for row in found]
    assert len(rows) == 36
    assert sorted(rows, key=str) == sorted(
        ({name: one[name] for name in rows[0]} for one in expected), key=str
    )


# Audit records.

CELLS = {
    "job_grid_id": "https://ce7.example.org:2119/4711/1281362401/", "local_job_id": "90417.b7",
    "subject_name": "/CN=user042", "username": "grid042", "idempotence_id": "NULL",
    "creation_time": "Mon Aug  9 14:00:01 UTC 2010", "queued_time": "Mon Aug  9 14:00:04 UTC 2010",
    "stage_in_grid_id": "NULL", "stage_out_grid_id": "NULL", "clean_up_grid_id": "NULL",
    "globus_toolkit_version": "5.0.1", "resource_manager_type": "pbs", "job_description": "&(count=4)",
    "success_flag": "true", "finished_flag": "true",
}  # fmt: skip
CREATED = 1_281_362_401.0


def audit(*more, width=15, **said):
    cells = [*{**CELLS, **said}.values(), *more][: width + len(more)]
    return ",".join('"' + cell.replace('"', "&quot;") + '"' for cell in cells) + "\n"


def each(jobs, rows, fields):
    """Return fields of the jobs of *rows*, which get different ids, in their order."""
    text = "".join(
        row.replace("4711", f"{number:04}").replace("90417.b7", f"n{number:04}")
        for number, row in enumerate(rows)
    )
    found = jobs(
        text, f"source_id, {fields}", "gram-audit", "jobs join source_ids using (job_id) order by source_id"
    )
    assert [row[0] for row in found] == [f"n{number:04}" for number in range(len(rows))]
    return [row[1:] for row in found]


DESCRIPTIONS = {
    "&(executable=/bin/date)(count=4)": (4, None, None, None, None, "/bin/date"),
    '&( "executable" = "/bin/my date" )( "count" = "4" )( "queue" = "short" )': (
        4, None, None, "short", None, "/bin/my date",
    ),
    "&(Count = 4)(MAX_WALL_TIME=120)(maxMemory=512)(project='my p')": (
        4, 7200.0, 524288.0, None, "my p", None,
    ),
    "&(maxTime=10)(minMemory=1)(host_count=9)": (1, 600.0, 1024.0, None, None, None),
    "&(maxTime=10)(maxWallTime=20)(minMemory=1)(max_memory=2)": (1, 1200.0, 2048.0, None, None, None),
    "+(&(count=2)(queue=a))(&(count=64)(queue=b))": (2, None, None, "a", None, None),
    "&(executable=$(GLOBUSRUN_GASS_URL) # /bin/a)(arguments=-count 8)": (1, None, None, None, None, None),
    "&(environment=(QUEUE none)(count 7))(queue=q)": (1, None, None, "q", None, None),
    "<job><executable>/bin/a</executable><count>16</count><hostCount>2</hostCount>"
    "<queue>long</queue></job>": (
        16, None, None, "long", None, "/bin/a",
    ),
    '<g:job xmlns:g="urn:x"><g:count unit="1"> 16 </g:count><g:maxWallTime>90</g:maxWallTime>'
    "<g:maxMemory>1024</g:maxMemory><g:project>p7</g:project></g:job>": (
        16, 5400.0, 1048576.0, None, "p7", None,
    ),
    "NULL": (1, None, None, None, None, None),
    "&(count=many)": (1, None, None, None, None, None),
    "&(count=99999999999999999999)": (1, None, None, None, None, None),
}  # fmt: skip


def test_job_descriptions(jobs):
    fields = "req_n_procs, req_time, req_memory, queue_id, project_id, executable_id"
    assert each(jobs, [audit(job_description=one) for one in DESCRIPTIONS], fields) == list(
        DESCRIPTIONS.values()
    )


def test_an_audit_record(jobs):
    fields = "submit_time, wait_time, run_time, n_procs, status, user_id, partition_id, last_run_site_id"
    assert jobs(audit(), fields, "gram-audit") == [
        (CREATED, None, None, None, 1, "/CN=user042", "pbs", "ce7.example.org")
    ]
    assert ids(jobs) == ["90417.b7"]


def test_records_of_all_widths_and_orders(jobs):
    first = audit(width=14, subject_name="NULL", username="/CN=user042", idempotence_id="grid042")
    rows = [audit(width=14), audit(), audit("user113"), audit("NULL"), first, audit(subject_name="NULL")]
    users = ["/CN=user042", "/CN=user042", "user113", "/CN=user042", "/CN=user042", "grid042"]
    assert each(jobs, rows, "user_id, status") == [(user, 1) for user in users]


def test_flags(jobs):
    flags = [
        ("true", "true"),
        ("false", "true"),
        ("NULL", "false"),
        ("true", "false"),
        ("t", "t"),
        ("0", "1"),
        ("NULL", "NULL"),
    ]
    rows = [audit(success_flag=success, finished_flag=finished) for success, finished in flags]
    assert each(jobs, rows, "status") == [(1,), (0,), (None,), (None,), (1,), (0,), (None,)]


def test_times_of_audit_records(jobs):
    times = [
        {"creation_time": "Mon Aug 9 14:00:01 UTC 2010"}, {"creation_time": "NULL"},
        {"creation_time": "2010-08-09 14:00:01"}, {"creation_time": "soon", "queued_time": "NULL"},
    ]  # fmt: skip
    found = each(jobs, [audit(**time) for time in times], "submit_time")
    assert found == [(CREATED,), (CREATED + 3,), (CREATED,), (None,)]
    assert remarks(jobs) == {"times": 1, "no time": 1}


def test_a_job_that_was_recorded_twice_is_one(jobs):
    text = (
        audit(success_flag="NULL", finished_flag="false")
        + audit()
        + audit(success_flag="false", finished_flag="NULL")
    )
    assert jobs(text, "status", "gram-audit") == [(1,)]
    assert account(jobs) == (3, 1, 2, 0, 0)


def test_a_description_goes_on_over_several_lines(jobs):
    text = audit() + audit(
        job_grid_id="https://a/2", job_description='&(executable=a)\n(count=8)\n(queue="q")'
    )
    assert jobs(text + audit(job_grid_id="https://a/3"), "req_n_procs, queue_id", "gram-audit") == [
        (4, None), (8, "q"), (4, None),
    ]  # fmt: skip
    assert account(jobs) == (3, 3, 0, 0, 0)


def test_rows_of_other_widths_are_refused(jobs):
    text = '(count=8)"\n' + audit() + '"a","b"\n' + audit("x", "y") + '"' + "a" * 2000 + '"\n'
    assert jobs(text, "req_n_procs", "gram-audit") == [(4,)]
    expected = "cells in quotes, expected 14, 15 or 16"
    assert rejects(jobs) == [
        (1, "no record begins here"),
        (3, f"2 {expected}"),
        (4, f"17 {expected}"),
        (5, f"1 {expected.replace('cells', 'cell')}"),
    ]


def described(text):
    """Return what the RSL or XML of a job says, by name in lower case without signs; the first holds."""
    said: dict[str, str] = {}
    if text.startswith("<"):
        pairs = re.findall(r"<(?:\w+:)?(\w+)>([^<]+)</", text)
    else:
        pairs = re.findall(r"""\(\s*"?(\w+)"?\s*=\s*("[^"]*"|'[^']*'|[^\s()]+)\s*\)""", text)
    for key, value in pairs:
        said.setdefault(key.lower().replace("_", ""), value.strip(" \"'"))
    return said


def audited(row):
    """Return the fields of the job that a row of the audit table tells of, by their names."""
    row = [None if cell == "NULL" else cell.replace("&quot;", '"') for cell in row] + [None] * 2
    grid_id, local_id, subject, account = row[:4]
    if not (subject or "").startswith("/"):
        subject, account = row[3:5]
    said = described(row[12])
    form = "%Y-%m-%d %H:%M:%S" if row[5][:1].isdigit() else "%a %b %d %H:%M:%S UTC %Y"
    stamp = datetime.strptime(row[5], form).replace(tzinfo=UTC)
    minutes, megabytes = (said.get(one, said.get(other)) for one, other in BOUNDS)
    executable = said.get("executable", "$")
    return {
        "source_id": (local_id or grid_id).partition("|")[0],
        "submit_time": stamp.timestamp(),
        "req_n_procs": int(said.get("count", 1)),
        "req_time": minutes and 60.0 * int(minutes),
        "req_memory": megabytes and 1024.0 * int(megabytes),
        "status": None if row[14] == "false" else {"true": 1, "false": 0}.get(row[13]),
        "user_id": row[15] or subject or account,
        "executable_id": None if executable.startswith("$") else executable,
        "queue_id": said.get("queue"),
        "partition_id": row[11],
        "last_run_site_id": urlsplit(grid_id).hostname,
        "job_structure": "UNITARY",
        "project_id": said.get("project"),
    }


BOUNDS = (("maxwalltime", "maxtime"), ("maxmemory", "minmemory"))


def test_every_field_of_the_sample_is_as_a_few_lines_of_python_read_it(jobs):
    with SAMPLES["gram-audit"].open(newline="") as file:
        rows = [row for row in csv.reader(file) if len(row) >= 14]
    # Of rows of one job a finished one holds.
    kept = {row[0]: row for row in sorted(rows, key=lambda row: row[14:15] == ["true"])}
    expected = {one.pop("source_id"): one for one in map(audited, kept.values())}
    fields = ["source_id", *(name for name in NAMES if name != "job_id")]
    text = SAMPLES["gram-audit"].read_text()
    found = jobs(text, ", ".join(fields), "gram-audit", "jobs join source_ids using (job_id)")
    for source, *values in found:
        said = dict(zip(fields[1:], values, strict=True))
        assert {name: value for name, value in said.items() if value is not None} == {
            name: value for name, value in expected.pop(source).items() if value is not None
        }
    assert not expected


# Scheduler events.


def test_events_of_a_job_are_folded(jobs):
    states = {100: 32, 105: 1, 110: 2, 120: 16, 130: 2, 400: 8}
    events = "".join(f"001;{time};7.b;{state};0\n" for time, state in states.items())
    fields = "submit_time, wait_time, run_time, status"
    assert jobs(events, fields, "seg") == [(100.0, 10.0, 290.0, 1)]
    assert jobs(events, "exit_code, state", "seg") == [(0, "DONE")]
    assert jobs("001;100;7.b;2;0\n001;110;7.b;8;3\n", "exit_code, state, status", "seg") == [(3, "DONE", 0)]
    assert jobs("001;100;7.b;2;0\n001;110;7.b;4;17\n", "exit_code, state", "seg") == [(None, "FAILED")]
    assert jobs(events, fields, "seg") == [(100.0, 10.0, 290.0, 1)]
    assert account(jobs) == (6, 1, 5, 0, 0)


def test_the_sample_of_events_agrees_with_an_independent_reading(jobs):
    lives = defaultdict(list)
    for line in SAMPLES["seg"].read_text().splitlines():
        kind, stamp, name, *rest = line.split(";")
        if kind == "001":
            lives[name].append((float(stamp), int(rest[0]), rest[1]))
    expected = {}
    for name, events in lives.items():
        submit, start = (
            min((at for at, state, _ in events if state in of), default=None) for of in ({1, 32}, {2})
        )
        end = max(
            ((at, state == 8 and code == "0") for at, state, code in events if state in {4, 8}), default=None
        )
        expected[name] = (
            submit or start,
            start - submit if submit and start else None,
            end[0] - start if end and start else None,
            int(end[1]) if end else None,
        )
    fields = "source_id, submit_time, wait_time, run_time, status"
    found = jobs(SAMPLES["seg"].read_text(), fields, "seg", "jobs join source_ids using (job_id)")
    assert {name: tuple(values) for name, *values in found} == expected


def test_events_that_are_not_there(jobs):
    events = "001;200;a;2;0\n001;300;a;8;1\n001;100;b;1;0\n001;300;c;4;0\n001;100;d;1;0\n001;150;d;4;0\n"
    found = jobs(
        events,
        "submit_time, wait_time, run_time, status",
        "seg",
        "jobs join source_ids using (job_id) order by source_id",
    )
    assert found == [
        (200.0, None, 100.0, 0),
        (100.0, None, None, None),
        (300.0, None, None, 0),
        (100.0, None, None, 0),
    ]


def test_messages_of_another_type_are_refused(jobs):
    jobs("001;100;a;1;0\n002;100;a;1;0\n001;100;a\n001;x;a;1;0\n", "1", "seg")
    assert [reason for _, reason in rejects(jobs)] == [
        "message type '002', expected 001",
        "3 columns, expected 5",
        "stamp is 'x', expected a number",
    ]


# All of them.

HOSTILE = (
    "'; drop table jobs; --", "<script>alert(1)</script>", "a" * 100_000, "\x00\x01\x1a", "%s{0}\\",
    "9223372036854775807", "-9223372036854775808", "٣", "NULL", "&quot;&quot;",
)  # fmt: skip


def test_hostile_values_are_survived(jobs):
    rows = [
        audit(**{name: value})
        for name in CELLS
        if name not in {"job_grid_id", "local_job_id"}
        for value in HOSTILE
    ]
    assert len(each(jobs, rows, "user_id")) == len(rows)
    lines = [
        said(f"for {value} on {value}", f"mapped to {value} ({value}, {value})", value) for value in HOSTILE
    ]
    assert jobs("".join(lines), "count(*)", "gatekeeper") == [(1,)]
    assert jobs(
        "001;1;a;1;0\n" + "".join(f"001;{v};{v};{v};{v}\n" for v in HOSTILE), "count(*) > 0", "seg"
    ) == [(True,)]


def test_bytes_that_are_no_utf8_are_latin_1(jobs):
    text = said("for /CN=J\xe9 on 192.0.2.17").encode("latin-1")
    assert jobs(text, "user_id", "gatekeeper") == [("/CN=Jé",)]


def test_lines_of_megabytes_are_refused(jobs):
    long = "x" * (1 << 21)
    jobs(said(*WHOLE) + said(long) + said(*WHOLE), "1", "gatekeeper")
    assert rejects(jobs) == [(5, "longer than 1048576 bytes")]


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_sample_is_recognised_by_its_name_alone(kind, tmp_path):
    path = Path(tmp_path, SAMPLES[kind].name)
    path.write_bytes(SAMPLES[kind].read_bytes())
    assert recognise(FileHead.of(path)).name == kind
