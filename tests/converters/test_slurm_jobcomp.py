"""Slurm's job completion records in JSON: the same jobs as in the text of sacct, but for what they lack."""

import json
from dataclasses import replace

from tests.converters.slurm_encodings import EXAMPLES, FAILED, as_jobcomp, as_text, completed
from tests.converters.test_slurm_json import traces

# Steps are unknown, and suspension is counted as running.
ENDED = [replace(job, steps=(), suspended=0) for job in (*EXAMPLES, FAILED) if job.end]


def test_records_are_the_same_trace_as_text(tmp_path):
    records = [completed(job) for job in ENDED]
    found = traces(
        tmp_path,
        text=as_text(ENDED),
        dumped=as_jobcomp(ENDED),
        answer=json.dumps(
            {"took": 1, "hits": {"total": 9, "hits": [{"_source": record} for record in records]}}
        ),
        consumed="".join(f"{json.dumps(record)}\n" for record in records),
    )
    assert found[1:] == found[:1] * 3


def test_records_of_starts_are_folded_into_those_of_ends(tmp_path):
    ends = [completed(job) for job in ENDED]
    starts = [
        {key: value for key, value in record.items() if key not in {"@end", "elapsed", "exit_code"}}
        | {"state": "RUNNING"}
        for record in ends
        if "@start" in record
    ]
    text, found = traces(
        tmp_path, text=as_text(ENDED), json="".join(f"{json.dumps(record)}\n" for record in (*starts, *ends))
    )
    assert found == text


def test_numbered_resources_are_those_that_every_site_has(tmp_path):
    record = completed(ENDED[0])
    del record["tres_req"], record["tres_alloc"]
    record |= {
        "tres_req_raw": "1=8,2=32768,4=1,5=8",
        "tres_alloc_raw": "1=8,2=32768,4=1,1001=4",
        "exit_code": 256,
    }
    (found,) = traces(tmp_path, json=json.dumps(record))
    assert [(row["req_n_procs"], row["req_memory"], row["n_nodes"], row["exit_code"]) for row in found] == [
        (8, 4 << 20, 1, 1)
    ]
