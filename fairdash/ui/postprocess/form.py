"""Controls, KPIs, bounds and downloads of the Post-process page."""

import math
import shlex
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from fairdash._wording import (
    Kpi,
    change,
    count,
    interval,
    number,
    percent,
    plural,
    points,
)
from fairdash.ui.postprocess.ramp import Ramp
from fairdash.ui.postprocess.tables import decisions
from fairdash.ui.widgets.blocks import code_tabs, decimals, heading, more
from fairdash.ui.widgets.downloads import table_download
from fairdash.ui.widgets.score_source import Source
from fairdash.ui.widgets.score_upload import upload_scores
from fairdash.ui.widgets.state import store

TARGETS = {"accuracy": "Most accurate", "balanced": "Balanced", "": "By hand"}
_SHOWN_GROUPS = 2
_LABEL = 20  # characters on a card
_SCRIPT = """\
# scores: of a trained model, {kind}; calibration rows took no part in training
from fairdash.postprocessing import RampThreshold

ramp = RampThreshold(
    gamma={gamma:g}, target_rate={rate!r}, tolerance={tolerance:g}, center={center},
    score_type={score_type!r},
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


def pick_post(
    sources: Sequence[Source], dataset_id: str
) -> tuple[Source, tuple[str, ...], str, bool]:
    """Draw the choice of scores, groups, target rate and rest position."""
    names = {source.label: source for source in sources}
    key = f"{dataset_id} {sources[0]} scores"
    carried = st.session_state.pop(f"{dataset_id} scores", None)  # from the Sweep page
    if carried in names:
        st.session_state[key] = carried
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        label = st.selectbox("Scores of", list(names), width=240, key=key)
        source = names[label]
        targets = [t for t in TARGETS if source.has_outcome or t != "accuracy"]
        target: str = st.segmented_control(
            "Target rate (ρ)",
            targets,
            default=targets[0],
            required=True,
            format_func=TARGETS.__getitem__,
            help="The rate that all groups get. Most accurate: on calibration rows, by "
            "their outcome. Balanced: where corrections cancel; needs no outcome. By "
            "hand: the slider.",
            key=f"{dataset_id} {source.has_outcome} target",
        )
        with st.container(width=150), more("Groups"):
            crossed = [] if source.upload else _pick_crossed(dataset_id)
            center = st.toggle(
                "Middle of the ramp at 0",
                help="Where tolerance leaves a group uncorrected, its ramp has its "
                "middle at score 0 instead of its start.",
                key=f"{dataset_id} center",
            )
        with st.container(width=170):
            upload_scores()
    return source, tuple(crossed), target, center


def post_kpis(outcome: pd.DataFrame, flips: pd.DataFrame) -> list[Kpi]:
    """Return accuracy and DI with paired changes, and expected flips by group."""
    accuracy, gap = outcome.to_dict("records")
    told = math.isfinite(accuracy["value"])
    cards = [
        Kpi(
            "Expected accuracy",
            percent(accuracy["value"]),
            interval(accuracy["low"], accuracy["high"], percent)
            if told
            else "not known without an outcome",
            delta=points(accuracy["change"]) if told else "",
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


def flips_without_outcome(ramp: Ramp) -> None:
    """Draw the expected flips of all groups, where accuracy cannot be told."""
    heading("What changes, group by group")
    table = ramp.flips.drop(columns="sd")
    st.dataframe(
        table,
        hide_index=True,
        column_config=decimals(table[["rate_before", "rate"]])
        | {
            name: st.column_config.NumberColumn(format="%.0f")
            for name in ("up", "down")
        },
    )
    st.caption(
        "Expected decisions of test rows: rates before and after, and how many go from "
        "0 to 1 (up) and from 1 to 0 (down). Accuracy is not known without an outcome."
    )


def too_small(left_out: Sequence[str]) -> str:
    """Say which corrections the subgroups have too few rows for."""
    names = " and ".join(left_out)
    return f" Left out, subgroups too small: {names}." if left_out else ""


def post_downloads(ramp: Ramp) -> None:
    """Offer thresholds, decisions and the same call in Python and on a command line."""
    score_type = ramp.data.score_type
    kinds = {"margin": "margins from -1 to 1", "probability": "probabilities"}
    script: dict[str, object] = {
        **ramp.setting,
        "center": ramp.center,
        "score_type": score_type,
    }
    script["kind"] = kinds[score_type]
    with st.popover("Decisions and thresholds", icon=":material/download:"):
        st.download_button(
            "Thresholds (JSON)",
            ramp.thresholds.to_json(),
            file_name="fairdash-thresholds.json",
            icon=":material/data_object:",
            type="tertiary",
            on_click="ignore",
        )
        table_download(
            "Decisions and h of test rows (CSV)",
            # written when asked for: a million rows take seconds
            lambda: decisions(ramp.data, ramp.h, 0),
            "fairdash-decisions.csv",
            width="content",
        )
        groups = "".join(f" --group {shlex.quote(n)}" for n in ramp.data.columns)
        code = {
            "Python": _SCRIPT.format(**script),
            "Bash": _COMMAND.format(groups=groups),
        }
        st.caption("The same, to copy; Bash decides a new file of any size")
        code_tabs(code)


def _pick_crossed(dataset_id: str) -> list[str]:
    roles = store().dataset_record(dataset_id).roles
    return st.multiselect(
        f"Cross {roles.sensitive_feature} with",
        _crossable(dataset_id),
        max_selections=2,
        help="Every combination of values becomes a group of its own.",
        key=f"{dataset_id} crossed",
    )


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
