"""Rows with scores and groups: what methods learn on, and what they report on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._arrays import Codes, FloatArray
from fairdash._validation import as_written, value_label, value_labels
from fairdash.datasets import MOST_GROUPS
from fairdash.metrics import Drawn
from fairdash.postprocessing import inputs
from fairdash.postprocessing.kernels import SortedScores
from fairdash.postprocessing.target_rate import (
    ByOutcome,
    balanced_rate,
    by_outcome,
    most_accurate_rate,
)

_PARTS = 5  # every fifth row of a table without a split is a test row


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Scores, groups and, if known, outcomes of rows; sorted by group when asked for.

    Attributes
    ----------
    margins : ndarray of shape (n,)
        Scores as margins 2p - 1.
    codes : ndarray of int64, (n,)
        Place of every row's group among ``names``.
    names, group_values : tuple
        Groups as JSON and the screen call them, and as they stand in the column.
    y : ndarray of 0/1, optional
    score_type : {"margin", "probability", "decision"}
        What the scores were before they became margins.
    decided : ndarray of shape (n,), optional
        Decisions without a correction, or the chances of a random mixture; without it 1
        above a margin of 0.
    unit : ndarray, optional
        Unit of every row, such as a person: rows of one unit are not independent.
    """

    margins: FloatArray
    codes: Codes
    names: tuple[str, ...]
    group_values: tuple[Any, ...]
    y: NDArray[np.int8] | None = None
    weight: FloatArray | None = None
    score_type: inputs.ScoreType = "margin"
    decided: NDArray[Any] | None = None
    unit: Codes | None = None

    @classmethod
    def read(
        cls,
        scores: ArrayLike,
        *,
        sensitive_features: ArrayLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        score_type: inputs.ScoreType = "margin",
    ) -> Self:
        """Check rows to learn on; ValueError says what is wrong with which of them."""
        margins = inputs.as_margins(scores, score_type)
        inputs.check_informative(margins, score_type)
        weight = inputs.as_weights(sample_weight, margins)
        values, names, codes = inputs.fit_groups(sensitive_features, margins, weight)
        labels = None if y is None else inputs.binary_labels(y, margins)
        return cls(margins, codes, names, values, labels, weight, score_type)

    @property
    def scores(self) -> FloatArray:
        """Scores as they were given."""
        if self.score_type == "margin":
            return self.margins
        return (self.margins + 1) / 2

    @property
    def score_range(self) -> tuple[float, float]:
        """The smallest and the largest score as they were given."""
        # Through `scores`, which turns margins back into what was given.
        ends = np.array([self.margins.min(), self.margins.max()])
        low, high = replace(self, margins=ends).scores.tolist()
        return low, high

    @property
    def before(self) -> NDArray[Any]:
        """Decisions without a correction, of a random mixture their chances."""
        if self.decided is None:
            return (self.margins > 0).astype(np.int8)
        return self.decided

    @property
    def decisions(self) -> NDArray[Any] | Drawn:
        """The same as `fairdash.metrics` takes them."""
        before = self.before
        return Drawn(before) if before.dtype.kind == "f" else before

    @property
    def rate_before(self) -> float:
        """Share of positive decisions without a correction."""
        return float(np.average(self.before, weights=self.weight))

    @property
    def accuracy_before(self) -> float | None:
        """Share of right decisions without a correction; None without outcomes."""
        if self.y is None:
            return None
        right = np.where(self.y == 1, self.before, 1 - self.before)
        return float(np.average(right, weights=self.weight))

    @property
    def sampling(self) -> dict[str, Any]:
        """Weights and units as `fairdash.metrics` takes them."""
        return {"sample_weight": self.weight, "cluster": self.unit}

    @property
    def labels(self) -> NDArray[Any]:
        """The name of every row's group."""
        return np.array(self.names, dtype=object)[self.codes]

    @cached_property
    def by_group(self) -> list[SortedScores]:
        """Scores of every group."""
        groups = []
        for k in range(len(self.names)):
            rows = self.codes == k
            weight = None if self.weight is None else self.weight[rows]
            groups.append(SortedScores(self.margins[rows], weight))
        return groups

    @cached_property
    def by_outcome(self) -> list[ByOutcome]:
        """Scores of every group, those of either outcome on their own."""
        if self.y is None:
            raise ValueError(
                "What is most accurate needs `y`; without an outcome set "
                "`target_rate` to 'balanced' or to a number."
            )
        n = len(self.names)
        return by_outcome(self.margins, self.codes, self.y, self.weight, n_groups=n)

    @cached_property
    def _target_rates(self) -> dict[tuple[str, float], float]:
        """Rates found so far, by target and width: a slider asks for them again."""
        return {}

    def target_rate(self, target: str, gamma: float) -> float:
        """Return the rate that a ramp of this width aims for, computed once.

        See :func:`most_accurate_rate` (needs ``y``) and :func:`balanced_rate`.
        """
        rates = self._target_rates
        key = (target, gamma)
        if key not in rates:
            if target == "balanced":
                rates[key] = balanced_rate(self.by_group, gamma)
            else:
                rates[key] = most_accurate_rate(self.by_outcome, gamma)
        return rates[key]


@dataclass(frozen=True, eq=False)
class SplitScores:
    """Scores of a table: rows to learn on, rows to report on, and where they stand.

    ``calibration_rows`` and ``test_rows`` are their places in the table.
    """

    calibration: ScoredRows
    test: ScoredRows
    calibration_rows: Codes
    test_rows: Codes

    @classmethod
    def of(
        cls,
        margins: FloatArray,
        labels: NDArray[Any],
        *,
        calibration: Codes | None = None,
        test: Codes | None = None,
        y: NDArray[np.int8] | None = None,
        weight: FloatArray | None = None,
        score_type: inputs.ScoreType = "margin",
        names: Sequence[str] = (),
        decided: NDArray[Any] | None = None,
        unit: Codes | None = None,
    ) -> Self:
        """Part the rows of a table and check that all groups can be learned.

        Parameters
        ----------
        calibration, test : ndarray of int64, optional
            Places of rows. Without test rows every fifth row of each group is one;
            without calibration rows all others are.
        weight, decided, unit : ndarray, optional
            Of every row: see `ScoredRows`.
        names : sequence of str, optional
            The order of the groups; otherwise that of their values.

        Raises
        ------
        ValueError
            For more groups than can be compared, groups of fewer than two calibration
            rows or with test rows alone, and for scores that are constant or look like
            labels.
        """
        levels, values = pd.factorize(labels)
        if len(values) > MOST_GROUPS:
            raise ValueError(
                f"These are {len(values):,} groups; at most {MOST_GROUPS} can be "
                "compared: cross fewer columns."
            )
        if test is None:
            test = np.flatnonzero(deal(labels, _PARTS) == _PARTS - 1)
        if calibration is None:
            calibration = np.setdiff1d(np.arange(len(labels)), test)
        inputs.check_informative(margins[calibration], score_type)
        learned = margins[calibration]
        learned_weight = None
        if weight is not None:
            learned_weight = inputs.as_weights(weight[calibration], learned)
        groups = inputs.fit_groups(labels[calibration], learned, learned_weight)
        ordered = tuple(names or groups.names)
        present = pd.Index([value_label(group) for group in values])
        codes = pd.Index(ordered).get_indexer(present)[levels]
        unseen = np.flatnonzero(codes[test] < 0)
        if len(unseen):
            raise ValueError(
                f"{len(unseen)} test rows are in groups without calibration rows, such "
                f"as {as_written(labels[test[unseen[0]]])}; cross fewer columns."
            )

        def part(selection: Codes) -> ScoredRows:
            return ScoredRows(
                margins=margins[selection],
                codes=codes[selection].astype(np.int64),
                names=ordered,
                group_values=ordered,
                y=None if y is None else y[selection],
                weight=None if weight is None else weight[selection],
                score_type=score_type,
                decided=None if decided is None else decided[selection],
                unit=None if unit is None else unit[selection],
            )

        return cls(part(calibration), part(test), calibration, test)

    @classmethod
    def of_table(
        cls,
        frame: pd.DataFrame,
        score: str,
        groups: Sequence[str],
        *,
        outcome: str | None = None,
        positive: str | None = None,
        score_type: inputs.ScoreType | None = None,
    ) -> Self:
        """Read scores that stand in a table, of whatever model, and part its rows.

        Parameters
        ----------
        score, groups, outcome : str, sequence of str, str
            Columns; of several ``groups`` the values are crossed, and a missing value
            is a group of its own.
        positive : str, optional
            The value of ``outcome`` that counts as 1.
        score_type : {"margin", "probability", "decision"}, optional
            By default what the values tell.

        Raises
        ------
        ValueError
            As `of`, and when a score is missing, no number, or outside [-1, 1], or an
            outcome is missing.
        """
        y = None
        if outcome is not None:
            n_missing = int(frame[outcome].isna().sum())
            if n_missing:
                raise ValueError(
                    f"The outcome, column {outcome!r}, has no value in {n_missing:,} "
                    "rows; exclude these rows, or give no outcome."
                )
            y = np.asarray(value_labels(frame[outcome]) == positive, dtype=np.int8)
        labels = inputs.cross(*(inputs.fill_missing(frame[name]) for name in groups))
        margins = inputs.read_margins(frame[score], score_type)
        kind = score_type or inputs.guess_score_type(frame[score])
        return cls.of(margins, labels, y=y, score_type=kind)


def deal(labels: NDArray[Any], parts: int) -> Codes:
    """Return the part of every row, 0 to ``parts`` - 1, alike in every group."""
    # Shuffled and then sorted by group, rows get their parts in turn.
    shuffled = np.random.default_rng(0).permutation(len(labels))
    codes, _ = pd.factorize(labels[shuffled])
    by_group = shuffled[np.argsort(codes, kind="stable")]
    part = np.empty(len(labels), dtype=np.int64)
    part[by_group] = np.arange(len(labels)) % parts
    return part
