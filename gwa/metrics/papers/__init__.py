"""
What papers measure of a workload, as they define it: one file for each paper.

`published` holds their printed numbers beside ours.
"""
