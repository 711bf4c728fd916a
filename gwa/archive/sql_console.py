"""
DuckDB for browsers, and what reads Parquet there, copied from npm packages into a site; gwa has neither.

`fetch_engine` puts them into the folder of a site, in the versions and with the hashes of `PACKAGES`. A site
without them is whole but for the console, which then says so.

DuckDB's extensions, such as those for ICU and JSON, are in no package of npm that can open today's stores:
the one that has them compiled in, @malloydata/duckdb-wasm 0.0.6, is DuckDB 0.9.2. No site has them, and its
pages ask no other host: the console says so where a query needs one, and its ``to_timestamp`` needs none.
"""

import json
import shutil
import tarfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gwa.archive.download import Expected, download
from gwa.errors import DownloadError
from gwa.util.assets import asset
from gwa.util.atomic import beside, make_folder, remove_whole
from gwa.util.exclusive import exclusive
from gwa.util.progress import SILENT, Progress

FOLDER: Final = "console"
"""The folder of a site that contains DuckDB."""

REGISTRY: Final = "https://registry.npmjs.org/"
MODULES: Final = Path("node_modules")
ENGINE: Final = MODULES / "@duckdb" / "duckdb-wasm"
ARROW: Final = MODULES / "apache-arrow" / "Arrow.es2015.min.js"
PARQUET: Final = MODULES / "parquet-wasm" / "esm"
COPIED: Final = {
    ENGINE / "dist" / "duckdb-eh.wasm": "duckdb-eh.wasm",
    ENGINE / "dist" / "duckdb-browser-eh.worker.js": "duckdb-worker.js",
    ARROW: "arrow.js",
    PARQUET / "parquet_wasm.js": "parquet.js",
    PARQUET / "parquet_wasm_bg.wasm": "parquet.wasm",
}
WORKER: Final = COPIED[ENGINE / "dist" / "duckdb-browser-eh.worker.js"]
WRAPPED: Final = ENGINE / "dist" / "duckdb-browser.cjs"
"""A module of node that becomes a script, since pages here have no bundler."""


@dataclass(frozen=True)
class NpmPackage:
    """A package of npm: its archive has a known *sha256* and *size* in bytes."""

    name: str
    version: str
    sha256: str
    size: int

    @property
    def archive(self) -> str:
        """The address of its archive in a registry."""
        return f"{self.name}/-/{self.name.rpartition('/')[2]}-{self.version}.tgz"


PACKAGES: Final = (
    NpmPackage(
        "@duckdb/duckdb-wasm",
        "1.32.0",
        "13c29d80888b795cb493b281685d3d3e1738db2fad50d419e2884c6585789722",
        30_891_924,
    ),
    NpmPackage(
        "apache-arrow", "17.0.0", "3517f9ef256e9e5bf819f92652028545131660784c68818604e9025ec643b317", 916_743
    ),
    NpmPackage(
        "parquet-wasm", "0.8.0", "b3b9dff7561a35833bfed7c45f28279f981f9b10478a8c5b56c38f012c4c23ad", 5_141_636
    ),
)


def fetch_engine(site: Path, registry: str = REGISTRY, progress: Progress = SILENT) -> list[str]:
    """
    Put what the console needs into the folder of a *site*, from a *registry* of npm.

    Return the names of the packages that were fetched: one that is there in its version stays. Raise
    `DownloadError` where one cannot be had, or is another than the one that is known.
    """
    fetched = []
    for package in PACKAGES:
        place = site / MODULES / package.name
        make_folder(place.parent)
        with exclusive(place):
            if _version(place) != package.version or not all(
                (site / path).is_file() for path in _needed(package)
            ):
                _fetch(package, place, registry, progress)
                fetched.append(package.name)
    (site / MODULES).touch()
    return fetched


def _needed(package: NpmPackage) -> list[Path]:
    """Return the files that are used of a package, as seen from the folder of a site."""
    home = MODULES / package.name
    return [home / "package.json", *(path for path in (*COPIED, WRAPPED) if path.is_relative_to(home))]


def _fetch(package: NpmPackage, place: Path, registry: str, progress: Progress) -> None:
    archive = place.with_name(f"{place.name}.tgz")
    address = f"{registry.rstrip('/')}/{package.archive}"
    download(address, archive, Expected(package.sha256, package.size), progress)
    if place.exists():
        remove_whole(place)
    wanted = {f"package/{path.relative_to(MODULES / package.name).as_posix()}" for path in _needed(package)}
    with beside(place) as folder:
        _unpack(archive, folder / "part", wanted)
        (folder / "part").rename(place)
    archive.unlink()


def _unpack(archive: Path, folder: Path, wanted: Collection[str]) -> None:
    """Write the *wanted* members of an *archive*, and its licences, into a new *folder*."""
    with tarfile.open(archive) as tar:
        for member in tar:
            path = Path(member.name)
            content = tar.extractfile(member) if member.isfile() else None
            if not content or not (member.name in wanted or path.name.startswith("LICENSE")):
                continue
            target = folder / (path.name if member.name not in wanted else path.relative_to("package"))
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as file:
                shutil.copyfileobj(content, file)
    missing = [name for name in wanted if not (folder / Path(name).relative_to("package")).is_file()]
    if missing:
        raise DownloadError(f"{archive.name}: has no {missing[0]}, expected another package")


def _version(package: Path) -> str | None:
    try:
        return str(json.loads((package / "package.json").read_text(encoding="utf-8"))["version"])
    except (OSError, ValueError, KeyError):
        return None


def engine_version(site: Path) -> str | None:
    """Return the version of DuckDB in the folder of a site, None if not all that it needs is there."""
    if not all((site / path).is_file() for path in (*COPIED, WRAPPED)):
        return None
    return _version(site / ENGINE)


def copy_engine(site: Path, folder: Path) -> None:
    """Copy DuckDB into the site built in *folder*, if the package is installed."""
    if engine_version(site) is None:
        return
    target = folder / FOLDER
    target.mkdir()
    for path, name in COPIED.items():
        shutil.copyfile(site / path, target / name)
    worker = (target / WORKER).read_text(encoding="utf-8").rpartition("//# sourceMappingURL")
    guard = asset("templates", "site", "guard.js").read_text(encoding="utf-8")
    (target / WORKER).write_text(guard + (worker[0] or worker[2]), encoding="utf-8")
    module = (site / WRAPPED).read_text(encoding="utf-8").rpartition("//# sourceMappingURL")[0]
    script = (
        "(() => {\nconst module = {exports: {}}, exports = module.exports, require = () => Arrow;\n"
        f"{module}\nglobalThis.duckdb = module.exports;\n}})();\n"
    )
    (target / "duckdb.js").write_text(script, encoding="utf-8")
