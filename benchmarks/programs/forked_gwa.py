"""
Run gwa in forks of a process that has run it, so that what a start takes is counted, and translated, once.

Standard input has the words of each run, a line each; the first is that of the process itself, and a line
without words is a fork that only ends. Printed are the process id and the exit status of each fork.
"""

import os
import sys

from gwa.__main__ import main


def run(words: list[str]) -> int:
    """Run gwa with *words*, if there are any, and return its exit status."""
    sys.argv = ["gwa", *words]
    try:
        if words:
            main()
    except SystemExit as stopped:
        return int(stopped.code or 0)
    return 0


if __name__ == "__main__":
    first, *others = (line.split() for line in sys.stdin.read().splitlines())
    printed = os.dup(sys.stdout.fileno())
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    run(first)
    for words in others:
        process = os.fork()
        if not process:
            os._exit(run(words))
        _, status = os.waitpid(process, 0)
        os.write(printed, f"{process} {os.waitstatus_to_exitcode(status)}\n".encode())
