"""Runs of jobs, written as each format writes them: boxes are the intervals, in one log and in two nights."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.breakdown.charge.charges import BillingPeriod, month
from gwa.breakdown.charge.rates import Rate, Rates
from gwa.formats.append import append
from gwa.formats.convert import convert
from gwa.formats.open import open_trace
from gwa.metrics.presence import present
from gwa.store.store import Store
from tests.conftest import examples
from tests.converters.ways import DUMP

BEGIN = 1_304_290_200
"""1 May 2011, 22:50 UTC: the second 0 of Google's trace."""

DAY = 86_400

Interval = tuple[int, int]


class Job(NamedTuple):
    """A job: its number, when it was submitted, its processors, and from when to when it ran."""

    number: int
    submitted: int
    procs: int
    runs: list[Interval]


Record = tuple[int, str]
"""When a line, or several, were written, and their text."""


@st.composite
def jobs(draw):
    """Yield some jobs that have ended, most of them after several runs."""
    made = []
    for number in range(1, draw(st.integers(1, 4)) + 1):
        at = submitted = BEGIN + draw(st.integers(1000, 60 * DAY))
        runs = []
        for _ in range(draw(st.integers(1, 4))):
            start = at + draw(st.integers(1, DAY))
            at = start + draw(st.integers(1, 10 * DAY))
            runs.append((start, at))
        made.append(Job(number, submitted, draw(st.integers(1, 8)), runs))
    return made


def told(job: Job) -> list[tuple[int, int, int, int, bool]]:
    """Return each run: its place, when its job was submitted again, start, end, whether it is the last."""
    submitted = [job.submitted, *(end for _, end in job.runs)]
    return [
        (place, submitted[place], start, end, place == len(job.runs) - 1)
        for place, (start, end) in enumerate(job.runs)
    ]


def clock(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def stamp(at: int, form: str = "%Y-%m-%dT%H:%M:%S") -> str:
    return datetime.fromtimestamp(at, UTC).strftime(form)


def slurm(job: Job) -> list[Record]:
    return [
        (
            end,
            (
                f"{job.number}|u1|{stamp(submitted)}|{stamp(start)}|{stamp(end)}|{clock(end - start)}"
                f"|{'COMPLETED' if is_last else 'PREEMPTED'}|0:0|{job.procs}|1|cpu={job.procs},node=1"
            ),
        )
        for _, submitted, start, end, is_last in told(job)
    ]


SACCT = "JobID|User|Submit|Start|End|Elapsed|State|ExitCode|AllocCPUS|NNodes|AllocTRES"


def dump(job: Job) -> list[Record]:
    def row(submitted: int, start: int, end: int, *, is_last: bool) -> str:
        state = 3 if is_last else 8
        return (
            f"({job.number},{job.procs},0,'x',0,0,4294967294,{job.number},1,1,1,'n1',1,'p',{state},60"
            f",{submitted},{submitted},{start},{end},0,'1={job.procs},4=1','1={job.procs},4=1')"
        )

    return [
        (end, f"INSERT INTO `c_job_table` VALUES {row(submitted, start, end, is_last=is_last)};")
        for _, submitted, start, end, is_last in told(job)
    ]


def ad(job: Job, **values: object) -> dict[str, object]:
    """Return what all ads of HTCondor say of a job."""
    return {
        "ClusterId": job.number, "ProcId": 0, "GlobalJobId": f"ap#{job.number}.0#{job.submitted}",
        "Owner": "u1", "QDate": job.submitted, "JobUniverse": 5, "RequestCpus": job.procs,
        "JobStartDate": job.runs[0][0],
    } | values  # fmt: skip


def condor(job: Job) -> list[Record]:
    (start, end), ran = job.runs[-1], [end - start for start, end in job.runs]
    values = ad(
        job, JobStatus=4, NumJobStarts=len(ran), JobCurrentStartDate=start, CompletionDate=end,
        EnteredCurrentStatus=end, RemoteWallClockTime=sum(ran), LastRemoteWallClockTime=ran[-1], ExitCode=0,
    )  # fmt: skip
    values |= {"LastVacateTime": job.runs[-2][1]} if len(ran) > 1 else {}
    return [(end, _classad(values) + "\n***")]


def epochs(job: Job) -> list[Record]:
    return [
        (
            end,
            _classad(
                ad(
                    job, JobStatus=4 if is_last else 1, NumJobStarts=place + 1, JobCurrentStartDate=start,
                    CompletionDate=end if is_last else 0, EnteredCurrentStatus=end, EpochWriteDate=end,
                    LastVacateTime=end, ExitCode=0,
                )
            )
            + "\n*** EPOCH",
        )
        for place, _, start, end, is_last in told(job)
    ]  # fmt: skip


def events(job: Job) -> list[Record]:
    def event(at: int, kind: int, said: str, *details: str) -> Record:
        head = f"{kind:03} ({job.number}.000.000) {stamp(at, '%Y-%m-%d %H:%M:%S')} {said}"
        return at, "\n".join([head, *details, "..."])

    held = f"\t   Cpus                 :     0.97        1 {job.procs:9}"
    table = ("\tPartitionable Resources :    Usage  Request Allocated", held)
    records = [event(job.submitted, 0, "Job submitted from host: <192.0.2.1:9618>")]
    for _, _, start, end, is_last in told(job):
        kind, said = (5, "Job terminated.") if is_last else (4, "Job was evicted.")
        how = "\t(1) Normal termination (return value 0)" if is_last else "\t(0) CPU times"
        records += [
            event(start, 1, "Job executing on host: <192.0.2.2:9618>"),
            event(end, kind, said, how, *table),
        ]
    return records


def _classad(values: dict[str, object]) -> str:
    return "\n".join(
        f'{key} = "{value}"' if isinstance(value, str) else f"{key} = {value}"
        for key, value in values.items()
    )


def pbs(job: Job) -> list[Record]:
    def line(at: int, kind: str, rest: str) -> Record:
        return at, f"{stamp(at, '%m/%d/%Y %H:%M:%S')};{kind};{job.number}.srv;{rest}"

    records = [line(job.submitted, "Q", "queue=workq")]
    for place, _, start, end, is_last in told(job):
        told_of = (
            f"user=u1 queue=workq ctime={job.submitted} etime={job.submitted} start={start}"
            f" exec_host=n2/0*{job.procs} Resource_List.ncpus={job.procs} run_count={place + 1}"
        )
        ended = f"{told_of} session=5 end={end} Exit_status=0 resources_used.walltime={clock(end - start)}"
        records += [line(start, "S", told_of), line(end, "E" if is_last else "R", ended)]
    return records


def sge(job: Job) -> list[Record]:
    return [
        (
            end,
            (
                f"all.q:n1:staff:u1:sim:{job.number}:sge:0:{job.submitted}:{start}:{end}"
                f":{0 if is_last else 25}:0:{end - start}:10.0:1.0:100000.000:0:0:0:0:10:0:0:0.000"
                ":0:0:0:0:5:5:p1:defaultdepartment:mpi"
                f":{job.procs}:0:11.0:1.5:0.1:-l h_rt=7200:0.000:NONE:1000000.000:0:0"
            ),
        )
        for _, _, start, end, is_last in told(job)
    ]


def bhist(job: Job) -> list[Record]:
    def event(at: int, said: str) -> str:
        return f"{stamp(at, '%a %b %d %H:%M:%S %Y')}: {said};"

    lines = [
        f"Job <{job.number}>, User <u1>, Project <p>, Command <run>",
        event(job.submitted, "Submitted from host <h>, to Queue <q>, CWD <$HOME>"),
    ]
    for _, _, start, end, is_last in told(job):
        hosts = f"on Host(s) <{job.procs}*n1>"
        ended = "Done successfully" if is_last else "Pending: Job has been requeued"
        lines += [
            event(start, f"Dispatched 1 Task(s) {hosts}, Allocated 1 Slot(s) {hosts}"),
            event(end, ended),
        ]
    return [(job.runs[-1][1], "\n".join([*lines, ""]))]


def google(job: Job) -> list[Record]:
    events = [
        (at, kind)
        for _, submitted, start, end, is_last in told(job)
        for at, kind in ((submitted, 0), (start, 1), (end, 4 if is_last else 2))
    ]
    return [
        (at, f"{(at - BEGIN) * 1_000_000},,{job.number},0,,{kind},u1,0,2,0.5,0.25,0.001,0")
        for at, kind in events
    ]


def swf(job: Job) -> list[Record]:
    def line(submitted: int, waited: int, ran: int, status: int) -> str:
        return f"{job.number} {submitted} {waited} {ran} {job.procs}{' -1' * 5} {status} 1 1 1 1 1 -1 -1"

    first, at, lines = job.submitted - BEGIN, job.submitted, []
    for place, _, start, end, is_last in told(job):
        lines.append(line(-1 if place else first, start - at, end - start, 3 if is_last else 2))
        at = end
    summary = line(first, job.runs[0][0] - job.submitted, sum(end - start for start, end in job.runs), 1)
    return [(at, "\n".join([summary, *lines]))]


class Way(NamedTuple):
    """A format: its name, a name of its files, what writes a job, the first line, and what it leaves open."""

    name: str
    file: str
    write: Callable[[Job], list[Record]]
    header: str = ""
    has_procs: bool = True
    known: int = 9
    """Of how many runs each is known; of more, the sum of all but the last, and when they began and ended."""


WAYS = {
    "slurm": Way("slurm", "jobs.sacct", slurm, SACCT),
    "dump": Way("slurm-dump", "slurm.sql", dump, DUMP.rpartition("\n")[0]),
    "condor": Way("condor", "history", condor, known=2),
    "epochs": Way("condor", "history", epochs),
    "events": Way("condor-events", "events.log", events),
    "pbs": Way("pbs", "20110501", pbs),
    "sge": Way("sge", "accounting", sge),
    "bhist": Way("lsf-history", "bhist.txt", bhist),
    "google": Way("google2011", "part-00000-of-00001.csv", google, has_procs=False),
    "swf": Way("swf", "log.swf", swf, f"; UnixStartTime: {BEGIN}"),
}


def written(way, made, folder, nights=1):
    """Write the log of some jobs, or as many logs as there are *nights*, cut between its records."""
    records = sorted((record for job in made for record in way.write(job)), key=lambda record: record[0])
    size = -(-len(records) // nights)
    paths = []
    for night in range(0, len(records), size):
        path = folder / f"night-{night}" / way.file
        path.parent.mkdir(exist_ok=True)
        lines = [way.header] * bool(way.header) + [text for _, text in records[night : night + size]]
        path.write_text("\n".join([*lines, ""]))
        paths.append(path)
    return paths


def held(store):
    """Return from when to when how many processors were held."""
    return sorted(store.rows(f"select start_time, end_time, n_procs from {present(store)} as present"))


def expected(way, made):
    """Return what `held` is of jobs: their intervals, or of some their sum at the end of its frame."""
    boxes = []
    for job in made:
        procs, runs = job.procs if way.has_procs else 1, job.runs
        if len(runs) > way.known:
            end = runs[-2][1]
            runs = [(end - sum(end - start for start, end in runs[:-1]), end), runs[-1]]
        boxes += [(start, end, procs) for start, end in runs]
    return sorted(boxes)


RATES = Rates(currency="EUR", rates=(Rate(name="CPU", cpu_hour=1.0),))
MONTHS = [
    BillingPeriod(
        f"2011-{n:02}",
        int(datetime(2011, n, 1, tzinfo=UTC).timestamp()),
        int(datetime(2011, n + 1, 1, tzinfo=UTC).timestamp()),
    )
    for n in range(5, 11)
]


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@given(made=jobs())
@examples(15)
def test_boxes_are_what_was_held_and_months_add_up(way, made, tmp_path_factory):
    paths = written(way, made, tmp_path_factory.mktemp("log"))
    with open_trace(paths, way.name) as store:
        boxes = held(store)
        assert boxes == expected(way, made)
        waits = sorted(wait for (wait,) in store.rows("select wait_time from jobs"))
        assert waits == sorted(job.runs[0][0] - job.submitted for job in made)
        months = [one.amounts["cpu_hour"] for part in MONTHS for one in month(store, RATES, part).usage]
    assert sum(months) == sum((end - start) * procs for start, end, procs in boxes)


@pytest.mark.parametrize(
    "way", [way for way in WAYS.values() if way.name != "swf"], ids=[name for name in WAYS if name != "swf"]
)
@given(made=jobs(), nights=st.integers(2, 3))
@examples(5)
def test_a_log_in_nights_has_the_runs_of_the_whole(way, made, nights, tmp_path_factory):
    folder = tmp_path_factory.mktemp("nights")
    for path in written(way, made, folder, nights):
        append([path], folder / "nights.duckdb", name=way.name)
    convert(written(way, made, folder), folder / "whole.duckdb", name=way.name)
    with Store.open(folder / "nights.duckdb") as parts, Store.open(folder / "whole.duckdb") as whole:
        assert described(parts) == described(whole)
        assert held(parts) == expected(way, made)


def described(store):
    fields = "submit_time, wait_time, run_time, n_procs, status, n_requeues, runs"
    return store.rows(f"select source_id, {fields} from jobs join source_ids using (job_id) order by all")
