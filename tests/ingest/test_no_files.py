"""Pipes, sockets and devices in the place of files: refused in time, or copied where a shell made them."""

import os
import socket
import subprocess
import sys

import pytest

from gwa.errors import GwaError
from gwa.formats.append import append
from gwa.formats.measure import measure
from gwa.formats.open import open_trace
from tests.conftest import HOME

LOG = "; UnixStartTime: 0\n1 10 5 60 2 -1 -1 2 60 -1 1 1 1 1 1 1 -1 -1\n"


@pytest.mark.parametrize("suffix", ["duckdb", "parquet", "sqlite", "gwf", "swf"])
def test_a_pipe_with_a_name_is_refused(suffix, tmp_path):
    """Opening it would wait for a writer, who may never come."""
    os.mkfifo(tmp_path / f"a.{suffix}")
    with pytest.raises(GwaError, match="is a pipe, expected a file"):
        open_trace([tmp_path / f"a.{suffix}"])


def test_a_pipe_is_refused_where_a_store_is_changed(tmp_path):
    os.mkfifo(tmp_path / "a.duckdb")
    (tmp_path / "log.swf").write_text(LOG)
    with pytest.raises(GwaError, match="is a pipe, expected a store"):
        append([tmp_path / "log.swf"], tmp_path / "a.duckdb")
    with pytest.raises(GwaError, match="expected one that gwa convert made"):
        measure(tmp_path / "a.duckdb", [tmp_path / "log.swf"])


def test_a_socket_and_a_device_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("a.duckdb")
        with pytest.raises(GwaError, match="is a socket, expected a file"):
            open_trace([tmp_path / "a.duckdb"])
    (tmp_path / "b.duckdb").symlink_to("/dev/zero")
    with pytest.raises(GwaError, match="is a device, expected a file"):
        open_trace([tmp_path / "b.duckdb"])
    (tmp_path / "c.duckdb").mkdir()
    with pytest.raises(GwaError, match="is an empty folder, expected logs"):
        open_trace([tmp_path / "c.duckdb"])


def test_the_pipe_of_a_shell_is_read_whole(tmp_path):
    """As of ``gwa facts <(zcat log.gz)``: it can be read but once."""
    reading, writing = os.pipe()
    os.write(writing, LOG.encode())
    os.close(writing)
    done = subprocess.run(
        [sys.executable, "-m", "gwa", "facts", f"/dev/fd/{reading}", "--only", "trace.jobs"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(HOME)}, pass_fds=[reading],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    os.close(reading)
    assert done.returncode == 0, done.stderr
    assert '"trace.jobs": 1' in done.stdout
