"""The figures of fitted distributions."""

from typing import Any

import pytest

from gwa.analysis.sections.fits import fits
from gwa.report.document import Figure


def test_a_tail_is_what_the_distribution_leaves(make_store):
    times = [float(2**n) for n in range(1, 12)] * 5
    store = make_store(submit_time=[60.0 * n for n in range(55)], run_time=times, n_procs=[1] * 55)
    tail = next(
        block
        for block in fits.section(store).blocks
        if isinstance(block, Figure) and block.id == "fit-runtime-ccdf"
    )
    data: Any = tail.data
    curve = data["lines"][0]

    assert curve["x"] == pytest.approx([2**n for n in range(1, 11)])
    assert curve["y"] == pytest.approx([1 - n / 11 for n in range(1, 11)], rel=1e-4)
