"""
Statistics of workloads: arrays in, numbers out.

Everything here works on a `Sample`, the distinct values of a characteristic and how often each
occurs, so that the cost of a fit does not grow with the trace. Nothing knows of stores or reports.
"""
