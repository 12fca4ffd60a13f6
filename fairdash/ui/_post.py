"""What Post-process shows: scores of calibration and test rows, and what rules do."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from fairdash.datasets import Dataset, split
from fairdash.metrics import gap_interval, wilson_interval
from fairdash.postprocessing import (
    ByOutcome,
    RampThreshold,
    Rule,
    SortedScores,
    Thresholds,
    balanced_rate,
    by_outcome,
    cross,
    expected_flips,
    expected_outcome,
    most_accurate_rate,
)
from fairdash.ui._live_ramp import summarise
from fairdash.ui._state import store

Array = NDArray[np.float64]
_FEW_SCORES = 10


class Source(NamedTuple):
    """Where scores come from: a trial on a seed's split, or a column of the table.

    A column comes from a model of somebody else, so all rows but the test rows serve
    as calibration rows.
    """

    label: str
    trial: str
    column: str
    seed: int


@dataclass(frozen=True, eq=False)
class Part:
    """Rows with scores: where they stand in the data set, margins, groups, outcome."""

    where: NDArray[np.int64]
    margins: Array
    codes: NDArray[np.int64]
    y: NDArray[np.int8]

    @property
    def before(self) -> NDArray[np.int8]:
        """Decisions without a correction."""
        return (self.margins > 0).astype(np.int8)


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores that no part of was used in training, sorted by group once.

    Attributes
    ----------
    names : tuple of str
        Groups, crossed from several columns if asked for.
    calibration, test : Part
        Thresholds are learned on the one, figures are of the other.
    groups : list of SortedScores
    summary : list of dict
        What the browser gets of each group.
    told, judges : list of ByOutcome
        Calibration and test rows by group, told apart by their outcome.
    """

    names: tuple[str, ...]
    calibration: Part
    test: Part
    groups: list[SortedScores]
    summary: list[dict[str, Any]] = field(repr=False)
    told: list[ByOutcome]
    judges: list[ByOutcome]
    _rates: dict[tuple[str, float], float] = field(default_factory=dict)

    def rate(self, target: str, gamma: float) -> float:
        """Return the target rate of ``fairdash.postprocessing.RampThreshold``."""
        if (target, gamma) not in self._rates:
            self._rates[target, gamma] = (
                balanced_rate(self.groups, gamma)
                if target == "balanced"
                else most_accurate_rate(self.told, gamma)
            )
        return self._rates[target, gamma]

    def starts(
        self, gamma: float, rate: float, tolerance: float, *, center: bool
    ) -> Array:
        """Return where the ramp of each group starts, exactly."""
        shift = gamma / 2 if center else 0.0
        return np.array(
            [group.threshold(gamma, rate, tolerance, shift) for group in self.groups]
        )

    def h(self, starts: Array, gamma: float) -> Array:
        """Return the probability of a positive decision of every test row."""
        margins, codes = self.test.margins, self.test.codes
        h: Array = np.clip((margins - starts[codes]) / gamma, 0, 1)
        return h

    def judge(self, starts: Array, gamma: float) -> dict[str, float]:
        """Return accuracy and DI of test rows, with intervals, from sorted scores."""
        right, rates = 0.0, []
        n = np.array([group.total for group in self.judges])
        for (negative, positive), start in zip(self.judges, starts, strict=True):
            decided = [float(s.sum_h(start, gamma)) for s in (negative, positive)]
            right += negative.total - decided[0] + decided[1]
            rates.append(sum(decided))
        total = int(n.sum())
        gap = gap_interval(rates, n)
        accuracy = wilson_interval(right, total)
        return {
            "accuracy": right / total,
            "accuracy_low": float(accuracy[0]),
            "accuracy_high": float(accuracy[1]),
            "demographic_parity_difference": float(np.ptp(rates / n)),
            "demographic_parity_difference_low": float(gap[0]),
            "demographic_parity_difference_high": float(gap[1]),
        }

    def outcome(self, h: Array) -> pd.DataFrame:
        """Return accuracy and DI of test rows against no correction."""
        rows = self.test
        return expected_outcome(
            h, sensitive_features=rows.codes, y=rows.y, reference=rows.before
        )

    def flips(self, h: Array) -> pd.DataFrame:
        """Return expected flips of test rows by group."""
        rows = self.test
        table = expected_flips(h, rows.before, sensitive_features=rows.codes)
        return table.assign(group=list(self.names))

    def thresholds(self, starts: Array, gamma: float, method: str) -> Thresholds:
        """Return the ramps as data."""
        rules = {
            name: Rule.ramp(float(start), gamma)
            for name, start in zip(self.names, starts, strict=True)
        }
        return Thresholds(rules, method)


def score_columns(dataset: Dataset) -> list[str]:
    """Return the columns that may be scores: probabilities or margins."""
    roles = dataset.roles
    taken = {roles.target, roles.sensitive_feature}
    frame = dataset.frame.select_dtypes("float")
    return [
        str(name)
        for name in frame
        if name not in taken
        and frame[name].between(-1, 1).all()
        and frame[name].nunique() > _FEW_SCORES
    ]


@st.cache_resource(max_entries=8, show_spinner="Sorting scores…")
def scored(dataset_id: str, source: Source, crossed: tuple[str, ...]) -> Scored:
    """Return the scores of a source by group; raises ValueError if groups are tiny."""
    dataset = store().dataset(dataset_id)
    parts = split(dataset, source.seed)
    labels = dataset.sensitive_features
    if crossed:
        columns = [dataset.frame[c].astype(object).fillna("missing") for c in crossed]
        labels = cross(labels, *columns)
    if source.trial:
        scores = store().artifact(source.trial).scores().astype(np.float64)
        margins, calibration = 2 * scores - 1, parts.validation
    else:
        column = dataset.frame[source.column].to_numpy(dtype=np.float64)
        margins = column if column.min() < 0 else 2 * column - 1
        calibration = np.sort(np.concatenate([parts.train, parts.validation]))
    # the estimator checks what the page then solves again and again
    checked = RampThreshold(target_rate=0.5)
    checked.fit(margins[calibration], sensitive_features=labels[calibration])
    names: tuple[str, ...] = checked.groups_
    if set(names) == set(dataset.group_names):
        names = dataset.group_names  # the order, and so the colours, of other pages
    codes = pd.Index(names).get_indexer(pd.Index(labels.astype(str)))
    unseen = np.flatnonzero(codes[parts.test] < 0)
    if len(unseen):
        name = labels[parts.test[unseen[0]]]
        raise ValueError(
            f"{len(unseen)} test rows are in groups without calibration rows, such as "
            f"{name!r}; cross fewer columns."
        )

    def part(where: NDArray[np.int64]) -> Part:
        return Part(where, margins[where], codes[where], dataset.y[where])

    rows = part(calibration)
    groups = [SortedScores(rows.margins[rows.codes == k]) for k in range(len(names))]
    summary = [summarise(n, group) for n, group in zip(names, groups, strict=True)]
    test = part(parts.test)
    return Scored(
        names,
        rows,
        test,
        groups,
        summary,
        told=by_outcome(rows.margins, rows.codes, rows.y),
        judges=by_outcome(test.margins, test.codes, test.y),
    )
