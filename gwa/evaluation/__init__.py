"""
How good models and schedulers are.

`scorecard` tells how realistic a synthetic workload is, `leaderboard` which model makes the most realistic
ones, and `experiments` simulate schedulers.
"""
