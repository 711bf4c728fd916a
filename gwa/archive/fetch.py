"""Fetch a public trace: its files, each checked, with what to cite beside them."""

import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfileobj
from typing import IO, Final, cast

from gwa.archive.download import Expected, download, sha256_of
from gwa.archive.integrity import BROKEN, read_to_end
from gwa.archive.public_traces import PublicFile, PublicTrace, bibliography, citation
from gwa.errors import DownloadError
from gwa.util.atomic import beside, make_folder, write_whole
from gwa.util.exclusive import exclusive
from gwa.util.progress import SILENT, Progress

ORIGIN: Final = ".gwa-unpacked"
"""The file in a folder of unpacked files that holds the SHA-256 of their archive."""


@dataclass(frozen=True)
class FetchedFile:
    """A file at *path* with its SHA-256; *checked* if that is known to be right, *was_there* before."""

    path: Path
    sha256: str
    checked: bool
    was_there: bool
    converted: bool

    @property
    def verdict(self) -> str:
        """What is known of its content, in words."""
        if self.checked:
            return "its SHA-256 is the expected one"
        return f"not checked: no checksum is known; its SHA-256 is {self.sha256}"


def fetch(trace: PublicTrace, folder: Path, progress: Progress = SILENT) -> Sequence[FetchedFile]:
    """
    Download the files of *trace* that are not in *folder* yet, and write its citation beside them.

    Raise `DownloadError` where the trace is only linked, a file cannot be had, or another one has its name.
    """
    if not trace.files:
        then = f" Then: {trace.conversion}" if trace.conversion else ""
        note = f" {trace.note}" if trace.note else ""
        raise DownloadError(
            f"{trace.key}: is only linked: get it from {trace.page} (licence: {trace.licence}).{note}{then}"
        )
    make_folder(folder)
    fetched = [_fetch(part, folder, progress) for file in trace.files for part in file.each()]
    write_whole(folder / f"{trace.key}.cite.txt", citation(trace))
    write_whole(folder / f"{trace.key}.bib", bibliography(trace))
    return fetched


def _fetch(file: PublicFile, folder: Path, progress: Progress) -> FetchedFile:
    path, is_known = folder / file.file_name, bool(file.sha256)
    if path.exists():
        found = sha256_of(path)
        if file.sha256 and found != file.sha256:
            raise DownloadError(
                f"{path}: is there already, with the SHA-256 {found}, expected {file.sha256}: move it away"
            )
        return FetchedFile(path, found, is_known, was_there=True, converted=file.converted)
    found = download(file.url, path, Expected(file.sha256 or "", file.size or 0), progress)
    return FetchedFile(path, found, is_known, was_there=False, converted=file.converted)


def sources(fetched: Sequence[FetchedFile]) -> list[Path]:
    """Return the files to convert; each tar archive among those *fetched* is unpacked into a folder."""
    found: list[Path] = []
    for file in fetched:
        if file.converted:
            found += _unpacked(file) if tarfile.is_tarfile(file.path) else [file.path]
    return found


def _unpacked(file: FetchedFile) -> list[Path]:
    """Return the files in an archive, unpacked into a folder that says which archive it was made from."""
    folder = file.path.with_name(f"{file.path.name}.unpacked")
    origin = folder / ORIGIN
    with exclusive(folder):
        if folder.exists():
            if not origin.is_file() or origin.read_text() != file.sha256:
                raise DownloadError(
                    f"{folder}: is there already, and not from {file.path.name}: move it away"
                )
        else:
            with beside(folder) as place:
                part = place / "files"
                part.mkdir()
                _unpack(file.path, part)
                write_whole(part / ORIGIN, file.sha256)
                part.rename(folder)
    return sorted(path for path in folder.iterdir() if path.name != ORIGIN)


def _unpack(archive: Path, folder: Path) -> None:
    """Write the files in an *archive* into a *folder*, each under its own name without folders."""
    taken: dict[str, str] = {}
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                content = tar.extractfile(member) if member.isfile() else None
                name = Path(member.name).name
                if not content or name.startswith("."):
                    continue
                if name in taken:
                    raise DownloadError(f"{archive}: has two files {name}: {taken[name]} and {member.name}")
                taken[name] = member.name
                with (folder / name).open("xb") as file:
                    copyfileobj(content, file)
            # Behind the end of the archive stands the checksum of what compresses it.
            read_to_end(cast("IO[bytes]", tar.fileobj))
    except (tarfile.TarError, *BROKEN) as error:
        raise DownloadError(f"{archive}: cannot be unpacked: {error}") from error
