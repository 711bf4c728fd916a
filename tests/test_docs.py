"""The README says what is true: its commands run, its table is the schema's."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gwa.store.schema import FIELDS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
COMMANDS = [
    line for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) for line in block.splitlines()
]


def table_of_fields():
    """Return the table of fields as Markdown, printed from the schema."""
    rows = [
        f"| {n} | `{one.name}` | {one.title} | {one.unit} | {one.meaning} |"
        for n, one in enumerate(FIELDS, 1)
    ]
    return "\n".join(["| | column | in GWF text | unit | meaning |", "|--:|---|---|---|---|", *rows])


def test_the_table_of_fields_is_the_schema(request):
    begin, end = "<!-- fields: printed from gwa/store/schema.py -->\n", "\n<!-- end of fields -->"
    before, rest = README.split(begin)
    after = rest.split(end, 1)[1] if end in rest else rest
    if request.config.getoption("--update-golden"):
        (ROOT / "README.md").write_text(before + begin + table_of_fields() + end + after)

    assert table_of_fields() in (ROOT / "README.md").read_text()


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("readme")
    for name in ("sample_traces", "experiments"):
        shutil.copytree(ROOT / name, folder / name)
    subprocess.run(
        [sys.executable, "-m", "gwa", "convert", "sample_traces/swf/tiny.swf", "-o", "tiny.gwf"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    return folder


def test_the_commands_run_one_after_the_other(workplace):
    """They read what those before them wrote, so that they are one test."""
    for command in (line for line in COMMANDS if line.startswith("gwa ")):
        done = subprocess.run(
            [sys.executable, "-m", "gwa", *shlex.split(command)[1:]],
            cwd=workplace, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}: {done.stderr}"


def test_the_python_example_runs(workplace):
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", example], cwd=workplace, capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(ROOT)},
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("<Trace tiny: jobs 1,200")


def test_the_architecture_names_every_room_and_only_what_there_is():
    page = (ROOT / "docs" / "ARCHITECTURE.md").read_text()
    rooms = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert sorted(rooms) == sorted(path.parent.name for path in (ROOT / "gwa").glob("*/__init__.py"))

    picture = (ROOT / "docs" / "house.svg").read_text()
    assert set(rooms) < set(re.findall(r'font-weight="600"[^>]*>(\w+)<', picture))

    paths = re.findall(r"`((?:gwa|tests|converters|templates)/[\w./]+)`", page)
    written = [path for path in paths if "NAME" not in path and not path.startswith("gwa/_data")]
    assert len(written) > 20
    assert not [path for path in written if not (ROOT / path).exists()]
