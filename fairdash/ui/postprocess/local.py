"""Corrections inside subgroups, sorted once, so that a slider's release only solves."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from fairdash.datasets import Dataset, Subgroups
from fairdash.postprocessing import (
    ByOutcome,
    CovarianceScores,
    LocalRates,
    SortedScores,
    by_outcome,
    most_accurate_rate,
)
from fairdash.ui.results.scored import Array, Scored, ramp_h
from fairdash.ui.widgets.score_source import Source, scored
from fairdash.ui.widgets.state import store

BEFORE, RAMP = "No correction", "Ramp"
CROSSED, COVARIANCE = "Ramp, crossed", "Covariance control"
_ROLES = {BEFORE: "unconstrained", RAMP: "other", CROSSED: "logistic"}
_ROLES[COVARIANCE] = "broad"
_FEWEST = 10  # calibration rows of each group that a crossed ramp learns from
Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Local:
    """Scores by cell: a group in a subgroup.

    Attributes
    ----------
    rates : LocalRates
        Of test rows.
    cells, merged : ndarray of int64
        Cell of every test row; the same with small subgroups put together.
    told : list of ByOutcome
        Calibration rows by merged cell.
    pairs : list of CovarianceScores or None
        By subgroup, None for one without rows of both kinds.
    """

    rates: LocalRates
    cells: Codes
    merged: Codes
    told: list[ByOutcome]
    whole: list[SortedScores]
    pairs: list[CovarianceScores | None]
    n_groups: int

    @classmethod
    def of(cls, data: Scored, dataset: Dataset, subgroups: Subgroups) -> Self:
        """Sort calibration rows by cell."""
        rows, test = data.calibration, data.test
        labels = subgroups.label(dataset.frame)
        codes = labels.cat.codes.to_numpy(np.int64) + 1  # 0 is no subgroup
        n_groups, group = len(dataset.group_names), dataset.group
        cells = codes * n_groups + group
        counts = np.bincount(
            cells[rows.where], minlength=(int(codes.max()) + 1) * n_groups
        ).reshape(-1, n_groups)
        large = (counts >= _FEWEST).all(axis=1)
        place = np.where(large, np.cumsum(large), 0)  # 0 holds all small ones
        merged = place[codes] * n_groups + group
        assert rows.y is not None, "a data set has outcomes"
        margins, here = rows.margins, cells[rows.where]
        one = [SortedScores(margins[here == cell]) for cell in range(counts.size)]
        first = np.arange(0, counts.size, n_groups)
        pairs = [
            _pair(margins, here, int(c), n_groups, one) if c else None for c in first
        ]
        return cls(
            LocalRates.of(
                sensitive_features=dataset.sensitive_features[test.where],
                subgroups=labels.iloc[test.where],
                min_size=subgroups.min_size,
            ),
            cells[test.where],
            merged[test.where],
            by_outcome(margins, merged[rows.where], rows.y),
            [
                SortedScores(margins[merged[rows.where] == cell])
                for cell in range(int(merged.max()) + 1)
            ],
            pairs,
            n_groups,
        )

    def crossed(self, margins: Array, gamma: float) -> Array | None:
        """Return h of one ramp a cell, all at one rate; None if cells are too small."""
        used = [cell for cell, scores in enumerate(self.whole) if scores.total]
        starts = np.full(len(self.whole), np.nan)
        rate = most_accurate_rate([self.told[cell] for cell in used], gamma)
        for cell in used:
            starts[cell] = self.whole[cell].threshold(gamma, rate)
        mine = starts[self.merged]
        return None if np.isnan(mine).any() else ramp_h(margins, mine, gamma)

    def covariance(self, margins: Array, gamma: float) -> Array:
        """Return h of ramps without covariance with the first group in a subgroup."""
        starts = np.zeros((len(self.pairs), self.n_groups))
        for subgroup, pair in enumerate(self.pairs):
            if pair is not None:
                t = pair.threshold(gamma)
                starts[subgroup] = -t * pair.share
                starts[subgroup, 0] += t
        return ramp_h(margins, starts.ravel()[self.cells], gamma)


def _pair(
    margins: Array, cells: Codes, first: int, n_groups: int, one: list[SortedScores]
) -> CovarianceScores | None:
    """Return the first group of a subgroup and all its others."""
    others = (cells > first) & (cells < first + n_groups)
    if not one[first].total or not others.any():
        return None
    return CovarianceScores(
        one[first], one[first + 1] if n_groups == 2 else SortedScores(margins[others])
    )


def local_before_after(
    dataset_id: str,
    source: Source,
    crossed: tuple[str, ...],
    h: Array,
    gamma: float,
    subgroups: Subgroups,
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Return local DI before and after, as `plots.plot_local_di` wants it.

    Compared are no correction, the ramp (of ``h``), a ramp for every group crossed with
    every subgroup, and covariance control inside subgroups.

    Returns
    -------
    cells, models : DataFrame
    left_out : list of str
        Corrections that these subgroups are too small for.
    """
    data = scored(dataset_id, source, crossed)
    local = _local(dataset_id, source, crossed, subgroups.model_dump_json())
    margins = data.test.margins
    decided = {
        BEFORE: data.test.before.astype(np.float64),
        RAMP: h,
        CROSSED: local.crossed(margins, gamma),
        COVARIANCE: local.covariance(margins, gamma),
    }
    group = store().dataset(dataset_id).group[data.test.where]
    tables, models, left_out = [], [], []
    for label, chance in decided.items():
        if chance is None:
            left_out.append(label)
            continue
        tables.append(local.rates.table(chance).assign(label=label))
        models.append(_model(label, chance, group))
    return pd.concat(tables, ignore_index=True), pd.DataFrame(models), left_out


@st.cache_resource(max_entries=8, show_spinner=False)
def _local(
    dataset_id: str, source: Source, crossed: tuple[str, ...], subgroups: str
) -> Local:
    data, dataset = scored(dataset_id, source, crossed), store().dataset(dataset_id)
    return Local.of(data, dataset, Subgroups.model_validate_json(subgroups))


def _model(label: str, h: Array, group: Codes) -> dict[str, Any]:
    rates = np.bincount(group, h) / np.bincount(group)
    gap = float(np.ptp(rates))
    return {
        "label": label,
        "colour_role": _ROLES[label],
        "demographic_parity_difference": gap,
    }
