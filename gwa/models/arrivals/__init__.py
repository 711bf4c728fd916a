"""
Arrival processes, one module each; every model with arrivals can use any of them.

To add one, add a module with a frozen dataclass derived from `gwa.models.arrival_process.Arrivals`.
"""
