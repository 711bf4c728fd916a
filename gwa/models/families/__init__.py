"""
The models of workloads: one file for each, found by looking, with its presets in TOML beside it.

To add one, write a frozen dataclass under `gwa.models.base.Model` in a file here: its fields are the
parameters, each number annotated with its meaning, unit and range; its docstring names the paper and gives
the formulae. The shared test `tests/models/test_every_model.py` checks it unasked.
"""
