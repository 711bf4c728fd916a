"""
The models of workloads, one module or package each, with presets in TOML files beside them.

To add one, add a module with a frozen dataclass derived from `gwa.models.base.Model`: its fields are the
parameters, each number annotated with its meaning, unit and range; its docstring names the paper and gives
the formulae. `tests/models/test_every_model.py` then tests it, too.
"""
