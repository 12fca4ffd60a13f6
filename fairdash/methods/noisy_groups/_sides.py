"""Fairness constraints as sides: which rows a rate is over and where it must not go."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Side(NamedTuple):
    """One rate of every group held to the same rate of all rows.

    Attributes
    ----------
    rate : {"tpr", "fpr", "positive_rate"}
    outcomes : tuple of int
        Outcomes of the rows that the rate is over.
    sign : {-1, 1}
        -1 when the rate of a group must not be below that of all rows, 1 when it must
        not be above.
    """

    rate: str
    outcomes: tuple[int, ...]
    sign: int

    def rows(self, y: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return which rows the rate is over."""
        return np.isin(y, self.outcomes)


_TPR = Side("tpr", (1,), -1)
_FPR = Side("fpr", (0,), 1)
SIDES = {
    "true_positive_rate_parity": (_TPR,),
    "false_positive_rate_parity": (_FPR,),
    "equalized_odds": (_TPR, _FPR),
    "demographic_parity": (Side("positive_rate", (0, 1), -1),),
}
