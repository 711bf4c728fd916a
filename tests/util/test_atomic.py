"""Outputs appear whole or not at all."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gwa.errors import OutputError
from gwa.formats.convert import convert
from gwa.formats.registry import writer
from gwa.util.atomic import compressing, whole, write_folder, write_whole
from tests.killing import run

SUFFIXES = (".gwf", ".gwf.gz", ".parquet", ".sqlite", ".duckdb", ".swf")
EVERY = pytest.mark.parametrize("suffix", SUFFIXES)
LINE = "{0} {0} 5 60 2 -1 -1 2 60 -1 1 {1} 1 1 1 1 -1 -1\n"


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_replaces_an_earlier_one_when_it_is_whole(tmp_path):
    path = tmp_path / "a.txt"
    write_whole(path, "earlier")
    with whole(path) as part:
        part.write_text("later")
        assert path.read_text() == "earlier"
    assert path.read_text() == "later"
    write_whole(path, b"bytes")
    assert path.read_bytes() == b"bytes"
    assert names(tmp_path) == ["a.txt"]


def breaks_off(part):
    part.write_text("half")
    assert 1 / 0


def test_a_failure_leaves_the_earlier_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    write_whole(path, "earlier")
    with pytest.raises(ZeroDivisionError), whole(path) as part:
        breaks_off(part)
    assert path.read_text() == "earlier"
    assert names(tmp_path) == ["a.txt"]


LEAVES_A_PART = """
import os, sys
from pathlib import Path
from gwa.util.atomic import whole
with whole(Path(sys.argv[1])) as part:
    part.write_text("half")
    os._exit(0)
"""


def test_what_killed_processes_left_is_swept_up(tmp_path):
    run(LEAVES_A_PART, tmp_path / "a1.txt")
    assert len(names(tmp_path)) == 1
    (tmp_path / ".a1.txt.1234.part").write_text("somebody else's")
    write_whole(tmp_path / "a[1].txt", "whole")
    assert names(tmp_path) == [".a1.txt.1234.part", "a[1].txt"]


def test_two_writers_do_not_disturb_each_other(tmp_path):
    path = tmp_path / "a.txt"
    with whole(path) as first, whole(path) as second:
        first.write_text("first")
        second.write_text("second")
    assert path.read_text() == "first"
    assert names(tmp_path) == ["a.txt"]


def test_a_new_folder_appears_at_once_and_other_files_of_an_old_one_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "write_bytes", lambda self, _: 1 / 0 if self.name == "b" else self.touch())
    with pytest.raises(ZeroDivisionError):
        write_folder(tmp_path / "new", {"a": "1", "b": "2"})
    assert names(tmp_path) == []
    monkeypatch.undo()
    write_folder(tmp_path / "new", {"a": "1", "deep/b": "2"})
    (tmp_path / "new" / "mine").write_text("3")
    write_folder(tmp_path / "new", {"a": "4"})
    assert [(tmp_path / "new" / name).read_text() for name in ("a", "deep/b", "mine")] == ["4", "2", "3"]
    assert names(tmp_path / "new") == ["a", "deep", "mine"]


def test_the_same_content_is_compressed_to_the_same_bytes(tmp_path):
    for suffix in ("gz", "zst", "txt"):
        packed = []
        for number in range(2):
            part = tmp_path / f"{number}.part"
            with compressing(part, Path(f"name{number}.{suffix}")) as out:
                out.write(b"content " * 99)
            packed.append(part.read_bytes())
        assert packed[0] == packed[1]


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        (".", "is a directory"),
        ("nowhere/a.txt", "there is no directory"),
        ("file/a.txt", "there is no directory"),
    ],
)
def test_useless_places_are_told_before_any_work(place, reason, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=reason), whole(tmp_path / place):
        pytest.fail("nothing should be written")


@EVERY
def test_a_folder_that_may_not_be_written_to(suffix, make_store, tmp_path):
    if os.geteuid() == 0:
        pytest.skip("nothing is forbidden to root")
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="no permission to write"):
        writer(tmp_path / f"a{suffix}").save(make_store(submit_time=[1.0]), tmp_path / f"a{suffix}")


def test_a_folder_that_may_not_be_written_to_by_others_than_root(tmp_path):
    """Root runs this in a process that has given up its rights."""
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom gwa.util.atomic import write_whole\n"
        "os.chdir(sys.argv[1])\n"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "write_whole(Path('a.txt'), 'text')"
    )
    tmp_path.chmod(0o755)
    done = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=False)
    assert "gwa.errors.OutputError" in done.stderr.splitlines()[-1]
    assert names(tmp_path) == []


@pytest.fixture
def small_disk(tmp_path):
    """Return a folder with room for one megabyte."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount, umount = shutil.which("mount"), shutil.which("umount")
    if os.geteuid() != 0 or not mount or not umount:
        pytest.skip("only root can mount a small disk")
    command = [mount, "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("not even root can mount a small disk here")
    yield disk
    subprocess.run([umount, "-l", str(disk)], check=True)


@EVERY
def test_a_full_disk_leaves_the_earlier_output(suffix, small_disk, tmp_path):
    log, out = tmp_path / "a.swf", small_disk / f"out{suffix}"
    number = 50_000
    log.write_text("".join(LINE.format(one, one * 7919 % 104_729) for one in range(1, number)))
    out.write_bytes(b"earlier")
    (small_disk / "rest").write_bytes(b"x" * 900_000)
    with pytest.raises(OutputError) as caught:
        convert([log], out)
    full = "database or disk is full" if suffix == ".sqlite" else "No space left on device"
    assert str(caught.value) == f"{out}: cannot be written: {full}"
    assert out.read_bytes() == b"earlier"
    assert names(small_disk) == [out.name, "rest"]
