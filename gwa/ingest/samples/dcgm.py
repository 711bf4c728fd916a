"""
Samples of GPUs by NVIDIA's dcgm-exporter whose series say no job: Prometheus' answer, or such a table.

Each row is one metric of a GPU at a time. ``DCGM_FI_DEV_GPU_UTIL`` is a short look at the GPU,
``DCGM_FI_PROF_GR_ENGINE_ACTIVE`` a mean over time, and the energy is a counter in mJ. Values from 2^47 on are
blanks. The use of a GPU says nothing of its parts (MIG), whose series are left out. The label ``Hostname`` is
the node's, or that of the exporter's pod.

Sources: https://docs.nvidia.com/datacenter/dcgm/latest/dcgm-api/dcgm-api-field-ids.html and the metrics and
labels of https://github.com/NVIDIA/dcgm-exporter.
"""

from typing import Final

from gwa.ingest.node_samples import SERIES_TIME, Head, SampleReader, label

BLANK: Final = 140737488355328.0
"""2^47: a value of DCGM from here on says that there is none."""

METRICS: Final = {
    "DCGM_FI_DEV_GPU_UTIL": ("use", " / 100"),
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": ("mean_use", ""),
    "DCGM_FI_DEV_POWER_USAGE": ("watts", ""),
    "DCGM_FI_DEV_FB_USED": ("kb", " * 1024"),
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": ("counter", " / 1000"),
}
"""What metrics are, and what makes of their units that of samples."""

EXPORT: Final = (
    "# Without hpc_job; from Prometheus' page on a node, Hostname is to be that of the node.\n"
    "curl -sG $PROMETHEUS/api/v1/query_range -d step=60"
    " -d start=2025-01-01T00:00:00Z -d end=2025-01-02T00:00:00Z \\\n"
    """  --data-urlencode 'query={__name__=~"DCGM_FI_DEV_(GPU_UTIL|FB_USED|POWER_USAGE"""
    """|TOTAL_ENERGY_CONSUMPTION)|DCGM_FI_PROF_GR_ENGINE_ACTIVE"}' > dcgm.json"""
)


def fits(head: Head) -> bool:
    """Whether a table has metrics of GPUs, and no jobs."""
    return {"timestamp", "metric", "gpu", "value"} <= {*head.columns} and "hpc_job" not in head.columns


def select(head: Head) -> str:
    """Return the query of samples."""
    values = ", ".join(
        f"case when metric = '{metric}' then number{unit} end as {name}"
        for metric, (name, unit) in METRICS.items()
    )
    host = f"{label(head, 'Hostname')} as host," if "Hostname" in head.columns else ""
    parts = [f"{label(head, name)} is null" for name in ("GPU_I_ID", "GPU_I_PROFILE")]
    return f"""
    select * exclude (metric, number), {values}
    from (
        select
            {host}
            coalesce({label(head, "UUID")}, cast(gpu as varchar)) as device,
            try_cast(gpu as integer) as place,
            {label(head, "modelName")} as model,
            {SERIES_TIME} as t,
            metric,
            case when try_cast(value as double) < {BLANK!r} then try_cast(value as double) end as number
        from given
        where {" and ".join(parts)} and metric in ({", ".join(f"'{metric}'" for metric in METRICS)})
    ) as named
    """


DCGM_OF_NODES: Final = SampleReader(
    "dcgm", "samples of dcgm-exporter without the ids of jobs, as JSON or a table", fits, select, EXPORT
)
