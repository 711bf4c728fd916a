"""
SimGrid, the framework for simulators of distributed systems.

SimGrid has no format of jobs: what reads them is the program that is written with it. Source: SimGrid's
description of platforms (XML, version 4.1).
"""

from collections.abc import Sequence
from pathlib import Path

from gwa.formats import export
from gwa.store.store import Store
from gwa.util.spreadsheet import disarmed_sql


@export.simulator("SimGrid")
def simgrid(store: Store, folder: Path) -> Sequence[str]:
    """
    Write platform.xml, a cluster with a host of 1 Gflop/s for each processor, and jobs.csv.

    A job of jobs.csv has id, submit (s), run (s), procs, flops on each processor (its run time on such a
    host), requested (s), user, queue, bag, and the last job that it had to wait for. A name that a
    spreadsheet would take for a formula begins with an apostrophe.
    """
    (folder / "platform.xml").write_text(
        export.platform(export.system_name(store), export.cpus(store)), encoding="utf-8"
    )
    names = {"user": "user_name", "queue": "queue", "bag": "bag"}
    texts = ", ".join(f'{disarmed_sql(column)} as "{name}"' for name, column in names.items())
    store.connection.execute(
        "copy (select id, submit, run, procs, cast(run * 1e9 as bigint) as flops, requested,"
        f" {texts}, preceding as after from ({export.DEPENDENT}) order by id)"
        " to $path (format csv, header true)",
        {"path": str(folder / "jobs.csv")},
    )
    kept = ("user_id", "queue_id", "job_structure_params")
    return [*export.dependencies_lost(store), *export.fields_lost(store, kept)]
