"""Schedule a log with AccaSim's EASY backfilling, on one node with all processors."""

import collections
import collections.abc
import json
import sys
import tempfile
from importlib import import_module
from pathlib import Path

# AccaSim 1.1.3 still looks for these where Python had them before 3.10.
for name in ("Iterable", "Mapping", "MutableMapping", "Sequence"):
    setattr(collections, name, getattr(collections.abc, name))

base = {name: import_module(f"accasim.base.{name}_class") for name in ("allocator", "scheduler", "simulator")}

source = Path(sys.argv[1]).read_text().splitlines()
cpus = next(int(line.split(":")[1]) for line in source if line.startswith("; MaxProcs"))
folder = Path(tempfile.mkdtemp())
# It divides by the requested memory, which the log does not know: one unit for each job.
rows = [line.split() for line in source if not line.startswith(";")]
(folder / "log.swf").write_text("".join(" ".join([*row[:9], "1", *row[10:]]) + "\n" for row in rows))
config = {
    "system_name": "cluster",
    "start_time": 0,
    "equivalence": {"processor": {"core": 1}},
    "groups": {"node": {"core": 1, "mem": 1}},
    "resources": {"node": cpus},
}
(folder / "system.json").write_text(json.dumps(config))
simulator = base["simulator"].Simulator(
    str(folder / "log.swf"),
    str(folder / "system.json"),
    base["scheduler"].EASYBackfilling(base["allocator"].FirstFit()),
    scheduling_output=False,
    statistics_output=False,
    show_statistics=False,
    RESULTS_FOLDER_PATH=str(folder),
)
simulator.start_simulation()
