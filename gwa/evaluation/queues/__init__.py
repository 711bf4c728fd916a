"""
The test of queues: whether made jobs wait as those do that they were made from.

Both are replayed on the stated processors at the same offered load, under four policies or more. `numbers`
are what replays show of one workload, `own_weeks` draws the weeks of a log again, `card` compares jobs with
those that they were made from, and `words` has all that may be said of that.
"""
