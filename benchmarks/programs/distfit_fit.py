"""Fit six distributions with distfit, ranked by squared errors; Pareto for the hyper-exponential."""

import sys

import numpy as np
from distfit import distfit  # type: ignore[import-not-found]

if __name__ == "__main__":
    kinds = ["norm", "lognorm", "expon", "pareto", "weibull_min", "gamma"]
    found = distfit(distr=kinds, verbose="silent")
    found.fit_transform(np.load(sys.argv[1]))
    print(found.summary[["name", "score"]])
