"""Sliders whose ramps follow the hand: solved in the browser from an exact summary.

``st.slider`` sends nothing until it is let go. Here the browser holds, for every group,
exact counts and sums at quantiles of the scores, solves the ramp from these at every
step, and tells the server the values on release, which then solves exactly.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairdash.postprocessing import Rule
from fairdash.ui.widgets.live_component import live_component

_HERE = Path(__file__).parent


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
        Of `fairdash.ui.results.scored.summarise`.
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
    result = live_component("live_ramp", _HERE)(
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
