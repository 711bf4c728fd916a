"""Names of files as text: those of a Unix system are bytes, which need not be UTF-8."""


def as_text(name: str) -> str:
    r"""
    Return the *name* of a file as text that can be stored and printed; bytes that are not UTF-8 are escaped.

    >>> as_text("caf\udce9.swf")
    'caf\\xe9.swf'
    """
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def is_text(name: str) -> bool:
    """Whether the *name* of a file is UTF-8, as DuckDB and SQLite need it."""
    return as_text(name) == name
