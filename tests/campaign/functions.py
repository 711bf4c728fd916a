"""
Every function of the engine, and random expressions, through each door for SQL of others.

A file with a line of its own, the canary, lies beside the trace: its line may stand in no answer and in no
error. Where strace is installed, no process may open it, or any file but those of the trace and of programs.
Memory and time stay within their limits, nothing is printed, and after each call the next one answers.
"""

import json
import os
import re
import resource
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final
from unittest.mock import patch

from tests.campaign.table import Row
from tests.conftest import HOME

if TYPE_CHECKING:
    from gwa.store.confined import Confined

SECONDS: Final = 5.0
"""The limit of a call."""

SLACK: Final = 30.0
"""Seconds that a busy machine may take beyond it."""

MEMORY: Final = 600_000_000
"""What a process may take: the engine's limit, and what Python and the engine take before they begin."""

ENGINE: Final = "500MB"

ROWS: Final = "rows.json"
"""The file in which the process under attack leaves what came of it."""

LOG: Final = HOME / "sample_traces" / "swf" / "tiny.swf"

REFUSED: Final = ("the SQL uses", "the SQL changes", "syntax error", "is not a query", "expected only")

PROGRAMS: Final = (
    "/usr/",
    "/lib",
    "/etc/",
    "/proc/",
    "/dev/",
    "/sys/",
    sys.prefix,
    sys.base_prefix,
    str(HOME),
)
"""Where programs, their libraries and their settings lie, which any process opens."""

DEFINITION: Final = """/* ---
title = "One"
files = ["*.one"]
notes = "one line"
missing = [""]
[columns]
name = "varchar"
--- */
select 0 as submit_time, 1 as run_time, 1 as n_procs, cast(({call}) as varchar) as user_id
from source
"""

Door = Callable[[str], object]


class Doors:
    """The doors of one trace, each a function of an expression over ``jobs`` that returns what is shown."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        """Open the trace in *folder*, until the *stack* is closed."""
        from gwa.formats.open import open_trace
        from gwa.store.confined import Confined
        from gwa.store.engines.config import Engine
        from gwa.store.options import ReadOptions

        path = folder / "trace.duckdb"
        open_trace([LOG], None, ReadOptions(target=path)).close()
        self.store = stack.enter_context(open_trace([path], None, ReadOptions(engine=Engine(ENGINE))))
        self.confined = stack.enter_context(Confined(self.store))
        self.log = folder / "a.one"
        self.log.write_text("one\n")
        self.definition = folder / "one.sql"
        self.all: dict[str, Door] = {
            "mcp sql": self.mcp_sql,
            "mcp where": self.mcp_where,
            "--where": self.where,
            "gwa sql": self.gwa_sql,
            "--with": self.converter,
        }

    def mcp_sql(self, call: str) -> object:
        """Ask as an assistant does, also for a table function."""
        from gwa.assistant.sql import ask

        return ask(self.confined, _query(call), SECONDS)

    def mcp_where(self, call: str) -> object:
        """Filter as an assistant does."""
        from gwa.assistant.sql import chosen

        return chosen(self.confined, _condition(call), SECONDS).stat().st_size

    def where(self, call: str) -> object:
        """Filter as a command does."""
        from gwa.store.subset import Subset, select

        kept = patch("gwa.store.subset.Confined", lambda _: nullcontext(Kept(self.confined)))
        with kept, select(self.store, Subset(where=_condition(call))) as part:
            return part.row("select count(*) from jobs")

    def gwa_sql(self, call: str) -> object:
        """Ask as a user does."""
        from gwa.store.engines.restricted import check_statements, parser

        with parser() as database:
            check_statements(database, _query(call))
        return self.confined.rows(_query(call), 100, SECONDS)

    def converter(self, call: str) -> object:
        """Convert a log by a definition of a stranger."""
        from gwa.formats.open import open_trace

        call = f"(select max(x) from {call} as t(x))" if call.startswith("TABLE ") else call
        self.definition.write_text(DEFINITION.replace("{call}", call.replace("TABLE ", "")))
        with open_trace([self.log], str(self.definition)) as made:
            return made.rows("select user_id from jobs"), made.rows("from rejects")

    def control(self) -> bool:
        """Whether the next call is answered."""
        from gwa.assistant.sql import ask

        whole = self.store.row("select count(*) from jobs")
        asked = ask(self.confined, "select count(*) from jobs", SLACK)["rows"]
        return asked == [[1200]] and whole == (1200,)


class Kept:
    """Processes that find jobs for a command; they are there already, and their time is limited."""

    def __init__(self, confined: "Confined") -> None:
        """Take processes of the same store."""
        self.confined = confined

    def jobs(self, condition: str, table: str) -> Path:
        """Return the file of the jobs that meet a condition."""
        return self.confined.jobs(condition, SECONDS, table)


def _query(call: str) -> str:
    return (
        f"select * from {call[6:]}" if call.startswith("TABLE ") else f"select {call} as x from jobs limit 3"
    )


def _condition(call: str) -> str:
    return f"exists (from {call[6:]})" if call.startswith("TABLE ") else f"({call}) is not null"


def calls(name: str, canary: Path) -> Iterator[str]:
    """Yield calls of a function with a text, a number, a path, SQL, several of them, and nothing."""
    path, sql = f"'{canary}'", f"'select zzz from read_csv(''{canary}'', header = true)'"
    quoted = '"' + name.replace('"', '""') + '"'
    for arguments in ("", "'x'", "3", path, sql, f"{path}, {sql}", "[1, 2], 'sum'", "user_id, 3, 'x'"):
        yield f"{quoted}({arguments})"
    yield f"{quoted}(3) over (order by job_id)"
    for arguments in ("", path, sql):
        yield f"TABLE {quoted}({arguments})"


LEAVES: Final = {
    "VARCHAR": ("user_id", "'x'", "'%Y-%m'", "queue_id", "'{\"a\": 1}'", "{path}", "{sql}"),
    "BIGINT": ("job_id", "n_procs", "3", "-1", "0"),
    "DOUBLE": ("run_time", "wait_time", "0.5", "1e12", "'nan'::double"),
    "BOOLEAN": ("n_procs > 1", "true", "null"),
    "DATE": ("date '2025-03-10'", "'infinity'::date", "'290000-01-01'::date"),
    "TIMESTAMP": ("to_timestamp(submit_time)::timestamp", "'-infinity'::timestamp"),
    "TIMESTAMP WITH TIME ZONE": ("to_timestamp(submit_time)", "now()"),
    "INTERVAL": ("interval '1 day'", "to_seconds(run_time)"),
    "BIGINT[]": ("[1, 2]", "range(n_procs)"),
    "JSON": ("'{\"a\": [1]}'::json",),
}
SAME: Final = {
    "INTEGER": "BIGINT", "ANY": "VARCHAR", "T": "VARCHAR", "T[]": "BIGINT[]", "ANY[]": "BIGINT[]",
    "FLOAT": "DOUBLE",
}  # fmt: skip
"""Kinds that stand for others."""


class Expressions:
    """Random expressions whose arguments have the types that the engine says its functions take."""

    def __init__(self, random: Random, canary: Path) -> None:
        """Read the functions of the engine."""
        import duckdb

        rows = duckdb.execute(
            "select function_name, coalesce(return_type, 'ANY'), parameter_types from duckdb_functions()"
            " where function_type in ('scalar', 'macro')"
            " and function_name similar to '[a-z_0-9]+' order by all"
        ).fetchall()
        self.random, self.canary = random, canary
        self.by_kind: dict[str, list[tuple[str, list[str]]]] = {}
        for name, returns, parameters in rows:
            kinds = [_kind(kind or "ANY") for kind in parameters or []]
            if all(kind in LEAVES for kind in kinds):
                self.by_kind.setdefault(_kind(returns), []).append((name, kinds))

    def one(self, kind: str = "", depth: int = 3) -> str:
        """Return an expression of a *kind*, of at most so many levels."""
        kind = kind or self.random.choice(list(LEAVES))
        functions = self.by_kind.get(kind)
        if not depth or not functions or self.random.random() < 0.2:
            path, sql = f"'{self.canary}'", f"'from read_csv(''{self.canary}'')'"
            return self.random.choice(LEAVES[kind]).replace("{path}", path).replace("{sql}", sql)
        name, kinds = self.random.choice(functions)
        return f"{name}({', '.join(self.one(one, depth - 1) for one in kinds)})"


def _kind(name: str) -> str:
    return SAME.get(name, name)


def tried(row: Row, door: Door, call: str, secret: str) -> None:
    """Make a call through a door, and count in *row* what came of it."""
    from gwa.errors import GwaError

    row.tried += 1
    begun = time.monotonic()
    try:
        shown, outcome = repr(door(call)), "answered"
    except GwaError as error:
        shown = "\n".join([str(error), *getattr(error, "__notes__", ())])
        outcome = "refused" if any(word in shown for word in REFUSED) else "failed"
    except Exception as error:  # noqa: BLE001 - it is what is looked for
        shown, outcome = repr(error), "crashed"
        row.fail(f"{call}: {shown[:200]}")
    row.count(outcome)
    taken = time.monotonic() - begun
    row.figures["longest, ms"] = max(row.figures.get("longest, ms", 0), round(1000 * taken))
    if secret in shown:
        row.fail(f"{call}: the canary is in {shown[:200]}")
    if taken > SECONDS + SLACK:
        row.fail(f"{call}: took {taken:.0f} s")


def controlled(row: Row, doors: Doors, what: str) -> None:
    """Count in *row* where the call after *what* was tried is not answered."""
    try:
        answered = doors.control()
    except Exception as error:  # noqa: BLE001 - it is what is looked for
        row.fail(f"{what}: the next call ends with {error!r}")
        return
    if not answered:
        row.fail(f"{what}: the next call has another answer")


def serve(*words: str) -> None:
    """Write the rows of a campaign: calls of every function, and a number of expressions of a seed."""
    import duckdb

    folder, number, seed, secret = Path(words[0]), int(words[1]), int(words[2]), words[4]
    canary = folder / "canary" / "canary.csv"
    known = duckdb.execute("select distinct function_name from duckdb_functions() order by 1").fetchall()
    names = words[5:] or [name for (name,) in known]
    part, parts = (int(word) for word in words[3].split("/"))
    rows = []
    with ExitStack() as stack:
        doors = Doors(folder, stack)
        for title, door in doors.all.items():
            row = Row("functions", title, figures={"functions": 0})
            for name in names[part::parts]:
                row.count("functions")
                for call in calls(name, canary):
                    tried(row, door, call, secret)
                controlled(row, doors, name)
            rows.append(row)
        expressions = Expressions(Random(seed + part), canary)
        every = list(doors.all.items())
        row = Row("functions", "random expressions")
        for place in range(number // parts):
            _, door = every[place % len(every)]
            expression = expressions.one()
            tried(row, door, expression, secret)
            controlled(row, doors, expression)
        rows.append(row)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    limits = Row("functions", "memory of the processes", 1, figures={"peak, MB": round(peak / 1e6)})
    if peak > MEMORY:
        limits.fail(f"a process took {peak / 1e6:.0f} MB")
    (folder / ROWS).write_text(json.dumps([asdict(row) for row in [*rows, limits]]))


def campaign(
    number: int, seed: int, share: str = "0/1", plant: str = "", names: Sequence[str] = ()
) -> list[Row]:
    """
    Return the rows of a campaign with this *number* of random expressions; *share* is one part of several.

    *plant* is code that is run first, to make gwa wrong. Only the functions called *names* are tried, if any.
    """
    folder = Path(tempfile.mkdtemp(prefix="functions-"))
    try:
        (folder / "canary").mkdir()
        secret = secrets.token_hex(16)
        (folder / "canary" / "canary.csv").write_text(f"{secret}\n")
        log = folder / "opened.txt"
        calls = "trace=open,openat,openat2,creat"
        tracer = ["strace", "--seccomp-bpf", "-f", "-qq", "-e", calls, "-o", str(log)]
        code = f"{plant}\nimport sys; from tests.campaign.functions import serve; serve(*sys.argv[1:])"
        words = [sys.executable, "-c", code, folder, number, seed, share, secret, *names]
        done = subprocess.run(
            [*(tracer if shutil.which("strace") else []), *map(str, words)],
            env={**os.environ, "PYTHONPATH": str(HOME)},
            check=False,
            capture_output=True,
        )
        if done.returncode:
            raise RuntimeError(done.stderr.decode()[-2000:])
        rows = [Row(**row) for row in json.loads((folder / ROWS).read_text())]
        printed = Row("functions", "what is printed", 1)
        if done.stdout:  # commands and `gwa mcp` answer there: the engine may not
            printed.fail(repr(done.stdout[:200]))
        rows.append(printed)
        if log.exists():
            rows.append(_opened(log, folder))
        return rows
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _opened(log: Path, folder: Path) -> Row:
    """Return the row of the files that processes opened: none but those of the trace and of programs."""
    row = Row("functions", "files that were opened")
    ours = (
        str(folder),
        *PROGRAMS,
        *filter(None, (os.environ.get("TMPDIR"), tempfile.gettempdir() + "/gwa-")),
    )
    for line in log.read_text(errors="replace").splitlines():
        if not (match := re.search(r'open(?:at2?)?\((?:[^"]*, )?"([^"]+)"', line)):
            continue
        path = match[1]
        row.tried += 1
        if "canary" in path or (path.startswith("/") and not path.startswith(ours)):
            row.fail(line[:200])
    return row
