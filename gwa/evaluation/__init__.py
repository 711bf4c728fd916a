"""
How good models and schedulers are.

`scorecard` scores how realistic a synthetic workload is, `leaderboard` ranks models by the realism of their
workloads on held-out weeks, and `experiments` simulates schedulers.
"""
