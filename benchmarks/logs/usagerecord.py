"""Usage Records as computing elements of a grid write them: a container, a job in about 1200 bytes."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from benchmarks.data import START, Jobs, jobs

HEAD: Final = """\
<?xml version="1.0" encoding="UTF-8"?>
<ur:UsageRecords xmlns:ur="http://schema.ogf.org/urf/2003/09/urf">
"""
RECORD: Final = """\
  <ur:JobUsageRecord>
    <ur:RecordIdentity ur:recordId="ce7.example.net-%(job)d" ur:createTime="%(created)s"/>
    <ur:JobIdentity>
      <ur:GlobalJobId>gsiftp://ce7.example.net:2811/jobs/%(job)d</ur:GlobalJobId>
      <ur:LocalJobId>%(job)d</ur:LocalJobId>
    </ur:JobIdentity>
    <ur:UserIdentity>
      <ur:LocalUserId>grid%(user)03d</ur:LocalUserId>
      <ur:GlobalUserName>/DC=net/DC=example/CN=user%(user)03d</ur:GlobalUserName>
    </ur:UserIdentity>
    <ur:JobName>app%(executable)d</ur:JobName>
    <ur:Status>%(state)s</ur:Status>
    <ur:WallDuration>PT%(run)dS</ur:WallDuration>
    <ur:CpuDuration ur:usageType="user">PT%(hours)dH%(minutes)dM%(seconds)dS</ur:CpuDuration>
    <ur:CpuDuration ur:usageType="system">PT1.5S</ur:CpuDuration>
    <ur:StartTime>%(started)s</ur:StartTime>
    <ur:EndTime>%(ended)s</ur:EndTime>
    <ur:MachineName>ce7.example.net</ur:MachineName>
    <ur:Queue>queue%(queue)d</ur:Queue>
    <ur:NodeCount>1</ur:NodeCount>
    <ur:Processors>%(procs)d</ur:Processors>
    <ur:Memory ur:storageUnit="KB" ur:metric="max" ur:type="physical">%(memory)d</ur:Memory>
    <d:SubmitTime xmlns:d="http://rmis.deisa.org/acct">%(submitted)s</d:SubmitTime>
  </ur:JobUsageRecord>
"""
TAIL: Final = "</ur:UsageRecords>\n"
STATES: Final = {1: "completed", 0: "failed", 5: "aborted"}


def write(path: Path, rows: int) -> None:
    """Write *rows* usage records; a longer file begins like a shorter one."""
    with path.open("w") as file:
        file.write(HEAD)
        for block in jobs(rows):
            file.writelines(RECORD % job for job in _records(block))
        file.write(TAIL)


def _records(block: Jobs) -> list[dict[str, int | str]]:
    """Return the jobs of a block with their durations and times as a record has them."""
    submitted = START + block["submit"]
    started = submitted + block["wait"]
    ended = started + block["run"]
    texts = {
        "submitted": _stamps(submitted.tolist()),
        "started": _stamps(started.tolist()),
        "ended": _stamps(ended.tolist()),
        "created": _stamps((ended + 5).tolist()),
        "state": [STATES[status] for status in block["status"].tolist()],
    }
    numbers = {
        **block,
        "hours": block["cpu"] // 3600,
        "minutes": block["cpu"] // 60 % 60,
        "seconds": block["cpu"] % 60,
    }
    columns = {name: column.tolist() for name, column in numbers.items()} | texts
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _stamps(times: list[int]) -> list[str]:
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return [f"{epoch + timedelta(seconds=time):%Y-%m-%dT%H:%M:%SZ}" for time in times]
