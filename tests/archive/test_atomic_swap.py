"""One folder takes the place of another in one step, whatever happens meanwhile."""

import random
import subprocess
import sys
import time

import pytest

from gwa.archive.atomic_swap import exchange, replacing
from gwa.errors import OutputError

MARK = "mark"


def fill(folder, word, files=40):
    for number in range(files):
        (folder / str(number)).write_text(word)
    (folder / MARK).write_text(word)


def words(folder):
    return {path.read_text() for path in folder.iterdir()}


def test_the_new_folder_takes_the_place_of_the_old(tmp_path):
    out = tmp_path / "deep" / "site"
    for word in ("one", "two"):
        with replacing(out, MARK) as (folder, old):
            assert (old is None) == (word == "one")
            fill(folder, word)
        assert words(out) == {word}
    assert [path.name for path in out.parent.iterdir()] == ["site"]


def test_a_failure_leaves_the_old_folder(tmp_path):
    out = tmp_path / "site"
    with replacing(out, MARK) as (folder, _):
        fill(folder, "one")
    with pytest.raises(OutputError), replacing(out, MARK) as (folder, _):
        fill(folder / "nowhere", "two", 3)

    assert words(out) == {"one"}
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_folder_with_other_things_is_not_replaced(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")

    with pytest.raises(OutputError, match="holds other things than a site"), replacing(tmp_path, MARK):
        pass
    with pytest.raises(OutputError, match="is a file"), replacing(tmp_path / "thesis.tex", MARK):
        pass
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_without_help_from_the_system_folders_change_places_too(tmp_path, monkeypatch):
    monkeypatch.setattr("gwa.archive.atomic_swap._exchanged", lambda _one, _other: False)
    for name in ("new", "place"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_text(name)
    exchange(tmp_path / "new", tmp_path / "place")

    assert words(tmp_path / "place") == {"new"}
    assert words(tmp_path / "new") == {"place"}


ENDLESS = """
import sys
from pathlib import Path
from gwa.archive.atomic_swap import replacing
place, turn = Path(sys.argv[1]), 0
while True:
    turn += 1
    with replacing(place, "mark") as (folder, _):
        for number in range(40):
            (folder / str(number)).write_text(str(turn))
        (folder / "mark").write_text(str(turn))
        print(turn, flush=True)
"""


def test_a_killed_process_leaves_a_whole_folder(tmp_path):
    out, chance = tmp_path / "site", random.Random(7)
    for _ in range(10):
        with subprocess.Popen([sys.executable, "-c", ENDLESS, out], stdout=subprocess.PIPE) as process:
            assert process.stdout
            process.stdout.readline()
            process.stdout.readline()
            time.sleep(chance.random() / 20)
            process.kill()
        assert len(words(out)) == 1
        assert len(list(out.iterdir())) == 41
    with replacing(out, MARK) as (folder, _):
        fill(folder, "last")

    assert [path.name for path in tmp_path.iterdir()] == ["site"], "what was left is swept away"


def test_a_link_to_a_folder_stays_a_link(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    with replacing(link, MARK) as (folder, _):
        fill(folder, "one")

    assert link.is_symlink()
    assert words(real) == {"one"}
