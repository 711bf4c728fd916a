"""
Ctrl-C at moments of commands that are spread at random: how long each takes to end, and what it leaves.

The longest time is a figure, not a failure: it is that of a busy machine, too. A command fails where it does
not end, says more than that it was stopped, or leaves a process or a file behind.
"""

import json
import os
import select
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Final

from tests.campaign.table import Row
from tests.interruptions import CATALOGUE, TEMPORARY, run_exit_handlers, warm
from tests.killing import run

PATIENCE: Final = 60
"""Seconds after which a command that was interrupted has failed."""

JOBS: Final = 40_000

JOB: Final = "{0} {1} 5 {2} {3} -1 -1 {3} 90000 -1 1 {4} 1 1 1 1 -1 -1\n"

EXPERIMENT: Final = """
title = "Stop"
policies = ["easy", "fcfs"]
clusters = [{ name = "c", processors = 64 }]
[[workloads]]
name = "w"
trace = "log.swf"
"""

COMMANDS: Final = {
    "convert": "convert log.swf -o out.duckdb",
    "report": "report log.swf --html --json -o out",
    "facts": "facts log.swf",
    "compare": "compare log.swf part.swf -o out",
    "model fit": "model fit log.swf lublin -o out.toml",
    "model generate": "model generate lublin --jobs 300000 --seed 1 -o out.gwf",
    "simulate": "simulate experiment.toml -o out",
    "site build": "site build site -o out",
}


def campaign(folder: Path, moments: int, names: Sequence[str] | None = None) -> list[Row]:
    """Return a row for each command, which is interrupted at so many *moments*."""
    code = "import sys; from tests.campaign.ctrl_c import serve; serve(*sys.argv[1:])"
    done = run(code, folder, moments, *(names or COMMANDS))
    if done.returncode:
        raise RuntimeError(done.stderr.decode())
    return [Row(**row) for row in json.loads(done.stdout)]


def serve(folder: str, moments: str, *names: str) -> None:
    """Print the rows of the commands *names* as JSON."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    warm(("gwa.",))
    place = Path(folder).absolute() / "ctrl-c"
    prepare(place)
    json.dump([asdict(interrupted(name, place, int(moments))) for name in names], sys.stdout)


def prepare(place: Path) -> None:
    """Write what the commands read."""
    chance = Random("ctrl-c")
    (place / "site").mkdir(parents=True)
    (place / "site" / "archive.toml").write_text(CATALOGUE.replace("jobs = 40", "jobs = 20000"))
    (place / "experiment.toml").write_text(EXPERIMENT)
    times = sorted(chance.randrange(200 * 86_400) for _ in range(JOBS))
    lines = [
        JOB.format(job, at, int(chance.expovariate(1 / 3600)), chance.choice((1, 1, 2, 4, 8)), job % 99)
        for job, at in enumerate(times, 1)
    ]
    for name, some in (("log.swf", lines), ("part.swf", lines[: JOBS // 4])):
        (place / name).write_text("; UnixStartTime: 1000000000\n; MaxProcs: 64\n" + "".join(some))


def interrupted(name: str, place: Path, moments: int) -> Row:
    """Run a command to its end, then stop it at *moments* of the time that this takes."""
    row, chance = Row("ctrl-c", name), Random(name)
    clean = {path.name for path in place.iterdir()} - {TEMPORARY}
    begin = time.monotonic()
    process = started(place, COMMANDS[name])
    if status := os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]):
        row.fail(f"uninterrupted: status {status}: {(place / 'said').read_text()[-300:]}")
        return row
    whole, longest = time.monotonic() - begin, 0.0
    for _ in range(moments):
        reset(place, clean)
        process = started(place, COMMANDS[name])
        moment = chance.uniform(0, whole)
        time.sleep(moment)
        begin = time.monotonic()
        with suppress(ProcessLookupError):
            os.killpg(process, signal.SIGINT)
        status = waited(process)
        taken = time.monotonic() - begin
        longest = max(longest, taken)
        row.tried += 1
        if reason := wrong(place, process, status):
            row.fail(f"after {moment:.2f} of {whole:.2f} s: {reason}")
        elif taken > 1:
            row.count("over 1 s")
    row.figures |= {"s at the longest": round(longest, 2), "s uninterrupted": round(whole, 2)}
    reset(place, clean)
    return row


def reset(place: Path, clean: set[str]) -> None:
    """Remove what a command has made."""
    for path in place.iterdir():
        if path.name not in clean:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    (place / TEMPORARY).mkdir()


def started(place: Path, words: str) -> int:
    """Start a command in a process, and a session, of its own."""
    (place / TEMPORARY).mkdir(exist_ok=True)
    reading, writing = os.pipe()
    if not (process := os.fork()):
        os.setsid()
        os.chdir(place)
        os.environ.update(GWA_TMPDIR=str(place / TEMPORARY), HOME=str(place / "home"))
        os.dup2(os.open(place / "said", os.O_RDWR | os.O_CREAT | os.O_TRUNC), 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.write(writing, b".")
        act(words)
    os.close(writing)
    select.select([reading], [], [])
    os.close(reading)
    return process


def act(words: str) -> None:
    """Run a command in this process, and end it."""
    from gwa.cli import main

    sys.argv = ["gwa", *words.split()]
    status = 70
    try:
        main()
    except SystemExit as error:
        status = int(error.code or 0)
    except KeyboardInterrupt:
        # Before the command had begun, as before Python starts it.
        status = 130
    finally:
        run_exit_handlers()
        os._exit(status)


def waited(process: int) -> int:
    """Return the exit status of a process, which is killed if it does not end."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.killpg(process, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def wrong(place: Path, process: int, status: int) -> str:
    """Return what is wrong with how a command ended, empty if nothing is."""
    said = (place / "said").read_text(errors="replace").strip()
    if status not in (0, 130):
        return f"status {status}: {said[-300:]}"
    if "Traceback" in said or "inside gwa" in said:
        return said[-300:]
    with suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
        return "a process goes on"
    left = [path.name for path in (place / TEMPORARY).iterdir()]
    return f"left {left[:3]}" if left else ""
