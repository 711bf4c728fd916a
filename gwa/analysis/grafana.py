"""
A dashboard for Grafana, over what ``gwa facts --prometheus`` prints, or over the jobs of a store in DuckDB.

The model is that of Grafana 10 and later (schema version 38 of its published kinds). Queries of Prometheus
are in PromQL; those of DuckDB are for the data source of MotherDuck, with a store or Parquet as the table
``jobs``, and with Grafana's own variables of the range of time that is looked at.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from gwa.store.runs import FIRST_START, boxes
from gwa.words.quantities import quantity

Source = Literal["prometheus", "duckdb"]

SOURCES: Final[Mapping[Source, str]] = {
    "prometheus": "prometheus",
    "duckdb": "motherduck-duckdb-datasource",
}
"""What Grafana calls the kinds of data sources."""

WIDTH: Final = 24
"""Columns of the grid of a dashboard."""

OF: Final = '{trace=~"$trace"}'
"""The traces that are chosen."""

SEEN: Final = "${__from} / 1000 and ${__to} / 1000"
"""The time that is looked at, in seconds."""


@dataclass(frozen=True)
class GrafanaPanel:
    """
    A panel called *title*, drawn as *kind*, of *width* columns, in a *unit* of Grafana's.

    *query* is its question; in PromQL its series are called as *legend* says.
    """

    title: str
    kind: Literal["stat", "timeseries", "bargauge", "table"]
    query: str
    unit: str = "short"
    width: int = 8
    legend: str = ""


def _quantile(share: float, name: str, by: str) -> str:
    return f"histogram_quantile({share}, sum by (le, {by}) ({name}_bucket{OF}))"


def _each(name: str, by: str) -> str:
    return f"sum by ({by}) ({name}{OF})"


def _heading(name: str, by: str = "") -> str:
    """Return what the quantity *name* is called; *by* which classes, where there are any."""
    return quantity(name).heading + (f" by {by}" if by else "")


def _bars(name: str, query: str, by: str, unit: str = "s") -> GrafanaPanel:
    """Return a panel of a quantity with a bar for each queue or project."""
    return GrafanaPanel(_heading(name, by), "bargauge", query, unit, legend=f"{{{{{by}}}}}")


WAIT: Final = "gwa_job_wait_seconds"
PROCESSORS: Final = "gwa_job_processors"

PROMETHEUS: Final = (
    GrafanaPanel(_heading("utilization"), "stat", f"gwa_utilization_mean{OF}", "percentunit", 6),
    GrafanaPanel(_heading("jobs"), "stat", f"gwa_trace_jobs{OF}", "short", 6),
    GrafanaPanel(_heading("wait_median"), "stat", f"gwa_jobs_wait_median{OF}", "s", 6),
    GrafanaPanel(_heading("wait_p95"), "stat", f"gwa_jobs_wait_p95{OF}", "s", 6),
    GrafanaPanel(
        "Jobs that ended in a day", "timeseries",
        f"sum by (status) (increase(gwa_ended_jobs_total{OF}[1d]))", "short", 12, "{{status}}",
    ),
    GrafanaPanel(
        "Processors that were held, by day of their job's end", "timeseries",
        f"sum(rate(gwa_cpu_seconds_total{OF}[1d]))", "short", 12, "processors",
    ),
    _bars("wait_median", _quantile(0.5, WAIT, "queue"), "queue"),
    _bars("wait_p95", _quantile(0.95, WAIT, "queue"), "queue"),
    _bars("wait_p95", _quantile(0.95, "gwa_project_wait_seconds", "project"), "project"),
    _bars("runtime_median", _quantile(0.5, "gwa_job_run_seconds", "queue"), "queue"),
    _bars(
        "procs_mean",
        f"{_each(f'{PROCESSORS}_sum', 'project')} / {_each(f'{PROCESSORS}_count', 'project')}",
        "project", "short",
    ),
    _bars("jobs", _each(f"{PROCESSORS}_count", "project"), "project", "short"),
)  # fmt: skip


def _day(seconds: str) -> str:
    """Return the SQL of the day of a moment, in UTC."""
    return f"date_trunc('day', make_timestamp(cast(({seconds}) * 1e6 as bigint))) as time"


MEDIAN: Final = "median(wait_time)"
P95: Final = "quantile_cont(wait_time, 0.95)"
FIELDS: Final = ("project_id", "n_procs", "n_gpus")
JOBS: Final = "(from jobs union all by name select cast(null as varchar) as runs where false)"
"""The jobs of a table that may lack the field."""

LISTED: Final = " ".join(boxes(("job_id", *FIELDS), JOBS, "null").split()).replace("$'", r"\z'")
"""What jobs list; a dollar, which ends a text, begins a variable of Grafana's."""

BOXES: Final = (
    f"(select job_id, {', '.join(FIELDS)}, run_time as seconds, {FIRST_START} + run_time as ended"
    f" from {JOBS} where runs is null union all"
    f" select job_id, {', '.join(FIELDS)}, seconds, end_time as ended"
    f" from ({LISTED}))"
)
"""What jobs held, each as long as it did not change; most are one."""

HELD: Final = "sum(seconds * n_procs) / 3600 as core_hours"
FROM_ENDED: Final = f"from {BOXES} where n_procs >= 1 and ended between {SEEN}"
FROM_SUBMITTED: Final = f"from jobs where submit_time between {SEEN}"

DUCKDB: Final = (
    GrafanaPanel(_heading("jobs"), "stat", f"select count(*) as jobs {FROM_SUBMITTED}", "short", 6),
    GrafanaPanel(_heading("core_hours"), "stat", f"select {HELD} {FROM_ENDED}", "short", 6),
    GrafanaPanel(_heading("wait_median"), "stat", f"select {MEDIAN} as wait {FROM_SUBMITTED}", "s", 6),
    GrafanaPanel(_heading("wait_p95"), "stat", f"select {P95} as wait {FROM_SUBMITTED}", "s", 6),
    GrafanaPanel(
        "Jobs submitted in a day", "timeseries",
        f"select {_day('submit_time')}, count(*) as jobs {FROM_SUBMITTED} group by all order by all",
        "short", 12,
    ),
    GrafanaPanel(
        "Core-hours of runs that ended in a day", "timeseries",
        f"select {_day('ended')}, {HELD} {FROM_ENDED} group by all order by all", "short", 12,
    ),
    GrafanaPanel(
        "Wait times by queue", "table",
        f"select queue_id as queue, count(*) as jobs, {MEDIAN} as median_wait, {P95} as p95_wait"
        f" {FROM_SUBMITTED} group by all order by jobs desc",
    ),
    GrafanaPanel(
        "Core-hours by project", "table",
        f"select project_id as project, count(distinct job_id) as jobs, {HELD},"
        f" sum(seconds * n_gpus) / 3600 as gpu_hours"
        f" {FROM_ENDED} group by all order by core_hours desc nulls last limit 20",
    ),
    GrafanaPanel(
        "How jobs ended", "table",
        "select case status when 1 then 'completed' when 0 then 'failed' when 5 then 'cancelled' end"
        f" as ended, state, count(*) as jobs {FROM_SUBMITTED} group by all order by jobs desc",
    ),
)  # fmt: skip

PANELS: Final[Mapping[Source, Sequence[GrafanaPanel]]] = {"prometheus": PROMETHEUS, "duckdb": DUCKDB}


def dashboard(source: Source, title: str = "Jobs of the cluster") -> str:
    """Return a dashboard over a *source* as JSON, to import into Grafana or to provision it with."""
    model = {
        "uid": f"gwa-{source}",
        "title": title,
        "tags": ["gwa"],
        "editable": True,
        "schemaVersion": 38,
        "time": {"from": "now-90d", "to": "now"},
        "templating": {"list": _variables(source)},
        "panels": _placed(source),
    }
    return json.dumps(model, indent=1) + "\n"


def _variables(source: Source) -> list[dict[str, Any]]:
    """Return what a user chooses above the panels: the data source and, in Prometheus, the traces."""
    chosen: list[dict[str, Any]] = [
        {"name": "source", "label": "Data source", "type": "datasource", "query": SOURCES[source]}
    ]
    if source == "prometheus":
        chosen.append(
            {
                "name": "trace",
                "label": "Trace",
                "type": "query",
                "datasource": _datasource(source),
                "query": "label_values(gwa_trace_jobs, trace)",
                "refresh": 2,
                "multi": True,
                "includeAll": True,
                "allValue": ".*",
            }
        )
    return chosen


def _placed(source: Source) -> list[dict[str, Any]]:
    """Return the panels of a source, one row after the other."""
    placed, x, y = [], 0, 0
    for number, panel in enumerate(PANELS[source], 1):
        height = 4 if panel.kind == "stat" else 8
        placed.append(_panel(source, panel, number) | {"gridPos": _grid(x, y, panel.width, height)})
        x += panel.width
        if x >= WIDTH:
            x, y = 0, y + height
    return placed


def _grid(x: int, y: int, width: int, height: int) -> dict[str, int]:
    return {"x": x, "y": y, "w": width, "h": height}


def _panel(source: Source, panel: GrafanaPanel, number: int) -> dict[str, Any]:
    datasource = _datasource(source)
    asked: dict[str, Any] = {"refId": "A", "datasource": datasource}
    if source == "prometheus":
        is_now = panel.kind != "timeseries"
        asked |= {"expr": panel.query, "instant": is_now, "range": not is_now}
        asked |= {"legendFormat": panel.legend} if panel.legend else {}
    else:
        asked |= {"rawSql": panel.query, "format": "time_series" if panel.kind == "timeseries" else "table"}
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "datasource": datasource,
        "fieldConfig": {"defaults": {"unit": panel.unit}, "overrides": []},
        "targets": [asked],
    }


def _datasource(source: Source) -> dict[str, str]:
    return {"type": SOURCES[source], "uid": "${source}"}
