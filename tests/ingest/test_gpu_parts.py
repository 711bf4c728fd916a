"""Parts of GPUs by the name of their profile."""

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.ingest.gpu_parts import PART, define_gpu_parts

PROFILES: dict[str, tuple[int, dict[int, tuple[int, ...]]]] = {
    # NVIDIA's table of supported profiles: (slices of the GPU, profiles by their slices).
    "a100": (7, {1: (5, 10, 20), 2: (10, 20), 3: (20, 40), 4: (20, 40), 7: (40, 80)}),
    "a30": (4, {1: (6,), 2: (12,), 4: (24,)}),
    "h100": (7, {1: (10, 12, 20, 24), 2: (20, 24), 3: (40, 47, 48), 4: (40, 47, 48), 7: (80, 93, 94, 96)}),
    "h200": (7, {1: (18, 35), 2: (35,), 3: (71,), 4: (71,), 7: (141,)}),
    "b200": (7, {1: (23, 45), 2: (45,), 3: (90,), 4: (90,), 7: (180,)}),
    "rtx_pro_6000": (4, {1: (24,), 2: (48,), 4: (96,)}),
}


def part(*names):
    with duckdb.connect() as database:
        define_gpu_parts(database)
        return [database.execute(f"select {PART}(?)", [name]).fetchall()[0][0] for name in names]


@pytest.mark.parametrize("model", PROFILES)
def test_each_profile_is_the_slices_that_it_has(model):
    slices, profiles = PROFILES[model]
    names = {f"{model}_{count}g.{size}gb": count for count, sizes in profiles.items() for size in sizes}
    assert part(*names) == pytest.approx([count / slices for count in names.values()])


def test_what_does_not_tell_is_unknown():
    assert part("mig", "1g.24gb", "8g.10gb", "1g.5gb,2g.10gb", "1c.3g.40gb", "mig-2c.4g.20gb") == [None] * 6


@given(st.text())
def test_a_part_is_no_more_than_a_gpu(name):
    (found,) = part(name)
    assert found is None or 0 < found <= 1
