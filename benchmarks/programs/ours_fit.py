"""Fit the six distributions of the thesis, with KS distances, to the values in a file."""

import sys

import numpy as np

from gwa.statistics.fit import fit_all
from gwa.statistics.sample import Sample

for fit in fit_all(Sample.of(np.load(sys.argv[1]))):
    print(fit.name, fit.ks)
