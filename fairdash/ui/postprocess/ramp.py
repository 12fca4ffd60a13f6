"""The ramp that the reader has chosen, solved exactly, and what it is compared with."""

from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd
import streamlit as st

from fairdash._wording import plural
from fairdash.datasets import Subgroups
from fairdash.postprocessing import (
    FittedBaselines,
    Impossibility,
    LocalCorrections,
    RampPreview,
    RampThreshold,
    Report,
    ScoredRows,
    SplitScores,
    Thresholds,
    group_shares,
    impossibility_bound,
)
from fairdash.ui.selection import selection
from fairdash.ui.widgets.scores import Scored, Source, scored
from fairdash.ui.widgets.state import store

HAND = "hand"  # the target rate is what the slider says
RANGES = {"gamma": (0.01, 2.0), "rate": (0.0, 1.0), "tolerance": (0.0, 0.5)}
_START = {"gamma": 0.1, "tolerance": 0.0}
_STEP = 0.005  # of the slider of the rate


class Choice(NamedTuple):
    """What the controls say: scores, groups, target rate, rest, rows shown."""

    source: Source
    crossed: tuple[str, ...]
    target: str
    center: bool
    on_test: bool


@dataclass(frozen=True, eq=False)
class Ramp:
    """A fitted ramp, and what it does on the rows that are looked at."""

    data: Scored
    fitted: RampThreshold
    report: Report
    # What the rows looked at are called: "validation", "calibration" or "test".
    rows: str

    @property
    def setting(self) -> dict[str, float]:
        """Width, target rate and tolerance."""
        fitted = self.fitted
        return {
            "gamma": fitted.gamma,
            "rate": fitted.target_rate_,
            "tolerance": fitted.tolerance,
        }

    def facts(self, label: str) -> tuple[str, ...]:
        """Return the context line: table, scores, rows."""
        split = self.data.split
        learned = plural(len(split.calibration_rows), f"{self.data.learned} row")
        test = plural(len(split.test_rows), "test row")
        return self.data.name, label, learned, test

    def starts(self) -> pd.DataFrame:
        """Return group, start of the ramp and rate of the rows it was learned on."""
        return pd.DataFrame(
            {
                "group": self.data.split.calibration.names,
                "start": self.fitted.starts_,
                "rate": self.fitted.expected_rates_.values(),
            }
        )


def fit_ramp(data: Scored, choice: Choice) -> Ramp:
    """Solve the ramp of the selection exactly and report on the rows looked at."""
    gamma, tolerance = (_number(name, _START[name]) for name in _START)
    learned = data.split.calibration
    by_hand = choice.target == HAND
    fitted = RampThreshold(
        gamma,
        _rate_by_hand(learned) if by_hand else choice.target,
        tolerance,
        choice.center,
        learned.score_type,
    ).fit_rows(learned)
    rows = rows_shown(data.split, on_test=choice.on_test)
    return Ramp(
        data, fitted, fitted.report(rows), "test" if choice.on_test else data.learned
    )


def rows_shown(split: SplitScores, *, on_test: bool) -> ScoredRows:
    """Return the rows that figures are of: those tuned on, or test rows."""
    return split.test if on_test else split.calibration


def _number(name: str, usual: float) -> float:
    """Return a number of the selection if a slider can reach it."""
    chosen, (low, high) = getattr(selection(), name), RANGES[name]
    return chosen if chosen is not None and low <= chosen <= high else usual


def _rate_by_hand(rows: ScoredRows) -> float:
    """Return the rate of the selection, at first one near the most accurate."""
    try:
        rate = float(selection().target_rate or "")
    except ValueError:
        rate = -1.0
    if 0 <= rate <= 1:
        return rate
    target = "balanced" if rows.y is None else "accuracy"
    return round(rows.target_rate(target, _START["gamma"]) / _STEP) * _STEP


@st.cache_resource(max_entries=8, show_spinner=False)
def previews(
    dataset_id: str, source: Source, crossed: tuple[str, ...], *, center: bool
) -> list[RampPreview]:
    """Return by group what the browser shows while a slider moves."""
    groups = scored(dataset_id, source, crossed).split.calibration.by_group
    return [RampPreview.of(group, center=center) for group in groups]


@st.cache_resource(max_entries=8, show_spinner="Fitting other methods…")
def baselines(
    dataset_id: str, source: Source, crossed: tuple[str, ...]
) -> FittedBaselines:
    """Return the methods that the ramp is compared with, fitted on the same rows."""
    return FittedBaselines.fit(scored(dataset_id, source, crossed).split.calibration)


@st.cache_data(max_entries=16, show_spinner=False)
def baseline_table(
    dataset_id: str, source: Source, crossed: tuple[str, ...], *, on_test: bool
) -> pd.DataFrame:
    """Return accuracy and DI of these methods on the rows looked at."""
    rows = rows_shown(scored(dataset_id, source, crossed).split, on_test=on_test)
    return baselines(dataset_id, source, crossed).table(rows)


@st.cache_resource(max_entries=8, show_spinner=False)
def local_corrections(
    dataset_id: str, source: Source, subgroups: Subgroups, *, on_test: bool
) -> LocalCorrections:
    """Return what corrects inside subgroups, sorted once for all widths."""
    split = scored(dataset_id, source, ()).split
    labels = subgroups.label(store().dataset(dataset_id).frame)
    learned = labels.iloc[split.calibration_rows]
    return LocalCorrections.of(
        split.calibration,
        rows_shown(split, on_test=on_test),
        learned_subgroups=learned,
        reported_subgroups=labels.iloc[split.test_rows] if on_test else learned,
        min_size=subgroups.min_size,
    )


def covariance_thresholds(
    ramp: Ramp, source: Source, dataset_id: str, subgroups: Subgroups
) -> Thresholds:
    """Return covariance control at the width of the ramp, by subgroup and group."""
    learned = local_corrections(dataset_id, source, subgroups, on_test=False)
    return learned.control(ramp.fitted.gamma).thresholds()


@st.cache_data(max_entries=50, show_spinner=False)
def impossibility(
    dataset_id: str, source: Source, subgroups: Subgroups, *, on_test: bool
) -> Impossibility:
    """Bound the covariance that some subgroup must show, from chosen subgroups."""
    dataset, split = store().dataset(dataset_id), scored(dataset_id, source, ()).split
    labels = subgroups.label(dataset.frame)
    shares = group_shares(dataset.group == 0, labels)
    where = split.test_rows if on_test else split.calibration_rows
    return impossibility_bound(shares[where], rows_shown(split, on_test=on_test).before)
