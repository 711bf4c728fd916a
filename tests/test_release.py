"""A release states its version everywhere, and refuses what would be a broken one."""

import hashlib
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tomllib
from datetime import date

import pytest

from gwa.util.version import __version__
from tests.conftest import HOME

DAY = date(2031, 4, 5)
STATED = (
    "gwa/util/version.py",
    "CHANGELOG.md",
    "CITATION.cff",
    "docs/codemeta.json",
    ".packaging/conda/recipe.yaml",
    ".packaging/spack/package.py",
)


@pytest.fixture
def release():
    spec = importlib.util.spec_from_file_location("release", HOME / ".ci" / "release.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def copy(tmp_path):
    for name in STATED:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(HOME / name, tmp_path / name)
    changelog = (
        "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n\n## [0.0.1] - 2020-01-01\n\n- Old.\n"
    )
    (tmp_path / "CHANGELOG.md").write_text(changelog)
    return tmp_path


def test_a_release_states_its_version_everywhere(release, copy):
    release.state(copy, "1.2.0", DAY)

    assert '__version__ = "1.2.0"' in (copy / "gwa/util/version.py").read_text()
    changelog = (copy / "CHANGELOG.md").read_text()
    assert "## [Unreleased]\n\n## [1.2.0] - 2031-04-05\n\n### Added\n\n- A thing.\n" in changelog
    citation = (copy / "CITATION.cff").read_text()
    assert re.findall(r"^(?:version|date-released): .*", citation, re.MULTILINE) == [
        "version: 1.2.0",
        "date-released: 2031-04-05",
    ]
    assert json.loads((copy / "docs/codemeta.json").read_text())["version"] == "1.2.0"
    assert 'version: "1.2.0"' in (copy / ".packaging/conda/recipe.yaml").read_text()
    assert 'version("1.2.0"' in (copy / ".packaging/spack/package.py").read_text()


def test_a_release_without_changes_is_refused_and_changes_no_file(release, copy):
    release.state(copy, "1.2.0", DAY)
    before = {name: (copy / name).read_bytes() for name in STATED}

    with pytest.raises(release.Refused, match="nothing is under"):
        release.state(copy, "1.3.0", DAY)
    assert {name: (copy / name).read_bytes() for name in STATED} == before


@pytest.mark.parametrize("version", ["", "1.2", "v1.2.0", "1.2.0; ls", "1.2.0-rc1"])
def test_what_is_no_version_is_refused(release, version):
    with pytest.raises(release.Refused, match="is no version"):
        release.main(version)


def test_the_checksums_are_those_of_the_files(release, tmp_path):
    (tmp_path / "gridworkloads-1.tar.gz").write_bytes(b"sdist")

    assert release.checksums([tmp_path / "gridworkloads-1.tar.gz"]) == (
        f"{hashlib.sha256(b'sdist').hexdigest()}  gridworkloads-1.tar.gz\n"
    )


def test_all_files_state_the_same_version():
    recipe = (HOME / ".packaging/conda/recipe.yaml").read_text()
    assert f"version: {__version__}\n" in (HOME / "CITATION.cff").read_text()
    assert json.loads((HOME / "docs/codemeta.json").read_text())["version"] == __version__
    assert f'version: "{__version__}"' in recipe
    assert f'version("{__version__}"' in (HOME / ".packaging/spack/package.py").read_text()


def test_the_recipes_have_the_dependencies_of_the_project():
    project = tomllib.loads((HOME / "pyproject.toml").read_text())["project"]
    floors = {
        found[1]: found[2]
        for found in (re.match(r"([\w-]+)>=([\d.]+)", text) for text in project["dependencies"])
        if found
    }
    assert len(floors) == len(project["dependencies"]), "every dependency has a lower bound"

    recipe = (HOME / ".packaging/conda/recipe.yaml").read_text().partition("  run:")[2]
    names = {"matplotlib": "matplotlib-base", "duckdb": "python-duckdb", "tzdata": "python-tzdata"}
    conda = dict(re.findall(r"^    - ([\w-]+) >=([\d.]+)", recipe, re.MULTILINE))
    assert conda == {names.get(name, name): floor for name, floor in floors.items()}

    spack = re.findall(
        r'"py-([\w-]+)@([\d.]+):[\d.]*", type=\("build", "run"\)',
        (HOME / ".packaging/spack/package.py").read_text(),
    )
    assert dict(spack) == floors


def test_the_image_installs_what_draws_pdf():
    from gwa.report.pdf import PACKAGES

    image = (HOME / ".packaging/Containerfile").read_text()
    assert set(PACKAGES.split()) <= set(image.split())


def test_the_script_is_sound_without_arguments():
    done = subprocess.run(
        [sys.executable, HOME / ".ci" / "release.py"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("release: '' is no version")
