"""
What users install is whole: the wheel, built from the sdist, works far from the checkout.

Nothing here needs a network: the build runs with the tools of the development environment, and
the installed gwa borrows its dependencies, but nothing else, from there.
"""

import json
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
UV = Path(sysconfig.get_path("scripts")) / "uv"

Run = Callable[..., str]


def run(*command: str | Path, cwd: Path) -> str:
    """Run a program as a user would, without the settings of the test run, and return what it prints."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("COVERAGE", "COV_", "PYTEST", "PYTHON"))
    }
    done = subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command} failed:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def files_below(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel that was built from the sdist, not from the checkout."""
    folder = tmp_path_factory.mktemp("dist")
    offline = ("--offline", "--no-build-isolation", "--python", sys.executable)
    run(UV, "build", "--sdist", *offline, "--out-dir", folder, ROOT, cwd=folder)
    (sdist,) = folder.glob("*.tar.gz")
    run(UV, "build", "--wheel", *offline, "--out-dir", folder, sdist, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a function that runs a program of a new environment in one empty folder."""
    home = tmp_path_factory.mktemp("installed")
    venv.create(home, symlinks=True)
    run(UV, "pip", "install", "--offline", "--no-deps", "--python", home / "bin" / "python", wheel, cwd=home)
    # Python does not read the .pth files of a folder that a .pth file names: the dependencies are
    # found, the editable gwa beside them is not.
    (site_packages,) = home.glob("lib/python*/site-packages")
    (site_packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    folder = tmp_path_factory.mktemp("empty")
    return lambda program, *arguments: run(home / "bin" / program, *arguments, cwd=folder)


def test_the_wheel_holds_the_package_and_its_data_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    shipped = {name: data for name, data in content.items() if ".dist-info/" not in name}
    places = {"gwa": "gwa", "converters": "gwa/_data/converters", "templates": "gwa/_data/templates"}
    expected = {
        f"{place}/{name}": data
        for folder, place in places.items()
        for name, data in files_below(ROOT / folder).items()
    }
    facts = "docs/facts.json"  # which ids of facts there are, that conditions may name
    expected[f"gwa/_data/{facts}"] = (ROOT / facts).read_bytes()
    assert sorted(shipped) == sorted(expected)
    assert shipped == expected
    assert {Path(name).parts[0] for name in content if name not in shipped} == {
        f"{wheel.name.removesuffix('-py3-none-any.whl')}.dist-info"
    }


def test_the_installed_package_is_the_one_that_runs(installed: Run) -> None:
    where = Path(installed("python", "-c", "import gwa; print(gwa.__file__)").strip())
    prefix = Path(installed("python", "-c", "import sys; print(sys.prefix)").strip())
    assert where.is_relative_to(prefix)
    assert not where.is_relative_to(ROOT)


def test_the_installed_gwa_works_in_an_empty_folder(installed: Run) -> None:
    version = re.search(r'__version__ = "(.+)"', (ROOT / "gwa" / "util" / "version.py").read_text())
    assert version is not None
    assert version[1] in installed("gwa", "--version")
    assert "swf" in installed("gwa", "formats").lower()

    installed("gwa", "sample", "-o", "sample.sacct")
    installed("gwa", "convert", "sample.sacct", "-o", "sample.duckdb")
    installed("gwa", "report", "sample.duckdb", "-o", "report")
    folder = Path(installed("python", "-c", "import os; print(os.getcwd())").strip())
    assert list((folder / "report").glob("*.html"))
    facts = json.loads(installed("gwa", "facts", "sample.duckdb", "--only", "trace"))
    assert facts["trace.jobs"] > 0


def test_the_lock_knows_every_dependency_and_no_host() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = project["project"]["dependencies"] + project["dependency-groups"]["dev"]
    lock = (ROOT / ".ci" / "requirements.txt").read_text()
    locked = set(re.findall(r"^([a-z0-9-]+)==", lock, re.MULTILINE))
    missing = {re.split(r"[^\w.-]", name)[0].lower() for name in wanted} - locked
    assert not missing, "run `make lock`"
    assert "://" not in lock
    assert "index" not in lock
