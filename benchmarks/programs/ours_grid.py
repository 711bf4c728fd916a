"""Schedule tasks with gwa on 20 clusters: one queue, the largest task to the fastest processor."""

import sys

import numpy as np

from gwa.simulation.engine import simulate
from gwa.simulation.grid import Grid
from gwa.simulation.tasks import Tasks

tasks = Tasks.of(*np.load(sys.argv[1]))
run = simulate(tasks, Grid.of([180] * 20, np.linspace(1, 1.75, 20)), "csp", "S-T", "FPLT")
print(len(tasks), (run.end - tasks.submit).mean())
