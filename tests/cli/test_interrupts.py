"""
Ctrl-C ends every command, and what it started: status 130, no traceback, nothing left behind.

SIGTERM does the same, with status 143.
"""

import os
import random
import signal
import subprocess
import sys
import time
import tomllib
from contextlib import suppress

import duckdb
import pytest

from gwa.analysis.build import build
from gwa.cli import _explain
from gwa.util import interrupts
from tests.conftest import HOME

SAMPLE = HOME / "sample_traces" / "swf" / "tiny.swf"
RECORD = (
    "<JobUsageRecord><JobIdentity><LocalJobId>1</LocalJobId></JobIdentity><WallDuration>PT1H</WallDuration>"
    "<EndTime>2011-02-03T07:00:00Z</EndTime></JobUsageRecord>"
)
EXPERIMENT = """
title = "T"
policies = ["easy", "fcfs"]
clusters = [{{ name = "c", processors = 999 }}]
[[workloads]]
name = "w"
trace = "{trace}"
"""
CATALOGUE = """
[archive]
title = "A"
about = "a"
[[trace]]
id = "made"
title = "M"
system = "s"
provider = "p"
licence = "CC0-1.0"
citation = "c"
preset = "lublin"
jobs = 20
seed = 3
"""
ENDLESS = "select sum(a.range * b.range % 7) from range(100000000) as a, range(1000) as b"
COMMANDS = {
    "convert": ("convert", "many.xml", "-o", "{world}/out.gwf"),
    "report": ("report", SAMPLE, "--html", "-o", "{world}/out"),
    "compare": ("compare", SAMPLE, SAMPLE, "-o", "{world}/out"),
    "facts": ("facts", SAMPLE),
    "sql": ("sql", SAMPLE, "select * from jobs"),
    "model": ("model", "fit", SAMPLE, "lublin"),
    "simulate": ("simulate", "experiment.toml", "-o", "{world}/out"),
    "site": ("site", "build", "site", "-o", "{world}/out"),
    "append": ("convert", "many.xml", "-o", "{world}/out.duckdb", "--append"),
    "anonymize": ("anonymize", SAMPLE, "-o", "{world}/out.gwf", "--key", "{world}/key"),
}
BEGIN = """
import os, signal, sys, threading
from pathlib import Path
from gwa.cli import main
sys.argv = ["gwa", *sys.argv[1:]]
print("begins", file=sys.stderr, flush=True)
"""
AT_AN_EVENT = """
from tests.killing import kill_at
kill_at(6, Path.cwd(), signal.{number.name})
"""
WITH_A_BLOCK = """
from gwa.ingest import in_flight
from tests.killing import kill_when
in_flight.MINIMUM_BYTES, in_flight.ROWS_OF_GROUP = 1, 1000
seen = []
def is_third(event, arguments):
    is_block = event == "open" and str(arguments[0]).endswith("worker2/part.txt")
    seen.extend([event] * is_block)
    return is_block and len(seen) == 3
kill_when(is_third, signal.{number.name})
"""
SOON = """
threading.Timer(1, os.kill, (os.getpid(), signal.{number.name})).start()
"""
SLOW_SERVER = """
import dataclasses, http.server, time
import gwa.archive.public_traces as listed
class Slow(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(trace.size))
        self.end_headers()
        self.wfile.write(bytes(1000))
        self.wfile.flush()
        os.kill(os.getpid(), signal.{number.name})
        time.sleep(600)
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
trace = listed.public_traces()["kth-sp2"]
url = f"http://127.0.0.1:{{server.server_address[1]}}/kth.swf.gz"
file = dataclasses.replace(trace.files[0], url=url)
listed.public_traces = lambda: {{"kth-sp2": dataclasses.replace(trace, files=(file,))}}
"""
SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
EARLY = """
import signal, sys
class Interrupting:
    def find_spec(self, name, *_):
        if name == "click":
            signal.raise_signal(signal.{number.name})
sys.path.insert(0, ".")
sys.meta_path.insert(0, Interrupting())
from {module} import {function}
{function}()
"""


@pytest.fixture
def world(tmp_path):
    """Return a folder with what the commands read, and one for their temporary files."""
    (tmp_path / "many.xml").write_text(RECORD * 100_000)
    (tmp_path / "experiment.toml").write_text(EXPERIMENT.format(trace=SAMPLE))
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "archive.toml").write_text(CATALOGUE)
    (tmp_path / "tmp").mkdir()
    return tmp_path


def started(world, code, words):
    """Start gwa with *words* in a session of its own, and return when it begins."""
    environment = {**os.environ, "PYTHONPATH": str(HOME), "GWA_TMPDIR": str(world / "tmp")}
    words = [str(word).format(world=world) for word in words]
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", f"{BEGIN}{code}main()", *words],
        cwd=world, env=environment, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr
    assert process.stderr.readline() == "begins\n"
    return process


def ended(process, world, statuses=(130,)):
    """Check how a process has ended."""
    try:
        message = process.communicate(timeout=120)[1]
        assert process.returncode in statuses, message
        assert "Traceback" not in message
        assert process.returncode == 0 or message.split("\n")[-2] == "gwa: stopped"
        with pytest.raises(ProcessLookupError):
            os.killpg(process.pid, 0)
        assert [path.name for path in (world / "tmp").iterdir()] == []
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@SIGNALS
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_interrupted(name, number, world):
    ended(started(world, AT_AN_EVENT.format(number=number), COMMANDS[name]), world, (128 + number,))


@SIGNALS
def test_blocks_in_flight_are_interrupted(number, world):
    """While three workers load a block each."""
    job = "{0} {0} 5 60 2 -1 -1 2 60 -1 1 1 1 1 1 1 -1 -1\n"
    (world / "many.swf").write_text("".join(job.format(count) for count in range(1, 30_000)))
    words = ("convert", "many.swf", "-o", "{world}/out.duckdb", "--threads", "3")
    ended(started(world, WITH_A_BLOCK.format(number=number), words), world, (128 + number,))
    assert not (world / "out.duckdb").exists()


@SIGNALS
def test_a_download_is_interrupted(number, world):
    words = ("fetch", "kth-sp2", "--to", "{world}/traces")
    ended(started(world, SLOW_SERVER.format(number=number), words), world, (128 + number,))


@SIGNALS
@pytest.mark.parametrize(
    "words",
    [("sql", SAMPLE, ENDLESS), ("facts", SAMPLE, "--where", f"({ENDLESS}) > job_id")],
    ids=["sql", "where"],
)
def test_a_query_that_never_ends_is_interrupted(words, number, world):
    ended(started(world, SOON.format(number=number), words), world, (128 + number,))


@SIGNALS
def test_ctrl_c_while_the_program_is_imported_is_no_traceback(number):
    """The command ``gwa`` calls the function that pyproject.toml names."""
    module, _, function = tomllib.loads((HOME / "pyproject.toml").read_text())["project"]["scripts"][
        "gwa"
    ].partition(":")
    code = EARLY.format(module=module, function=function, number=number)
    told = subprocess.run([sys.executable, "-P", "-c", code], cwd=HOME, capture_output=True, check=False)
    assert (told.returncode, told.stdout, told.stderr) == (128 + number, b"", b"gwa: stopped\n")


def test_a_section_that_ctrl_c_ends_ends_the_report(make_store, monkeypatch):
    """DuckDB turns Ctrl-C into an error of its own, which is no reason to go on with the next section."""

    def failing(*_):
        raise duckdb.InterruptException("Interrupted!")

    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr("gwa.analysis.base.Analysis.section", failing)
    monkeypatch.setattr(interrupts, "check", interrupted)
    with pytest.raises(KeyboardInterrupt):
        build(make_store(submit_time=[1.0]), "made")


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_interrupted_at_any_moment(name, world):
    """The longest time is printed, not tested: it is that of a busy machine, too."""
    begin = time.monotonic()
    ended(started(world, "", COMMANDS[name]), world, (0,))
    whole, longest, moments = time.monotonic() - begin, 0.0, random.Random(name)
    for _ in range(int(os.environ.get("GWA_MOMENTS", "50"))):
        process = started(world, "", COMMANDS[name])
        time.sleep(moments.uniform(0, whole))
        begin = time.monotonic()
        number = moments.choice([signal.SIGINT, signal.SIGTERM])
        os.killpg(process.pid, number)
        ended(process, world, (0, 128 + number))
        longest = max(longest, time.monotonic() - begin)
    sys.stderr.write(f"\n{name}: ended {longest:.2f} s after Ctrl-C at the latest, of {whole:.1f} s\n")


IN_A_FINALIZER = """
import os, signal, time
from gwa.util import interrupts
class Closing:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass
try:
    with interrupts.watched():
        closing = Closing()
        del closing
        time.sleep(60)
except KeyboardInterrupt:
    print("stopped")
"""


def test_ctrl_c_in_the_middle_of_a_finalizer_comes_again_without_a_word():
    done = subprocess.run(
        [sys.executable, "-P", "-c", IN_A_FINALIZER], env={**os.environ, "PYTHONPATH": str(HOME)},
        capture_output=True, text=True, check=False, timeout=50,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("stopped\n", "")


def test_a_disk_that_is_full_when_the_engine_commits_is_no_defect_of_gwa():
    error = duckdb.TransactionException("Failed to commit: Could not write file: No space left on device")
    assert _explain(error).startswith("cannot read or write: Failed to commit")
