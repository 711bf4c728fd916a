"""
From measures to a report: sections, findings and comparisons.

`build` runs the `sections` on a trace and asks the rules in `findings`; `comparison` sets traces beside each
other.
"""
