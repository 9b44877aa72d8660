"""From reports to what they tell of everybody: shares, means and texts, with their intervals."""

import numpy as np
from numpy.typing import NDArray

#: Arrays of any shape; docstrings say which.
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
