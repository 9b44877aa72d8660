"""Short names for types of arrays, and for how inputs of bits differ."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: The numbers of ones by which two inputs of bits can differ: pairs of (more, fewer).
Apart = tuple[tuple[int, int], ...]
