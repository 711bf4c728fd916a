"""
Parts of GPUs (MIG): how much of a whole GPU one is, by the profile in its type, such as ``a100_1g.5gb``.

Schedulers count an instance as a GPU, and so does `n_gpus`. A GPU that is divided has seven compute slices,
of which ``3g.20gb`` has three; an A30 and an RTX PRO 6000 have four. The memory distinguishes them: an A30
has 6 GB for each slice, and only an RTX PRO 6000 has ``2g.48gb`` and ``4g.96gb``. Both an RTX PRO 6000 and an
H100 with 96 GB have ``1g.24gb``, which is unknown where the type names neither. Of a type that says ``mig``
without a profile, and of jobs with GPUs of several types of which one is a part, the part is unknown.

Source: NVIDIA MIG User Guide, https://docs.nvidia.com/datacenter/tesla/mig-user-guide/ (supported profiles).
"""

from typing import Final

from gwa.store.store import Store

_TYPE: Final = "lower(gpu_type)"
_PROFILE: Final = r"([1-7])g[._-]?([0-9]+)gb"
_SLICES: Final = f"cast(regexp_extract({_TYPE}, '{_PROFILE}', 1) as double)"
_NAMED: Final = f"regexp_extract({_TYPE}, '{_PROFILE}', 1) || 'g' || regexp_extract({_TYPE}, '{_PROFILE}', 2)"

HAS_PARTS: Final = rf"regexp_matches({_TYPE}, '(^|[^a-z0-9]){_PROFILE}|(^|[^a-z0-9])mig([^a-z0-9]|$)')"
"""The SQL of whether a job held parts of GPUs."""

PART: Final = f"""
case
    when gpu_type is null or not {HAS_PARTS} then 1.0
    when contains({_TYPE}, ',') or not regexp_matches({_TYPE}, '{_PROFILE}') then null
    when {_NAMED} in ('1g6', '2g12', '4g24', '2g48', '4g96') then {_SLICES} / 4
    when {_NAMED} = '1g24' then
        case
            when contains({_TYPE}, 'h100') then {_SLICES} / 7
            when contains({_TYPE}, 'rtx') then {_SLICES} / 4
        end
    else {_SLICES} / 7
end
"""
"""The SQL of how much of a GPU each of those that a job held is: 1 for whole ones, null where unknown."""

WHOLE_GPUS: Final = f"case when n_gpus > 0 then n_gpus * {PART} else 0 end"
"""The SQL of the whole GPUs that a job held, null where it held parts and it is not known how large."""


def has_parts(store: Store) -> bool:
    """Whether jobs of *store* held parts of GPUs."""
    found = f"select count(*) filter (where {HAS_PARTS}) > 0 as is_any from jobs"
    return store.has("gpu_type") and store.once("parts of GPUs", lambda: bool(store.row(found)[0]))
