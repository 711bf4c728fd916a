"""
Make a release: `make release VERSION=1.2.0`.

Writes the version into all files that state it, gives the unreleased part of the changelog its heading,
commits, tags, and builds into dist/: sdist, wheel, a bill of materials (CycloneDX) and SHA256SUMS. It pushes
and uploads nothing; it prints the commands that do.
"""

import hashlib
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
DIST: Final = ROOT / "dist"
UV: Final = ROOT / ".venv" / "bin" / "uv"
NAME: Final = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["name"]
UNRELEASED: Final = "## [Unreleased]\n"


class Refused(Exception):  # noqa: N818 - a release is
    """A release that is not to be made; the message says why and what to do."""


def main(version: str) -> None:
    """Make the release *version* of what is checked out."""
    if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", version):
        raise Refused(f"'{version}' is no version, expected one such as 1.2.0 or 1.2.0rc1")
    if run("git", "status", "--porcelain"):
        raise Refused("there are changes that are not committed; commit or stash them first")
    if run("git", "tag", "--list", f"v{version}"):
        raise Refused(f"the tag v{version} exists; choose the next version")
    if DIST.exists() and any(DIST.iterdir()):
        raise Refused(f"{DIST} is not empty; move the last release away first")
    state(ROOT, version, datetime.now(UTC).date())
    run("git", "commit", "--all", "--message", f"Release {version}")
    run("git", "tag", "--annotate", f"v{version}", "--message", f"gwa {version}")
    build(version)
    print(f"dist/ holds the release. To publish it: git push --follow-tags && {UV} publish dist/{NAME}-*")


def state(root: Path, version: str, day: date) -> None:
    """Write *version* and the *day* of the release into the files that state them."""
    changes: dict[str, Callable[[str], str]] = {
        "gwa/util/version.py": lambda text: _replaced(r'(__version__ = )".*"', rf'\g<1>"{version}"', text),
        "CHANGELOG.md": lambda text: released(text, version, day),
        "CITATION.cff": lambda text: cited(text, version, day),
        "docs/codemeta.json": lambda text: described(text, version, day),
        ".packaging/conda/recipe.yaml": lambda text: _replaced(
            r'(\n  version: )".*"', rf'\g<1>"{version}"', text
        ),
        ".packaging/spack/package.py": lambda text: _replaced(
            r'( version\()"[^"]*"', rf'\g<1>"{version}"', text
        ),
    }
    texts = {name: change((root / name).read_text(encoding="utf-8")) for name, change in changes.items()}
    for name, text in texts.items():
        (root / name).write_text(text, encoding="utf-8")


def released(changelog: str, version: str, day: date) -> str:
    """Return the changelog with the unreleased part under the heading of *version*, and a new empty one."""
    before, heading, rest = changelog.partition(UNRELEASED)
    unreleased = rest.partition("\n## [")[0]
    if not heading or not unreleased.strip():
        raise Refused("CHANGELOG.md: nothing is under [Unreleased]; describe the changes there first")
    return f"{before}{UNRELEASED}\n## [{version}] - {day}\n{rest}"


def cited(citation: str, version: str, day: date) -> str:
    """Return the text of CITATION.cff for *version*."""
    kept = re.sub(r"^(version|date-released): .*\n", "", citation, flags=re.MULTILINE)
    return f"{kept.rstrip()}\nversion: {version}\ndate-released: {day}\n"


def described(codemeta: str, version: str, day: date) -> str:
    """Return the text of codemeta.json for *version*."""
    document = json.loads(codemeta) | {"version": version, "dateModified": str(day)}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def build(version: str) -> None:
    """Build what is published into dist/, with its bill of materials and checksums."""
    run(UV, "build", "--out-dir", DIST)
    files = sorted(DIST.glob(f"{NAME}-*"))
    run(UV, "tool", "run", "twine", "check", "--strict", *files)
    run(UV, "tool", "run", "check-wheel-contents", *DIST.glob("*.whl"))
    environment = ROOT / "build" / "release"
    run(UV, "venv", "--clear", environment)
    run(UV, "pip", "install", "--python", environment, *DIST.glob("*.whl"))
    bill = DIST / f"{NAME}-{version}.cdx.json"
    bom = ("tool", "run", "--from", "cyclonedx-bom", "cyclonedx-py", "environment")
    run(UV, *bom, "--output-reproducible", "--output-file", bill, environment)
    (DIST / "SHA256SUMS").write_text(checksums([*files, bill]), encoding="utf-8")


def checksums(files: list[Path]) -> str:
    """Return the lines that ``sha256sum --check`` reads."""
    return "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files)


def run(*command: str | Path) -> str:
    """Return what a program prints; a program that fails ends the release."""
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def _replaced(pattern: str, replacement: str, text: str) -> str:
    changed, number = re.subn(pattern, replacement, text)
    if number != 1:
        raise Refused(f"expected one line like {pattern}, found {number}")
    return changed


if __name__ == "__main__":
    try:
        main(sys.argv[1] if len(sys.argv) > 1 else "")
    except (Refused, subprocess.CalledProcessError) as error:
        sys.exit(f"release: {error}")
