"""
DuckDB for browsers, and what reads Parquet there, copied from npm packages into a site; gwa has neither.

``npm ci`` in the folder of the site installs the package of the version and the hash that
``package-lock.json`` there states. A site without it is whole but for the console, which then says so.
DuckDB's extensions, such as those for ICU and JSON, are in no package: no site has them, and its pages ask
no other host.
"""

import json
import shutil
from pathlib import Path
from typing import Final

from gwa.util.assets import asset

FOLDER: Final = "console"
"""The folder of a site that contains DuckDB."""

PACKAGES: Final = Path("node_modules")
ENGINE: Final = PACKAGES / "@duckdb" / "duckdb-wasm"
ARROW: Final = PACKAGES / "apache-arrow" / "Arrow.es2015.min.js"
PARQUET: Final = PACKAGES / "parquet-wasm" / "esm"
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


def engine_version(site: Path) -> str | None:
    """Return the version of the package that is installed in the folder of a site, or None."""
    if not all((site / path).is_file() for path in (*COPIED, WRAPPED)):
        return None
    try:
        return str(json.loads((site / ENGINE / "package.json").read_text(encoding="utf-8"))["version"])
    except (OSError, ValueError, KeyError):
        return None


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
