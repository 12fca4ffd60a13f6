"""Values of a column in a person's choices: their labels, or a cut through numbers."""

from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._record import Before, Record
from fairdash._validation import value_label


def _labels(values: Any) -> Any:
    """Return labels of a list of values; another type is refused as it is."""
    if isinstance(values, list | tuple):
        return tuple(map(value_label, values))
    return values


Labels = Annotated[tuple[str, ...], Before(_labels)]


_COMPARE = {
    ">": np.greater,
    ">=": np.greater_equal,
    "<": np.less,
    "<=": np.less_equal,
}


class Cut(Record):
    """The numbers on one side of a value.

    Examples
    --------
    >>> str(Cut(sign=">=", value=25))
    '≥ 25'
    """

    sign: Literal[">", ">=", "<", "<="] = ">"
    value: float

    def __str__(self) -> str:
        sign = self.sign.replace(">=", "≥").replace("<=", "≤")
        return f"{sign} {self.value:,.10g}"

    def holds(self, column: "pd.Series[Any]") -> NDArray[np.bool_]:
        """Return a flag per row; False where the value is missing."""
        values = column.to_numpy(dtype=float, na_value=np.nan)
        compare = _COMPARE[self.sign]
        return compare(values, self.value)


def _positive(value: Any) -> Any:
    """Return what counts as 1 by its labels; a cut stays as it is."""
    if isinstance(value, dict | Cut):
        return value
    if isinstance(value, list | tuple):
        return _labels(value)
    return value_label(value)


Positive = Annotated[str | tuple[str, ...] | Cut, Before(_positive)]
