"""The same trace and the same version give the same report, byte for byte, in any process."""

import os
import subprocess
import sys

import pytest

from gwa.util.written import RECORD

SECTIONS = "overview,utilization,schedule,users"


def written(sample, folder, seed, threads, *sections):
    """Return all files that a report is written as, by a process of its own with another *seed* of hashes."""
    log = sample / "swf" / "tiny.swf"
    command = [sys.executable, "-m", "gwa", "report", log, "--html", "--pdf", "--json", "--latex"]
    command += ["-o", folder, "--quiet", "--threads", threads, *sections]
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    subprocess.run(command, check=True, env=environment, capture_output=True)
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != RECORD
    }


@pytest.mark.parametrize(
    "sections",
    [("--sections", SECTIONS), pytest.param((), marks=pytest.mark.slow)],
    ids=["some sections", "all sections"],
)
def test_two_processes_write_the_same_bytes(sample, tmp_path, sections):
    one = written(sample, tmp_path / "one", "1", "1", *sections)
    other = written(sample, tmp_path / "other", "2", "2", *sections)
    different = [name for name in one if one[name] != other.get(name)]

    assert one.keys() == other.keys()
    name = f"tiny-{SECTIONS}" if sections else "tiny"
    assert {f"{name}.html", f"{name}.json", f"{name}.pdf", f"{name}-latex/report.tex"} <= one.keys()
    assert not different
