"""Forked programs are as cold ones: output, error, status, streams, signals, environment."""

import os
import pty
import signal
import subprocess

import pytest

from tests import fork_client, forked
from tests.conftest import HOME

SAMPLE = HOME / "sample_traces" / "swf" / "tiny.swf"

pytestmark = pytest.mark.skipif(not forked.IS_POSSIBLE, reason="there is no fork server on this system")

PROGRAMS = {
    "help": ["--help"],
    "version": ["--version"],
    "facts": ["facts", SAMPLE, "--only", "trace."],
    "query": ["sql", SAMPLE, "select count(*) from jobs", "--json"],
    "no command": ["nope"],
    "no option": ["facts", SAMPLE, "--nope"],
    "no file": ["facts", "nowhere"],
    "wrong query": ["sql", SAMPLE, "select nothing from jobs"],
    "a name that is no text": ["facts", os.fsdecode(b"caf\xe9.swf")],
    "standard input": ["facts", "-", "--only", "trace.jobs"],
}


def both(words, tmp_path, **options):
    """Return how a forked program and a cold one end."""
    return [
        subprocess.run([*start, *map(str, words)], cwd=tmp_path, capture_output=True, check=False, **options)
        for start in (forked.gwa(), forked.COLD)
    ]


@pytest.mark.parametrize("words", PROGRAMS.values(), ids=PROGRAMS)
def test_a_forked_program_says_what_a_cold_one_says(words, tmp_path):
    assert forked.gwa() != [*forked.COLD]
    warm, cold = both(words, tmp_path, input=SAMPLE.read_bytes())
    assert (warm.returncode, warm.stdout, warm.stderr) == (cold.returncode, cold.stdout, cold.stderr)


def test_a_forked_program_has_the_environment_and_the_folder_of_who_starts_it(tmp_path):
    (tmp_path / "here.swf").write_bytes(SAMPLE.read_bytes())
    environment = {**os.environ, "_GWA_COMPLETE": "bash_complete", "COMP_WORDS": "gwa rep", "COMP_CWORD": "1"}
    warm, cold = both([], tmp_path, env=environment)
    assert warm.stdout == cold.stdout != b""
    warm, cold = both(["facts", "here.swf", "--only", "trace.jobs"], tmp_path)
    assert warm.stdout == cold.stdout == b'{\n "trace.jobs": 1200\n}\n'


def test_what_a_program_writes_is_whole(tmp_path):
    done = subprocess.run([*forked.gwa(), "convert", SAMPLE, "-o", "a.gwf"], cwd=tmp_path, check=False)
    assert done.returncode == 0
    assert (tmp_path / "a.gwf").stat().st_size > 10_000


@pytest.mark.parametrize("name", ["PYTHONHASHSEED", "LC_ALL", "OPENBLAS_NUM_THREADS"])
def test_what_a_start_reads_makes_a_start_cold(name):
    environment = {**os.environ, name: "1"}
    assert fork_client.read_at_start(environment) != fork_client.read_at_start(dict(os.environ))
    assert fork_client.read_at_start({"PYTHONPATH": "1", "HOME": "/"}) == b""


def test_a_program_starts_cold_where_the_server_cannot_be_it(tmp_path):
    words = [*forked.gwa()[:-1], str(tmp_path / "nowhere"), "--version"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    again = subprocess.run([*forked.gwa(), "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == again.stdout


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda it: it.name)
def test_signals_reach_a_program(number, tmp_path):
    with subprocess.Popen(
        [*forked.gwa(), "facts", "-"], cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin
        process.stdin.write(b"; a remark\n" * 100_000)  # more than a pipe holds: gwa reads it now
        process.send_signal(number)
        _, said = process.communicate(timeout=120)
    assert said.splitlines()[-1] == b"gwa: stopped"
    assert process.returncode == 128 + number


def test_a_program_sees_a_terminal():
    shown, terminal = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    with subprocess.Popen(
        [*forked.gwa(), "--help"], stdin=terminal, stdout=terminal, stderr=terminal, env=environment
    ) as process:
        os.close(terminal)
        output = b""
        try:
            while piece := os.read(shown, 65536):
                output += piece
        except OSError:  # the other end is closed
            pass
        os.close(shown)
    assert process.returncode == 0
    assert b"Usage: gwa" in output
