"""The campaign finds defects that are planted; a small one finds none in gwa."""

import json
import sys

import pytest

from tests import interruptions
from tests.campaign import ctrl_c, functions, mutations, table
from tests.campaign.__main__ import kills_row, rows

PLANT = """
from tests.campaign import mutations
mutations.SECONDS = 1
from gwa.formats import open as opening
plain = opening.open_trace
def open_trace(paths, *words):
    store = plain(paths, *words)
    {defect}
    return store
opening.open_trace = open_trace
"""
DEFECTS = {
    "raise KeyError('planted')": "KeyError: 'planted'",
    "while True: pass": "hangs",
    "store.connection.execute('delete from sources')": "is neither read nor named",
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_planted_defect_is_found_in_mutated_logs(defect):
    found = mutations.campaign(5, 3, 1, PLANT.format(defect=defect))
    assert sum(row.tried for row in found) == 5
    assert any(DEFECTS[defect] in example for row in found for example in row.examples), found


REMOVES_FIRST = """
import os
from contextlib import contextmanager
@contextmanager
def whole(path):
    path.unlink(missing_ok=True)
    for _ in range(300):
        os.listdir(path.parent)
    yield path
from gwa.formats.builtin import _write_text
_write_text.whole = whole
"""


def test_a_planted_defect_is_found_by_killing(tmp_path):
    (found,) = interruptions.campaign(tmp_path, 8, ["convert to gwf"], plant=REMOVES_FIRST)
    assert kills_row("kill", found).wrong


def test_the_table_names_what_is_wrong(tmp_path):
    row = table.Row("mutation", "a file", 3, figures={"rows": 1234})
    row.fail("7: KeyError")
    table.write(table.together([row, row]), tmp_path)
    text = (tmp_path / "campaign.md").read_text()
    assert "| mutation | a file | 6 | 2 | 2,468 rows |" in text
    assert "- mutation, a file: `7: KeyError`" in text
    assert json.loads((tmp_path / "campaign.json").read_text())[0]["wrong"] == 2


@pytest.mark.slow
def test_a_small_campaign_of_mutations_finds_nothing(tmp_path):
    found = list(rows("mutations", 2000, 1, tmp_path))
    assert not [example for row in found for example in row.examples], table.markdown(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", ctrl_c.COMMANDS)
def test_ctrl_c_ends_a_command_at_any_moment(name, tmp_path):
    """The longest time is printed, not tested: it is that of a busy machine, too."""
    found = ctrl_c.campaign(tmp_path, 10, [name])
    sys.stderr.write(table.markdown(found))
    assert not [example for row in found for example in row.examples], table.markdown(found)


@pytest.mark.slow
def test_commands_are_stopped_one_after_the_other(tmp_path):
    found = ctrl_c.campaign(tmp_path, 1, ["convert", "facts"])
    assert [(row.tried, row.wrong) for row in found] == [(1, 0), (1, 0)], table.markdown(found)


FORGOTTEN = """
from gwa.store.engines import restricted
restricted.FUNCTIONS |= {"json_serialize_plan"}
"""
TRIED = (
    "json_serialize_plan",
    "read_csv",
    "sum",
    "repeat",
    "getvariable",
    "query",
    "strftime",
    "list_aggregate",
)


def test_functions_are_tried_through_each_door():
    found = functions.campaign(25, 3, names=TRIED)
    assert not [example for row in found for example in row.examples]
    by_door = {row.subject: row for row in found}
    assert by_door["mcp sql"].tried == by_door["--with"].tried == 12 * len(TRIED)
    assert all(
        by_door[door].figures["refused"] > 40 for door in ("mcp sql", "mcp where", "--where", "gwa sql")
    )


def test_a_function_that_reads_files_is_found_in_the_list():
    found = functions.campaign(0, 3, plant=FORGOTTEN, names=["json_serialize_plan"])
    assert any("the canary is in" in example for row in found for example in row.examples), found
