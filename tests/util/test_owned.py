"""Folders are owned by a living process, and only folders of gwa are removed."""

import os
import subprocess
import sys

import pytest

from gwa.errors import OutputError
from gwa.util import owned
from gwa.util.owned import MARK, OwnedFolder, owner, part_name, sweep
from tests.conftest import HOME
from tests.killing import run

HOLDS = """
import sys
from pathlib import Path
from gwa.util.owned import OwnedFolder
folder = OwnedFolder.claim(Path(sys.argv[1]))
print("owned" if folder else "refused", flush=True)
sys.stdin.read()
"""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_another_process_is_refused_until_the_owner_ends(tmp_path):
    path = tmp_path / "a.rows"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, path], cwd=HOME, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"owned\n"
        assert OwnedFolder.claim(path) is None
        assert owner(path).endswith(f"process {process.pid}")
        sweep(tmp_path)
        process.kill()
    folder = OwnedFolder.claim(path)
    assert folder is not None
    assert owner(path).endswith(f"process {os.getpid()}")
    folder.discard()
    assert names(tmp_path) == []


def test_an_owner_is_not_judged_by_the_number_of_its_process(tmp_path, monkeypatch):
    """In another container the owner of a part can have a number that no process here has."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, part_name(tmp_path / "a")("0" * 16)],
        cwd=HOME,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        monkeypatch.setattr(os, "kill", lambda *_: (_ for _ in ()).throw(ProcessLookupError))
        sweep(tmp_path)
        assert names(tmp_path) == [f".a.{'0' * 16}.part"]
        monkeypatch.undo()
        process.kill()
    sweep(tmp_path)
    assert names(tmp_path) == []


@pytest.mark.parametrize("is_empty", [True, False])
def test_a_folder_of_the_user_is_refused_and_stays(is_empty, tmp_path):
    path = tmp_path / "a.rows"
    path.mkdir()
    if not is_empty:
        (path / "thesis.tex").write_text("years of work")
    with pytest.raises(OutputError, match=r"a\.rows: was not made by gwa and is left alone"):
        OwnedFolder.claim(path)
    assert names(path) == ([] if is_empty else ["thesis.tex"])
    file = tmp_path / "b.rows"
    file.touch()
    with pytest.raises(OutputError, match=r"b\.rows: was not made by gwa"):
        OwnedFolder.claim(file)


def test_what_has_only_the_name_of_a_part_is_not_swept(tmp_path):
    part = part_name(tmp_path / "a")("0" * 16)
    part.mkdir()
    (part / "mine").touch()
    sweep(tmp_path)
    assert names(part) == ["mine"]


DIES = """
import os, sys
from pathlib import Path
from gwa.util.owned import OwnedFolder
from tests.killing import kill_at
place = Path(sys.argv[1])
status = number = 1
while status:
    if not (process := os.fork()):
        kill_at(number, place)
        folder = OwnedFolder.claim(place / "a.rows")
        (folder.path / "b").mkdir(exist_ok=True)
        (folder.path / "b" / "c").touch()
        folder.discard()
        os._exit(0)
    status = os.waitpid(process, 0)[1]
    number += 1
    rows = place / "a.rows"
    print(number, status, *(path.name for path in rows.iterdir()) if rows.is_dir() else ())
"""


def test_at_no_time_is_there_a_folder_without_a_mark_or_half_of_one(tmp_path):
    done = run(DIES, tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.decode().splitlines()]
    assert len(lines) > 10
    assert all(MARK in found for _, _, *found in lines if found)
    assert lines[-1][1:] == ["0"]
    sweep(tmp_path)
    assert names(tmp_path) == []


def test_what_cannot_be_removed_now_is_removed_later(tmp_path, monkeypatch):
    def refuse(*_: object) -> None:
        raise OSError(5, "Input/output error")

    folder = OwnedFolder.create(part_name(tmp_path / "a"))
    (folder.path / "b").touch()
    with monkeypatch.context() as broken:
        broken.setattr("pathlib.Path.unlink", refuse)
        folder.remove()
    assert names(folder.path) == ["b", MARK]
    sweep(tmp_path)
    assert names(tmp_path) == []


def test_where_the_file_system_has_no_locks_nothing_is_swept(tmp_path, monkeypatch):
    class NoLocks:
        LOCK_EX = LOCK_NB = 0

        @staticmethod
        def flock(*_):
            raise OSError(38, "Function not implemented")

    monkeypatch.setattr(owned, "fcntl", NoLocks)
    folder = OwnedFolder.create(part_name(tmp_path / "a"))
    sweep(tmp_path)
    assert folder.path.is_dir()
    folder.remove()
    assert names(tmp_path) == []
