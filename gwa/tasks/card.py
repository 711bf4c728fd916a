"""The card of a task, as Croissant 1.1 has it and with what a forecaster has to know, and one for people."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import numpy as np

from gwa.archive.feeds import CONTEXT, CROISSANT, CROISSANT_PARQUET
from gwa.metrics.window import window
from gwa.statistics.sample import Floats
from gwa.store.store import Store
from gwa.tasks import baseline, measures, proof
from gwa.tasks.features import MEANING
from gwa.tasks.folder import FEATURES, LABELS
from gwa.tasks.jobs import NAMES
from gwa.tasks.task import SPLITS, Chosen, Task
from gwa.util.version import __version__

OWN: Final = {"gwa": {"@id": "urn:gwa:tasks", "@type": "@json"}}
"""What Croissant has no words for stands below this key."""

KEYS: Final = {
    "row": "number of the row, the key of all files",
    "job_id": "number of the job in the trace",
    "submit": "when the job was submitted, Unix time in s, or since the unknown zero of the trace",
    "split": "train, valid or test, by submission; gap: the label was not known at the next border",
}

SPLIT_SET: Final = "splits"
SPLIT_KINDS: Final = {
    "train": "cr:TrainingSplit",
    "valid": "cr:ValidationSplit",
    "test": "cr:TestSplit",
    "gap": "",
}
"""What Croissant calls each split; it has no word for rows that belong to none."""

NOTES: Final = (
    "History is of jobs that had ended before the second of the submission, waits of those that had started.",
    "A job that left the queue without a start counts as waiting until then, if that is known.",
    "Names are codes in the order of first submission; -1 is a name that no job of the training has.",
    "Where no request of processors, nodes or GPUs is recorded, those are what was allocated.",
    "backlog and free are shares of cpus, one number for all rows; cpus_from says whether the jobs tell it.",
    "Jobs that had not ended when the log did have no label but a wait: a test lacks the longest of its end.",
)


@dataclass(frozen=True, eq=False)
class TaskDescription:
    """What is known of a *task* that was made of the trace called *title*."""

    task: Task
    title: str
    chosen: Chosen
    columns: Mapping[str, Floats]
    unchanged: int
    planted: proof.Planted
    missing: tuple[str, ...]
    scores: Mapping[str, Mapping[str, Any]]


def card(store: Store, facts: TaskDescription, folder: Path) -> dict[str, Any]:
    """Return the card of the task whose files are in *folder*."""
    task = facts.task
    files = sorted(folder.rglob("*.parquet"))
    licence = _licence(store)
    return {
        "@context": {**CONTEXT, **OWN},
        "@type": "Dataset",
        "conformsTo": f"{CROISSANT}1.1",
        "name": f"{facts.title}-{task.name}",
        "description": f"Foretell of each job at its submission: {task.meaning}."
        f" Made of the trace {facts.title}.",
        **({"license": licence} if licence else {}),
        "distribution": [_file(path, folder) for path in files],
        "recordSet": [_splits(), _rows(facts), *(_labels(task, split) for split in LABELS)],
        "gwa": _own(store, facts),
    }


def readme(facts: TaskDescription) -> str:
    """Return what the card says, for people."""
    task = facts.task
    counts = ", ".join(f"{split} {facts.chosen.count(split):,}" for split in SPLITS)
    left_out = [f"- {count:,} jobs: {reason}" for reason, count in facts.chosen.left_out.items() if count]
    lines = [
        f"# {facts.title}: {task.name}",
        "",
        f"Foretell of each job at its submission: {task.meaning}{f', in {task.unit}' if task.unit else ''}.",
        f"Jobs by split: {counts}. `card.json` says all else.",
        "",
        "`features.parquet` has a row for each job; `row` is the key of the labels and of forecasts.",
        "Learn from `train_labels.parquet` and `valid_labels.parquet`; `test_labels.parquet` is to score.",
        "",
        "A forecast is a Parquet file with a row for each of the test and the columns "
        + ("`row`, `p`." if task.offset is None else "`row`, `q05`, `q50`, `q95`."),
        "",
        f"    gwa tasks score {task.name} predictions.parquet",
        "",
        "| column | meaning |",
        "|---|---|",
        *(f"| `{name}` | {meaning} |" for name, meaning in {**KEYS, **MEANING}.items()),
        "",
        *(f"- {note}" for note in NOTES),
        "",
        *(["Left out:", "", *left_out, ""] if left_out else []),
        "| baseline | loss |",
        "|---|---|",
        *(f"| {name} | {score['loss']:.4f} |" for name, score in facts.scores.items()),
        "",
        *(f"{sentence}." for sentence in facts.missing),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _own(store: Store, facts: TaskDescription) -> dict[str, Any]:
    """Return what Croissant has no words for."""
    task, chosen = facts.task, facts.chosen
    return {
        "task": task.name,
        "label": task.meaning,
        "unit": task.unit or None,
        "offset": task.offset,
        "error": "of 0 or 1" if task.offset is None else f"of log(label + {task.offset:g})",
        "made_by": f"gwa {__version__}",
        "source": [
            {"file": Path(file).name, "bytes": size, "sha256": digest or None}
            for file, size, digest in store.rows(
                "select file, bytes, sha256 from sources order by file, sha256"
            )
        ],
        "cut": window(store).cut,
        "cpus": store.system.cpus,
        "cpus_from": store.system.cpus_from,
        "time_zone": store.system.zone,
        "splits": {
            "rule": f"{chosen.shares.rule}; gap: jobs of an earlier part whose label was not known at the"
            " border",
            "borders": list(chosen.borders),
            "jobs": {split: chosen.count(split) for split in SPLITS},
        },
        "left_out": dict(chosen.left_out),
        "null": {name: int(np.isnan(values).sum()) for name, values in facts.columns.items()},
        "notes": list(NOTES),
        "checks": {
            "what": "features use only what is known at submission",
            "rows_with_another_future": facts.unchanged,
            "of_these_changed": 0,
            "planted_gain": round(facts.planted.gain, 6),
            "standard_error_of_gain": round(facts.planted.error, 6),
            "planted_gain_must_be_below": proof.MAXIMUM_GAIN,
            "or_exceeds_it_by_fewer_standard_errors_than": proof.CHANCE,
            "gain_of_a_leak": round(facts.planted.leak, 4),
            "seed": proof.SEED,
        },
        "baselines": {
            "seed": baseline.SEED,
            "seed_of_bootstrap": measures.SEED,
            "scores": facts.scores,
            "missing": list(facts.missing),
        },
    }


def _file(path: Path, folder: Path) -> dict[str, Any]:
    data, name = path.read_bytes(), path.relative_to(folder).as_posix()
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{len(data)} B",
        "encodingFormat": CROISSANT_PARQUET,
        "sha256": sha256(data).hexdigest(),
    }


def _splits() -> dict[str, Any]:
    """Return the record set that says which split is for what."""
    fields = [
        {"@type": "cr:Field", "@id": f"{SPLIT_SET}/{name}", "name": name, "dataType": "sc:Text"}
        for name in ("name", "kind")
    ]
    data = [{f"{SPLIT_SET}/name": name, f"{SPLIT_SET}/kind": kind} for name, kind in SPLIT_KINDS.items()]
    return {**_record_set(SPLIT_SET, fields, "name", dataType="cr:Split"), "data": data}


def _rows(facts: TaskDescription) -> dict[str, Any]:
    fields = [_field("features", name, meaning, FEATURES) for name, meaning in {**KEYS, **MEANING}.items()]
    said = f"{facts.chosen.rows.size} jobs, what was known of each at its submission"
    return {**_record_set("features", fields), "description": said}


def _labels(task: Task, split: str) -> dict[str, Any]:
    name = f"{split}_labels"
    meaning = f"{task.meaning} ({task.unit})" if task.unit else task.meaning
    fields = [_field(name, "row", KEYS["row"], LABELS[split]), _field(name, "label", meaning, LABELS[split])]
    return _record_set(name, fields)


def _record_set(name: str, fields: list[dict[str, Any]], key: str = "row", **kind: str) -> dict[str, Any]:
    made = {"@type": "cr:RecordSet", "@id": name, "name": name, **kind}
    return {**made, "key": {"@id": f"{name}/{key}"}, "field": fields}


def _field(record_set: str, name: str, meaning: str, file: str) -> dict[str, Any]:
    is_whole = name in {"row", "job_id", *NAMES}
    return {
        "@type": "cr:Field",
        "@id": f"{record_set}/{name}",
        "name": name,
        "description": meaning,
        "dataType": "sc:Text" if name == "split" else "sc:Integer" if is_whole else "sc:Float",
        "source": {"fileObject": {"@id": file}, "extract": {"column": name}},
        **({"references": {"field": {"@id": f"{SPLIT_SET}/name"}}} if name == "split" else {}),
    }


def _licence(store: Store) -> str:
    """Return the licence that the header of the trace states, or nothing."""
    said = {key.lower(): value.strip() for key, value in reversed(store.header)}
    return said.get("license") or said.get("licence") or ""
