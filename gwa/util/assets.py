"""Find the data files that ship with gwa: converter definitions and templates."""

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from gwa.errors import MissingAsset


def asset(*parts: str) -> Traversable:
    """
    Return a shipped file or folder, such as ``asset("converters", "swf.sql")``.

    An installed gwa keeps these files in ``gwa/_data``; in a checkout they stand beside the
    package, where contributors edit them.
    """
    package = files("gwa")
    for home in (package / "_data", Path(str(package)).parent):
        path = home.joinpath(*parts)
        if path.is_file() or path.is_dir():
            return path
    raise MissingAsset(f"gwa was installed without its {'/'.join(parts)}")
