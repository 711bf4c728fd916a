"""Plant names in a log, and search files for them: every byte, and every text in what is compressed."""

import gzip
import re
import shutil
import sqlite3
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
from zstandard import ZstdDecompressor

from gwa.formats.open import open_trace
from gwa.store.schema import FIELDS

PLANTED = 40
GARBAGE = {"xml": "<!-- {} -->\n", "bundle": "replication|<{}\n"}
COMMENTS = {
    "swf": ";   by {0}, {0}@login.example.net\n; Version: 2.2 {0}\n; {0}: 17\n",
    "sge": "# {}\n",
    "gwf": "# {}\n",
}
STRICT = {"aws-batch", "nextflow"}
"""Formats that refuse a job in a state that they do not know."""


def name(number):
    """Return a planted name, which occurs nowhere else."""
    return f"zq{number:02}jane{number * 79 % 1000:03}"


def plant(paths, folder, kind):
    """
    Copy the logs in *paths* to *folder* with planted names: instead of theirs, in comments, in bad lines.

    Return the paths of the copies, whose last folder is a planted name, too, and the number of names that
    stand for those of the log.
    """
    target = folder / name(0) / "site"
    target.mkdir(parents=True)
    replacements = {value: name(number) for number, value in enumerate(sorted(_names(paths, kind)), 1)}
    copies, replaced = [], set()
    for path in paths:
        text = (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode(
            "latin-1"
        )
        for value, planted in replacements.items():
            text, count = re.subn(_pattern(value, kind), planted, text)
            replaced |= {planted} if count else set()
        copy = target / path.name.removesuffix(".gz")
        copy.write_text(_with_lines(text, copy, kind, len(replacements) + 1), encoding="latin-1")
        copies.append(copy)
    return copies, len(replaced)


def _pattern(value, kind):
    """Return the pattern of a name in a log; Google's are the beginnings of hashes behind a letter."""
    if kind.startswith("google"):
        return rf"(?<![\w+/=]){re.escape(value[1:])}[\w+/=]*"
    return rf"(?<![\w.-]){re.escape(value)}(?![\w-])"


def _names(paths, kind):
    """Return names in the log that stand in it as they are, fewer than are planted; Google's are hashes."""
    shortest = 9 if kind.startswith("google") else 3
    words_of_formats = {"job_structure", *({"state"} if kind in STRICT else ())}
    texts = ", ".join(field.name for field in FIELDS if field.is_text and field.name not in words_of_formats)
    with open_trace(paths) as store:
        values = {value for row in store.rows(f"select distinct {texts} from jobs") for value in row if value}
        values |= {text for _, text in store.header if re.fullmatch(r"[A-Z][a-z]+", text)}
    words = {word for word in values if re.fullmatch(rf"[A-Za-z][\w.]{{{shortest},}}", word)}
    return sorted(words)[: PLANTED - 12]


def _with_lines(text, path, kind, first):
    """Return the text of a log with comments, where its format has them, and lines that are refused."""
    if path.suffix == ".json" or kind.startswith("google"):
        return text
    form = COMMENTS.get(kind) or GARBAGE.get(path.suffix[1:]) or "{}\n"
    lines = "".join(form.format(name(number)) for number in range(first, PLANTED))
    bad = GARBAGE.get(path.suffix[1:], "{0} bad 'line' of {0}\n").format(name(first))
    return (
        (lines if kind in COMMENTS else "")
        + text
        + (bad if path.suffix == ".xml" else lines * (kind not in COMMENTS) + bad)
    )


def found_in(path):
    """Return the planted names in the files of *path*, wherever they stand."""
    files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    texts = " ".join(f"{file.name} {_text(file)}" for file in files).lower()
    return {name(number) for number in range(PLANTED) if name(number) in texts}


def _text(path):
    """Return all bytes of a file as text, and what its compressed parts hold."""
    data = path.read_bytes()
    text = (
        data.decode("latin-1") + data.decode("utf-16-le", "replace") + data[1:].decode("utf-16-le", "replace")
    )
    return text + _READERS.get(path.suffix, lambda _: "")(path)


def _parquet(path):
    file = pq.ParquetFile(path)
    groups = [file.metadata.row_group(group).to_dict() for group in range(file.metadata.num_row_groups)]
    return f"{file.metadata.metadata} {groups} {file.read().to_pylist()} {file.schema_arrow}"


def _duckdb(path):
    with duckdb.connect(str(path), read_only=True) as database:
        tables = [row[0] for row in database.sql("show tables").fetchall()]
        return str([database.sql(f"from {table}").fetchall() for table in tables])


def _sqlite(path):
    database = sqlite3.connect(path)
    tables = [row[0] for row in database.execute("select name from sqlite_master")]
    rows = str([database.execute(f"select * from {table}").fetchall() for table in tables])
    database.close()
    return rows


_READERS = {
    ".parquet": _parquet,
    ".duckdb": _duckdb,
    ".sqlite": _sqlite,
    ".gz": lambda path: gzip.decompress(path.read_bytes()).decode("latin-1"),
    ".zst": lambda path: ZstdDecompressor().decompressobj().decompress(path.read_bytes()).decode("latin-1"),
}


def samples(folder):
    """Return the logs of each sample by the name of its format."""
    return {
        sample.name: [
            path for path in sorted(sample.iterdir()) if path.name not in {"expected.gwf", "README.md"}
        ]
        for sample in sorted(Path(folder).iterdir())
    }


def clear(folder):
    """Remove a folder of copies."""
    shutil.rmtree(folder, ignore_errors=True)
