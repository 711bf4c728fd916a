# mypy: disable-error-code="attr-defined,misc,operator,var-annotated,union-attr,func-returns-value"

"""Usage Records: every dialect and container, their traps, broken ones, and hostile ones."""

import gzip
import os
import random
import re
import subprocess
import sys
import time
import tomllib
import tracemalloc
import xml.etree.ElementTree as ET
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given

from gwa.errors import DefinitionError, GwaError, StrictError, TraceError, UnknownFormat
from gwa.formats.convert import convert
from gwa.formats.open import open_trace, recognise
from gwa.ingest import pipeline
from gwa.ingest.bulk_insert import CELL_SEPARATOR
from gwa.ingest.readers import xml
from gwa.ingest.readers.xml import split
from gwa.ingest.readers.xml.paths import build_tree
from gwa.ingest.readers.xml.records import Parser
from gwa.ingest.source import lines
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.head import FileHead
from gwa.store.engines.config import Engine
from gwa.store.options import ReadOptions
from gwa.store.schema import NAMES
from gwa.util.processes import Worker
from tests.conftest import HOME, LOGS, examples
from tests.mutation import CHANGES, mutated
from tests.written import Written

GLOBUS = LOGS / "globus"
FILES = sorted([*GLOBUS.glob("gracc/*"), *GLOBUS.glob("sgas/*"), *GLOBUS.glob("car/*")])
SAMPLES = sorted((HOME / "sample_traces" / "usagerecord").glob("*.[bx]*"))

USUAL = {
    "RecordIdentity": ' recordId="r7" createTime="2011-02-03T08:00:09Z"/',
    "JobIdentity": "<GlobalJobId>g7</GlobalJobId><LocalJobId>l7</LocalJobId>",
    "UserIdentity": "<LocalUserId>grid042</LocalUserId>",
    "Status": "completed",
    "WallDuration": "PT1H",
    "StartTime": "2011-02-03T06:00:00Z",
    "EndTime": "2011-02-03T07:00:00Z",
    "Processors": "4",
}
STARTED = 1_296_712_800.0


def record(more="", name="JobUsageRecord", **said):
    """Return a record; of an empty element the attributes are given, with a slash behind them."""
    parts = []
    for element, value in {**USUAL, **said}.items():
        if value is not None:
            parts.append(f"<{element}{value}>" if value.endswith('"/') else f"<{element}>{value}</{element}>")
    return f"<{name}>{''.join(parts)}{more}</{name}>\n"


class Jobs:
    """Reads texts and returns fields of their jobs, with the stores."""

    def __init__(self, folder):
        self.folder, self.stores = folder, []

    def __call__(self, text, fields, table="jobs", name="a.xml", **wishes):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        self.stores.append(open_trace([path], "usagerecord", ReadOptions(**wishes)))
        self.stores[-1].account.check()
        return self.stores[-1].rows(f"select {fields} from {table}")


@pytest.fixture
def jobs(tmp_path):
    """Return a function that reads a text and returns fields of its jobs."""
    found = Jobs(tmp_path)
    yield found
    for store in found.stores:
        store.close()


@pytest.fixture
def each(jobs):
    """Return a function that reads records as different ones and returns fields of each, in their order."""

    def given_records(records, fields, **wishes):
        records = list(records)
        names = [f"g{number:03}" for number in range(len(records))]
        text = "".join(
            one.replace('"r7"', f'"{name}"').replace(">g7<", f">{name}<")
            for one, name in zip(records, names, strict=True)
        )
        found = jobs(
            text, f"source_id, {fields}", "jobs join source_ids using (job_id) order by source_id", **wishes
        )
        assert [row[0] for row in found] == names
        return [row[1:] if len(row) > 2 else row[1] for row in found]

    return given_records


HEADER = re.match(
    r"/\* ---\n(.*?)\n--- \*/", (HOME / "converters" / "usagerecord.sql").read_text(), re.DOTALL
)


@pytest.fixture
def parsed(tmp_path):
    """Return a function that returns the records in a text, its rejects, and a count of other elements."""
    assert HEADER
    header = tomllib.loads(HEADER[1])
    columns = list(header["columns"])

    def given_text(text, name="a.xml"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        parser = Parser(columns, header["options"])
        found = [parser.parse(block) for block in parser.tags.blocks(Source(path))]
        rows = [
            dict(zip(columns, row.split(CELL_SEPARATOR), strict=False)) for one in found for row in one.rows
        ]
        rejects = [(reject.line, reject.reason) for one in found for reject in one.rejects]
        others = sum(one.comments for one in found)
        assert sum(one.total for one in found) == len(rows) + len(rejects) + others
        return rows, rejects, others

    return given_text


def queues(rows):
    return [row["queue"] for row in rows]


account = Written.account


def rejects(jobs):
    return jobs.stores[-1].rows("select line, reason from rejects order by line, reason")


def remarks(jobs):
    return dict(jobs.stores[-1].rows("select name, jobs from repairs"))


# Values.


def test_a_plain_record(jobs):
    fields = "submit_time, wait_time, run_time, n_procs, req_n_procs, status, user_id"
    assert jobs(record(), fields) == [(STARTED, None, 3600.0, 4, 4, 1, "grid042")]
    assert jobs.stores[-1].rows("select source_id from source_ids") == [("g7",)]
    assert remarks(jobs) == {}


DURATIONS = {
    "PT234.1S": 234.1, "PT45M48S": 2748.0, "P1DT2H0M5S": 93605.0, "PT23M15.0S": 1395.0, "P1D": 86400.0,
    "P1W": 604800.0, "PT90M": 5400.0, " PT1H\n": 3600.0, "PT5.S": 5.0, "PT0.5S": 0.5,
}  # fmt: skip


def test_durations(each):
    found = each([record(WallDuration=text, StartTime=None) for text in DURATIONS], "run_time")
    assert found == [pytest.approx(seconds, abs=1e-6) for seconds in DURATIONS.values()]


def test_months_and_years_have_no_fixed_length(jobs):
    texts = ["P1M", "P1Y", "P1Y2M3DT4H"]
    lengths = [record(WallDuration=text, RecordIdentity=None) for text in texts]
    assert jobs(record() + "".join(lengths), "count(*)") == [(1,)]
    reason = "WallDuration is '{}'; months and years have no fixed length"
    assert rejects(jobs) == [(line, reason.format(text)) for line, text in enumerate(texts, 2)]


def test_what_is_no_duration_is_missing_and_counted(jobs, each):
    texts = ["PT", "P", "1H", "-PT5S", "PT1H30", "3600", "PT99999999999999S", "P1DT1H1H"]
    assert each([record(WallDuration=text) for text in texts], "run_time") == [3600.0] * len(texts)
    assert remarks(jobs) == {"durations": len(texts)}


def test_a_duration_of_nothing_gives_way_to_the_times(each):
    nothing = [record(WallDuration="PT0S"), record(WallDuration="PT0S", EndTime=USUAL["StartTime"])]
    assert each(nothing, "run_time") == [3600.0, 0.0]


TIMES = {
    "2011-02-03T06:00:00Z": STARTED,
    "2011-02-03T06:00:00.250Z": STARTED + 0.25,
    "2011-02-03T07:00:00+01:00": STARTED,
    "2011-02-03T00:30:00.5-05:30": STARTED + 0.5,
    "2011-02-03T06:00:00": STARTED,
}


def test_times(each):
    records = [record(StartTime=text) for text in TIMES]
    assert each(records, "submit_time") == list(TIMES.values())
    there = [time - 3600 if text.endswith("T06:00:00") else time for text, time in TIMES.items()]
    assert each(records, "submit_time", system={"zone": "Europe/Amsterdam"}) == there


def test_what_is_no_time_is_missing_and_counted(jobs, each):
    strange = [record(StartTime="yesterday"), record(StartTime="9" * 400, EndTime="infinity")]
    assert each(strange, "submit_time, run_time") == [(STARTED, 3600.0), (None, 3600.0)]
    assert remarks(jobs) == {"times": 2}


SUBMITTED = "2011-02-03T05:00:00Z"


INSTANTS = ("BatchSubmittedTimestamp", "timeGlobusSubmitted", "ctime", "qtime", "ETIME", "uxToBssSubmitTime")


def test_the_submission_has_many_names(each):
    elements = [
        f'<d:SubmitTime xmlns:d="http://rmis.deisa.org/acct">{SUBMITTED}</d:SubmitTime>',
        *(f'<TimeInstant type="{kind}">{SUBMITTED}</TimeInstant>' for kind in INSTANTS),
        f"<QueueTime>{SUBMITTED}</QueueTime>",
    ]
    found = each([record(element) for element in elements], "submit_time, wait_time, run_time")
    assert found == [(STARTED - 3600, 3600.0, 3600.0)] * len(elements)


def test_the_best_name_of_the_submission_counts(jobs):
    others = "".join(
        f'<TimeInstant type="{kind}">2010-01-01T00:00:00Z</TimeInstant>'
        for kind in ("etime", "uxStartTime", "qtime")
    )
    one = f'<TimeInstant type="ctime">{SUBMITTED}</TimeInstant>'
    assert jobs(record(others + one + others), "submit_time") == [(STARTED - 3600,)]


ARC = ' recordId="gsiftp://ce.example.org:2811/jobs/90417" createTime="2011-02-03T08:00:09Z"/'


def test_a_submission_in_start_time_of_arc(jobs, each):
    one = f"<SubmitTime>{SUBMITTED}</SubmitTime>"
    records = [
        record(RecordIdentity=ARC, WallDuration="PT10M"),
        record(one, RecordIdentity=ARC, WallDuration="PT10M"),
        record(RecordIdentity=ARC, WallDuration="PT59M59.5S"),
        record(RecordIdentity=ARC, EndTime="2010-04-01T00:00:00Z"),
        record(RecordIdentity=ARC, EndTime="2010-04-01T00:00:00Z", WallDuration=None),
    ]
    assert each(records, "submit_time, wait_time, run_time") == [
        (STARTED, 3000.0, 600.0),
        (STARTED - 3600, 3600.0, 600.0),
        (STARTED, None, 3599.5),
        (STARTED, None, 3600.0),
        (STARTED, None, None),
    ]
    assert remarks(jobs) == {"submission in StartTime": 1, "WallDuration": 2, "invalid value": 1}


def test_no_wait_is_made_up_where_a_duration_is_odd(jobs, each):
    """The example of the specification itself runs for a second and ends an hour after its start."""
    assert each([record(WallDuration="PT1S")], "submit_time, wait_time, run_time") == [(STARTED, None, 1.0)]
    assert remarks(jobs)["WallDuration"] == 1


def test_times_that_are_not_there(each):
    records = [
        record(StartTime=None),
        record(StartTime=None, WallDuration=None),
        record(EndTime=None),
        record(StartTime=None, EndTime=None),
    ]
    assert each(records, "submit_time, wait_time, run_time, n_procs") == [
        (STARTED, None, 3600.0, 4),
        (STARTED + 3600, None, None, None),
        (STARTED, None, 3600.0, 4),
        (None, None, 3600.0, 4),
    ]


STATUSES = [
    ("completed", "", 1), ("Completed", "", 1), ("0", "", 1), ("failed", "", 0), ("FAILED", "", 0),
    ("1", "", 0), ("-11", "", 0), ("256", "", 0), ("aborted", "", 5), ("held", "", None),
    ("queued", "", None), ("started", "", None), ("suspended", "", None), ("happy", "", None), ("", "", None),
    ("completed", "<ExitStatus>1</ExitStatus>", 0), ("completed", "<s:ExitCode>0</s:ExitCode>", 1),
    ("completed", "<ExitCode>68774</ExitCode>", 1), ("0", '<Resource description="ExitCode">3</Resource>', 0),
    ("", "<ExitCode>0</ExitCode>", 1), ("", "<ExitCode>2</ExitCode>", 0),
]  # fmt: skip


def test_statuses(each):
    found = each([record(exits, Status=status) for status, exits, _ in STATUSES], "status")
    assert found == [number for _, _, number in STATUSES]


@pytest.mark.parametrize(("wish", "number"), [("failed", 0), ("unknown", None), ("cancelled", 5)])
def test_what_aborted_means_can_be_chosen(wish, number, jobs):
    assert jobs(record(Status="aborted"), "status", format_options={"aborted": wish}) == [(number,)]


CPU = [
    ("<CpuDuration>PT1H</CpuDuration>", 900.0),
    (
        '<CpuDuration usageType="all">PT1H</CpuDuration><CpuDuration usageType="user">PT1S</CpuDuration>',
        900.0,
    ),
    (
        '<CpuDuration a:usageType="User">PT1H</CpuDuration><CpuDuration usageType="all">PT1H</CpuDuration>',
        900.0,
    ),
    ('<CpuDuration usageType="user">PT1H</CpuDuration>', 900.0),
    ("<UserTime>PT50M</UserTime><KernelTime>PT10M</KernelTime>", 900.0),
    ("<CpuDuration>P1M</CpuDuration>", None),
]


def test_cpu_time_is_that_of_a_processor(each):
    assert each([record(elements) for elements, _ in CPU], "average_cpu_time") == [
        seconds for _, seconds in CPU
    ]


PROCESSORS = [
    ("<Processors>8</Processors>", 8),
    ('<Processors metric="total">2</Processors><Processors metric="max">8</Processors>', 8),
    ("<Processors>8</Processors><Processors>4</Processors>", 8),
    ("<NodeCount>2</NodeCount>", 2),
    ("<Processors>0</Processors><NodeCount>2</NodeCount>", 2),
    ("", 1),
    ("<Processors>many</Processors>", 1),
]


def test_processors(jobs, each):
    found = each([record(elements, Processors=None) for elements, _ in PROCESSORS], "n_procs")
    assert found == [number for _, number in PROCESSORS]
    assert remarks(jobs) == {"nodes as processors": 2, "no processors": 2}


UNITS = [
    ('storageUnit="KB"', "4096", 1024.0), ('storageUnit="MB" metric="max" type="physical"', "4", 1024.0),
    ('u:storageUnit="GB" type="Physical"', "4", 1048576.0), ('storageUnit="B"', "4096", 1.0),
    ('storageUnit="b"', "32768", 1.0), ('storageUnit="Kb"', "32", 1.0), ('storageUnit="kb"', "4", 1.0),
    ('storageUnit="TB"', "4e0", 2.0**30), ('type="memoryUsed" storageUnit="KB"', "3.75", 0.9375),
    ('storageUnit="pages"', "4", None), ('storageUnit="KB"', "0", None), ('storageUnit="KB"', "-4", None),
    ('storageUnit="KB" metric="min"', "4", None), ('storageUnit="KB" type="shared"', "4", None),
    ('storageUnit="KB" metric="avarage"', "4", 1.0),
]  # fmt: skip


def test_units_of_memory(each):
    found = each([record(f"<Memory {said}>{amount}</Memory>") for said, amount, _ in UNITS], "used_memory")
    assert found == [kilobytes for _, _, kilobytes in UNITS]


def test_which_memory_counts(jobs, each):
    physical = '<Memory type="physical" metric="average" storageUnit="KB">400</Memory>'
    most = '<Memory type="dedicated" metric="max" storageUnit="KB">800</Memory>'
    virtual = '<Memory type="virtual" storageUnit="KB">4000</Memory>'
    elements = [virtual + physical + most, virtual + physical, virtual, "<Memory>400</Memory>"]
    assert each(map(record, elements), "used_memory") == [200.0, 100.0, 1000.0, 100.0]
    assert remarks(jobs) == {"virtual memory": 1, "memory without a unit": 1}


def test_disk_and_network(each):
    elements = [
        '<Disk storageUnit="GB">2</Disk><Network phaseUnit="PT1S" storageUnit="MB">36</Network>',
        "<Disk>1048576</Disk><Network>3686400</Network>",
        '<Network storageUnit="b">0.0</Network>',
    ]
    found = each(map(record, elements), "used_local_disk_space, used_network")
    assert found == [(2048.0, 10.24), (1.0, 1.0), (None, 0.0)]


def test_who_where_and_what(jobs):
    more = (
        "<JobName>blast</JobName><MachineName>ce7</MachineName><SiteName>site7</SiteName><SubmitHost>ui7</SubmitHost>"
        '<Queue description="execution"> short </Queue><ProjectName>p7</ProjectName>'
        '<ServiceLevel type="QOS">gold</ServiceLevel><RuntimeEnvironment>ENV/PROXY</RuntimeEnvironment>'
        '<TimeInstant type="maxWalltime">2011-02-03T08:00:00Z</TimeInstant>'
    )
    user = (
        "<LocalUserId>grid042</LocalUserId><GlobalUsername>osg@x</GlobalUsername><DN>/CN=a&amp;b</DN>"
        "<VOName>/cms/Role=x</VOName><LocalGroup>users</LocalGroup>"
    )
    names = "user_id, group_id, vo_id, executable_id, partition_id, last_run_site_id, orig_site_id, queue_id"
    assert jobs(record(more, UserIdentity=user), f"{names}, project_id") == [
        ("/CN=a&b", "users", "cms", "blast", "ce7", "site7", "ui7", "short", "p7")
    ]
    assert jobs.stores[-1].rows("select used_resources, req_resources, req_time from jobs") == [
        ("QOS:gold", "ENV/PROXY", 7200.0)
    ]


def test_a_name_that_repeats_the_id_is_no_executable(each):
    program = '<Resource description="executable">nwchem</Resource>'
    records = [record(f"<JobName>{name}</JobName>{program}") for name in ("g7", "l7", "other")]
    assert each(records, "executable_id") == ["nwchem", "nwchem", "other"]


def test_file_transfers_do_not_speak_of_the_job(jobs):
    transfers = (
        "<FileTransfers><FileDownload><URL>x</URL><StartTime>1999-01-01T00:00:00Z</StartTime><Status>failed</Status>"
        "<Queue>q</Queue></FileDownload></FileTransfers>"
    )
    text = record().replace("<JobUsageRecord>", f"<JobUsageRecord>{transfers}")
    assert jobs(text, "submit_time, status, queue_id") == [(STARTED, 1, None)]


# Records of several jobs, and of the same job.


def test_a_record_of_several_jobs_stays_one_and_is_counted(jobs):
    assert jobs(record("<Njobs>12</Njobs>"), "run_time") == [(3600.0,)]
    assert remarks(jobs) == {"aggregates": 1}


def test_a_record_that_was_sent_again_is_folded_into_the_last(jobs):
    again = ' recordId="r7" createTime="2012-01-01T00:00:00Z"/'
    text = record(Status="started") + record(RecordIdentity=again, Status="failed") + record(Status="queued")
    assert jobs(text, "status") == [(0,)]
    assert account(jobs) == (3, 1, 2, 0, 0)


def test_records_of_other_jobs_are_not_folded_though_they_share_an_id(jobs):
    text = record() + record(JobIdentity="<GlobalJobId>g8</GlobalJobId>") + 2 * record(RecordIdentity=None)
    assert jobs(text, "count(*)") == [(4,)]


def test_a_record_sent_again_in_another_file_is_folded(tmp_path):
    paths = [tmp_path / name for name in ("a.xml", "b.xml")]
    paths[0].write_text(record())
    paths[1].write_text(record(Queue="short") + record(RecordIdentity=None))
    with open_trace(paths) as store:
        assert (store.account.rows, store.account.jobs, store.account.folded) == (3, 2, 1)


def test_a_record_of_nothing_is_refused(jobs):
    text = (
        record() + "<UsageRecord/>\n<UsageRecord> </UsageRecord>\n<UsageRecord><Queue>x</Queue></UsageRecord>"
    )
    jobs(text, "1")
    reason = "it has neither an identity nor times"
    assert rejects(jobs) == [(2, reason), (3, reason), (4, reason)]


# Dialects and containers.

ROW = "submit_time, run_time, n_procs, status, user_id"
EXPECTED = [(STARTED, 3600.0, 4, 1, "grid042")]
PREFIXED = re.compile(r"<(/?)(\w)")


def dressed(text, prefix):
    return PREFIXED.sub(rf"<\1{prefix}:\2", text)


OGF = 'xmlns:ur="http://schema.ogf.org/urf/2003/09/urf"'
DRESSES = {
    "no namespace": record(),
    "default namespace": record().replace(
        "<JobUsageRecord>", '<JobUsageRecord xmlns="http://www.gridforum.org/2003/ur-wg">'
    ),
    "prefix": dressed(record(), "ur").replace("<ur:JobUsageRecord>", f"<ur:JobUsageRecord {OGF}>"),
    "prefix of a container": f"<ur:UsageRecords {OGF}>{dressed(record(), 'ur')}</ur:UsageRecords>",
    "undeclared prefix": dressed(record(), "urwg"),
    "attributes with other prefixes": record()
    .replace(" recordId", " x:recordId")
    .replace(" createTime", " y:createTime"),
    "other case": record()
    .replace("StartTime", "STARTTIME")
    .replace("LocalUserId", "localuserid")
    .replace("recordId", "RECORDID"),
    "blanks in end tags": record()
    .replace("</Status>", "</Status  >")
    .replace("</JobUsageRecord>", "</JobUsageRecord \n>"),
    "EMI": record(name="UsageRecord"),
    "the spec's abstract name": record(name="Usage"),
    "declaration": f'<?xml version="1.0" encoding="UTF-8" ?>\n{record()}',
    "wrong encoding declared": f'<?xml version="1.0" encoding="UTF-16"?>\n{record()}',
    "unknown encoding declared": f'<?xml version="1.0" encoding="EBCDIC-7"?>\n{record()}',
    "envelope": f"<RecordEnvelope>{record()}</RecordEnvelope>",
    "unknown container": f"<s:Records><Batch>{record()}</Batch></s:Records>",
    "bundle": f"replication|{record()}|||",
    "document type": f'<!DOCTYPE UsageRecords SYSTEM "http://x.example.org/ur.dtd">\n{record()}',
    "comment": f"<!-- {record()} -->{record()}<!-- -->",
    "comment within": record("<!-- </JobUsageRecord> <Status>failed</Status> -->"),
    "comment in a value": record(Status="comp<!-- oh -->leted"),
    "CDATA": record(Status="<![CDATA[completed]]>", JobName="<![CDATA[</JobUsageRecord>]]>"),
    "processing instruction": record("<?pi </JobUsageRecord> ?>"),
    "control characters": record(JobName="a\x01b\x1b"),
    "byte order mark": "\ufeff" + record(),
    "junk around": f"\x00\x00 ]]> & < > <a> </b> {record()} <JobUsage <<",
}


@pytest.mark.parametrize("kind", DRESSES)
def test_a_record_is_the_same_in_any_dress(kind, parsed):
    ((plain,), _, _) = parsed(record())
    ((dressed,), rejects, _) = parsed(DRESSES[kind])
    assert dressed | {"job_name": ""} == plain
    assert rejects == []


def test_a_dress_does_not_matter_to_others(jobs):
    other = record(RecordIdentity=None, name="UsageRecord", Queue="other")
    dresses = [text.replace('"r7"', f'"r{number}"') for number, text in enumerate(DRESSES.values())]
    text = other + other.join(dresses) + other
    assert jobs(text, "count(*), count(*) filter (where queue_id = 'other')") == [
        (2 * len(DRESSES) + 1, len(DRESSES) + 1)
    ]
    assert account(jobs)[2:4] == (0, 0)


def test_concatenated_documents(jobs):
    documents = [
        f'<?xml version="1.0"?>\n<u{number}:UsageRecords xmlns:u{number}="urn:{number}">'
        f"{dressed(record(RecordIdentity=None, Queue=str(number)), f'u{number}')}</u{number}:UsageRecords>\n"
        for number in range(50)
    ]
    assert jobs("".join(documents), "count(distinct queue_id)") == [(50,)]


def test_text_that_is_no_utf8_is_latin_1(jobs):
    head = b'<?xml version="1.0" encoding="utf-8"?>'
    assert jobs(head + record(Queue="l\xe4ng").encode("latin-1"), "queue_id") == [("l\xe4ng",)]
    assert jobs(record(Queue="l\xe4ng").encode("utf-16"), "queue_id") == [("l\xe4ng",)]


def test_values_on_several_lines_and_with_separators(jobs):
    name = "a\n b\tc|d,e\x1f&#13;&#10;f \u2028 \U0001f600 '; drop table jobs; -- &lt;script&gt;"
    assert jobs(record(JobName=name, Queue="'"), "executable_id, queue_id") == [
        ("a  b\tc|d,e   f \u2028 \U0001f600 '; drop table jobs; -- <script>", "'")
    ]


def test_a_value_that_is_too_long_is_refused(jobs):
    jobs(record() + record(Queue="q" * 1_100_000, RecordIdentity=None), "1")
    assert rejects(jobs) == [(2, "its values are longer than 1048576 characters")]


# Other records, and broken ones.


def test_other_elements_are_comments(jobs):
    element = "<StorageElement><SE>x</SE><Status>up</Status></StorageElement>\n"
    other = f'{element}<s:Transfer xmlns:s="urn:s"/>\n'
    assert jobs(f"<UsageRecords>\n{other}{record()}{other}</UsageRecords>", "count(*)") == [(1,)]
    assert account(jobs) == (5, 1, 0, 0, 4)
    assert jobs(f"{other}{record()}{element}{record(RecordIdentity=None)}{other}", "count(*)") == [(2,)]
    assert account(jobs) == (7, 2, 0, 0, 5)


@pytest.mark.parametrize("name", ["StorageElement", "StorageElementRecord"])
def test_files_without_a_record_of_a_job_say_so(name, jobs):
    with pytest.raises(TraceError, match="no job in it"):
        jobs(f"<{name}><SE>x</SE></{name}>", "1")


BROKEN = {
    "an end tag of another": record().replace("</Status>", "</Stat>"),
    "no end tag": record().replace("</Status>", ""),
    "no end": record().replace("</JobUsageRecord>", ""),
    "no beginning": record().replace("<JobUsageRecord>", ""),
    "half a beginning": record().replace("<JobUsageRecord>", "<JobUsageReco"),
    "another end": record().replace("</JobUsageRecord>", "</UsageRecord>"),
    "an attribute twice": record('<a b="1" b="2"/>'),
    "an attribute without quotes": record("<a b=1/>"),
    "an unknown entity": record(Queue="&who;"),
    "a bare ampersand": record(Queue="a & b"),
    "a character that may not be": record(Queue="&#0;"),
    "a document type within": record('<!DOCTYPE a [<!ENTITY b "c">]>'),
    "CDATA that does not end": record("<![CDATA["),
    "too deep": record("<a>" * 300 + "</a>" * 300),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_record_costs_no_other(kind, parsed):
    rows, rejects, _ = parsed(record(Queue="before") + BROKEN[kind] + record(Queue="after"))
    # Where CDATA does not end, all that follows is text.
    assert queues(rows) == (["before"] if kind == "CDATA that does not end" else ["before", "after"])
    ((line, reason),) = rejects
    assert line == 2
    assert "line" not in reason


def test_a_broken_record_ends_a_strict_conversion(jobs):
    with pytest.raises(StrictError, match=r"a\.xml:2: the record has no end"):
        jobs(record() + BROKEN["no end"] + record(), "1", strict=True)


def test_a_truncated_file_keeps_what_is_whole(jobs):
    text = "".join(record(RecordIdentity=None, Queue=str(number)) for number in range(20))
    assert jobs(text[:-300], "count(*)") == [(19,)]
    assert rejects(jobs) == [(20, "the record breaks off")]
    packed = gzip.compress(text.encode(), 0)
    assert jobs(packed[:-300], "count(*)", name="a.xml.gz") == [(19,)]
    assert rejects(jobs)[0][1].startswith("compressed data broke off")


# Hostile documents.

LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
ENTITIES = {
    "billion laughs": (f'<!DOCTYPE x [<!ENTITY l0 "lol">{LAUGHS}]>', "&l9;"),
    "external file": ('<!DOCTYPE x [<!ENTITY f SYSTEM "file://{secret}">]>', "&f;"),
    "external page": ('<!DOCTYPE x [<!ENTITY f SYSTEM "http://127.0.0.1:9/">]>', "&f;"),
    "parameter": ('<!DOCTYPE x [<!ENTITY % p SYSTEM "file://{secret}"> %p;]>', "&f;"),
    "a record in an entity": ("<!DOCTYPE x [<!ENTITY f '" + record().strip() + "'>]>", "&f;"),
}


@pytest.mark.parametrize("kind", ENTITIES)
def test_no_entity_is_ever_read(kind, parsed, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("the secret")
    declared, used = ENTITIES[kind]
    text = declared.replace("{secret}", str(secret)) + record() + record(Queue=used)
    rows, rejects, others = parsed(text)
    assert (queues(rows), others) == ([""], 0)
    assert rejects == [(2, f"Entity '{used[1:-1]}' not defined")]


def test_xinclude_and_stylesheets_are_only_text(parsed):
    text = '<?xml-stylesheet href="http://127.0.0.1:9/"?>' + record(
        '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="file:///etc/passwd"/>'
    )
    assert parsed(text) == parsed(record())


FILLERS = (
    b"x", b"<", b">", b"</", b"<JobUsageRecord>", b"</JobUsageRecord>", b"<!--", b"<![CDATA[",
    b"<!DOCTYPE[", b"]> ", b"<a>", b"</a>", b"<a", b"<JobUsageRecord ", b"<a:", b"\n",
    b"<!-- </JobUsageRecord> -->", b"&a;", b"<?a", b"a:b ", b"<StorageElement><a/></StorageElement>",
    b"JobUsageRecord ", b"<JobUsageRecord></JobUsageRecord>",
)  # fmt: skip


@pytest.mark.parametrize("filler", FILLERS)
def test_a_flood_of_anything_is_survived(filler, parsed, monkeypatch):
    monkeypatch.setattr(split, "BLOCK_SIZE", 1 << 14)
    monkeypatch.setattr(split, "MAXIMUM_RECORD_SIZE", 1 << 16)
    monkeypatch.setattr(lines, "CHUNK_SIZE", 1 << 12)
    flood = filler * ((1 << 18) // len(filler))
    one, two = record(Queue="one", Status=None).encode(), record(Queue="two").encode()
    places = [
        one + flood + one,
        one + two.replace(b"<Status>", flood) + one,
        one + two.replace(b"two", flood) + one,
    ]
    for text in places:
        begun = time.process_time()
        assert queues(parsed(text)[0])[0] == "one"
        assert time.process_time() - begun < 20


@pytest.mark.slow
@pytest.mark.parametrize("text", ["<Queue>{}</Queue></JobUsageRecord>", "<!-- {}"])
def test_a_huge_element_takes_bounded_memory(text, tmp_path):
    path = tmp_path / "a.xml.gz"
    before, after = text.split("{}")
    with gzip.open(path, "wb", 1) as file:
        file.write((record() + "<JobUsageRecord>" + before).encode())
        for _ in range(1 << 7):
            file.write(b"x" * (1 << 20))
        file.write((after + record(RecordIdentity=None)).encode())
    tracemalloc.start()
    with open_trace([path]) as store:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert store.account.jobs >= 1
        assert store.account.rejected == 1
        too_long = f"longer than {split.MAXIMUM_RECORD_SIZE} bytes"
        assert store.rows("select line, reason from rejects") == [(2, too_long)]
    assert peak < 120 << 20


NUMBERS = (
    "9223372036854775807",
    "-9223372036854775808",
    "1e308",
    "1e400",
    "nan",
    "inf",
    "0x10",
    "9" * 400,
    "-1",
    "'",
    "{",
)
ELEMENTS = (
    "Processors",
    "NodeCount",
    "Njobs",
    "Status",
    "ExitCode",
    "Memory",
    "Disk",
    "WallDuration",
    "StartTime",
)


def test_any_value_in_any_element_is_survived(each):
    records = [record(**{name: value}) for name in ELEMENTS for value in NUMBERS]
    assert len(each(records, "n_procs, run_time")) == len(ELEMENTS) * len(NUMBERS)


def test_years_that_no_job_ran_in(each):
    years = ("1900", "1969", "9999", "0001", "-0044", "99999")
    found = each([record(StartTime=f"{year}-01-01T00:00:00Z", EndTime=None) for year in years], "submit_time")
    assert found == [None, None, None, None, None, None]


# Blocks and processes.


def many(count=400):
    """Return records of all kinds, some broken, some of them without line ends between them."""
    rng = random.Random(7)
    kinds = [*DRESSES.values(), *BROKEN.values()]
    kinds = [kind for kind in kinds if "<![CDATA[</" not in kind and "\x00" not in kind]
    for number in range(count):
        text = rng.choice(kinds) if rng.random() < 0.3 else record(Queue=f"q{number}", RecordIdentity=None)
        yield text if rng.random() < 0.5 else text.rstrip("\n")


def table(store):
    jobs = store.rows("select * exclude (job_id) from jobs order by all")
    return jobs, store.rows("select line, reason from rejects order by all"), store.account


def test_where_blocks_are_cut_does_not_matter(parsed, monkeypatch):
    other = "<StorageElement>\n<a/></StorageElement>"
    text = "".join(record(Queue=f"q{number}") + other * (number % 3) for number in range(60))
    data = text + DRESSES["CDATA"] + DRESSES["comment"] + text
    expected = parsed(data)
    assert expected[1:] == ([], 120)
    for block, chunk in ((1, 1 << 18), (300, 64), (5000, 4096), (5000, 777)):
        monkeypatch.setattr(split, "BLOCK_SIZE", block)
        monkeypatch.setattr(lines, "CHUNK_SIZE", chunk)
        assert parsed(data) == expected


def threads(number, memory=None):
    return ReadOptions(engine=Engine(threads=number, memory=memory))


def test_other_processes_find_the_same(tmp_path, monkeypatch):
    path = tmp_path / "a.xml"
    path.write_text("".join(many()))
    monkeypatch.setattr(split, "BLOCK_SIZE", 20_000)
    monkeypatch.setattr(lines, "CHUNK_SIZE", 20_000)
    monkeypatch.setattr(pipeline, "SMALL_SOURCE", 0)
    with open_trace([path], options=threads(1)) as store:
        alone = table(store)
    ask, processes = Worker.ask, set()

    def noted(self, block):
        answer = ask(self, block)
        processes.add(self.process)
        return answer

    monkeypatch.setattr(Worker, "ask", noted)
    with open_trace([path], options=threads(1)) as store:
        assert table(store) == alone
    assert not processes
    with open_trace([path], options=threads(7, memory="600MB")) as store:
        assert table(store) == alone
    assert not processes
    for number in (2, 7):
        with open_trace([path], options=threads(number)) as store:
            assert table(store) == alone
    assert processes
    assert all(process.returncode is not None for process in processes)


def test_processes_that_fail_cost_nothing(tmp_path, monkeypatch):
    path = tmp_path / "a.xml"
    path.write_text("".join(many()))
    monkeypatch.setattr(pipeline, "SMALL_SOURCE", 0)
    with open_trace([path], options=threads(2)) as store:
        expected = table(store)[2].jobs
    monkeypatch.setattr(split, "BLOCK_SIZE", 20_000)
    monkeypatch.setattr(lines, "CHUNK_SIZE", 20_000)
    ask, count = Worker.ask, []

    def killed(self, block):
        count.append(block)
        if len(count) == 3:
            self.kill()
        return ask(self, block)

    monkeypatch.setattr(Worker, "ask", killed)
    with open_trace([path], options=threads(2)) as store:
        assert store.account.jobs == expected
    assert len(count) >= 3
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with open_trace([path], options=threads(2)) as store:
        assert store.account.jobs == expected


def test_a_script_without_a_guard_runs_once(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text(record(RecordIdentity=None) * 20_000)
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\nfrom pathlib import Path\nfrom gwa.formats.open import open_trace\nprint('once')\n"
        "with open_trace([Path(sys.argv[1])]) as store:\n    print(store.account.jobs)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(HOME)}
    done = subprocess.run(
        [sys.executable, script, path],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
        cwd=tmp_path,
    )
    assert done.stdout.split() == ["once", "20000"]


def test_strictness_ends_the_processes(tmp_path, monkeypatch):
    path = tmp_path / "a.xml"
    path.write_text("".join(many()) + BROKEN["no end"] + "".join(many()))
    monkeypatch.setattr(split, "BLOCK_SIZE", 5_000)
    monkeypatch.setattr(lines, "CHUNK_SIZE", 5_000)
    monkeypatch.setattr(xml, "BLOCKS_PER_BATCH", 1)
    with pytest.raises(StrictError):
        open_trace([path], options=ReadOptions(strict=True, engine=Engine(threads=2)))


@pytest.mark.parametrize(
    ("path", "message"),
    [("a[b]", "is not a path"), ("", "is not a path"), ("a//b", "is not a path"), ("a@b@c", "is not a path")],
)
def test_a_path_that_is_none_is_told(path, message):
    with pytest.raises(DefinitionError, match=message):
        build_tree({"x": path}, ["x"])
    with pytest.raises(DefinitionError, match="is not a column"):
        build_tree({"y": "a"}, ["x"])


# Recognition and mutations.


@pytest.mark.parametrize("kind", [kind for kind in DRESSES if kind != "byte order mark"])
def test_records_are_recognised(kind, tmp_path):
    path = tmp_path / "log"
    path.write_text(DRESSES[kind] * 3)
    assert recognise(FileHead.of(path)).name == "usagerecord"


def test_other_xml_is_not_recognised(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("<html><body>UsageRecord</body></html>\n")
    with pytest.raises(UnknownFormat):
        recognise(FileHead.of(path))


GOOD = b"".join(path.read_bytes() for path in SAMPLES)


@given(changes=CHANGES)
@examples(100)
def test_any_change_of_the_samples_costs_few_records(changes, parsed):
    rows, rejects, _ = parsed(mutated(GOOD, changes))
    assert len(rows) + len(rejects) <= 9 + 2 * len(changes)


# Real files, against a few lines that share nothing with gwa.


def local(name):
    return name.rpartition("}")[2].rpartition(":")[2].lower()


def documents(path):
    """Yield the elements of a file, however they are contained."""
    text = re.sub(r"<\?xml.*?\?>", "", path.read_text())
    parts = text.split("|") if path.suffix == ".bundle" else [text]
    for part in parts:
        if part.strip().startswith("<"):
            root = ET.fromstring(part)  # noqa: S314 - files of our own
            yield from root if local(root.tag) == "usagerecords" else [root]


def values(element, *names, **wanted):
    """Return the texts of elements below *element*, by their names and attributes."""
    found = [element]
    for name in names:
        found = [child for one in found for child in one if local(child.tag) == name]
    having = [
        one
        for one in found
        if all(
            {local(k): v.lower() for k, v in one.items()}.get(key) == value for key, value in wanted.items()
        )
    ]
    return [one.text.strip() for one in having if (one.text or "").strip()]


def first(*lists):
    return next((one[0] for one in lists if one), None)


def seconds(text):
    """Return an ISO 8601 duration in seconds."""
    if text is None:
        return None
    found = re.fullmatch(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?", text)
    assert found
    days, hours, minutes, rest = found.groups()
    return 86400 * int(days or 0) + 3600 * int(hours or 0) + 60 * int(minutes or 0) + float(rest or 0)


def instant(text):
    return None if text is None else datetime.fromisoformat(text).timestamp()


def by_hand(one):
    """Return the fields of a job, as formats of this kind are mapped."""
    wall, start, end = (first(values(one, name)) for name in ("wallduration", "starttime", "endtime"))
    wall, start, end = seconds(wall), instant(start), instant(end)
    instants = [values(one, "timeinstant", type=kind) for kind in ("ctime", "qtime", "etime")]
    submit = instant(first(values(one, "submittime"), *instants, values(one, "queuetime")))
    span = None if start is None or end is None else end - start
    run = wall or span or (span if wall is None else wall)
    attributes = [
        text for each in one.iter() for name, text in each.attrib.items() if local(name) == "recordid"
    ]
    names = " ".join([*values(one, "jobidentity", "globaljobid"), *attributes])
    is_arc = re.search(r"(^| )(gsiftp|https?)://[^/ ]+/(jobs|arex|jura)/", names)
    if submit is None and wall and span is not None and span > wall + 1 and is_arc:
        submit, begin = start, end - wall
        wait = begin - submit
    else:
        begin = end - run if start is None else start
        wait = None if submit is None else begin - submit
    nodes = first(values(one, "nodecount", metric="max"), values(one, "nodecount"))
    stated = first(values(one, "processors", metric="max"), values(one, "processors")) or nodes
    procs = int(stated or 1)
    cpu = {
        kind: seconds(first(values(one, "cpuduration", usagetype=kind))) for kind in ("all", "user", "system")
    }
    untyped = [
        c.text for c in one if local(c.tag) == "cpuduration" and "usagetype" not in map(local, c.keys())
    ]
    total = cpu["all"] if cpu["all"] is not None else seconds(first(untyped))
    if total is None and cpu["user"] is not None:
        total = cpu["user"] + (cpu["system"] or 0)
    memory = [
        (float(m.text), {local(k): v for k, v in m.items()})
        for m in one
        if local(m.tag) == "memory" and float(m.text)
    ]
    memory = [(amount, said) for amount, said in memory if said.get("type", "").lower() != "shared"]
    used = None
    if memory:
        used = memory[0][0] * {"KB": 1, "MB": 1024, None: 1}[memory[0][1].get("storageunit")] / procs
    is_virtual = bool(memory) and "virtual" in memory[0][1].get("type", "")
    code = first(
        values(one, "exitstatus"), values(one, "exitcode"), values(one, "resource", description="exitcode")
    )
    status = first(values(one, "status"))
    failed = code is not None and 0 < int(code) < 65536
    identity = next(child for child in one if local(child.tag) == "useridentity")
    vo = first(values(identity, "vo", "name"), values(identity, "reportablevoname"))
    network = [float(n.text) for n in one if local(n.tag) == "network"]
    name, ids = (
        first(values(one, "jobname")),
        [*values(one, "jobidentity", "globaljobid"), *values(one, "jobidentity", "localjobid")],
    )
    if name and any(identifier.endswith(name) for identifier in ids):
        name = None
    limit = instant(first(values(one, "timeinstant", type="maxwalltime")))
    machine = first(values(one, "machinename"), values(one, "host", primary="true"))
    service = [
        f"{next(v for k, v in s.items() if local(k) == 'type')}:{s.text}"
        for s in one
        if local(s.tag) == "servicelevel"
    ]
    programs = [
        values(one, "resource", description=kind) for kind in ("application", "executable", "pbs-jobname")
    ]
    return dict.fromkeys(NAMES) | {
        "submit_time": begin if submit is None else submit,
        "wait_time": wait,
        "run_time": run,
        "n_procs": procs,
        "average_cpu_time": None if total is None else pytest.approx(total / procs),
        "used_memory": used,
        "req_n_procs": None if stated is None else int(stated),
        "req_time": None if limit is None else limit - begin,
        "status": {"completed": 1, "0": 1, "aborted": 5, None: None}.get(status, 0) if not failed else 0,
        "user_id": first(*(values(identity, kind) for kind in ("dn", "globalusername", "localuserid"))),
        "group_id": first(
            values(identity, "localgroup"),
            values(identity, "vo", "attribute", "group"),
            values(one, "resource", description="localusergroup"),
        ),
        "executable_id": name or first(*programs),
        "queue_id": first(values(one, "queue")),
        "partition_id": machine,
        "orig_site_id": first(values(one, "submithost")),
        "last_run_site_id": first(values(one, "site"), values(one, "sitename")) or machine,
        "job_structure": "UNITARY",
        "used_network": network[0] / 1024 / run if network and run else None,
        "used_resources": first(service),
        "vo_id": vo,
        "project_id": first(values(one, "projectname")),
        "n_nodes": int(nodes) if nodes and run is not None else None,
        "qos": next((text.removeprefix("QOS:") for text in service if text.startswith("QOS:")), None),
        "state": status,
        "exit_code": int(code) if code is not None and 0 <= int(code) < 65536 else None,
        "max_memory": used and pytest.approx(used * procs) if not is_virtual else None,
    }  # fmt: skip


def key(one):
    """Return what tells the record of a job from others."""
    (identity,) = [child for child in one if local(child.tag) == "recordidentity"]
    return next(value for name, value in identity.items() if local(name) == "recordid")


@pytest.mark.logs
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_real_files_agree_with_an_independent_reading(path):
    elements = list(documents(path))
    records = [one for one in elements if local(one.tag) in {"jobusagerecord", "usagerecord"}]
    if not records:
        with pytest.raises(GwaError, match="no job in it"):
            open_trace([path])
        return
    kept = {key(one): one for one in reversed(records)}
    expected = sorted(
        map(by_hand, kept.values()), key=lambda job: (job["submit_time"], str(job["executable_id"]))
    )
    with open_trace([path]) as store:
        found = store.rows("select * from jobs order by submit_time, executable_id")
        names = [row[0] for row in store.rows("describe jobs")]
        given = store.account
    assert [dict(zip(names, row, strict=True)) | {"job_id": None} for row in found] == expected
    assert given.rows == len(elements)
    assert (given.rejected, given.comments) == (0, len(elements) - len(records))
    assert given.folded == len(records) - len(kept)


@pytest.mark.logs
@pytest.mark.usefixtures("logs")
def test_all_real_files_are_one_trace(tmp_path):
    elements = [one for path in FILES for one in documents(path)]
    records = [one for one in elements if local(one.tag) in {"jobusagerecord", "usagerecord"}]
    keys = {key(one) for one in records}
    account = convert(FILES, tmp_path / "out.gwf")
    assert (account.rows, account.jobs, account.rejected) == (len(elements), len(keys), 0)
    assert (account.folded, account.comments) == (len(records) - len(keys), len(elements) - len(records))
    assert (account.rows, account.jobs, account.folded, account.comments) == (47, 26, 13, 8)


@pytest.mark.logs
def test_the_bad_records_of_sgas_are_jobs(logs):
    folder = Path(logs) / "globus" / "sgas"
    with open_trace([folder / "UR_BAD_EXIT_CODE.xml"]) as store:
        assert store.rows("select status from jobs") == [(1,)]
        assert store.rows("select name from repairs") == [("exit codes",)]
    with open_trace([folder / "UR_BAD_LOCAL_JOB_ID.xml"]) as store:
        assert store.rows("select wait_time, run_time from jobs") == [(165_686.0, 0.0)]
        assert "sbatch" not in store.rows("select source_id from source_ids")[0][0]


def test_nodes_states_exit_codes_and_the_quality_of_service(jobs):
    whole = "<NodeCount>2</NodeCount><ExitStatus>137</ExitStatus>"
    whole += '<Memory type="physical" storageUnit="MB">4</Memory><ServiceLevel>gold</ServiceLevel>'
    fields = "n_nodes, exit_code, state, max_memory, qos, n_gpus, energy"
    assert jobs(record(whole), fields) == [(2, 137, "completed", 4096, "gold", None, None)]
    others = '<ExitStatus>70000</ExitStatus><Memory type="virtual" storageUnit="MB">4</Memory>'
    others += '<NodeCount>0</NodeCount><ServiceLevel type="HEPSPEC">1.0</ServiceLevel>'
    assert jobs(record(others), fields) == [(None, None, "completed", None, None, None, None)]
    assert jobs(record('<ServiceLevel type="QOS">low</ServiceLevel>'), "qos") == [("low",)]


# Version 2.0, whose values stand in blocks.

SECOND = (
    '<ur:UsageRecords xmlns:ur="http://schema.ogf.org/urf/2013/04/urf"><ur:UsageRecord><ur:RecordIdentityBlock>'
    "<ur:RecordId>r-1</ur:RecordId><ur:CreateTime>2026-03-02T09:02:00Z</ur:CreateTime></ur:RecordIdentityBlock>"
    "{}</ur:UsageRecord></ur:UsageRecords>"
)
COMPUTED = (
    "<ur:SubjectIdentityBlock><ur:LocalUserId>ada</ur:LocalUserId></ur:SubjectIdentityBlock><ur:ComputeUsageBlock>"
    "<ur:CpuDuration>PT1H30M</ur:CpuDuration><ur:WallDuration>PT1H</ur:WallDuration>"
    "<ur:StartTime>2026-03-02T08:01:00Z</ur:StartTime><ur:EndTime>2026-03-02T09:01:00Z</ur:EndTime>"
    "<ur:Processors>2</ur:Processors></ur:ComputeUsageBlock><ur:MemoryUsageBlock>"
    "<ur:MemoryResourceCapacityUsed>1073741824</ur:MemoryResourceCapacityUsed></ur:MemoryUsageBlock>"
)


def test_a_record_in_blocks_is_a_job_whose_memory_is_in_bytes(tmp_path):
    path = tmp_path / "ur.xml"
    path.write_text(SECOND.format(COMPUTED))
    with open_trace([path]) as store:
        assert store.rows("select run_time, n_procs, average_cpu_time, max_memory, user_id from jobs") == [
            (3600, 2, 2700, 1024**2, "ada")
        ]


def test_a_record_in_blocks_of_storage_is_no_job(tmp_path):
    path = tmp_path / "ur.xml"
    storage = "<ur:StorageUsageBlock><ur:StorageShare>pool</ur:StorageShare></ur:StorageUsageBlock>"
    path.write_text(SECOND.format(COMPUTED) + SECOND.format(storage).replace("r-1", "r-2"))
    with open_trace([path]) as store:
        assert store.account.jobs == 1
        assert store.rows("select reason from rejects") == [
            ("is a record of storage, network or a cloud, not of a job",)
        ]
