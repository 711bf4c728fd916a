"""Stores of other versions of gwa: what they hold that this one does not know, and what they lack."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from gwa.errors import TraceError
from gwa.store.schema import EXTENSION_NAMES
from gwa.util.version import __version__

FIELDS_KEY: Final = "fields"
"""The entry of the provenance that names the extension fields that the gwa knew which read the log."""

FIRST_FIELDS: Final = (
    "n_nodes n_gpus req_gpus gpu_type energy eligible_time qos state exit_code max_memory gpu_utilization"
    " gpu_memory bounds n_requeues requeued_cpu_seconds requeued_gpu_seconds idle_gpus max_gpu_memory"
    " idle_nodes"
)
"""Those of stores without that entry."""

GONE: Final = frozenset(
    {"requeued_cpu_seconds", "requeued_gpu_seconds", "RequeuedCPUSeconds", "RequeuedGPUSeconds"}
)
"""Fields of stores of earlier versions, which are left aside: `runs` says more."""


def fields_known(provenance: Mapping[str, str]) -> dict[str, str]:
    """Return the entry of a trace with this *provenance*, for a copy of it."""
    return {FIELDS_KEY: provenance.get(FIELDS_KEY, FIRST_FIELDS)}


def fields_of_now() -> dict[str, str]:
    """Return the entry of a trace whose log is read now."""
    return {FIELDS_KEY: " ".join(EXTENSION_NAMES)}


def fields_lacking(provenance: Mapping[str, str]) -> list[str]:
    """
    Return the fields that a trace with this *provenance* cannot have, whatever its log says.

    >>> fields_lacking({"fields": " ".join(name for name in EXTENSION_NAMES if name != "qos")})
    ['qos']
    """
    known = {*fields_known(provenance)[FIELDS_KEY].split()}
    return [name for name in EXTENSION_NAMES if name not in known]


def refuse_newer(path: Path, unknown: Iterable[str], provenance: Mapping[str, str]) -> None:
    """Raise `TraceError` for a store with something *unknown*: it may change what all else means."""
    if names := sorted({*unknown} - GONE):
        made = provenance.get("gwa", "")
        by = f"a newer gwa ({made[:40]})" if made and made != __version__ else "a newer gwa"
        raise TraceError(
            f"{path}: was made by {by}: it holds {', '.join(names)[:200]}, which gwa {__version__} does not"
            " know: update gwa to read it"
        )
