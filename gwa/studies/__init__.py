"""
Studies: what needs models, simulation and measurement together.

`score` tells how realistic a synthetic workload is, `leaderboard` which model makes the most realistic ones.
"""
