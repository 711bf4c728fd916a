"""Do the runs that standard input names, a JSON list on each line, and say each that is done."""

import json
import signal
import sys
from pathlib import Path

from gwa.errors import GwaError
from gwa.evaluation.experiments.plan import Plan
from gwa.evaluation.experiments.pool import FAILED
from gwa.evaluation.experiments.run_cache import RunCache
from gwa.evaluation.experiments.runner import perform
from gwa.evaluation.experiments.spec import read_experiment


def main() -> None:
    """Work until standard input ends."""
    # Who stops the experiment stops the process that started this one, and that one ends this.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    path, repetitions, folder, schedules = json.loads(sys.argv[1])
    plan = Plan(read_experiment(Path(path)).with_repetitions(repetitions))
    runs = {run.name: run for run in plan.runs}
    shelf = RunCache(Path(folder), schedules=schedules)
    for line in sys.stdin:
        for name in perform(plan.stated, [runs[name] for name in json.loads(line)], shelf):
            _say(name)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    try:
        main()
    except GwaError as error:
        _say(FAILED + " ".join(str(error).split()))
    except KeyError:
        _say(f"{FAILED}the experiment has changed while it ran")
    except MemoryError:
        _say(f"{FAILED}there is not enough memory for a run")
    except BrokenPipeError:
        sys.exit(1)  # who started this is gone
