"""The core paths take no more instructions than they did, by much; seconds would depend on the machine."""

import shutil

import pytest

from benchmarks.instructions import MOST, PYTHON, QUICK, SLOW, count_all, kept, slower

COMMONEST = {name: QUICK[name] for name in ("convert SWF", "convert Slurm", "facts on utilization")}


@pytest.mark.parametrize(
    "paths", [COMMONEST, pytest.param(QUICK | SLOW, marks=pytest.mark.slow)], ids=["commonest", "all"]
)
@pytest.mark.skipif(not shutil.which("valgrind"), reason="needs valgrind")
def test_the_core_paths_take_no_more_than_the_instructions_that_are_kept(paths):
    before = kept()
    if before is None:
        pytest.skip(f"no counts of {PYTHON} are kept")
    now = count_all(paths)
    assert now.keys() <= before.keys()
    assert not slower(before, now)


def test_a_path_is_slower_beyond_the_bound_only():
    assert slower({"a": 100, "b": 100, "c": 100}, {"a": 130, "b": 131, "c": 10}) == {"b": 1.31}
    assert MOST == 1.3
