"""
Synthetic workloads: models, their parameters, and what generates jobs with them.

`families` holds the models, `arrivals` the arrival processes, `generate` puts what they yield into a store.
"""
