"""What the console needs: fetched from a registry of npm, checked, and never another thing."""

import hashlib
import io
import json
import tarfile
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from gwa.archive import sql_console
from gwa.archive.sql_console import COPIED, MODULES, WRAPPED, NpmPackage, engine_version, fetch_engine
from gwa.errors import DownloadError

NAMES = ("@duckdb/duckdb-wasm", "apache-arrow", "parquet-wasm")


def packed(name, version="9.9.9"):
    """Return the archive of a package with the files that are needed, and others."""
    home = MODULES / name
    needed = [path.relative_to(home).as_posix() for path in (*COPIED, WRAPPED) if path.is_relative_to(home)]
    files = {path: f"{name} {path}" for path in needed} | {"LICENSE": "free", "other.js": "not needed"}
    files["package.json"] = json.dumps({"version": version})
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for path, text in files.items():
            member = tarfile.TarInfo(f"package/{path}")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    return out.getvalue()


class Silent(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextmanager
def serving(folder):
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=folder)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def registry(tmp_path, monkeypatch):
    """Serve a registry with packages of our own, which stand in for those of npm."""
    packages = []
    for name in NAMES:
        data = packed(name)
        one = NpmPackage(name, "9.9.9", hashlib.sha256(data).hexdigest(), len(data))
        path = tmp_path / "registry" / one.archive
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
        packages.append(one)
    monkeypatch.setattr(sql_console, "PACKAGES", tuple(packages))
    with serving(tmp_path / "registry") as address:
        yield address


def test_what_the_console_needs_is_fetched_once(registry, tmp_path):
    site = tmp_path / "site"
    site.mkdir()

    assert engine_version(site) is None
    assert fetch_engine(site, registry) == list(NAMES)
    assert engine_version(site) == "9.9.9"
    names = {path.name for path in (site / MODULES).rglob("*") if path.is_file()}
    assert "LICENSE" in names
    assert not {name for name in names if name.endswith(".tgz") or name == "other.js"}
    assert fetch_engine(site, "http://127.0.0.1:1/") == [], "no host is asked for what is there"
    (site / MODULES / "parquet-wasm/esm/parquet_wasm.js").unlink()
    assert fetch_engine(site, registry) == ["parquet-wasm"]


def test_another_content_is_refused_and_leaves_nothing(registry, tmp_path):
    path = next((tmp_path / "registry").rglob("duckdb-wasm-*.tgz"))
    path.write_bytes(packed("@duckdb/duckdb-wasm", "0.0.1"))
    (tmp_path / "site").mkdir()

    with pytest.raises(DownloadError, match="the file has changed"):
        fetch_engine(tmp_path / "site", registry)
    assert engine_version(tmp_path / "site") is None
    assert not [path for path in (tmp_path / "site").rglob("*") if path.is_file()]
