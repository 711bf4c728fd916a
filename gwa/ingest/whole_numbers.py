"""Whole numbers of NumPy as arrays of Arrow."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa


def whole_numbers(values: NDArray[np.int64]) -> "pa.Array":
    """
    Return *values* as an array of Arrow, which shares them.

    `pyarrow.array` imports pandas where it is installed, which takes longer than to read a short log.
    """
    import pyarrow as pa

    buffers = [None, pa.py_buffer(np.ascontiguousarray(values, np.int64))]
    return pa.Array.from_buffers(pa.int64(), len(values), buffers)
