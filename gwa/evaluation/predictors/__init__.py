"""
Methods that bound the waits of jobs at their submission: a module for each, found by looking.

Other packages add methods by entry points in the group ``gwa.predictors``.
"""
