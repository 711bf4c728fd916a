"""
Batsim, the simulator of resource management on SimGrid.

Source: Batsim's documentation of its input (docs/input-workload.rst of oar-team/batsim, docs of platforms).
"""

from collections.abc import Sequence
from pathlib import Path

from gwa.formats.export import cpus, fields_lost, platform, simulator, system_name, write_json
from gwa.store.store import Store

JOBS = """
select to_json(struct_pack(
    id := cast(exported.id as varchar), subtime := submit, res := procs, profile := 'd' || run,
    walltime := requested, "user" := user_name, "queue" := queue, bag := bag, dependencies := after
)) from exported left join (
    select dependencies.job_id, list(cast(earlier.id as varchar) order by earlier.id) as after
    from dependencies join exported as earlier on earlier.job_id = dependencies.preceding_job
    group by dependencies.job_id
) as waits on waits.job_id = exported.job_id order by exported.id
"""

PROFILES = """
select '"d' || run || '": {"type": "delay", "delay": ' || run || '}' from (select distinct run from exported)
order by run
"""


@simulator("Batsim")
def batsim(store: Store, folder: Path) -> Sequence[str]:
    """
    Write workload.json and platform.xml: a host for each processor, and jobs that last as long as they did.

    Profiles are of the type delay, which Batsim 4 knows: a run time does not depend on the platform.
    Dependencies, users, queues and bags are fields of their own, which Batsim hands to the scheduler.
    """
    write_json(
        store,
        folder / "workload.json",
        [(f'{{"nb_res": {cpus(store)}, "jobs": [\n', JOBS), ('\n], "profiles": {\n', PROFILES)],
        "\n}}\n",
    )
    (folder / "platform.xml").write_text(platform(system_name(store), cpus(store)), encoding="utf-8")
    return fields_lost(store, ("user_id", "queue_id", "job_structure_params"))
