"""Fit a discrete power law from 1 on to whole seconds with powerlaw, with its KS distance."""

import sys

import numpy as np
import powerlaw  # type: ignore[import-not-found]

if __name__ == "__main__":
    found = powerlaw.Fit(np.load(sys.argv[1]), discrete=True, xmin=1, verbose=False)
    print(found.power_law.alpha, found.power_law.D)
