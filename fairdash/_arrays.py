"""Types of arrays, by what their entries are."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Float32Array = NDArray[np.float32]
BoolArray = NDArray[np.bool_]
Codes = NDArray[np.int64]  # the index of each row's group, or another index of rows
