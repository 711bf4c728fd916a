"""Small files that become large: they cost little time and memory, and end in jobs or in a line."""

import bz2
import gzip
import lzma
import resource
import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from tests.conftest import HOME

SWF = "".join(f"{number} {number} 5 60 2 -1 -1 2 60 -1 1 1 1 1 1 1 -1 -1\n" for number in range(1, 30))
MEGABYTE = b"0" * (1 << 20)
PACKERS: dict[str, Any] = {
    "gz": gzip.open,
    "bz2": bz2.open,
    "xz": lzma.open,
    "zst": zstandard.open,
}
READ = """
import sys
from pathlib import Path
from gwa.errors import GwaError
from gwa.formats.open import open_trace
try:
    with open_trace([Path(sys.argv[1])]) as store:
        print("jobs", store.account.jobs)
except GwaError as error:
    print("refused", error)
"""


def read(path):
    """
    Return what reading a file prints, its CPU seconds, and its peak of memory in megabytes.

    The peak is the kernel's mark of the process's own memory: `ru_maxrss` would include that of the process
    that started it, since a new process begins as a copy.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = READ + 'print(*[line.split()[1] for line in open("/proc/self/status") if "VmHWM" in line])\n'
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, path], cwd=HOME, capture_output=True, text=True, check=True,
        timeout=250,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    *lines, peak = done.stdout.splitlines()
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return "\n".join(lines), cpu, int(peak) // 1024


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_line_of_600_megabytes_is_passed_over(suffix, tmp_path):
    path = tmp_path / f"a.swf.{suffix}"
    with PACKERS[suffix](path, "wb") as file:
        file.write(SWF.encode())
        for _ in range(600):
            file.write(MEGABYTE)
    assert path.stat().st_size < 1_000_000
    said, cpu, peak = read(path)
    assert said == "jobs 29"
    assert cpu < 15
    assert peak < 400


def test_a_record_that_never_ends_is_refused(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text(f"<JobUsageRecord><JobIdentity>{'<a>b</a>' * 3_000_000}")
    said, _, peak = read(path)
    assert "longer than 4194304 bytes" in said
    assert peak < 350


@pytest.mark.parametrize("name", ["a.gwf", "a.swf", "a.log"])
def test_thousands_of_columns_are_no_log(name, tmp_path):
    path = tmp_path / name
    path.write_text(f"{' '.join(['1'] * 5000)}\n" * 20)
    said, cpu, peak = read(path)
    assert said.startswith("refused")
    assert "memory" not in said
    assert cpu < 10
    assert peak < 350


def test_a_line_of_half_a_million_cells_is_refused(tmp_path):
    path = tmp_path / "a.swf.gz"
    with gzip.open(path, "wb") as file:
        file.write(b"1 " * 3_000_000)
    said, cpu, _ = read(path)
    assert said.startswith("refused")
    assert cpu < 15


def test_parquet_of_more_rows_than_it_can_hold_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    ones = pa.array(np.ones(5_000_000, np.int64))
    table = pa.table({"JobID": ones, "SubmitTime": ones, "RunTime": ones})
    pq.write_table(table, path, compression="zstd", row_group_size=5_000_000)
    said, cpu, _ = read(path)
    assert "has 5,000,000 rows in" in said
    assert cpu < 10
