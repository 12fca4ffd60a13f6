"""Controls, KPIs, bounds and downloads of the Post-process page."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from fairdash.datasets import Dataset, Subgroups
from fairdash.postprocessing import excess_risk_bound, impossibility_bound
from fairdash.ui._blocks import Kpi, code_tabs, more
from fairdash.ui._format import change, count, interval, number, percent, plural, points
from fairdash.ui._post import Array, Source
from fairdash.ui._post_ramp import Ramp
from fairdash.ui._post_tables import decisions
from fairdash.ui._results import Setting
from fairdash.ui._state import store

TARGETS = {"accuracy": "Most accurate", "balanced": "Balanced", "": "By hand"}
_SHOWN_GROUPS = 2
_LABEL = 20  # characters on a card
_SCRIPT = """\
# scores: margins 2p - 1 of a trained model; calibration rows took no part in training
from fairdash.postprocessing import RampThreshold

ramp = RampThreshold(
    gamma={gamma:g}, target_rate={rate!r}, tolerance={tolerance:g}, center={center}
)
ramp.fit(
    scores[calibration], y[calibration], sensitive_features=groups[calibration]
)
h = ramp.predict_proba(scores[test], sensitive_features=groups[test])
decision = ramp.predict(
    scores[test], sensitive_features=groups[test], random_state=0
)
"""
_COMMAND = """\
fairdash apply fairdash-thresholds.json NEW_FILE.csv \\
    --score SCORE_COLUMN{groups} --out decided.csv
"""


def post_sources(models: Sequence[Setting], columns: Sequence[str]) -> list[Source]:
    """Return what can be post-processed: trials of the models, then score columns."""
    trials = [
        Source(
            model.label if len(model.trials) == 1 else f"{model.label}, seed {t.seed}",
            t.key,
            "",
            t.seed,
        )
        for model in models
        for t in model.trials
    ]
    return trials + [Source(f"Column {name}", "", name, 0) for name in columns]


def pick_post(
    sources: Sequence[Source], dataset: Dataset, dataset_id: str
) -> tuple[Source, tuple[str, ...], str, bool]:
    """Draw the choice of scores, groups, target rate and rest position."""
    names = {source.label: source for source in sources}
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        label = st.selectbox(
            "Scores of", list(names), width=240, key=f"{dataset_id} scores"
        )
        target: str = st.segmented_control(
            "Target rate (ρ)",
            list(TARGETS),
            default="accuracy",
            required=True,
            format_func=TARGETS.__getitem__,
            help="The rate that all groups get. Most accurate: on calibration rows. "
            "Balanced: where corrections cancel; needs no outcome. By hand: the "
            "slider.",
            key=f"{dataset_id} target",
        )
        with st.container(width=170), more("Groups"):
            crossed = st.multiselect(
                f"Cross {dataset.roles.sensitive_feature} with",
                _crossable(dataset_id),
                max_selections=2,
                help="Every combination of values becomes a group of its own.",
                key=f"{dataset_id} crossed",
            )
            center = st.toggle(
                "Middle of the ramp at 0",
                help="Where tolerance leaves a group uncorrected, its ramp has its "
                "middle at score 0 instead of its start.",
                key=f"{dataset_id} center",
            )
    return names[label], tuple(crossed), target, center


def post_kpis(outcome: pd.DataFrame, flips: pd.DataFrame) -> list[Kpi]:
    """Return accuracy and DI with paired changes, and expected flips by group."""
    accuracy, gap = outcome.to_dict("records")
    cards = [
        Kpi(
            "Expected accuracy",
            percent(accuracy["value"]),
            interval(accuracy["low"], accuracy["high"], percent),
            delta=points(accuracy["change"]),
            good=_good(accuracy, up=True),
            help="Share of right decisions on test rows when they are drawn with the "
            "probabilities of the ramp. Change: against no correction, paired.",
        ),
        Kpi(
            "DI, test rows",
            number(gap["value"]),
            interval(gap["low"], gap["high"]),
            delta=change(gap["change"]),
            good=_good(gap, up=False),
            help="Largest minus smallest expected rate of the groups. It is 0 on "
            "calibration rows; on test rows chance remains.",
        ),
    ]
    widest = flips.assign(all=flips["up"] + flips["down"]).nlargest(
        _SHOWN_GROUPS, "all"
    )
    shown = flips[flips["group"].isin(widest["group"])]
    for row in shown.to_dict("records"):
        spread = count(round(1.96 * row["sd"]))
        cards.append(
            Kpi(
                _short(str(row["group"])),
                plural(round(row["up"] + row["down"]), "flip"),
                f"{count(round(row['up']))} to 1, {count(round(row['down']))} to 0",
                help=f"Expected changes of decision among {count(row['n'])} test rows "
                f"of {row['group']}; drawing alone moves them by ±{spread} in 95% of "
                "cases.",
            )
        )
    return cards


def too_small(left_out: Sequence[str]) -> str:
    """Say which corrections the subgroups have too few rows for."""
    names = " and ".join(left_out)
    return f" Left out, subgroups too small: {names}." if left_out else ""


def post_bounds(ramp: Ramp, dataset: Dataset, subgroups: Subgroups, key: str) -> None:
    """Draw the two bounds as calculators, with what their terms mean."""
    data, gamma = ramp.data, ramp.gamma
    labels = subgroups.label(dataset.frame)
    members = dataset.sensitive_features == dataset.group_names[0]
    told = _share(labels, members)[data.test.where]
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown("**Excess risk of the ramp, at most**")
        one, two = st.columns(2)
        assumed = one.number_input(
            "Error of the scores", 0.0, 2.0, 0.05, 0.01,
            help="Assumed E|2η − 1 − f|: how far scores are from true probabilities.",
            key=f"{key} error",
        )  # fmt: skip
        delta = two.number_input(
            "Failure risk (δ)", 0.001, 0.5, 0.05, 0.01, key=f"{key} delta"
        )
        n, k = len(data.calibration.margins), len(data.names)
        risk = excess_risk_bound(n, k, gamma, delta=delta, score_error=assumed)
        terms = {
            "Scores are not true probabilities": risk.score_error,
            f"Randomising, 2γ with γ = {gamma:g}": risk.ramp_width,
            f"Sample of {count(n)} rows": risk.sample,
            f"Learning the rates of {k} groups": risk.groups,
            "Sum": risk.total,
        }
        st.dataframe(_terms(terms), hide_index=True)
        if risk.total >= 1:
            st.caption(
                "A sum of 1 or more says nothing: the bound needs far more rows than "
                "the ramp does in practice."
            )
    with right:
        st.markdown("**Covariance that some subgroup must show**")
        low = impossibility_bound(told, data.test.before)
        terms = {
            "How well subgroups tell the group": low.predictability,
            "Smaller share of decisions": low.minority,
            "Half the product": low.bound,
        }
        st.dataframe(_terms(terms), hide_index=True)
        st.caption(
            "For decisions without randomising: whatever is corrected in known "
            "subgroups, some other subgroup has at least this covariance with "
            f"{dataset.group_names[0]}. P(group | x) is taken as its share in the "
            "chosen subgroups; finer ones can only raise the bound."
        )


def post_downloads(ramp: Ramp, dataset: Dataset, crossed: Sequence[str]) -> None:
    """Offer thresholds, decisions and the same call in Python and on a command line."""
    columns = (dataset.roles.sensitive_feature, *crossed)
    script = {**ramp.setting, "center": ramp.center}
    with st.popover("Decisions and thresholds", icon=":material/download:"):
        st.download_button(
            "Thresholds (JSON)",
            ramp.thresholds.to_json(),
            file_name="fairdash-thresholds.json",
            icon=":material/data_object:",
            type="tertiary",
            on_click="ignore",
        )
        st.download_button(
            "Decisions and h of test rows (CSV)",
            # written when asked for: a million rows take seconds
            lambda: decisions(ramp.data, ramp.h, dataset, 0).to_csv(index=False),
            file_name="fairdash-decisions.csv",
            mime="text/csv",
            icon=":material/table:",
            type="tertiary",
            on_click="ignore",
        )
        groups = "".join(f" --group {name}" for name in columns)
        code = {
            "Python": _SCRIPT.format(**script),
            "Bash": _COMMAND.format(groups=groups),
        }
        st.caption("The same, to copy; Bash decides a new file of any size")
        code_tabs(code)


@st.cache_data(max_entries=50, show_spinner=False)
def _crossable(dataset_id: str) -> list[str]:
    dataset = store().dataset(dataset_id)
    roles, frame = dataset.roles, dataset.frame
    taken = (roles.target, roles.sensitive_feature)
    return [
        str(name)
        for name in frame.columns
        if name not in taken and frame[name].nunique() <= 6
    ]


def _short(name: str) -> str:
    return name if len(name) <= _LABEL else f"{name[: _LABEL - 1]}…"


def _good(row: dict[Any, Any], *, up: bool) -> bool | None:
    if row["change_low"] > 0:
        return up
    return not up if row["change_high"] < 0 else None


def _terms(terms: dict[str, float]) -> pd.DataFrame:
    values = [number(value) for value in terms.values()]
    return pd.DataFrame({"Term": list(terms), "Value": values})


def _share(labels: "pd.Series[Any]", members: NDArray[np.bool_]) -> Array:
    """Return the share of ``members`` in the subgroup of every row."""
    codes, _ = pd.factorize(labels, use_na_sentinel=False)
    share: Array = (np.bincount(codes, members) / np.bincount(codes))[codes]
    return share
