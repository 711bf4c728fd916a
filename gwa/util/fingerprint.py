"""
Fingerprints: hashes of everything that a cached result depends on.

Every cache of gwa includes `program`, so that a changed gwa never returns results of an earlier one.
"""

from functools import cache
from hashlib import file_digest, sha256
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.resources import files
from pathlib import Path
from re import match

from gwa.util.assets import asset
from gwa.util.version import __version__


@cache
def program() -> str:
    """
    Return the fingerprint of gwa itself, in hexadecimal.

    It covers every file of the package, the converters, the templates and the versions of the libraries that
    gwa requires.
    """
    digest = sha256(f"{__version__} {libraries()}".encode())
    for folder in (files("gwa"), asset("converters"), asset("templates")):
        digest.update(of_folder(Path(str(folder))).encode())
    return digest.hexdigest()


def of_folder(folder: Path) -> str:
    """Return the SHA-256 of the names and contents of all files below *folder*; byte code does not count."""
    paths = (path for path in folder.rglob("*") if "__pycache__" not in path.parts and path.is_file())
    lines = sorted(f"{path.relative_to(folder).as_posix()}\0{of_file(path)}\n" for path in paths)
    return sha256("".join(lines).encode()).hexdigest()


def of_file(path: Path) -> str:
    """Return the SHA-256 of the content of the file *path*, in hexadecimal."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def libraries() -> list[str]:
    """Return the names and versions of the installed libraries that gwa requires."""
    try:
        required = requires("gwa") or []
    except PackageNotFoundError:  # run from a folder of sources
        return []
    names = [found[0] for line in required if (found := match(r"[\w.-]+", line)) and "extra ==" not in line]
    return [f"{name} {version(name)}" for name in sorted(names)]
