"""Sliders whose ramps follow the hand: solved in the browser from an exact summary.

``st.slider`` sends nothing until it is let go. Here the browser holds, for every group,
exact counts and sums at quantiles of the scores, solves the ramp from these at every
step, and tells the server the values on release, which then solves exactly.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fairdash.postprocessing import Rule, SortedScores
from fairdash.ui._live import live_component

KNOTS = 513
BINS = 40


def summarise(name: str, scores: SortedScores) -> dict[str, Any]:
    """Return what the browser needs to know of the scores of a group.

    Counts and sums are exact at `KNOTS` quantiles and linear between. From a width of
    0.05 on, rates are within 1e-4 of the exact ones, 1e-3 if scores take few values.
    """
    last = len(scores.values)
    at = np.unique(np.linspace(0, last, KNOTS).round().astype(int))
    bins = np.histogram(scores.values, BINS, (-1, 1), weights=scores.weights)[0]
    return {
        "name": name,
        "score": scores.values[np.minimum(at, last - 1)].round(7).tolist(),
        "mass": (scores.mass[at] / scores.total).round(9).tolist(),
        "moment": (scores.moment[at] / scores.total).round(9).tolist(),
        "bins": (bins / scores.total).round(6).tolist(),
    }


def live_ramp(
    groups: Sequence[dict[str, Any]],
    *,
    colours: Sequence[str],
    hardt: Sequence[Rule | None],
    start: dict[str, float],
    rate: float | None,
    centred: bool,
    key: str,
) -> dict[str, float]:
    """Draw the sliders and ramps and return gamma, rate and tolerance as released.

    Parameters
    ----------
    groups : sequence of dict
        Of :func:`summarise`.
    colours : sequence of str
        Colour of every group as the browser writes it.
    hardt : sequence of Rule or None
        Randomised thresholds by group to compare with.
    start : dict
        First values of "gamma", "rate" and "tolerance".
    rate : float or None
        A target rate that the slider does not choose, which is then only shown.
    centred : bool
        Whether a ramp at rest has its middle at 0.
    key : str
        Identity between reruns; another key starts anew.
    """
    result = live_component("live_ramp")(
        data={
            "groups": list(groups),
            "colours": list(colours),
            "hardt": [None if r is None else [r.score, r.probability] for r in hardt],
            "start": start,
            "rate": rate,
            "centred": centred,
        },
        default={"setting": start},
        key=key,
        on_setting_change=lambda: None,
    )
    return {**start, **dict(result.setting)}
