"""The section on synthetic workloads: the first quick model that fits, where there is memory for it."""

import pytest

import gwa
from gwa.analysis.base import analyses
from gwa.errors import ModelError
from gwa.models.families.minh2010 import Minh2010
from gwa.report.document import Note

SECTION = next(one for one in analyses() if one.id == "synthetic-workloads")


@pytest.mark.parametrize(("memory", "is_made"), [(None, True), ("500MB", True), ("499MB", False)])
def test_models_are_fitted_where_there_is_memory_for_it(sample, memory, is_made):
    with gwa.open(sample / "swf" / "tiny.swf", memory=memory) as trace:
        section = SECTION.section(trace.store)
    facts = {fact.id for block in section.blocks for fact in getattr(block, "facts", ())}
    notes = [block.text for block in section.blocks if isinstance(block, Note)]
    if is_made:
        assert "synthetic.fitted" in facts
    else:
        assert facts == set()
        assert notes == ["Fitting models takes at least 500 MB of memory."]


def test_one_model_is_fitted_and_the_next_where_it_cannot_be(sample, monkeypatch):
    def facts_and_notes():
        with gwa.open(sample / "swf" / "tiny.swf") as trace:
            blocks = SECTION.section(trace.store).blocks
        facts = {fact.id: fact.value for block in blocks for fact in getattr(block, "facts", ())}
        return facts, [str(block.text) for block in blocks if isinstance(block, Note)]

    facts, notes = facts_and_notes()
    assert facts["synthetic.fitted"] == "minh2010"
    assert set(facts) == {"synthetic.fitted", "synthetic.minh2010"}
    assert len(notes) == 1

    def refuse(*_):
        raise ModelError("has no bags")

    monkeypatch.setattr(Minh2010, "estimate", refuse)
    facts, notes = facts_and_notes()
    assert facts["synthetic.fitted"] == "minh2009"
    assert notes[-1] == f"{Minh2010.title}: has no bags."
