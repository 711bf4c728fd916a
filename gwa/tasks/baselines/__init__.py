"""
Baselines of the tasks: a module for each kind, found by looking.

Other packages add baselines by entry points in the group ``gwa.baselines``.
"""
