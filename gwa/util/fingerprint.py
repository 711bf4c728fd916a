"""
Fingerprints: hashes of everything that a cached result depends on.

Every cache of gwa includes `program`, so that a changed gwa never returns results of an earlier one.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import file_digest, sha256
from importlib.metadata import PackageNotFoundError, distributions, requires, version
from importlib.resources import files
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from re import match

from gwa.util.assets import asset
from gwa.util.version import DISTRIBUTION, __version__


@cache
def program() -> str:
    """
    Return the fingerprint of gwa itself, in hexadecimal.

    It covers every file of the package, the converters, the templates, of packages that add to gwa by entry
    points, and the versions of the libraries that gwa requires.
    """
    shipped = (Path(str(folder)) for folder in (files("gwa"), asset("converters"), asset("templates")))
    return _of_all([*shipped, *_packages_that_add()], f"{__version__} {libraries()}")


def _of_all(paths: Iterable[Path], salt: str = "") -> str:
    """Return the fingerprint of files and folders."""
    digest = sha256(salt.encode())
    for path in paths:
        digest.update((of_folder(path) if path.is_dir() else of_file(path)).encode())
    return digest.hexdigest()


def _packages_that_add() -> Iterator[Path]:
    """Yield the folders, or the files, of the installed packages with entry points in the groups of gwa."""
    points = chain.from_iterable(one.entry_points for one in distributions())
    names = {point.module.partition(".")[0] for point in points if point.group.startswith("gwa.")}
    for name in sorted(names):
        yield from _files_of(name)


def _files_of(package: str) -> Iterator[Path]:
    """Yield the folders, or the file, of a package or a module."""
    if spec := find_spec(package):
        yield from map(Path, spec.submodule_search_locations or filter(None, [spec.origin]))


def of_package(name: str) -> str:
    """Return the fingerprint of the files of a package or a module, in hexadecimal."""
    return _of_all(_files_of(name))


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
        required = requires(DISTRIBUTION) or []
    except PackageNotFoundError:  # run from a folder of sources
        return []
    names = [found[0] for line in required if (found := match(r"[\w.-]+", line)) and "extra ==" not in line]
    return [f"{name} {version(name)}" for name in sorted(names)]
