"""
When jobs arrive: one file for each process, found by looking, for every model that has arrivals.

To add one, write a frozen dataclass under `gwa.models.arrival_process.Arrivals` in a file here.
"""
