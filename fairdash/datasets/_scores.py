"""Scores of models that exist: in a column of the table, or in a file that joins it."""

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._record import Record
from fairdash._validation import as_written, value_labels
from fairdash._wording import count, listing, plural

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
    """

    column: str
    kind: ScoreKind
    threshold: float | None = None

    def _check(self) -> None:
        if self.kind == "score" and self.threshold is None:
            raise ValueError(
                f"the score {self.column!r} needs a `threshold` from which on a "
                "decision is positive."
            )

    def words(self) -> str:
        """Return the rule of its decisions: "decile_score ≥ 5"."""
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
            row = int(wrong[0] if row_number is None else row_number[wrong[0]])
            found = as_written(frame[self.column].iloc[wrong[0]])
            raise ValueError(
                f"Column {self.column!r} must hold {kinds[self.kind]}; {len(wrong)} "
                f"rows do not, first row {row + 1} with {found}. Choose another kind "
                "on Data, or exclude these rows."
            )
        return values

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


class Joined(NamedTuple):
    """Scores of the rows used, in their order, and how many others came with them."""

    column: "pd.Series[Any]"
    n_unused: int


def join_scores(
    scores: ArrayLike | pd.DataFrame,
    frame: pd.DataFrame,
    row_number: NDArray[np.int64],
    n_rows: int,
    *,
    key: str | None = None,
) -> Joined:
    """Find the score of every row used of a data set.

    Parameters
    ----------
    scores : array-like of numbers, or DataFrame with the column ``key`` and one other
        Without a key, one for each row of the table or for each row used, in order.
    frame : DataFrame
        Rows used, in whose column ``key`` values are unique.
    row_number : ndarray of int64
        Their positions in the table of ``n_rows``.

    Raises
    ------
    ValueError
        If numbers of rows differ, a key stands twice, or a row used has no score; it
        names rows and keys.
    """
    if isinstance(scores, pd.DataFrame):
        others = [str(name) for name in scores if name != key]
        if len(others) != 1:
            raise ValueError(
                f"The scores must be one column, got {others[:5]}; take the others out."
            )
        column = scores[others[0]]
    else:
        column = pd.Series(np.asarray(scores))
    if key is None:
        return _by_order(column.reset_index(drop=True), row_number, n_rows)
    if not isinstance(scores, pd.DataFrame) or key not in scores:
        raise ValueError(f"The scores have no column {key!r}, which is the key.")
    if key not in frame:
        raise ValueError(f"The data set has no column {key!r}, which is the key.")
    given, rows = value_labels(scores[key]), value_labels(frame[key])
    _check_unique(rows, row_number, "the data set")
    found = pd.Index(given).get_indexer_for(rows.dropna().unique())
    wanted = given.isin(rows.dropna())
    _check_unique(given[wanted], np.arange(len(given))[wanted], "the scores")
    place = pd.Series(found, index=rows.dropna().unique())
    where = rows.map(place).fillna(-1).to_numpy(np.int64)
    lacking = np.flatnonzero(where < 0)
    if len(lacking):
        raise ValueError(
            f"{count(len(lacking))} of {plural(len(rows), 'row')} used have no score: "
            f"{_some(rows.iloc[lacking], row_number[lacking], key)}. Add them to the "
            "scores, or exclude these rows on Data."
        )
    values = column.iloc[where].reset_index(drop=True)
    return Joined(values, int(len(given) - len(rows)))


def _by_order(
    column: "pd.Series[Any]", row_number: NDArray[np.int64], n_rows: int
) -> Joined:
    if len(column) == n_rows:
        used = column.iloc[row_number].reset_index(drop=True)
        return Joined(used, n_rows - len(used))
    if len(column) == len(row_number):
        return Joined(column, 0)
    some = f", {count(len(row_number))} of them used" * (n_rows > len(row_number))
    raise ValueError(
        f"These are {plural(len(column), 'score')}, and the table has "
        f"{plural(n_rows, 'row')}{some}. Without a key there must be one for each, in "
        "the same order; else name a key, a column that both have."
    )


def _check_unique(
    keys: "pd.Series[Any]", row_number: NDArray[np.int64], where: str
) -> None:
    twice = keys.notna() & keys.duplicated(keep=False)
    if twice.any():
        key, n = str(keys[twice].iloc[0]), keys[twice].nunique()
        rows = row_number[np.flatnonzero(keys == key)][:3] + 1
        stand = "stands" if n == 1 else "stand"
        raise ValueError(
            f"{plural(n, 'key')} of {keys.name!r} {stand} more than once in {where}, "
            f"such as {key} in rows {listing(map(count, rows))}. Choose a column that "
            "tells rows apart, or remove the repeated rows."
        )


def _some(keys: Iterable[Any], row_number: NDArray[np.int64], key: str) -> str:
    pairs = list(zip(keys, row_number, strict=True))
    named = [f"row {count(row + 1)} ({key} {value})" for value, row in pairs[:3]]
    more = [f"{count(len(pairs) - 3)} more"] if len(pairs) > 3 else []
    return listing([*named, *more])
