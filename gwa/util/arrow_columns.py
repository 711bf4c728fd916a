"""
Columns of Arrow from values of Python, without pandas.

``pyarrow.array`` imports pandas to ask whether the values are one of its series, which takes longer than to
read a small log.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa


def texts(values: Iterable[str | None]) -> "pa.Array":
    """
    Return a column of texts.

    >>> texts(["a", None]).to_pylist()
    ['a', None]
    """
    import pyarrow as pa

    builder = pa.lib.StringBuilder()
    builder.append_values(list(values))
    return builder.finish()


def whole_numbers(values: NDArray[np.int64]) -> "pa.Array":
    """
    Return a column of numbers, none of which is missing; it shares their memory.

    >>> whole_numbers(np.array([3, 5])).to_pylist()
    [3, 5]
    """
    import pyarrow as pa

    whole = np.ascontiguousarray(values, np.int64)
    return pa.Array.from_buffers(pa.int64(), whole.size, [None, pa.py_buffer(whole)])
