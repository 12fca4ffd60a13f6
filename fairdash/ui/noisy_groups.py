"""Controls of the Noisy groups page, and certificates that are computed once."""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from fairdash._escaping import plain, visible
from fairdash.audits import Noise, Setting, certificates, most_assumed
from fairdash.datasets import Dataset
from fairdash.ui.selection import Fields, bound, bound_entry
from fairdash.ui.widgets.blocks import kept_upload, more
from fairdash.ui.widgets.state import BY_KEY, store

_MOST_GROUPS = 20
_SOURCES = {
    "unknown": "Nothing",
    "assumed": "A share set by hand",
    "sample": "A table with both groups",
    "memberships": "Probabilities of groups",
}
_CONSTRAINTS = {
    "true_positive_rate_parity": "Equal opportunity",
    "false_positive_rate_parity": "False positives",
    "equalized_odds": "Equalized odds",
    "demographic_parity": "Demographic parity",
}
_SLACK = 0.05
_LEVEL = 0.1
# Of the slider.
_STEP = 0.001
_START = 0.05


@dataclass(frozen=True)
class NoiseFields(Fields):
    """Choices of the Noisy groups page in the address."""

    # Where noise comes from: "assumed" or "sample".
    noise_source: str | None = None
    # Assumed share of wrong groups.
    level: float | None = None
    constraint: str | None = None
    # Total variation radius (gamma) and by how much a rate may be worse (alpha).
    radius: float | None = None
    slack: float | None = None
    # Columns of probabilities.
    memberships: tuple[str, ...] = ()


def pick_promise(dataset: Dataset, start: str) -> tuple[certificates.Question, Noise]:
    """Draw the choice of the promise and of what is known of the groups.

    ``start`` is the constraint that is chosen first. Raises ValueError when the noise
    cannot be as chosen.
    """
    constraint: str = st.selectbox(
        "Promise",
        help="Equal opportunity: true positive rates no lower than of all rows. False "
        "positives: no higher. Odds: both. Demographic parity: selection rates.",
        **bound("constraint", start, named=_CONSTRAINTS),
    )
    place = st.container(width="content")
    with place, more("Known, slack"), st.container(width=340):
        source: str = st.selectbox(
            "Known of wrong groups",
            help="What bounds the share recorded wrongly. **By hand**: you give the "
            "share of every true group. **A table with both groups**: it has the true "
            "and the recorded group of some people. **Probabilities**: a column for "
            "each group says how likely it is.",
            **bound("noise_source", "unknown", named=_SOURCES),
        )
        if NoiseFields.here().noise_source in ("simulated", "column"):
            st.caption("This link names a source of noise that is no longer offered.")
        noise = _NOISE[source](dataset)
        slack: float = st.number_input(
            "Slack (α)",
            0.0,
            0.5,
            step=0.01,
            help="By how much a group's rate may be worse.",
            **bound(
                "slack",
                _SLACK,
                shown=lambda slack: min(max(slack, 0.0), 0.5),
                by_value=True,
            ),
        )
    return certificates.Question(constraint, float(slack)), noise


def usual_promise(dataset: Dataset, start: str) -> tuple[certificates.Question, Noise]:
    """Return the promise that the page opens with, and that nothing is known."""
    noise = Noise("unknown", dataset.sensitive_features)
    return certificates.Question(start, _SLACK), noise


def usual_share(curve: certificates.RadiusCurve) -> float:
    """Return the share recorded wrongly that the page opens with."""
    return min(_START, curve.shown)


def pick_share(curve: certificates.RadiusCurve) -> float:
    """Draw the share of a group that may be recorded wrongly; return it on release."""
    most = 100 * curve.shown
    percent_wrong: float = st.slider(
        "Recorded wrongly (γ)",
        0.0,
        most,
        step=100 * _STEP,
        format="%.1f%%",
        help="The share of any group that is recorded as another. The paper's TV "
        "radius γ.",
        **bound(
            "radius",
            100 * usual_share(curve),
            shown=lambda radius: min(max(100 * radius, 0.0), most),
            meant=lambda wrong: wrong / 100,
            by_value=True,
        ),
    )
    return percent_wrong / 100


@st.cache_data(max_entries=200, show_spinner=False, hash_funcs=BY_KEY)
def curve_of(
    model: Setting, dataset_id: str, noise: Noise, question: certificates.Question
) -> certificates.RadiusCurve:
    """Return the worst case of a model at every share recorded wrongly."""
    seeds = certificates.decisions_of(store(), model, dataset_id)
    return certificates.radius_curve(model.label, seeds, noise, question)


def _assumed(dataset: Dataset) -> Noise:
    groups = dataset.sensitive_features
    level: float = st.number_input(
        "Wrong in every group",
        0.0,
        1.0,
        step=0.01,
        format="%.3f",
        help="P(recorded as another | true group), the same for all.",
        **bound(
            "level",
            min(_LEVEL, most_assumed(groups)),
            shown=lambda level: min(max(level, 0.0), 1.0),
            by_value=True,
        ),
    )
    return Noise.from_level(groups, level, dataset.unit)


def _sample(dataset: Dataset) -> Noise:
    st.caption(
        "True and recorded group of some people, the recorded ones by the names that "
        f"this table has: {plain(', '.join(dataset.group_names))}."
    )
    table = kept_upload("File with both groups", "sample")
    if table is None:
        return Noise("no table", dataset.sensitive_features)
    frame = store().table(table)
    few = [str(name) for name in frame if 1 < frame[name].nunique() <= _MOST_GROUPS]
    if len(few) < 2:
        raise ValueError(
            f"The sample needs two columns of two to {_MOST_GROUPS} values, it has "
            f"{', '.join(few) or 'none'}."
        )
    true, noisy = (
        st.selectbox(
            label,
            few,
            format_func=visible,
            **bound_entry("file_columns", label, first, among=few, key=table),
        )
        for label, first in zip(("True group", "Noisy group"), few, strict=False)
    )
    return Noise.from_sample(
        dataset.sensitive_features, frame, true, noisy, table, dataset.unit
    )


def _memberships(dataset: Dataset) -> Noise:
    numeric = [str(name) for name in dataset.frame.select_dtypes("number")]
    chosen: list[str] = st.multiselect(
        "Columns of probabilities",
        numeric,
        format_func=visible,
        help="A column for each group. They add to 1 in every row.",
        **bound("memberships", [], among=numeric, shown=list, meant=tuple),
    )
    table = dataset.frame[chosen] if chosen else None
    key = f"memberships {chosen}"
    return Noise(key, dataset.sensitive_features, memberships=table)


_NOISE: dict[str, Callable[[Dataset], Noise]] = {
    "unknown": lambda dataset: Noise("unknown", dataset.sensitive_features),
    "assumed": _assumed,
    "sample": _sample,
    "memberships": _memberships,
}
