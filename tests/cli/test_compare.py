"""What traces are called where they are compared."""

import json

import pytest

from tests.program import invoke as run

JOBS = "".join(f"{n} {n * 60} 5 100 1 -1 -1 1 200 -1 1 1 1 1 1 -1 -1 -1\n" for n in range(1, 99))


@pytest.mark.parametrize(
    ("systems", "called"),
    [
        (("IBM SP2", "CM-5"), "CM-5 · KTH against IBM SP2 · KTH"),
        (("IBM SP2", "IBM SP2"), "IBM SP2 · KTH (two) against IBM SP2 · KTH (one)"),
        (("IBM SP2", "C" * 60), "two against IBM SP2 · KTH"),
    ],
)
def test_traces_are_called_by_their_systems_and_told_apart(systems, called, tmp_path):
    for name, system in zip(("one", "two"), systems, strict=True):
        head = f"; Computer: {system}\n; Installation: Institute (KTH)\n; MaxProcs: 4\n"
        (tmp_path / f"{name}.swf").write_text(head + JOBS)
    done = run("compare", tmp_path / "one.swf", tmp_path / "two.swf", "--json", "-o", tmp_path, "-q")
    assert done.exit_code == 0, done.stderr
    # The file keeps the names of the files.
    report = json.loads((tmp_path / "comparison-one-two.json").read_text())
    assert report["title"] == called
