"""The command line within the process of the tests: a program for each would mostly import what it needs."""

import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from unittest import mock

from gwa.cli import main


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
