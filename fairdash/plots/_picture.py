"""A figure with everything that is said of it, from one input."""

from dataclasses import dataclass
from typing import Any

import pandas as pd


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure, its headline, its description and its numbers: they cannot disagree.

    Attributes
    ----------
    headline : str
        What the figure shows, one sentence of at most 70 characters; a fact that is
        computed from ``table``.
    alt : str
        The same for a reader who does not see the figure.
    table : DataFrame
        The numbers drawn.
    caption : str
        Statistic, kind of interval, rows, seeds, meaning of dashes.
    """

    figure: Any
    headline: str
    alt: str
    table: pd.DataFrame
    caption: str = ""
