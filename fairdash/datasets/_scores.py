"""Columns that hold what an existing model says: probabilities, scores, decisions."""

from typing import Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, model_validator

ScoreKind = Literal["probability", "margin", "score", "decision"]
_USUAL = {"probability": 0.5, "margin": 0.0, "decision": 0.5}


class ScoreColumn(BaseModel):
    """A column of a model that exists: its scores or its decisions.

    Attributes
    ----------
    column : str
    kind : {"probability", "margin", "score", "decision"}
        Numbers from 0 to 1, numbers from -1 to 1, any numbers that rise with the
        outcome, such as deciles, or 0 and 1.
    threshold : float, optional
        Scores from it on are positive decisions. Without it probabilities above 1/2
        and margins above 0 are; a score needs it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    column: str
    kind: ScoreKind
    threshold: float | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.kind == "score" and self.threshold is None:
            raise ValueError(
                f"the score {self.column!r} needs a `threshold` from which on a "
                "decision is positive."
            )
        return self

    def words(self) -> str:
        """Return the rule of its decisions: "decile_score ≥ 5"."""
        if self.kind == "decision":
            return f"{self.column} = 1"
        if self.threshold is None:
            return f"{self.column} > {_USUAL[self.kind]:g}"
        return f"{self.column} ≥ {self.threshold:g}"

    def values(self, frame: pd.DataFrame) -> NDArray[np.float64]:
        """Return the column's numbers.

        Raises
        ------
        ValueError
            If a value is missing, no number, or not of the kind.
        """
        column = pd.to_numeric(frame[self.column], errors="coerce")
        values: NDArray[np.float64] = column.to_numpy(dtype=np.float64, na_value=np.nan)
        fits = np.isfinite(values)
        if self.kind == "decision":
            fits = np.isin(values, (0, 1))
        elif self.kind != "score":
            fits = (values >= (-1 if self.kind == "margin" else 0)) & (values <= 1)
        wrong = np.flatnonzero(~fits)
        if len(wrong):
            kinds = {"decision": "0 or 1", "margin": "numbers from -1 to 1"}
            kinds |= {"probability": "numbers from 0 to 1", "score": "numbers"}
            raise ValueError(
                f"Column {self.column!r} must hold {kinds[self.kind]}; {len(wrong)} "
                f"rows do not, first row {wrong[0] + 1} with "
                f"{frame[self.column].iloc[wrong[0]]!r}. Choose another kind on Data, "
                "or exclude these rows."
            )
        return values

    def decisions(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the 0/1 decisions of `values`."""
        if self.threshold is not None and self.kind != "decision":
            return (values >= self.threshold).astype(np.int64)
        return (values > _USUAL[self.kind]).astype(np.int64)
