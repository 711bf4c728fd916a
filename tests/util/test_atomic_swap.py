"""One folder takes the place of another in one step, whatever happens meanwhile."""

import pytest

from gwa.errors import OutputError
from gwa.util.atomic_swap import exchange, replacing
from tests.killing import run

MARK = "mark"


def is_ours(folder):
    return (folder / MARK).is_file()


def fill(folder, word, files=40):
    for number in range(files):
        (folder / str(number)).write_text(word)
    (folder / MARK).write_text(word)


def words(folder):
    return {path.read_text() for path in folder.iterdir()}


def test_the_new_folder_takes_the_place_of_the_old(tmp_path):
    out = tmp_path / "deep" / "site"
    for word in ("one", "two"):
        with replacing(out, is_ours) as (folder, old):
            assert (old is None) == (word == "one")
            fill(folder, word)
        assert words(out) == {word}
    assert [path.name for path in out.parent.iterdir()] == ["site"]


def test_a_failure_leaves_the_old_folder(tmp_path):
    out = tmp_path / "site"
    with replacing(out, is_ours) as (folder, _):
        fill(folder, "one")
    with pytest.raises(OutputError), replacing(out, is_ours) as (folder, _):
        fill(folder / "nowhere", "two", 3)

    assert words(out) == {"one"}
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_folder_with_other_things_is_not_replaced(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")

    with pytest.raises(OutputError, match="holds other things than"), replacing(tmp_path, is_ours):
        pass
    with pytest.raises(OutputError, match="is a file"), replacing(tmp_path / "thesis.tex", is_ours):
        pass
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_without_help_from_the_system_folders_change_places_too(tmp_path, monkeypatch):
    monkeypatch.setattr("ctypes.CDLL", lambda *_, **__: object())
    for name in ("new", "place"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_text(name)
    exchange(tmp_path / "new", tmp_path / "place")

    assert words(tmp_path / "place") == {"new"}
    assert words(tmp_path / "new") == {"place"}


KILLED = """
import os, sys
from itertools import count
from pathlib import Path
from gwa.util.atomic_swap import replacing
from tests.killing import kill_at
place, status = Path(sys.argv[1]), -1
for turn in count():
    if not (process := os.fork()):
        kill_at(turn, place.parent)
        with replacing(place, lambda folder: (folder / "mark").is_file()) as (folder, _):
            for name in ("a", "b", "mark"):
                (folder / name).write_text(str(turn))
        os._exit(0)
    status = os.waitpid(process, 0)[1]
    print(turn, status, *(f"{path.name}={path.read_text()}" for path in sorted(place.iterdir())))
    if turn and not status:
        break
"""


def test_a_killed_process_leaves_a_whole_folder(tmp_path):
    """It is killed before each of its steps; the first time and the last it is not."""
    out = tmp_path / "site"
    done = run(KILLED, out)
    assert done.returncode == 0, done.stderr
    turns = [line.split() for line in done.stdout.decode().splitlines()]
    assert len(turns) > 10
    before = "0"
    for turn, status, *found in turns:
        content = {word.partition("=")[2] for word in found}
        assert content in ({before}, {turn})
        assert [word.partition("=")[0] for word in found] == ["a", "b", MARK]
        assert status == "9" or turn in {turns[0][0], turns[-1][0]}
        (before,) = content
    assert 0 < sum(turn not in "".join(found) for turn, _, *found in turns) < len(turns)
    with replacing(out, is_ours) as (folder, _):
        fill(folder, "last")

    assert [path.name for path in tmp_path.iterdir()] == ["site"], "what was left is swept away"


def test_a_link_to_a_folder_stays_a_link(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    with replacing(link, is_ours) as (folder, _):
        fill(folder, "one")

    assert link.is_symlink()
    assert words(real) == {"one"}
