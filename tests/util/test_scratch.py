"""Scratch folders are removed, those of killed processes too."""

import os
import subprocess
import sys

import pytest

from gwa.errors import OutputError
from gwa.util.scratch import ScratchFolder
from tests.killing import run

LEAVES = """
import os
from gwa.util.scratch import ScratchFolder
folder = ScratchFolder()
(folder.path / "names").write_text("jsmith")
print(folder.path)
os._exit(0)
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("GWA_TMPDIR", str(tmp_path))
    return tmp_path


def test_a_scratch_folder_goes_on_request_and_with_its_object(place):
    first, second = ScratchFolder(), ScratchFolder()
    assert len(list(place.iterdir())) == 2
    assert first.path.stat().st_mode & 0o777 == 0o700
    first.remove()
    first.remove()
    del second
    assert not list(place.iterdir())


def test_it_goes_at_the_end_of_the_program(place):
    code = "from gwa.util.scratch import ScratchFolder; folder = ScratchFolder(); print(folder.path)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.startswith(os.fsencode(place))
    assert not list(place.iterdir())


def test_what_a_killed_process_left_is_removed_and_nothing_else(place):
    (place / "gwa-mine").mkdir()
    (place / ("gwa-" + "0" * 16)).mkdir()
    (place / ("gwa-" + "0" * 16) / "mine").touch()
    run(LEAVES)
    assert len(list(place.iterdir())) == 3
    living = ScratchFolder()
    other = ScratchFolder()
    assert living.path.is_dir()
    other.remove()
    living.remove()
    assert sorted(path.name for path in place.iterdir()) == ["gwa-" + "0" * 16, "gwa-mine"]


@pytest.mark.usefixtures("place")
def test_a_place_without_room_is_said(monkeypatch):
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.mkdir", refuse)
    with pytest.raises(OutputError, match="no room for temporary files: No space left on device"):
        ScratchFolder()
