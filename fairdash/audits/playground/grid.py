"""The grid of the plane on which surfaces are seen."""

import numpy as np
from numpy.typing import NDArray

from fairdash.audits.playground.people import EDGE

SIDE = 64  # grid points along each feature


def grid_points(side: int = SIDE) -> NDArray[np.float64]:
    """Return the points of a grid, (side * side, 2), row by row from below."""
    line = np.linspace(-EDGE, EDGE, side)
    across, up = np.meshgrid(line, line)
    return np.column_stack([across.ravel(), up.ravel()])
