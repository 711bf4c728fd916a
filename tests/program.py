"""The command line within the process of the tests: a program for each would mostly import what it needs."""

import os
import subprocess
import sys
from contextlib import chdir, nullcontext, redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any
from unittest import mock

from click.testing import CliRunner, Result

from gwa.cli import gwa, main
from tests import forked
from tests.conftest import HOME


def run(*words, cwd):
    """Run gwa in a folder, and return what became of it, as `subprocess.run` does of a program."""
    command = ["gwa", *map(str, words)]
    printed, said = BytesIO(), BytesIO()
    out, err = (TextIOWrapper(stream, "utf-8", newline="", write_through=True) for stream in (printed, said))
    with chdir(cwd), mock.patch.object(sys, "argv", command), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            status = int(end.code or 0)
    return subprocess.CompletedProcess(command, status, printed.getvalue().decode(), said.getvalue().decode())


def start(*words: object, cwd: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run gwa in a process of its own and return what became of it."""
    command = [*forked.gwa(), *map(str, words)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, **options)


def invoke(*words: object) -> Result:
    """Run gwa in this process, and return what came of it, an error included."""
    return CliRunner().invoke(gwa, [str(word) for word in words], prog_name="gwa")


def as_reader(command: list[str], home: Path, cwd: Path) -> None:
    """Run a command in a folder as a reader does, with gwa on the path and settings in *home*."""
    program = home / "bin" / "gwa"
    forked.write_command(program)
    own = {
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(HOME),
        "XDG_CONFIG_HOME": str(home),
    }
    environment = os.environ | own
    with forked.telling() if command[0] == "sh" else nullcontext():
        done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command[-1]}\n{done.stderr}"
