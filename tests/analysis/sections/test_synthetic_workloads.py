"""The section on synthetic workloads: the quick models, where there is memory for them."""

import pytest

import gwa
from gwa.analysis.base import analyses
from gwa.report.document import Note

SECTION = next(one for one in analyses() if one.id == "synthetic-workloads")


@pytest.mark.parametrize(("memory", "is_made"), [(None, True), ("500MB", True), ("499MB", False)])
def test_models_are_fitted_where_there_is_memory_for_it(sample, memory, is_made):
    with gwa.open(sample / "swf" / "tiny.swf", memory=memory) as trace:
        section = SECTION.section(trace.store)
    facts = {fact.id for block in section.blocks for fact in getattr(block, "facts", ())}
    notes = [block.text for block in section.blocks if isinstance(block, Note)]
    if is_made:
        assert "synthetic.nearest" in facts
    else:
        assert facts == set()
        assert notes == ["Fitting models takes at least 500 MB of memory."]
