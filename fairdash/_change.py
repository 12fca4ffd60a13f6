"""A change with its interval, and the one place that says when an interval is clear."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, overload

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd


@overload
def excludes_zero(low: float, high: float) -> bool: ...
@overload
def excludes_zero(low: pd.Series[float], high: pd.Series[float]) -> pd.Series[bool]: ...
def excludes_zero(low: Any, high: Any) -> Any:
    """Tell whether intervals from ``low`` to ``high`` exclude 0.

    An end that is NaN excludes nothing. Of columns, one answer for each row.

    Examples
    --------
    >>> excludes_zero(0.02, 0.1), excludes_zero(-0.1, 0.1)
    (True, False)
    """
    return (low > 0) | (high < 0)


@dataclass(frozen=True)
class Change:
    """By how much something changed on the same rows, with its interval.

    Attributes
    ----------
    value, low, high : float
        The change and the ends of its interval; NaN where too few rows say it.
    """

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, paired: Mapping[Any, Any]) -> Self:
        """Return a row of `fairdash.metrics.compare`: ``difference``, low, high."""
        ends = (paired[name] for name in ("difference", "low", "high"))
        return cls(*map(float, ends))

    @property
    def known(self) -> bool:
        """Whether it has an interval."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def clear(self) -> bool:
        """Whether the interval excludes 0."""
        return bool(excludes_zero(self.low, self.high))

    @property
    def within_chance(self) -> bool:
        """Whether it has an interval, and this holds 0."""
        return self.known and not self.clear

    def good(self, *, rise: bool) -> bool | None:
        """Tell whether a clear change is for the better; None of one that is not clear.

        ``rise`` says that more is better.
        """
        if not self.clear:
            return None
        return bool(self.low > 0) == rise


def by_metric(changes: pd.DataFrame) -> dict[str, Change]:
    """Return the rows of `fairdash.metrics.compare` by their metric."""
    rows = changes.set_index("metric").to_dict("index")
    return {str(metric): Change.of(row) for metric, row in rows.items()}
