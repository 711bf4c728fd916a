"""
The exceptions that gwa raises on purpose.

::

    GwaError
    ├── TraceError (ValueError)         a file is not what it should be
    │   ├── UnknownFormat               no format, or several, claim a file
    │   ├── NothingReadError            nothing in a file is what its format has
    │   ├── StrictError                 a bad row met with ``strict``
    │   ├── RowsLostError               the account of rows does not add up
    │   ├── RebuildNeeded               a store is appended to by making it again
    │   └── QueryError                  a query of the user's own that fails
    ├── DefinitionError (ValueError)    a converter, system or catalogue file is wrong
    ├── ArgumentError (ValueError)      a name or a value that was asked for does not exist
    ├── ModelError (ValueError)         a model's parameters are wrong, or a trace determines none
    ├── SimulationError (ValueError)    jobs, a system or an experiment that cannot be simulated
    ├── EngineError (RuntimeError)      an engine is not there, or cannot answer
    ├── OutputError (OSError)           an output cannot be written
    ├── DownloadError (OSError)         a file cannot be downloaded, or is not the one that was expected
    └── MissingAsset (FileNotFoundError)  gwa was installed without one of its files

Messages say what is wrong, where, and what was expected. Bad *rows* are data, not exceptions:
they go to the store's rejects.
"""

USAGE = 2
"""The exit status after an error of usage, as `click` has it."""

SIGNALLED = 128
"""The exit status after a signal, as shells expect it, is this and the number of the signal."""


class GwaError(Exception):
    """Anything that a user can mend; the command line prints it without a traceback."""


class TraceError(GwaError, ValueError):
    """A trace or log is not what it should be."""


class UnknownFormat(TraceError):  # noqa: N818 - the message reads "unknown format: …"
    """No format claims a file, or several do."""


class NothingReadError(TraceError):
    """Nothing in a file is what its format has: no row is a job, or no job has a time."""


class StrictError(TraceError):
    """A row was refused and the conversion was asked to be strict."""


class RowsLostError(TraceError):
    """The account of rows does not add up: a definition makes nothing of some, or several jobs of one."""


class QueryError(TraceError):
    """A query of the user's own fails; the message has several lines, which point at the place."""


class DefinitionError(GwaError, ValueError):
    """A converter, a system description or a catalogue is wrong."""


class ArgumentError(GwaError, ValueError):
    """
    A name or a value that a caller gives does not exist, or is not of the expected form.

    The exit status of the command line is then 2, as for other errors of usage.
    """


class ModelError(GwaError, ValueError):
    """Parameters of a model are wrong, or a trace does not determine them."""


class SimulationError(GwaError, ValueError):
    """Jobs, a system or an experiment cannot be simulated."""


class EngineError(GwaError, RuntimeError):
    """The engine that is asked for is not there, or cannot answer a query."""


class OutputError(GwaError, OSError):
    """An output cannot be written."""


class DownloadError(GwaError, OSError):
    """A file cannot be downloaded, or is not the one that was expected."""


class DepositError(GwaError, OSError):
    """A trace cannot be deposited: the repository refuses, or cannot be reached."""


class MissingAsset(GwaError, FileNotFoundError):  # noqa: N818 - names the thing that is missing
    """gwa was installed without one of its own files."""
