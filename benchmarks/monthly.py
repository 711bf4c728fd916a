"""
What every month costs: ``python -m benchmarks.monthly 100000``.

Twelve monthly logs of ``sacct`` are made up, with that many jobs each, and given one after the other to the
script of ``docs/tutorials/monthly.md``: it appends them to a store, checks each month, and reports it beside
the month before. Printed are the CPU seconds of each month, of all processes.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np

YEAR: Final = 2026
MONTHS: Final = 12
CPUS: Final = 4096
LOAD: Final = 0.6
USERS: Final = 60

LONG_WAITS: Final = 7
"""In this month jobs wait six times as long."""
FAILURES: Final = 10
"""In this month one job in four fails, else one in twenty."""
NEW_USERS: Final = 4
NEW_SHARE: Final = 0.1
"""From this month on a user called newcomer submits every tenth job."""

SYSTEM: Final = f'name = "Heron"\ncpus = {CPUS}\nzone = "UTC"\n'

COLUMNS: Final = (
    "JobID|User|Group|Account|Submit|Start|End|ElapsedRaw|TimelimitRaw|State|ExitCode|AllocCPUS|NNodes|ReqCPUS"
    "|Partition"
)

DOCUMENTATION: Final = Path(__file__).parent.parent / "docs" / "tutorials" / "monthly.md"


@dataclass(frozen=True)
class Month:
    """What became of a month: its *name*, exit status, what was said and mailed, CPU seconds, page."""

    name: str
    status: int
    said: str
    mail: str
    cpu_seconds: float
    page: Path


def write_months(folder: Path, jobs: int, seed: int = 2026) -> list[Path]:
    """Write a year of monthly logs with *jobs* each, of jobs that ended in the month; return the paths."""
    rng = np.random.default_rng(seed)
    lines: list[list[str]] = [[] for _ in range(MONTHS)]
    for number, (end, line) in enumerate(_jobs(rng, jobs)):
        ended = datetime.fromtimestamp(end, UTC)
        if ended.year == YEAR:
            lines[ended.month - 1].append(f"{number + 1}|{line}")
    paths = []
    for month, rows in enumerate(lines, 1):
        paths.append(folder / f"sacct-{YEAR}-{month:02}.txt")
        paths[-1].write_text("\n".join([COLUMNS, *rows, ""]))
    return paths


def _jobs(rng: np.random.Generator, jobs: int) -> Iterator[tuple[float, str]]:
    """Yield the end and the line of each job, in the order of submission."""
    for month in range(1, MONTHS + 1):
        begin = datetime(YEAR, month, 1, tzinfo=UTC).timestamp()
        length = datetime(YEAR + month // 12, month % 12 + 1, 1, tzinfo=UTC).timestamp() - begin
        submit = np.sort(begin + np.floor(rng.uniform(0, length, jobs)))
        procs = 2 ** rng.integers(0, 6, jobs)
        mean = LOAD * CPUS * length / (jobs * procs.mean())
        run = np.ceil(np.minimum(rng.lognormal(np.log(mean) - 0.5, 1.0, jobs), 3 * 86_400))
        wait = np.floor(rng.exponential(3600.0 * (6 if month == LONG_WAITS else 1), jobs))
        failed = rng.random(jobs) < (0.25 if month == FAILURES else 0.05)
        users = rng.zipf(1.5, jobs) % USERS
        new = (rng.random(jobs) < NEW_SHARE) & (month >= NEW_USERS)
        for row in zip(submit, wait, run, procs, failed, users, new, strict=True):
            yield row[0] + row[1] + row[2], _line(*row)


def _line(submit, wait, run, procs, failed, user, new) -> str:  # type: ignore[no-untyped-def]  # noqa: ANN001
    """Return a job as sacct prints it."""
    times = (submit, submit + wait, submit + wait + run)
    written = [datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S") for moment in times]
    name = "newcomer" if new else f"user{user:03}"
    state = "FAILED|1:0" if failed else "COMPLETED|0:0"
    limit = int(run // 60) * 2 + 60
    sizes = f"{procs}|{-(-procs // 32)}|{procs}"
    return f"{name}|staff|p{user % 7}|{'|'.join(written)}|{int(run)}|{limit}|{state}|{sizes}|batch"


def script() -> str:
    """Return the script that the documentation gives to cron."""
    return re.findall(r"```sh\n(.*?)```", DOCUMENTATION.read_text(), re.DOTALL)[0]


def routine(logs: list[Path], folder: Path) -> Iterator[Month]:
    """Run the script in *folder* on the first of each month, when the next of the *logs* is there."""
    (folder / "heron.toml").write_text(SYSTEM)
    programs = {
        "gwa-monthly": script(),
        "gwa": f'#!/bin/sh\nexec {sys.executable} -m gwa "$@"\n',
        "sacct": f'#!/bin/sh\nexec cat "{folder}/sacct"\n',
        "mail": f'#!/bin/sh\nexec cat >"{folder}/mail"\n',
    }
    (folder / "bin").mkdir()
    for name, text in programs.items():
        (folder / "bin" / name).write_text(text)
        (folder / "bin" / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}", "GWA_HOME": str(folder)}
    for month, log in enumerate(logs, 1):
        (folder / "mail").unlink(missing_ok=True)
        (folder / "sacct").write_bytes(log.read_bytes())
        before = _cpu_seconds()
        done = subprocess.run(
            [folder / "bin" / "gwa-monthly", f"{YEAR + month // 12}-{month % 12 + 1:02}-01"],
            capture_output=True, text=True, check=False, env=environment,
        )  # fmt: skip
        name = f"{YEAR}-{month:02}"
        mail = folder / "mail"
        yield Month(
            name,
            done.returncode,
            done.stderr,
            mail.read_text() if mail.exists() else "",
            _cpu_seconds() - before,
            folder / "pages" / name / "heron.html",
        )


def _cpu_seconds() -> float:
    """Return the CPU seconds of all programs that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def main() -> None:
    """Make a year up, and print what each of its months costs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("jobs", type=int, nargs="?", default=100_000, help="jobs of a month")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for month in routine(write_months(folder, arguments.jobs), folder):
            print(f"{month.name}: {month.cpu_seconds:.1f} CPU s, status {month.status}", flush=True)
            print(month.said, month.mail, sep="", end="", flush=True)


if __name__ == "__main__":
    main()
