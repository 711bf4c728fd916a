"""
Columns of Arrow from values of Python and NumPy, and back, without pandas.

``pyarrow.array`` imports pandas to ask whether the values are one of its series, which takes longer than to
read a small log; so do `to_numpy` and much of ``pyarrow.compute``.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

DOUBLE: Final = 8
"""The bytes of a number."""


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
    return numbers(np.asarray(values, np.int64))


def numbers(values: NDArray[Any]) -> "pa.Array":
    """
    Return a column of numbers of any type, none of which is missing; it shares their memory.

    >>> numbers(np.array([0.5, 2.0])).to_pylist()
    [0.5, 2.0]
    """
    import pyarrow as pa

    whole = np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(whole.dtype), whole.size, [None, pa.py_buffer(whole)])


def filled(column: "pa.Array | pa.ChunkedArray", missing: float = 0.0) -> NDArray[np.float64]:
    """
    Return the numbers of a column, what is *missing* in the place of those that are.

    >>> filled(whole_numbers(np.array([3, 5]))).tolist()
    [3.0, 5.0]
    """
    import pyarrow as pa

    values = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if not len(values):
        return np.zeros(0)
    doubles = values.cast("double")
    found = np.frombuffer(doubles.buffers()[1], np.float64, len(doubles), doubles.offset * DOUBLE)
    unknown = np.from_dlpack(values.is_null(nan_is_null=True).cast("uint8")) > 0
    return np.where(unknown, missing, found)
