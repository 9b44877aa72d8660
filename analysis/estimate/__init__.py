"""Estimates from reports: shares, means, distributions and texts, with confidence intervals."""

import numpy as np
from numpy.typing import NDArray

#: Arrays of any shape. Docstrings state the shapes.
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
