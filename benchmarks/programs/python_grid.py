"""The same as ours_grid.py, as an event loop in plain Python that knows this policy only."""

import sys
from heapq import heappop, heappush

import numpy as np

submit, run = np.load(sys.argv[1]).tolist()
speeds = np.linspace(1, 1.75, 20).tolist()
free = [180] * 20
fastest_first = sorted(range(20), key=lambda cluster: -speeds[cluster])
queue: list[tuple[float, int]] = []
events = [(time, -1, task) for task, time in enumerate(submit)]
total = 0.0
while events:
    now = events[0][0]
    while events and events[0][0] == now:
        _, cluster, task = heappop(events)
        if cluster < 0:
            heappush(queue, (-run[task], task))
        else:
            free[cluster] += 1
            total += now - submit[task]
    for cluster in fastest_first:
        while queue and free[cluster]:
            task = heappop(queue)[1]
            free[cluster] -= 1
            heappush(events, (now + run[task] / speeds[cluster], cluster, task))
print(len(submit), total / len(submit))
