"""The cores that a process may use are those that it is bound to, and no more than its container has."""

import os
import subprocess
import sys

import pytest

from gwa.util import cores


@pytest.fixture
def quota(tmp_path, monkeypatch):
    """Let the container have the quota that is written here."""
    monkeypatch.setattr(cores, "QUOTA", tmp_path / "cpu.max")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)), raising=False)
    cores.usable_cores.cache_clear()
    yield tmp_path / "cpu.max"
    cores.usable_cores.cache_clear()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("max 100000\n", 16), ("400000 100000\n", 4), ("250000 100000\n", 3), ("10000 100000\n", 1),
        ("3200000 100000\n", 16), ("?", 16), (None, 16),
    ],
)  # fmt: skip
def test_a_quota_limits_the_cores(quota, text, expected):
    if text is not None:
        quota.write_text(text)
    assert cores.usable_cores() == expected


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux binds processes")
def test_a_process_that_is_bound_to_one_core_has_an_engine_of_one_thread():
    program = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "from gwa.formats.open import open_trace\n"
        "from pathlib import Path\n"
        "with open_trace([Path('sample_traces/swf/tiny.swf')]) as store:\n"
        "    print(store.row(\"select current_setting('threads')\")[0])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1"]
