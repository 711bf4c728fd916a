"""Fit six distributions with fitter, which measures KS distances too; Pareto for the hyper-exponential."""

import sys

import numpy as np
from fitter import Fitter  # type: ignore[import-not-found]

if __name__ == "__main__":
    kinds = ["norm", "lognorm", "expon", "pareto", "weibull_min", "gamma"]
    fitted = Fitter(np.load(sys.argv[1]), distributions=kinds, timeout=600)
    fitted.fit()
    print(fitted.df_errors["ks_statistic"])
