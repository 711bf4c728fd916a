"""The record of what gwa wrote in a folder."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gwa.errors import OutputError
from gwa.util.written import RECORD, claimed
from tests.conftest import HOME


class KilledError(BaseException):
    """Stands for the end of the process."""


def write(path, text, origin, *, force=False):
    """Write *text* to *path*, claimed for *origin*."""
    with claimed([path], origin, force=force):
        path.write_text(text)


def test_it_tells_no_origin(tmp_path):
    write(tmp_path / "a", "x", "secret.log")
    write(tmp_path / "b", "x", "secret.log")
    lines = [json.loads(line) for line in (tmp_path / RECORD).read_text().splitlines()]
    assert "secret" not in (tmp_path / RECORD).read_text()
    assert len({line[2] for line in lines}) == len(lines), "equal origins look different"


def test_an_output_that_is_on_its_way_may_be_repeated(tmp_path):
    """As after a kill between the output and its line."""
    write(tmp_path / "a", "x", "1")
    name, salt, hashed, _ = json.loads((tmp_path / RECORD).read_text())
    (tmp_path / RECORD).write_text(json.dumps([name, salt, hashed, None]))
    (tmp_path / "a").write_text("longer")
    write(tmp_path / "a", "y", "1")
    with pytest.raises(OutputError, match="--force"):
        write(tmp_path / "a", "z", "2")


@pytest.mark.parametrize("broken", ["", "[", '["a"]\n', "7\n", "\xff\n", '["a", 1, 2, 3, 4]\n', "{}\n"])
def test_a_record_that_is_broken_knows_nothing(broken, tmp_path):
    write(tmp_path / "a", "x", "1")
    (tmp_path / RECORD).write_bytes(broken.encode("latin-1"))
    with pytest.raises(OutputError, match="--force"):
        write(tmp_path / "a", "y", "1")
    write(tmp_path / "a", "y", "1", force=True)
    write(tmp_path / "a", "z", "1")


def test_what_is_repeated_leaves_the_record_as_it_was(tmp_path):
    write(tmp_path / "b", "x", "1")
    write(tmp_path / "a", "x", "1")
    before = (tmp_path / RECORD).read_bytes()
    write(tmp_path / "a", "y", "1")
    assert (tmp_path / RECORD).read_bytes() == before


def test_processes_that_write_beside_each_other_are_all_noted(tmp_path):
    code = "import sys; from tests.util.test_written import many; many(*sys.argv[1:])"
    commands = [[sys.executable, "-P", "-c", code, str(tmp_path), name] for name in "abc"]
    environment = {**os.environ, "PYTHONPATH": str(HOME)}
    for process in [subprocess.Popen(command, env=environment) for command in commands]:
        assert process.wait(60) == 0
    names = [json.loads(line)[0] for line in (tmp_path / RECORD).read_text().splitlines()]
    assert names == sorted(f"{name}{number}" for name in "abc" for number in range(20))


def many(folder, name):
    """Write twenty files of one process."""
    for number in range(20):
        write(Path(folder) / f"{name}{number}", "x", "1")


def test_what_was_not_made_is_forgotten(tmp_path):
    with pytest.raises(KilledError), claimed([tmp_path / "a"], "1"):
        raise KilledError
    assert not (tmp_path / RECORD).exists()
    write(tmp_path / "b", "x", "1")
    with claimed([tmp_path / "a"], "1"):
        pass
    assert (tmp_path / RECORD).exists()
    (tmp_path / "a").write_text("mine")
    with pytest.raises(OutputError, match="--force"):
        write(tmp_path / "a", "y", "1")


def test_a_dangling_link_is_something_that_exists(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "gone")
    with pytest.raises(OutputError, match="--force"):
        write(tmp_path / "a", "y", "1")
