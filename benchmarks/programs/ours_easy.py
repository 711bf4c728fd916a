"""Schedule a log with gwa's EASY backfilling."""

import sys

import gwa
from gwa.simulation.backfilling import schedule
from gwa.simulation.jobs import Jobs

with gwa.open(sys.argv[1]) as trace:
    jobs = trace.sql("select submit_time, run_time, n_procs, req_time from jobs")
    cpus = trace.system.cpus
    start = schedule(Jobs.of(jobs.submit_time, jobs.run_time, jobs.n_procs, jobs.req_time), cpus, "easy")
print(len(start), start.mean())
