"""The first jobs that a model makes, in one piece."""

import numpy as np
import pandas as pd

from gwa.models.generate import GenerationRequest
from gwa.models.streams import Extent


def block(one, jobs, seed=1):
    """Return the first jobs as one block."""
    blocks = list(GenerationRequest(one, Extent(jobs=jobs), seed).blocks())
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


def frame(one, jobs, seed=1):
    """Return the first jobs as a pandas frame."""
    return pd.DataFrame(block(one, jobs, seed))
