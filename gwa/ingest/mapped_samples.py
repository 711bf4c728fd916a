"""Samples of nodes in a table of any tool, of which a map says what its columns hold."""

from collections.abc import Mapping
from typing import Final

from gwa.errors import DefinitionError
from gwa.ingest.measurements import OTHER
from gwa.ingest.node_samples import SampleReader
from gwa.store.engines.duckdb import identifier

WATTS: Final = {"": "", "W": "", "mW": " / 1000", "kW": " * 1000"}
JOULES: Final = {"": "", "J": "", "mJ": " / 1000", "uJ": " / 1e6", "Wh": " * 3600", "kWh": " * 3.6e6"}
KILOBYTES: Final = {"B": " / 1024", "KB": "", "MiB": " * 1024", "GiB": " * 1048576"}
FRACTION: Final = {"": "", "%": " / 100"}

VALUES: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "gpu_utilization": ("use", FRACTION),
    "gpu_memory": ("kb", KILOBYTES),
    "power": ("watts", WATTS),
    "energy_counter": ("counter", JOULES),
}
"""What may be mapped: the column of samples that it is, and what makes of its units that of the column."""

TEXTS: Final = {"host": "host", "device": "device", "model": "model"}
TIMES: Final = {"": "", "s": "", "ms": " / 1000"}
OF_GPUS: Final = ("gpu_utilization", "gpu_memory")


def is_of_moments(stated: str | None) -> bool:
    """Whether a map says which column has the times of samples."""
    return any(entry.strip().startswith("time=") for entry in (stated or "").split(","))


def mapped_reader(columns: Mapping[str, str], stated: str) -> tuple[SampleReader, str]:
    """
    Return what reads a table with *columns*, each with its SQL type, of which *stated* says what it has.

    It is of whole nodes where no device is mapped. The query of its samples is the second. Raise
    `DefinitionError` for a map that is none.
    """
    selected: dict[str, str] = {}
    for entry in stated.split(","):
        field, _, place = entry.strip().partition("=")
        column, _, unit = place.rpartition(":") if place not in columns else (place, "", "")
        column, unit = (column, unit) if column else (unit, "")
        units = TIMES if field == "time" else VALUES.get(field, ("", {"": ""}))[1]
        if field not in {"time", *TEXTS, *VALUES} or column not in columns or unit not in units:
            raise DefinitionError(
                f"'{entry.strip()}' is no FIELD=COLUMN:UNIT, expected a field of host, time, device, model,"
                f" {', '.join(VALUES)}, a column of {', '.join(columns)}, and a unit of"
                f" {', '.join(filter(None, units)) or 'none'}"
            )
        quoted = identifier(column)
        if field == "time":
            selected |= _moment(quoted, columns[column], units[unit])
        elif field in TEXTS:
            selected[TEXTS[field]] = f"nullif(cast({quoted} as varchar), '')"
        else:
            name, _ = VALUES[field]
            selected[name] = f"try_cast({quoted} as double){units[unit]}"
    if not selected.keys() & {name for name, _ in VALUES.values()}:
        raise DefinitionError(f"the map says nothing that is measured, expected one of {', '.join(VALUES)}")
    if "device" not in selected and selected.keys() & {VALUES[name][0] for name in OF_GPUS}:
        raise DefinitionError("the map does not say which GPU a row is of, expected device=COLUMN as well")
    of_nodes = "device" not in selected
    selected.setdefault("device", "'node'")
    values = ", ".join(f"{sql} as {name}" for name, sql in selected.items())
    reader = SampleReader(
        OTHER, "a table", lambda _: False, lambda _: f"select {values} from given", "", of_nodes=of_nodes
    )
    return reader, f"select {values} from given"


def _moment(quoted: str, kind: str, unit: str) -> dict[str, str]:
    """Return the SQL of a moment in a column of a *kind*: Unix seconds, or what a local clock says."""
    if kind == "TIMESTAMP WITH TIME ZONE":
        return {"t": f"epoch({quoted})"}
    if kind.startswith("TIMESTAMP") or kind == "DATE":
        return {"clock": f"cast({quoted} as timestamp)"}
    if kind != "VARCHAR":
        return {"t": f"cast({quoted} as double){unit}"}
    text = f"trim({quoted})"
    has_zone = rf"regexp_matches({text}, '(Z|UTC|[+-]\d\d(:?\d\d)?)$') and contains({text}, ':')"
    slashed = f"replace({text}, '/', '-')"
    return {
        "t": f"coalesce(try_cast({text} as double){unit},"
        f" case when {has_zone} then epoch(try_cast({slashed} as timestamptz)) end)",
        "clock": f"case when not ({has_zone}) then try_cast({slashed} as timestamp) end",
    }
