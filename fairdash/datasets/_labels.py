"""Values by their labels, and numbers by a cut, as roles and remedies name them."""

from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BaseModel, BeforeValidator, ConfigDict

from fairdash._validation import value_label


def _labels(values: Any) -> Any:
    return (
        tuple(map(value_label, values)) if isinstance(values, list | tuple) else values
    )


Label = Annotated[str, BeforeValidator(value_label)]
Labels = Annotated[tuple[str, ...], BeforeValidator(_labels)]


class Cut(BaseModel):
    """The numbers on one side of a value.

    Attributes
    ----------
    sign : {">", ">=", "<", "<="}
    value : float

    Examples
    --------
    >>> str(Cut(sign=">=", value=25))
    '≥ 25'
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    sign: Literal[">", ">=", "<", "<="] = ">"
    value: float

    def __str__(self) -> str:
        sign = self.sign.replace(">=", "≥").replace("<=", "≤")
        return f"{sign} {self.value:,.10g}"

    def holds(self, column: "pd.Series[Any]") -> NDArray[np.bool_]:
        """Return a flag per row; False where the value is missing."""
        values = column.to_numpy(dtype=float, na_value=np.nan)
        compare = {
            ">": np.greater,
            ">=": np.greater_equal,
            "<": np.less,
            "<=": np.less_equal,
        }[self.sign]
        flags: NDArray[np.bool_] = compare(values, self.value)
        return flags


def _positive(value: Any) -> Any:
    if isinstance(value, dict | Cut):
        return value
    return _labels(value) if isinstance(value, list | tuple) else value_label(value)


Positive = Annotated[str | tuple[str, ...] | Cut, BeforeValidator(_positive)]
