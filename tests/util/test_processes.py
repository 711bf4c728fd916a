"""Worker processes: what they answer, how they end, and that they execute nothing from the current folder."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import gwa
from gwa.util.processes import Pool, WorkerError
from tests.conftest import HOME
from tests.killing import is_running

DIE = "__import__('os')._exit(3)"


def test_answers_are_what_the_function_returns():
    with Pool(bytes.upper, 2) as pool:
        found = [pool.ask(text) for text in (b"a", b"b" * 5_000_000, b"")]
        assert [each.result() for each in found] == [b"A", b"B" * 5_000_000, b""]


def test_what_a_function_prints_is_no_answer():
    with Pool[str, object](eval, 1) as pool:
        assert pool.ask("print('x', flush=True)").result() is None
        assert pool.ask("__import__('os').system('echo x')").result() == 0
        assert pool.ask("1 + 1").result() == 2


@pytest.mark.parametrize("how", [DIE, "1 / 0", "lambda: 1"])
def test_a_worker_that_ends_is_said_and_another_takes_its_place(how):
    with Pool(eval, 1) as pool:
        first = pool.ask("__import__('os').getpid()").result()
        with pytest.raises(WorkerError):
            pool.ask(how).result()
        assert pool.ask("__import__('os').getpid()").result() != first


@pytest.mark.parametrize("executable", ["/nowhere/python", "", "/bin/false"])
def test_a_worker_that_cannot_start_is_said(monkeypatch, executable):
    monkeypatch.setattr(sys, "executable", executable)
    with Pool[int, int](abs, 1) as pool, pytest.raises(WorkerError):
        pool.ask(-1).result()


def test_no_process_and_no_request_outlives_the_pool():
    with Pool(eval, 2) as pool:
        pids = {pool.ask("__import__('os').getpid()").result() for _ in range(9)}
        asked = [pool.ask("__import__('time').sleep(600)") for _ in range(9)]
    assert all(each.cancelled() or isinstance(each.exception(), WorkerError) for each in asked)
    assert not any(map(is_running, pids))


def test_no_scratch_folder_outlives_the_pool(tmp_path, monkeypatch):
    monkeypatch.setenv("GWA_TMPDIR", str(tmp_path))
    make = (
        "setattr(__import__('builtins'), 'made', __import__('gwa.util.scratch').util.scratch.ScratchFolder())"
    )
    with Pool(eval, 1) as pool:
        pool.ask(make).result()
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []


def plant(folder: Path) -> None:
    """Put modules into *folder* that leave a mark when they are executed."""
    folder.mkdir()
    for name in ("numpy", "json", "socket", "typing", "lxml/__init__", "matplotlib/__init__", "gwa/__init__"):
        path = folder / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"open({str(folder / 'executed')!r}, 'a').write(__name__)\n")


def test_a_worker_imports_the_gwa_of_its_parent(tmp_path, monkeypatch):
    plant(tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(sys, "path", ["", ".", str(tmp_path / "other"), *sys.path])
    (tmp_path / "other" / "gwa").mkdir(parents=True)
    (tmp_path / "other" / "gwa" / "__init__.py").write_text("")
    with Pool(eval, 1) as pool:
        assert pool.ask("__import__('gwa').__file__").result() == gwa.__file__
        path = pool.ask("__import__('sys').path").result()
    assert path == sys.path[2:]
    assert not Path("executed").exists()


BEGIN = """
import sys
from pathlib import Path
from gwa.util.processes import Worker
print("once", flush=True)
ask = Worker.ask
def noted(self, request):
    answer = ask(self, request)
    sys.stdout.write("answered\\n")  # at once: threads of a pool do this side by side
    return answer
Worker.ask = noted
place = Path(__file__).parent
"""
SCRIPTS = {
    "parsers": """
from gwa.formats.open import open_trace
record = (
    "<JobUsageRecord><JobIdentity><LocalJobId>1</LocalJobId></JobIdentity><WallDuration>PT1H</WallDuration>"
    "<EndTime>2011-02-03T07:00:00Z</EndTime></JobUsageRecord>"
)
(place / "a.xml").write_text(record * 60_000)
open_trace([place / "a.xml"]).close()
""",
    "experiments": """
from gwa.evaluation.experiments.plan import ExperimentPlan
from gwa.evaluation.experiments.run_cache import RunCache
from gwa.evaluation.experiments.runner import run_all
from gwa.evaluation.experiments.spec import read_experiment
(place / "e.toml").write_text(
    'title = "T"\\npolicies = ["easy", "fcfs"]\\nclusters = [{ name = "c", processors = 999 }]\\n'
    f'[[workloads]]\\nname = "w"\\ntrace = "TINY"\\n'
)
run_all(ExperimentPlan(read_experiment(place / "e.toml")), RunCache(place / "out"), 2)
""",
    "archive": """
from gwa.archive.build import BuildOptions, build
(place / "site").mkdir()
(place / "site" / "archive.toml").write_text(
    '[archive]\\ntitle = "A"\\nabout = "a"\\n[[trace]]\\nid = "made"\\ntitle = "M"\\nsystem = "s"\\n'
    'provider = "p"\\nlicence = "CC0-1.0"\\ncitation = "c"\\npreset = "lublin"\\njobs = 20\\nseed = 3\\n'
)
assert build(place / "site", place / "out", BuildOptions(1)).built == ("made",)
""",
}


@pytest.mark.parametrize("what", SCRIPTS)
def test_nothing_in_the_current_folder_is_executed_and_no_script_runs_twice(tmp_path, what):
    here, script = tmp_path / "here", tmp_path / "scripts" / "script.py"
    plant(here)
    script.parent.mkdir()
    tiny = HOME / "sample_traces" / "swf" / "tiny.swf"
    script.write_text(BEGIN + SCRIPTS[what].replace("TINY", str(tiny)))
    environment = {**os.environ, "PYTHONPATH": str(HOME)}
    done = subprocess.run(
        [sys.executable, script], cwd=here, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    said = done.stdout.split()
    assert said.count("once") == 1
    assert set(said) == {"once", "answered"}
    assert not (here / "executed").exists()


COMMANDS = (
    ("convert", "SAMPLE", "-o", "out.gwf"),
    ("report", "SAMPLE", "--html", "-o", "out"),
    ("compare", "SAMPLE", "SAMPLE", "-o", "out"),
    ("facts", "SAMPLE"),
    ("check", "SAMPLE"),
    ("sql", "SAMPLE", "select to_timestamp(1), * from jobs"),
    ("fit", "SAMPLE", "runtime"),
    ("model", "fit", "SAMPLE", "lublin"),
    ("model", "generate", "lublin", "--jobs", "20", "--seed", "1", "-o", "out.gwf"),
    ("formats",),
)
MODULES = ("numpy", "json", "click", "pandas", "pytz", "pyarrow", "sitecustomize", "usercustomize", "evil")


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_a_command_executes_nothing_in_the_current_folder(tmp_path, words):
    here = tmp_path / "here"
    here.mkdir()
    for name in MODULES:
        (here / f"{name}.py").write_text(f"open({str(here / 'executed')!r}, 'a').write(__name__)\n")
    (here / "matplotlibrc").write_text("backend: module://evil\nfont.size: 40\n")
    (here / "pyproject.toml").write_text("broken")
    sample = str(HOME / "sample_traces" / "swf" / "tiny.swf")
    subprocess.run(
        [sys.executable, "-m", "gwa", *(word.replace("SAMPLE", sample) for word in words)],
        cwd=here, env={**os.environ, "PYTHONPATH": str(HOME)}, capture_output=True, check=True,
    )  # fmt: skip
    assert not (here / "executed").exists()


BUSY = """
from gwa.util.processes import Pool
BUSY = "__import__('pathlib').Path(str(__import__('os').getpid())).touch() or __import__('time').sleep(600)"
with Pool(eval, 2) as pool:
    for asked in [pool.ask(BUSY) for _ in range(5)]:
        asked.result()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda it: it.name)
@pytest.mark.parametrize("send", [os.kill, os.killpg], ids=["parent", "group"])
def test_busy_workers_end_with_their_parent(tmp_path, number, send):
    environment = {**os.environ, "PYTHONPATH": str(HOME)}
    command = [sys.executable, "-c", BUSY]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL, start_new_session=True
    ) as parent:
        wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
        workers = [int(path.name) for path in tmp_path.iterdir()]
        send(parent.pid, number)
        parent.wait(60)
        assert parent.returncode
        wait_until(lambda: not any(map(is_running, workers)))


def wait_until(holds) -> None:
    """Wait for a minute at most, which is far longer than it should take."""
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)
