"""Tests of `gwa.ingest.mapping`: a log that is mapped in parts becomes the same jobs, with one account."""

from unittest.mock import patch

import pytest
from hypothesis import given

from gwa.errors import GwaError
from gwa.formats.open import open_trace
from gwa.ingest import mapping
from gwa.ingest.staging import part_condition
from tests.conftest import HOME
from tests.mutation import CHANGES, FEW, mutated

JOINED = pytest.mark.parametrize(
    "name", ["condor", "lsf", "lsf-bjobs", "pbs", "pbs-json", "pbs-qstat", "slurm"]
)
"""The formats whose rows say which of them are of one job."""


def sample(name):
    """Return the first file of the sample of a format."""
    files = (HOME / "sample_traces" / name).iterdir()
    return min(file for file in files if file.name not in {"expected.gwf", "system.toml", "README.md"})


def content(path, name):
    """Return all that is found in a log, or why it is refused."""
    tables = ("jobs", "sources", "rejects", "repairs")
    try:
        with open_trace([path], name) as store:
            return [store.account, *(store.rows(f"from {table} order by all") for table in tables)]
    except GwaError as error:
        return str(error)


def content_in_parts(path, name):
    """Return the same of a log each row of which takes so much memory that there are parts, and how many."""
    with (
        patch.object(mapping, "BYTES_OF_ROW", 10**9),
        patch.object(mapping, "part_condition", wraps=part_condition) as condition,
    ):
        return content(path, name), condition.call_count


@JOINED
def test_a_sample_in_parts_becomes_the_same_jobs(name):
    found, parts = content_in_parts(sample(name), name)
    assert parts > 1
    assert found == content(sample(name), name)


@JOINED
@given(changes=CHANGES)
@FEW
def test_a_log_in_parts_becomes_the_same_jobs(name, changes, tmp_path):
    path = tmp_path / sample(name).name
    path.write_bytes(mutated(sample(name).read_bytes(), changes))
    assert content_in_parts(path, name)[0] == content(path, name)
