"""
Commands that are killed, or whose disk fails, at a step of their work; then they are run again.

A step is an event of the file system that Python knows of, a byte of a file, which engines write, too, or a
read of an input: see `INTERRUPTIONS`. `campaign` returns a table with a row for each command. The commands
run in processes that are forked from one that has imported everything, and that opens no trace itself: a
kill and the run after it take about a second.
"""

import errno
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.killing import run

JOB: Final = "{0} {1} 5 60 2 -1 -1 2 60 -1 1 {2} 1 1 1 1 -1 -1\n"

SACCT_COLUMNS: Final = "JobID|User|Submit|Start|End|State|AllocCPUS\n"

SACCT: Final = "{0}|u{0}|2024-03-01T00:{1}:00|2024-03-02T{1}:00:00|{3}|{2}|1\n"

TEMPORARY: Final = "tmp"
"""The folder for temporary files, in the folder in which a command runs."""

KILLS: Final = (signal.SIGKILL, signal.SIGXFSZ, signal.SIGPROF)
"""The signals by which commands are killed: nothing runs after them."""

FAULTS: Final = (errno.ENOSPC, errno.EIO, errno.EACCES)

EXPERIMENT: Final = """
title = "Kill"
architectures = ["csp"]
selections = ["S-T"]
schedulers = ["FPLT", "RR"]
loads = [0.4]
repetitions = 1
[[clusters]]
name = "a"
processors = 4
[[workloads]]
name = "made"
models = ["thesis-average"]
tasks = 120
"""

CATALOGUE: Final = """
[archive]
title = "Archive"
about = "Traces for tests."

[[trace]]
id = "made"
title = "Made"
system = "s"
provider = "p"
licence = "CC0-1.0"
citation = "c"
year = 2009
preset = "lublin"
jobs = 40
seed = 3
"""


@dataclass(frozen=True)
class Command:
    """The words of a command, those that are run *before*, and the *outputs* that appear whole."""

    name: str
    words: str
    outputs: str
    before: tuple[str, ...] = ()


COMMANDS: Final = {
    command.name: command
    for command in (
        Command("convert to gwf", "convert 0.swf -o a.gwf --force", "a.gwf", ("convert 3.swf -o a.gwf",)),
        Command("convert to gwf.gz", "convert 0.swf -o a.gwf.gz", "a.gwf.gz"),
        Command(
            "convert to duckdb", "convert 0.swf -o a.duckdb --force", "a.duckdb",
            ("convert 3.swf -o a.duckdb",),
        ),
        Command("convert to parquet", "convert 0.swf -o a.parquet", "a.parquet"),
        Command("convert to sqlite", "convert 0.swf -o a.sqlite", "a.sqlite"),
        Command("convert several", "convert 0.swf 1.swf 2.swf -o a.gwf", "a.gwf"),
        Command(
            "convert several to a store", "convert 0.swf 1.swf 2.swf -o a.duckdb --force", "a.duckdb",
            ("convert 3.swf -o a.duckdb --append",),
        ),
        Command("append, first", "convert 0.swf 1.swf -o a.duckdb --append", "a.duckdb"),
        Command(
            "append", "convert 1.swf 2.swf -o a.duckdb --append", "a.duckdb",
            ("convert 0.swf -o a.duckdb --append",),
        ),
        Command(
            "append by keys", "convert 1.sacct -o a.duckdb --append", "a.duckdb",
            ("convert 0.sacct -o a.duckdb --append",),
        ),
        Command(
            "append to what kept no rows", "convert 1.sacct -o a.duckdb --append", "a.duckdb",
            ("convert 0.sacct -o a.duckdb",),
        ),
        Command(
            "append since last", "convert 2.sacct -o a.duckdb --since last", "a.duckdb",
            ("convert 0.sacct -o a.duckdb --append",),
        ),
        Command(
            "partition", "convert 0.swf 1.swf -o a.parquet --partition month --force", "a.parquet",
            ("convert 3.swf -o a.parquet --partition month",),
        ),
        Command("partition, first", "convert 0.swf 1.swf -o a.parquet --partition month", "a.parquet"),
        Command(
            "anonymize", "anonymize 0.swf -o a.gwf --key key", "a.gwf",
            ("anonymize 3.swf -o b.gwf --key key",),
        ),
        Command(
            "convert --anonymize", "convert 0.swf 1.swf -o a.duckdb --anonymize --key key", "a.duckdb",
            ("anonymize 3.swf -o b.gwf --key key",),
        ),
        Command("report", "report 0.swf --html --json --sections users -o out", "out/0.html out/0.json"),
        Command(
            "simulate", "simulate kill.toml -o out --jobs 1 --schedules",
            "out/results.csv out/results.parquet out/report.html out/report.json",
        ),
        Command(
            "model rank", "model rank weeks.swf --models lublin --seeds 1 -o out --quiet",
            "out/leaderboard.html out/leaderboard.json",
        ),
        Command("site build", "site build site -o public", "public"),
    )
}  # fmt: skip


@dataclass
class Row:
    """What came of the kills, or the faults, of a command; *wrong* says more of the first failures."""

    command: str
    events: int
    kills: int = 0
    half_outputs: int = 0
    reruns_right: int = 0
    leftovers: int = 0
    tolerated: int = 0
    messages_wrong: int = 0
    wrong: list[str] = field(default_factory=list)


def campaign(
    folder: Path, kills: int, names: list[str] | None = None, by: str = "kill", plant: str = ""
) -> list[dict[str, Any]]:
    """
    Interrupt each command *kills* times in *folder*, at steps that are evenly spread; 0 is at every step.

    It is interrupted *by* one of `INTERRUPTIONS`. *plant* is code that is run first, to make gwa wrong.
    Return a row for each command.
    """
    code = f"{plant}\nimport sys; from tests.interruptions import serve; serve(*sys.argv[1:])"
    done = run(code, folder, kills, by, *(names or COMMANDS))
    if done.returncode:
        raise RuntimeError(done.stderr.decode())
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


def serve(folder: str, kills: str, by: str, *names: str) -> None:
    """Print the rows of the commands *names* as JSON."""
    warm(LIGHT if all(COMMANDS[name].words.startswith("convert") for name in names) else ("gwa.",))
    place = Path(folder).absolute()
    rows = [asdict(interrupted(COMMANDS[name], place, int(kills), INTERRUPTIONS[by])) for name in names]
    json.dump(rows, sys.stdout)


LIGHT: Final = ("gwa.cli.convert", "gwa.formats", "gwa.ingest", "gwa.store", "gwa.util")
"""The modules that a conversion needs."""


def warm(prefixes: tuple[str, ...]) -> None:
    """Import what the commands need, and compute what they cache, without opening a trace."""
    from importlib import import_module
    from pkgutil import walk_packages

    import gwa
    import gwa.cli
    from gwa.formats.registry import all_formats
    from gwa.util import fingerprint

    for module in walk_packages(gwa.__path__, "gwa."):
        if module.name.startswith(prefixes) and "__main__" not in module.name:
            import_module(module.name)
    fingerprint.program()
    all_formats()


def prepare(place: Path) -> None:
    """Write the inputs of all commands."""
    place.mkdir(parents=True)
    (place / TEMPORARY).mkdir()
    for number in range(4):
        jobs = range(20 * number + 1, 20 * number + 21)
        lines = (JOB.format(job, job * 86_400 * 3, job % 3 + 1) for job in jobs)
        (place / f"{number}.swf").write_text("; UnixStartTime: 0\n" + "".join(lines))
    night = [
        SACCT.format(job, f"{job:02}", "COMPLETED", f"2024-03-02T{job:02}:30:00") for job in range(1, 20)
    ]
    night.insert(9, SACCT.format(10, "10", "RUNNING", "Unknown"))
    for number, rows in enumerate((night[:10], night[10:], night)):
        (place / f"{number}.sacct").write_text(SACCT_COLUMNS + "".join(rows))
    hours = (JOB.format(hour + 1, hour * 3600 * 4, hour % 3 + 1) for hour in range(6 * 7 * 4))
    (place / "weeks.swf").write_text("; UnixStartTime: 0\n; MaxProcs: 8\n" + "".join(hours))
    (place / "kill.toml").write_text(EXPERIMENT)
    (place / "site").mkdir()
    (place / "site" / "archive.toml").write_text(CATALOGUE)


def events(place: Path, act: Callable[[int, str, tuple[Any, ...]], None]) -> None:
    """Call *act* with a number before each event of this process that names something in *place*."""
    count, is_acting = 0, False

    def look(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal count, is_acting
        if is_acting or not (event == "open" or event.startswith(("os.", "shutil.", "fcntl.", "sqlite3."))):
            return
        is_acting = True
        try:
            if names(arguments, place):
                count += 1
                act(count, event, arguments)
        finally:
            is_acting = False

    sys.addaudithook(look)


def names(arguments: tuple[Any, ...], place: Path) -> bool:
    """Whether an event names something in *place*; names relative to an open folder are taken for such."""
    paths = [os.fsdecode(one) for one in arguments[:2] if isinstance(one, str | bytes | os.PathLike)]
    return any(path.startswith(str(place)) or (path and not path.startswith("/")) for path in paths)


def forked(act: Callable[[], Any], place: Path) -> tuple[int, Any]:
    """Do *act* in a process of its own; return its exit status, negative for a signal, and its result."""
    reading, writing = os.pipe()
    if not (process := os.fork()):
        os.close(reading)
        status = 70
        try:
            os.chdir(place)
            os.environ.update(GWA_TMPDIR=str(place / TEMPORARY), HOME=str(place / "home"))
            result = act()
            os.write(writing, json.dumps(result).encode())
            status = 0
        except BaseException as error:  # noqa: BLE001 - the process ends here
            os.write(2, f"{error!r}\n".encode())
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        content = pipe.read()
    _, code = os.waitpid(process, 0)
    return os.waitstatus_to_exitcode(code), json.loads(content) if content else None


def execute(
    place: Path, words: str, hook: Callable[[], None] = lambda: None, name: str = "said"
) -> tuple[int, tuple[int, str] | None]:
    """
    Run a command, after *hook*; return its exit status, or signal, and what it wrote to standard error.

    That is kept in a file beside *place* of this *name*.
    """

    def act() -> tuple[int, str]:
        from gwa.cli import main

        said = Path(f"{place}.{name}")
        descriptor = os.open(said, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        sys.argv = ["gwa", *words.split()]
        hook()
        status = 0
        try:
            main()
        except SystemExit as error:
            status = int(error.code or 0)
        sys.stderr.flush()
        run_exit_handlers()
        return status, said.read_text(errors="replace")

    return forked(act, place)


def completed(place: Path, words: str) -> None:
    """Run a command that is not interrupted."""
    outcome = execute(place, words)
    assert outcome[0] == 0, outcome
    assert outcome[1], outcome
    assert outcome[1][0] == 0, outcome


def run_exit_handlers() -> None:
    """Do what a program does at its end."""
    import atexit
    import gc

    gc.collect()
    atexit._run_exitfuncs()  # noqa: SLF001 - a forked process has no other end


def content_of(path: Path) -> str:
    """Return a hash of what a file says; DuckDB and Parquet are free in how they say it."""
    import duckdb

    if path.suffix in {".duckdb", ".parquet", ".sqlite"}:
        if path.suffix == ".parquet":
            with duckdb.connect() as database:
                said = repr(database.execute(f"from read_parquet('{path}') order by all").fetchall())
        else:
            from gwa.formats.open import open_trace

            with open_trace([path]) as store:
                said = repr(
                    [store.rows("from jobs order by all"), store.rows("select * from sources order by all")]
                )
        return hashlib.sha256(said.encode()).hexdigest()
    # Pages name the hash of each download, of which DuckDB's is not the same each time.
    return hashlib.sha256(re.sub(rb"[0-9a-f]{64}", b"", path.read_bytes())).hexdigest()


def snapshot(place: Path, command: Command) -> dict[str, dict[str, str]]:
    """Return the content of all files of each output."""
    found = {}
    for name in command.outputs.split():
        root = place / name
        files = [path for path in root.rglob("*") if path.is_file()] if root.is_dir() else [root]
        found[name] = {
            path.relative_to(place).as_posix(): content_of(path) for path in files if path.exists()
        }
    return found


def listing(place: Path) -> list[str]:
    """Return the names of all that is there, hidden or not."""
    return sorted(path.relative_to(place).as_posix() for path in place.rglob("*"))


def kill(place: Path, number: int) -> Callable[[], None]:
    """Return what makes this process be killed before its event *number*."""

    def act(count: int, _event: str, _arguments: tuple[Any, ...]) -> None:
        if count == number:
            signal.raise_signal(signal.SIGKILL)

    return lambda: events(place, act)


def fault(place: Path, number: int) -> Callable[[], None]:
    """Return what makes the event *number* of this process fail."""

    def act(count: int, _event: str, arguments: tuple[Any, ...]) -> None:
        if count == number:
            code = FAULTS[number % len(FAULTS)]
            raise OSError(
                code, os.strerror(code), next((one for one in arguments if isinstance(one, str)), None)
            )

    return lambda: events(place, act)


def kill_byte(_place: Path, number: int) -> Callable[[], None]:
    """Return what makes the system kill this process when a file grows beyond a *number* of bytes."""

    def hook() -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (number, resource.RLIM_INFINITY))
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)

    return hook


def kill_moment(_place: Path, number: int) -> Callable[[], None]:
    """Return what makes the system kill this process after a *number* of milliseconds of work."""

    def hook() -> None:
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, number / 1000)

    return hook


def full_byte(_place: Path, number: int) -> Callable[[], None]:
    """Return what makes writing fail where a file would grow beyond a *number* of bytes."""

    def hook() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (number, resource.RLIM_INFINITY))

    return hook


def reads(act: Callable[[int], bool | None]) -> None:
    """Call *act* with a number before each read of an input; where it returns True, the input ends there."""
    from gwa.ingest.source import compressed

    count, file = 0, compressed._HashingFile  # noqa: SLF001 - inputs are read there, and nowhere else

    class _Failing:
        def __init__(self, raw: Any) -> None:
            self.raw = raw

        def readinto(self, view: memoryview) -> int:
            nonlocal count
            count += 1
            return 0 if act(count) else int(self.raw.readinto(view))

        def close(self) -> None:
            self.raw.close()

    def begin(self: Any, path: Path) -> None:
        plain(self, path)
        self.file = _Failing(self.file)

    plain = file.__init__
    file.__init__ = begin  # type: ignore[method-assign]


def fail_read(_place: Path, number: int) -> Callable[[], None]:
    """Return what makes a read of an input fail."""

    def act(count: int) -> None:
        if count == number:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    return lambda: reads(act)


def cut_read(_place: Path, number: int) -> Callable[[], None]:
    """Return what makes an input end early, as one does that another program shortens meanwhile."""
    return lambda: reads(lambda count: count == number)


def noted(place: Path, words: str, watch: Callable[[Callable[[int], None]], None]) -> int:
    """Return the last number that *watch* notes while a command runs."""
    total = Path(f"{place}.count")

    def hook() -> None:
        descriptor = os.open(total, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        watch(lambda count: void(os.pwrite(descriptor, str(count).encode(), 0)))

    execute(place, words, hook)
    return int(total.read_text() or 0)


def void(_: object) -> None:
    """Return nothing, whatever is given."""


def counted(place: Path, command: Command) -> int:
    """Return the number of events of a command."""
    return noted(place, command.words, lambda note: events(place, lambda count, *_: note(count)))


def counted_reads(place: Path, command: Command) -> int:
    """Return the number of times that a command reads of its inputs."""
    return noted(place, command.words, reads)


def largest(place: Path, command: Command) -> int:
    """Return the size of the largest file that a command writes, and leaves."""
    execute(place, command.words)
    roots = [place / name for name in command.outputs.split()]
    files = [file for root in roots for file in (root, *root.rglob("*")) if file.is_file()]
    return max((file.stat().st_size for file in files), default=0)


def milliseconds(place: Path, command: Command) -> int:
    """Return how long a command works: CPU time, which is no longer on a busy machine."""

    def run_through() -> float:
        execute(place, command.words)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    return int(1000 * float(forked(run_through, place)[1]))


@dataclass(frozen=True)
class Interruption:
    """
    A way to interrupt a command: how many steps there are, and what is done at one of them.

    *is_loss* says that a command that ends well may have other results than without the interruption.
    """

    steps: Callable[[Path, Command], int]
    hook: Callable[[Path, int], Callable[[], None]]
    is_loss: bool = False


INTERRUPTIONS: Final = {
    "kill": Interruption(counted, kill),
    "fault": Interruption(counted, fault),
    "kill while writing": Interruption(largest, kill_byte),
    "kill at a moment": Interruption(milliseconds, kill_moment),
    "full disk": Interruption(largest, full_byte),
    "fault while reading": Interruption(counted_reads, fail_read),
    "cut while reading": Interruption(counted_reads, cut_read, is_loss=True),
}


def fresh(place: Path, template: Path) -> None:
    """Make *place* what the *template* is."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(template, place)


def interrupted(command: Command, folder: Path, kills: int, by: Interruption) -> Row:
    """Interrupt a command at steps that are evenly spread over its run, and run it again after each."""
    template, place = folder / "template", folder / "work"
    shutil.rmtree(template, ignore_errors=True)
    prepare(place)
    for words in command.before:
        completed(place, words)
    place.rename(template)
    fresh(place, template)
    before = forked(lambda: snapshot(place, command), place)[1]
    total = by.steps(place, command)
    fresh(place, template)
    completed(place, command.words)
    after, names_after = forked(lambda: snapshot(place, command), place)[1], listing(place)
    row = Row(command.name, total)
    for number in spread(total, kills):
        fresh(place, template)
        outcome = execute(place, command.words, by.hook(place, number))
        found = forked(lambda: snapshot(place, command), place)[1]
        if by.is_loss and ended_well(outcome):
            row.kills += 1
            fresh(place, template)
        else:
            judge(row, number, outcome, found, before, after)
        again, said_again = execute(place, command.words)
        found = forked(lambda: snapshot(place, command), place)[1]
        is_right = ended_well((again, said_again)) and found == after
        row.reruns_right += is_right
        left = sorted({*listing(place)} ^ {*names_after})
        row.leftovers += bool(left)
        if left or not is_right:
            row.wrong.append(f"{number}: rerun {again} {said_again}, left {left[:4]}")
    shutil.rmtree(place)
    return row


def ended_well(outcome: tuple[int, tuple[int, str] | None]) -> bool:
    """Whether a command ended, and said that all went well."""
    status, said = outcome
    return status == 0 and said is not None and said[0] == 0


def judge(row: Row, number: int, outcome: tuple[int, Any], found: Any, before: Any, after: Any) -> None:
    """Count an interrupted run: each output is as it was before, or as it is after, a whole run."""
    row.kills += 1
    half = [name for name in after if found is None or found[name] not in (before[name], after[name])]
    row.half_outputs += bool(half)
    status, said = outcome
    if half:
        row.wrong.append(f"{number}: half {half}")
    if ended_well(outcome) and found == after:
        row.tolerated += 1
    elif status == 0 and (said[0] != 1 or len(said[1].strip().splitlines()) != 1 or "inside gwa" in said[1]):
        row.messages_wrong += 1
        row.wrong.append(f"{number}: exit {said[0]}: {said[1]}")
    elif status not in {0, *(-number for number in KILLS)}:
        row.messages_wrong += 1
        row.wrong.append(f"{number}: ended with {status}")


def spread(total: int, kills: int) -> Iterator[int]:
    """Yield numbers of events: all, or *kills* that are evenly spread."""
    if not kills or kills >= total:
        yield from range(1, total + 1)
    else:
        yield from (1 + total * turn // kills for turn in range(kills))
