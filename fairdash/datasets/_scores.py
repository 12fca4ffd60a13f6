"""Scores of models that exist: in a column of the table, or added to it."""

from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._record import Record
from fairdash._validation import as_written
from fairdash.datasets.column_kinds import by_code, label_codes

ScoreKind = Literal["probability", "margin", "score", "decision"]
_USUAL = {"probability": 0.5, "margin": 0.0, "decision": 0.5}


class ScoreColumn(Record):
    """A column of a model that exists: its scores or its decisions.

    Attributes
    ----------
    kind : {"probability", "margin", "score", "decision"}
        Numbers from 0 to 1, numbers from -1 to 1, any numbers that rise with the
        outcome, such as deciles, or 0 and 1.
    threshold : float, optional
        Scores from it on are positive decisions. Without it probabilities above 1/2
        and margins above 0 are; a score needs it.
    positive : tuple of str
        Values that are positive decisions, in a column of words or of predicted
        classes.
    """

    column: str
    kind: ScoreKind
    threshold: float | None = None
    positive: tuple[str, ...] = ()

    def _check(self) -> None:
        if self.kind == "score" and self.threshold is None:
            raise ValueError(
                f"the score {self.column!r} needs a `threshold` from which on a "
                "decision is positive."
            )

    def words(self) -> str:
        """Return the rule of its decisions: "decile_score ≥ 5"."""
        if self.positive:
            return f"{self.column} = {' or '.join(self.positive)}"
        if self.kind == "decision":
            return f"{self.column} = 1"
        if self.threshold is None:
            return f"{self.column} > {_USUAL[self.kind]:g}"
        return f"{self.column} ≥ {self.threshold:g}"

    def values(
        self, frame: pd.DataFrame, row_number: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Return the column's numbers.

        Raises ValueError if one is missing, no number, or not of the kind, with the
        first of ``row_number``, from 0; by default rows are counted as they come.
        """
        column = frame[self.column]
        if self.positive:
            codes, labels = label_codes(column)
            is_positive = np.isin(labels, self.positive)
            column = pd.Series(by_code(is_positive, codes, missing=np.nan))
        column = pd.to_numeric(column, errors="coerce")
        values: NDArray[np.float64] = column.to_numpy(dtype=np.float64, na_value=np.nan)
        wrong = np.flatnonzero(~self._fits(values))
        if len(wrong):
            first = int(wrong[0])
            row = first if row_number is None else int(row_number[first])
            cell = as_written(frame[self.column].iloc[first])
            raise ValueError(
                f"Column {self.column!r} must hold {self._expected()}; {len(wrong)} "
                f"rows do not, first row {row + 1} with {cell}. Choose another kind "
                "on Data, or exclude these rows."
            )
        return values

    def _fits(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which numbers are of the kind."""
        if self.kind == "score":
            return np.isfinite(values)
        if self.kind == "decision":
            return np.isin(values, (0, 1))
        lowest = -1 if self.kind == "margin" else 0
        return (values >= lowest) & (values <= 1)

    def _expected(self) -> str:
        """Return which numbers are of the kind, in words."""
        if self.kind == "decision":
            return "a decision" if self.positive else "0 or 1"
        if self.kind == "margin":
            return "numbers from -1 to 1"
        if self.kind == "probability":
            return "numbers from 0 to 1"
        return "numbers"

    def decisions(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the 0/1 decisions of `values`."""
        if self.threshold is not None and self.kind != "decision":
            return (values >= self.threshold).astype(np.int64)
        return (values > _USUAL[self.kind]).astype(np.int64)

    def scale(self, values: NDArray[np.float64]) -> tuple[float, float]:
        """Return what margins are measured from and over.

        That is the middle between the threshold and the score below it, and the largest
        distance from it.
        """
        start = 0.0 if self.threshold is None else self.threshold
        below = values[values < start]
        middle = float(start + below.max(initial=start - 1)) / 2
        return middle, float(np.abs(values - middle).max())

    def margins(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return `values` from -1 to 1, above 0 from the threshold on: see `scale`."""
        middle, reach = self.scale(values)
        return (values - middle) / reach


class AddedScores(ScoreColumn):
    """Scores that joined a data set after its table; `column` is the name they got.

    Attributes
    ----------
    file : str
        sha256 of the scores and of what they are.
    has_model : bool
        Whether the model's file is kept too, so that changed rows can be scored.
    """

    file: str
    has_model: bool = False
