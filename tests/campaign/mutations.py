"""
Read mutated logs as gwa recognises them, write them in all formats, and judge what comes of it.

The cases run in processes that are forked from one that has imported everything; each case has a limit of
CPU time, which the system keeps: a case that hangs ends its process, and the next begins with the next case.
"""

import json
import os
import resource
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Final

from tests.campaign.cases import Case, case
from tests.campaign.table import Row, together
from tests.killing import run

SECONDS: Final = 30
"""CPU time of a case, beyond which it hangs."""

BLOCK: Final = 250
"""Cases of a process."""

OUTPUTS: Final = (".gwf", ".gwf.gz", ".gwf.zst", ".swf", ".parquet", ".duckdb", ".sqlite")
SHARE: Final = 4
"""One of this many cases is written, too, and one of ten times this many is measured."""


def campaign(number: int, seed: int, workers: int, plant: str = "") -> list[Row]:
    """
    Return the rows of *number* cases of a *seed*, which is the same for the same numbers.

    *plant* is code that is run first, to make gwa wrong.
    """
    code = f"{plant}\nimport sys; from tests.campaign.mutations import serve; serve(*sys.argv[1:])"

    def block(first: int) -> list[Row]:
        done = run(code, seed, first, min(first + BLOCK, number))
        if done.returncode:
            raise RuntimeError(done.stderr.decode())
        return [Row(**row) for row in json.loads(done.stdout)]

    with ThreadPoolExecutor(workers) as pool:
        return together([row for rows in pool.map(block, range(0, number, BLOCK)) for row in rows])


def serve(*words: str) -> None:
    """Print the rows of the cases of a seed, from one to another."""
    from tests.interruptions import LIGHT, warm

    seed, first, last = map(int, words)
    warm((*LIGHT, "gwa.trace", "gwa.analysis", "gwa.report.as_json"))
    rows = []
    while first < last:
        with tempfile.TemporaryDirectory() as folder:
            found = list(in_a_process(seed, first, last, Path(folder)))
        rows += found
        first += sum(row.tried for row in found)
    json.dump([asdict(row) for row in together(rows)], sys.stdout)


def in_a_process(seed: int, first: int, last: int, folder: Path) -> Iterator[Row]:
    """Yield a row for each case that a process of its own gets through, and for the one that ends it."""
    reading, writing = os.pipe()
    if not (process := os.fork()):
        os.close(reading)
        work(seed, first, last, folder, writing)
    os.close(writing)
    number = first
    with os.fdopen(reading) as lines:
        for line in lines:
            yield Row(**json.loads(line))
            number += 1
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if number < last:
        row = Row("mutation", case(number, seed, folder).kind, 1)
        row.fail(f"{number}: {'hangs' if status == -signal.SIGXCPU else f'ended with {status}'}")
        yield row


def work(seed: int, first: int, last: int, folder: Path, writing: int) -> None:
    """Judge cases, one after the other, and end this process."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    os.environ["GWA_TMPDIR"] = tempfile.tempdir = str(folder)
    # What the engine or a library prints belongs to no row.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    status = 70
    with suppress(BaseException):
        for number in range(first, last):
            used = resource.getrusage(resource.RUSAGE_SELF)
            limit = int(used.ru_utime + used.ru_stime) + SECONDS
            resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
            place = folder / f"case{number}"
            place.mkdir()
            os.write(writing, f"{json.dumps(asdict(judged(number, case(number, seed, place))))}\n".encode())
            shutil.rmtree(place)
        status = 0
    os._exit(status)


def judged(number: int, given: Case) -> Row:
    """Return the row of a case: what was read, refused, or is wrong."""
    row = Row("mutation", given.kind, 1, figures={"files": len(given.files)})
    given.write()
    try:
        read(number, given, row)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
        line = str(error).strip().splitlines() or [""]
        row.fail(f"{number}: {type(error).__name__}: {line[0][:300]}")
    return row


def read(number: int, given: Case, row: Row) -> None:
    """Read a case; raise `AssertionError`, or whatever is raised, where something is wrong."""
    from gwa.errors import GwaError
    from gwa.formats.open import open_trace
    from tests.mutation import checked, told

    try:
        store = open_trace([given.given])
    except GwaError as error:
        told(error)
        row.count("refused")
        return
    with store:
        account = checked(store)
        row.count("rows", account.rows)
        row.count("jobs", account.jobs)
        all_counted(given, store)
        turn = number // 5  # there are five kinds of cases
        if turn % SHARE == 0:
            written(store, given, OUTPUTS[turn // SHARE % len(OUTPUTS)])
            row.count("written")
        if turn % (10 * SHARE) == 1:
            measured(store)
            row.count("measured")


def all_counted(given, store):
    """Assert that each file is a source, or the same as one, and that each line of it is in the account."""
    sources = dict(store.rows("select file, rows from sources"))
    duplicates = str(store.rows("select meaning from repairs where name = 'duplicate file'"))
    for path in given.files:
        assert path.name in sources or path.name in duplicates, f"{path.name} is neither read nor named"
    for name, lines in given.lines.items():
        if name in sources:
            assert sources[name] == lines, f"{name}: {sources[name]} of {lines} lines are in the account"


def written(store, given, suffix):
    """Assert that what is written in a format holds the same jobs and the same account."""
    from gwa.formats.open import open_trace
    from gwa.formats.registry import writer

    out = given.given.parent / f"written{suffix}"
    writer(out).save(store, out)
    with open_trace([out]) as again:
        account, jobs = again.account, again.row("select count(*) from jobs")[0]
        account.check()
        assert jobs == account.jobs == store.account.jobs, f"{suffix}: {jobs} of {store.account.jobs} jobs"
        if suffix != ".swf":
            assert account == store.account, f"{suffix}: {account}, not {store.account}"


def measured(store):
    """Assert that a report as JSON can be made."""
    from gwa.report.as_json import as_json
    from gwa.trace import Trace

    report = Trace(store, "mutated").report()
    assert not report.failed, report.failed
    json.loads(as_json(report))
