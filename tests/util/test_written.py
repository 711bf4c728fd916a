"""The record of what gwa wrote in a folder."""

import json

import pytest

from gwa.errors import OutputError
from gwa.util.written import MAXIMUM_BYTES, RECORD, claimed


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
    record = (tmp_path / RECORD).read_text().splitlines(keepends=True)
    (tmp_path / RECORD).write_text(record[0])
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


def test_it_stays_small(tmp_path):
    for turn in range(1200):
        write(tmp_path / "a", "x" * (turn % 7), "1")
    assert (tmp_path / RECORD).stat().st_size < 2 * MAXIMUM_BYTES
    write(tmp_path / "a", "y", "1")


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
