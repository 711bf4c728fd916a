"""Fit a discrete power law from 1 on, the Zipf distribution of unbounded ranks, with its KS distance."""

import sys

import numpy as np

from gwa.statistics.goodness import ks
from gwa.statistics.sample import Sample
from gwa.statistics.zipf import Zipf

sample = Sample.of(np.load(sys.argv[1]))
found = Zipf.fit(sample, ranks=np.inf)
print(found.exponent, ks(sample, found))
