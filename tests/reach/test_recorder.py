"""What is recorded: functions entered, through caches and by programs too, and files that are read."""

import functools
import subprocess
import sys
import threading
from pathlib import Path

import gwa
from tests import forked
from tests.conftest import HOME
from tests.reach import recorder
from tests.reach.digests import EVERYTHING
from tests.reach.recorder import Recorder, piece_of, told

OWN = Path(__file__).relative_to(HOME).as_posix()


def entered(action):
    """Return what an action enters, by the recorder that caches tell: this test may be recorded, too."""
    with recorder.RECORDER.recording() as seen:
        action()
    return told(seen)


def helper():
    return list(map(lambda number: number, range(3)))  # noqa: C417 - a function within one


class Box:
    def content(self):
        return helper()


def test_functions_are_entered_with_what_stands_in_them():
    pieces = entered(lambda: Box().content())
    assert {f"{OWN}:helper", f"{OWN}:Box.content"} <= pieces
    assert not [piece for piece in pieces if "<" in piece]


def test_another_thread_is_of_the_test():
    def work():
        thread = threading.Thread(target=helper)
        thread.start()
        thread.join()

    assert f"{OWN}:helper" in entered(work)


def test_modules_and_code_of_others_are_no_pieces():
    assert piece_of(functools.wraps.__code__) is None
    assert piece_of(compile("1", f"{HOME}/gwa/trace.py", "exec")) is None
    assert piece_of(compile("1", f"{HOME}/.venv/lib/a.py", "exec").replace(co_name="f")) is None


def test_files_and_folders_that_are_read_are_pieces(tmp_path):
    def work():
        (HOME / "pyproject.toml").read_bytes()
        list((HOME / "templates").iterdir())
        (tmp_path / "a").write_text("")

    pieces = entered(work)
    assert {"pyproject.toml", "templates/"} <= pieces
    assert not [piece for piece in pieces if "tmp" in piece or "pytest-" in piece]


def test_a_log_is_read_by_its_definition():
    pieces = entered(lambda: gwa.open(HOME / "sample_traces" / "pbs" / "20250310").close())
    assert {"converters/pbs.sql", "sample_traces/pbs/20250310"} <= pieces
    assert "converters/slurm.sql" not in pieces


def test_a_cache_tells_what_filled_it(monkeypatch):
    own = Recorder()
    monkeypatch.setattr(recorder, "RECORDER", own)
    asked = []

    def fill(number):
        asked.append(number)
        return helper()

    cached = recorder.remembering_cache(maxsize=None)(fill)
    before = sys.getprofile()
    found = []
    for number in (1, 1, 2):
        with own.recording() as seen:
            assert cached(number) == [0, 1, 2]
        found.append(told(seen))
    sys.setprofile(before)

    assert asked == [1, 2]
    assert all(f"{OWN}:helper" in pieces for pieces in found)
    assert cached.cache_info().hits == 1


def test_a_program_that_tells_nothing_may_have_entered_anything():
    assert EVERYTHING in entered(lambda: subprocess.run([sys.executable, "-c", ""], check=True))
    words = forked.gwa()
    is_forked = words != [*forked.COLD]
    pieces = entered(lambda: subprocess.run([*words, "--version"], check=True, capture_output=True))
    assert (EVERYTHING in pieces) is not is_forked
