"""
Parts of GPUs by the name of their profile: which part of a GPU such as ``1g.10gb`` is.

A GPU that is divided by MIG (Multi-Instance GPU) has seven compute slices, of which ``3g.40gb`` has three;
an A30 and an RTX PRO 6000 have four. The memory in the name tells which: 6 GB a slice are of an A30, and
``2g.48gb`` and ``4g.96gb`` of an RTX PRO 6000. ``1g.24gb`` is of that or of an H100 with 96 GB, and unknown
where the name does not say which. A compute instance within a part (``1c.3g.40gb``) shares its memory with
others, and is unknown.

Source: NVIDIA MIG User Guide, https://docs.nvidia.com/datacenter/tesla/mig-user-guide/ (supported profiles).
"""

from typing import Final

import duckdb

PART: Final = "part_of_gpu"

PROFILE: Final = r"([0-9])g[._-]?([0-9]+)gb"
IS_PART: Final = rf"(^|[^a-z0-9]){PROFILE}|\bmig\b"

QUARTERS: Final = "(1, 6), (2, 12), (4, 24), (2, 48), (4, 96)"
"""Profiles of GPUs with four slices: the number of them, and GB of memory."""

MACROS: Final = (
    f"""{PART}(name) as case
        when not regexp_matches(lower(name), '{IS_PART}') then 1.0
        when try_cast(regexp_extract(lower(name), '{PROFILE}', 1) as integer) is null then null
        when regexp_matches(lower(name), '{PROFILE}.*{PROFILE}|[0-9]c[._-]?[0-9]g') then null
        when (
            try_cast(regexp_extract(lower(name), '{PROFILE}', 1) as integer),
            try_cast(regexp_extract(lower(name), '{PROFILE}', 2) as integer)
        ) in ({QUARTERS}) then try_cast(regexp_extract(lower(name), '{PROFILE}', 1) as double) / 4
        when regexp_extract(lower(name), '{PROFILE}') = '1g.24gb' and not contains(lower(name), 'h100')
            then case when contains(lower(name), 'rtx') then 0.25 end
        when regexp_extract(lower(name), '{PROFILE}', 1) between '1' and '7'
            then try_cast(regexp_extract(lower(name), '{PROFILE}', 1) as double) / 7
    end""",
)
"""What every SELECT may use: the part of a GPU that one of a type is, 1 for a whole GPU, null if unknown."""


def define_gpu_parts(database: duckdb.DuckDBPyConnection) -> None:
    """Define `MACROS`."""
    for macro in MACROS:
        database.execute(f"create or replace temp macro {macro}")
