"""
Simulate schedulers: arrays in, arrays out.

The loops over events are compiled by numba when they first run, and kept; where it is not installed, they run
as they stand, with the same results. Time is in seconds, as a double; results are exact and the same each
time.
"""
