"""The ramp that the reader has chosen: its controls, and how it is solved exactly."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

import streamlit as st

from fairdash import postprocessing
from fairdash._escaping import visible
from fairdash.plots import theme
from fairdash.ui.postprocess.correction import (
    RAMP,
    Choice,
    Corrected,
    fit,
    pick_method,
    pick_scores,
    rule_beside,
)
from fairdash.ui.selection import Fields, bound, choose
from fairdash.ui.widgets.pick_rule import chosen_rule
from fairdash.ui.widgets.scores import Scored, ScoreSource, scored
from fairdash.ui.widgets.state import BY_KEY, live_component

HAND = "hand"  # the target rate is what the slider says
BEFORE = "before"  # the target rate is the share that the model accepts
_STEP = 0.005  # of the sliders of rates
RANGES = {  # least, most, step
    "gamma": postprocessing.GAMMA[:3],
    "rate": (0.0, 1.0, _STEP),
    "tolerance": (0.0, 0.5, _STEP),
}
_START = {"gamma": postprocessing.GAMMA.default, "tolerance": 0.0}
_HERE = Path(__file__).parent
_TARGETS = {
    "accuracy": "Most accurate",
    BEFORE: "As before",
    "balanced": "Balanced",
    HAND: "By hand",
}


@dataclass(frozen=True)
class RampFields(Fields):
    """Choices of the ramp in the address."""

    # Width of the ramp (gamma); "accuracy", "before", "balanced" or a share (rho);
    # allowed gap of rates (epsilon).
    gamma: float | None = None
    target_rate: str | None = None
    tolerance: float | None = None


@dataclass(frozen=True, eq=False)
class Ramp(Corrected):
    """A ramp, fitted without test rows, and what it does on these."""

    fitted: postprocessing.RampThreshold

    @property
    def setting(self) -> dict[str, float]:
        """Width, target rate and tolerance."""
        fitted = self.fitted
        return {
            "gamma": fitted.gamma,
            "rate": fitted.target_rate_,
            "tolerance": fitted.tolerance,
        }


def fit_ramp(data: Scored, choice: Choice) -> Ramp:
    """Solve the ramp of the selection exactly and report on test rows."""
    gamma, tolerance = (_chosen_number(name, _START[name]) for name in _START)
    learned = data.split.calibration
    target: str | float = choice.target
    if target == HAND:
        target = _rate_by_hand(learned)
    elif target == BEFORE:
        target = learned.rate_before
    fitted = postprocessing.RampThreshold(
        gamma, target, tolerance, score_type=learned.score_type
    ).fit_rows(learned)
    return Ramp(data, fitted, fitted.report(data.split.test))


def _chosen_number(name: str, usual: float) -> float:
    chosen = getattr(RampFields.here(), name)
    low, high, _ = RANGES[name]
    return chosen if chosen is not None and low <= chosen <= high else usual


def _rate_by_hand(rows: postprocessing.ScoredRows) -> float:
    try:
        rate = float(RampFields.here().target_rate or "")
    except ValueError:
        rate = -1.0
    if 0 <= rate <= 1:
        return rate
    return round(rows.target_rate("accuracy", _START["gamma"]) / _STEP) * _STEP


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=BY_KEY)
def previews(dataset_id: str, source: ScoreSource) -> list[postprocessing.RampPreview]:
    """Return by group what the browser shows while a slider moves."""
    rows = scored(dataset_id, source).split.calibration
    return postprocessing.RampPreview.of_rows(rows)


def pick_post(sources: Sequence[ScoreSource]) -> Choice:
    """Draw the choice of scores, method, target rate of the ramp and decision rule."""
    source = pick_scores(sources)
    method = pick_method()
    target = _pick_target() if method == RAMP else ""
    return Choice(source.decided_by(rule_beside()), target, method)


def correct(data: Scored, choice: Choice) -> Corrected:
    """Fit the method that was chosen and report on test rows."""
    return fit_ramp(data, choice) if choice.method == RAMP else fit(data, choice)


def live_ramp(
    ramp: Ramp, choice: Choice, dataset_id: str, *, scale: float = 1.0
) -> None:
    """Draw sliders and ramps that follow the hand; on release the selection changes.

    While a slider moves, ramps are interpolated from tables; at rest the browser draws
    the ramps that were solved here. ``scale`` is of text and marks.
    """
    # Names of columns are in it, and Streamlit refuses "__" in a component's key.
    named = repr((dataset_id, choice.source.id))
    key = f"live {sha256(named.encode()).hexdigest()}"
    tables = previews(dataset_id, choice.source)
    by_hand = choice.target == HAND
    fitted = ramp.fitted
    rates = fitted.expected_rates_.values()
    learned = ramp.data.split.calibration
    groups = [*map(ramp.label, learned.names)]

    def released() -> None:
        moved = dict(st.session_state[key]["setting"])
        rate = {"target_rate": f"{moved['rate']:.10g}"} if by_hand else {}
        choose(gamma=moved["gamma"], tolerance=moved["tolerance"], **rate)

    live_component("live_ramp", _HERE)(
        data={
            "groups": [
                {"name": visible(group), **vars(table)}
                for group, table in zip(groups, tables, strict=True)
            ],
            "colours": theme.group_colours_of(groups, st.context.theme.type or "light"),
            "ranges": RANGES,
            "setting": ramp.setting,
            "solved": [*zip(fitted.starts_.tolist(), rates, strict=True)],
            "effect": asdict(fitted.effect(learned)),
            "accuracy_before": learned.accuracy_before,
            "by_hand": by_hand,
            "scale": scale,
        },
        key=key,
        on_setting_change=released,
    )


def ramp_here(source: ScoreSource) -> Choice:
    """Return the scores and the target rate of the URL, without a control."""
    target = RampFields.here().target_rate
    usual = "accuracy" if chosen_rule().usual else BEFORE
    named = target if target in _TARGETS and target != HAND else usual
    return Choice(source.decided_by(chosen_rule()), str(named))


def _pick_target() -> str:
    target: str = st.segmented_control(
        "Target rate (ρ)",
        list(_TARGETS),
        required=True,
        format_func=_TARGETS.__getitem__,
        help="The rate that all groups get. Most accurate: on the rows that thresholds "
        "are learned on. As before: that of the model without the ramp. Balanced: "
        "where corrections cancel. By hand: the slider.",
        **bound(
            "target_rate",
            "accuracy" if chosen_rule().usual else BEFORE,
            among=_TARGETS,
            shown=lambda text: text if text in _TARGETS else HAND,
        ),
    )
    return target
