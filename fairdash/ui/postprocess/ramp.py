"""The ramp at the setting of the sliders: solved exactly, evaluated on test rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from fairdash._wording import plural
from fairdash.plots import group_colours_of
from fairdash.postprocessing import Rule, Thresholds
from fairdash.ui.postprocess.live_ramp import live_ramp
from fairdash.ui.results.scored import Array, Scored

START = {"gamma": 0.1, "rate": 0.5, "tolerance": 0.0}


@dataclass(frozen=True, eq=False)
class Ramp:
    """A ramp and what it does.

    Attributes
    ----------
    data : Scored
    setting : dict
        gamma, rate and tolerance.
    center : bool
    starts : dict of str to float
        By group.
    h : ndarray
        Probability of a positive decision of every test row.
    outcome, flips : DataFrame
        Accuracy and DI, flips by group.
    thresholds : Thresholds
    """

    data: Scored
    setting: dict[str, float]
    center: bool
    starts: dict[str, float]
    h: Array
    outcome: pd.DataFrame
    flips: pd.DataFrame
    thresholds: Thresholds

    @property
    def gamma(self) -> float:
        """Width of the ramp."""
        return self.setting["gamma"]

    def facts(self, label: str) -> tuple[str, ...]:
        """Return the context line: table, scores, rows."""
        rows = f"{len(self.data.calibration.margins):,} calibration"
        return self.data.name, label, rows, plural(len(self.h), "test row")


def live_setting(
    data: Scored,
    hardt: Sequence[Rule | None],
    target: str,
    center: bool,
    identity: object,
) -> dict[str, float]:
    """Draw sliders and ramps; return gamma, rate and tolerance as they were released.

    A rate that the sliders do not choose is found for the width released last.
    """
    key = f"live {identity} {data.names}"
    # what the hand released is known before the component is drawn again
    released = dict(st.session_state.get(key, {}).get("setting") or START)
    rate = data.rate(target, released["gamma"]) if target else None
    setting = live_ramp(
        data.summary,
        colours=group_colours_of(data.names, st.context.theme.type or "light"),
        hardt=hardt,
        start={**START, "rate": data.rate("accuracy", START["gamma"])},
        rate=rate,
        centred=center,
        key=key,
    )
    return setting if rate is None else {**setting, "rate": rate}


def solve(data: Scored, setting: dict[str, float], *, center: bool) -> Ramp:
    """Solve the ramp exactly and evaluate it on test rows."""
    gamma, rate, tolerance = (setting[n] for n in ("gamma", "rate", "tolerance"))
    starts = data.starts(gamma, rate, tolerance, center=center)
    h = data.h(starts, gamma)
    words = f"RampThreshold(gamma={gamma:g}, target_rate={rate:.4g}"
    words += f", tolerance={tolerance:g}, center={center}"
    words += f", score_type={data.score_type!r})"
    return Ramp(
        data,
        setting,
        center,
        dict(zip(data.names, map(float, starts), strict=True)),
        h,
        data.outcome(h),
        data.flips(h),
        data.thresholds(starts, gamma, words),
    )
