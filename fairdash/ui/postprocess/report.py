"""What the ramp does: cards, tables, bounds, downloads, decisions of a new file."""

import math
import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st
from pandas.api.types import is_numeric_dtype

from fairdash._escaping import plain
from fairdash._wording import (
    FOUR_FIFTHS_RULE,
    Kpi,
    change,
    count,
    fitting,
    interval,
    number,
    percent,
    plural,
    points,
)
from fairdash.audits import (
    Answer,
    AuditedModel,
    Drawing,
    PortableModel,
    audit_rows_of,
    correction_verdict,
    read_model,
)
from fairdash.datasets import Subgroups, group_labels, read_apart
from fairdash.metrics import MEASURE_NAMES
from fairdash.plots import Picture, plot_ramps
from fairdash.postprocessing import (
    ScoreType,
    Thresholds,
    apply_thresholds,
    fill_missing,
    trade_off_table,
    widest_changes,
)
from fairdash.sweep import SweepSpec
from fairdash.ui.postprocess.ramp import (
    Choice,
    Ramp,
    baseline_table,
    covariance_thresholds,
    local_corrections,
)
from fairdash.ui.selection import selection
from fairdash.ui.widgets.blocks import (
    TABLE_FILES,
    code_tabs,
    controls,
    download,
    heading,
    problem,
    show_table,
    table_download,
)
from fairdash.ui.widgets.pick_measure import pick_gap, pick_measure
from fairdash.ui.widgets.scores import margin_scale
from fairdash.ui.widgets.state import store

_HOW_TRADE = """
Left is fairer, up is more accurate. **DI** is the demographic parity difference: the
gap between the groups' rates of positive decisions. The line is the ramp over its
tolerances, the ring your setting. All methods learned on the same rows.
"""
_HOW_LOCAL = """
Local DI inside subgroups. The ramp equalises groups over all rows, not inside
subgroups. **Crossed** gives every group in every subgroup one rate; **covariance
control** gives the groups the same rate inside each subgroup, a different one in each.
"""
_BEFORE_AFTER = {
    "group": "Group",
    "before": "Before",
    "before_low": "Low before",
    "before_high": "High before",
    "after": "After",
    "after_low": "Low after",
    "after_high": "High after",
}
_OF_DRAWS = (
    "95% intervals with expected counts, as wide as of decisions once drawn: more than "
    "wide enough for the average."
)
_LABEL = 20  # characters on a card
_SCORES_ARE = {
    "margin": "margins from -1 to 1",
    "probability": "probabilities",
    "decision": "decisions 0 and 1",
}
_SCRIPT = """\
# scores: of a trained model, {kind}; calibration rows took no part in training
from fairdash.postprocessing import RampThreshold

ramp = RampThreshold(
    gamma={gamma!r},
    target_rate={target_rate!r},
    tolerance={tolerance!r},
    center={center!r},
    score_type={score_type!r},
)
ramp.fit(
    scores[calibration], {y}sensitive_features=groups[calibration]{weight}
)
h = ramp.predict_proba(scores[test], sensitive_features=groups[test])
decision = ramp.predict(
    scores[test], sensitive_features=groups[test], random_state=0
)
"""
_WEIGHED = ",\n    sample_weight=weight[calibration]"
_COMMAND = """\
fairdash model apply fairdash-thresholds.json NEW_FILE.csv \\
    --score SCORE_COLUMN{groups} --out decided.csv
"""
_BY_MODEL = "Scores of this model, from the features"
_KINDS: tuple[ScoreType, ...] = ("probability", "margin")


def post_answer(ramp: Ramp, choice: Choice, name: str, details: str = "") -> Answer:
    """Return what the ramp changes; ``name`` is of the data set."""
    return Answer(
        correction_verdict(ramp.report),
        post_kpis(ramp),
        facts=ramp.facts(choice.source, name),
        details=f"{ramp.report.verdict('test', ramp.feature)} {details}".rstrip(),
    )


def post_kpis(ramp: Ramp) -> list[Kpi]:
    """Return accuracy and DI with paired changes, and changed decisions by group."""
    accuracy, gap = ramp.report.outcome.to_dict("records")
    known = math.isfinite(accuracy["value"])
    cards = [
        Kpi(
            "Expected accuracy",
            percent(accuracy["value"]),
            interval(accuracy["low"], accuracy["high"], percent)
            if known
            else "not known without an outcome",
            delta=points(accuracy["change"]) if known else "",
            good=_good(accuracy, up=True),
            help="Share of right decisions on test rows when they are drawn with the "
            "probabilities of the ramp. Change: against no correction, paired.",
        ),
        Kpi(
            "Gap (DI), test rows",
            number(gap["value"]),
            interval(gap["low"], gap["high"]),
            delta=change(gap["change"]),
            good=_good(gap, up=False),
            help="Demographic parity difference: largest minus smallest expected rate "
            "of the groups. At tolerance 0 it is 0 on the rows that thresholds are "
            "learned on; on test rows chance remains.",
        ),
    ]
    changed = widest_changes(ramp.report.changed)
    told = changed.loc[changed["n_groups"] == 1, "group"]
    fits = all(len(ramp.label(group)) <= _LABEL for group in told)
    for row in changed.to_dict("records"):
        group, n_groups = row["group"], row["n_groups"]
        whom = ramp.label(group) if n_groups == 1 else f"{n_groups} other groups"
        cards.append(
            Kpi(
                fitting(whom if fits else group or whom, most=_LABEL),
                count(round(row["changed"])),
                f"changed: {count(round(row['up']))} to 1, "
                f"{count(round(row['down']))} to 0",
                help=f"Expected number of changed decisions among {count(row['n'])} "
                f"test rows of {whom}; drawing alone moves them by "
                f"±{count(round(row['spread']))} in 95% of cases.",
            )
        )
    return cards


def ramps_of(ramp: Ramp) -> Picture:
    """Return where ramps start, as the server solved them."""
    setting = ramp.setting
    return plot_ramps(
        ramp.starts(), tolerance=setting["tolerance"], rows=ramp.data.learned
    )


def trade_off(ramp: Ramp, choice: Choice, dataset_id: str) -> Answer:
    """Return accuracy against DI of the ramp and of other methods."""
    methods = baseline_table(dataset_id, choice.source, choice.crossed)
    curve = ramp.fitted.curve(ramp.report.rows)
    table = trade_off_table(ramp.report, curve, methods)
    figure = Drawing("plot_trade_off", table, {"rows": "test"})
    return Answer("", figure=figure, how=_HOW_TRADE)


def local_before_after(
    ramp: Ramp, choice: Choice, dataset_id: str, subgroups: Subgroups
) -> Answer:
    """Return local DI before and after the ramp and two local corrections."""
    corrections = local_corrections(dataset_id, choice.source, subgroups)
    compared = corrections.compare(ramp.report.h, ramp.fitted.gamma)
    drawn = compared.drawn()
    cells = drawn.pop("cells")
    drawn |= {
        "groups": corrections.reported.rows.names,
        "rows": "test",
        "feature": ramp.data.columns[0],
    }
    figure = Drawing("plot_corrections", cells, drawn)
    return Answer("", figure=figure, how=_HOW_LOCAL)


def by_measure(ramp: Ramp) -> None:
    """Draw the pickers, and that measure by group before and after."""
    heading("By any measure", FOUR_FIFTHS_RULE)
    with controls(4):
        measure = pick_measure()
        pick_gap(labelled=True)
    try:
        table = ramp.report.by_measure(measure)
        apart = ramp.report.apart(measure, selection().gap or "difference")
    except ValueError as error:
        st.caption(plain(error))
        return
    table["group"] = [*map(ramp.label, table["group"])]
    show_table(table.rename(columns=_BEFORE_AFTER))
    st.caption(apart)
    said = f"{MEASURE_NAMES[measure]} on test rows, on average over draws. "
    st.caption(f"{said}{_OF_DRAWS}")


def changed_by_group(ramp: Ramp) -> None:
    """Draw the changed decisions of all groups, where accuracy cannot be told."""
    heading("What changes, group by group")
    table = ramp.report.changed.drop(columns=["changed", "spread"])
    table["group"] = [*map(ramp.label, table["group"])]
    whole = st.column_config.NumberColumn(format="%.0f")
    show_table(table, columns={"up": whole, "down": whole})
    st.caption(
        "Expected decisions of test rows: rates before and after, and how many "
        "go from 0 to 1 (up) and from 1 to 0 (down). Accuracy is not known without an "
        "outcome."
    )


def post_downloads(
    ramp: Ramp, choice: Choice, dataset_id: str | None, subgroups: Subgroups | None
) -> None:
    """Offer thresholds, decisions and the same call in Python and on a command line."""
    fitted, split = ramp.fitted, ramp.data.split
    with st.popover("Decisions and thresholds", icon=":material/download:"):
        as_json: dict[str, Any] = {"icon": ":material/data_object:", "width": "content"}
        download(
            "Thresholds (JSON)",
            fitted.thresholds().to_json(),
            "fairdash-thresholds.json",
            **as_json,
        )
        if choice.source.upload is None and dataset_id and subgroups is not None:
            download(
                "Thresholds of covariance control (JSON)",
                lambda: covariance_thresholds(
                    ramp, choice.source, dataset_id, subgroups
                ).to_json(),
                "fairdash-covariance-thresholds.json",
                help="One ramp for every group in every subgroup, at this width. To "
                "apply it, give the columns of subgroups and of groups, in this order.",
                **as_json,
            )
        table_download(
            "Decisions and h of test rows (CSV)",
            # written when asked for: a million rows take seconds
            lambda: fitted.decisions(split.test).assign(row=ramp.data.row_number),
            "fairdash-decisions.csv",
            width="content",
        )
        groups = "".join(f" --group {shlex.quote(n)}" for n in ramp.data.columns)
        script = _SCRIPT.format(
            **fitted.get_params(),
            kind=_SCORES_ARE[fitted.score_type],
            y="" if split.calibration.y is None else "y[calibration], ",
            weight=_WEIGHED if split.calibration.weight is not None else "",
        )
        st.caption("The same, to copy; Bash applies thresholds to a file of any size")
        code_tabs({"Python": script, "Bash": _COMMAND.format(groups=groups)})


def _good(row: dict[Any, Any], *, up: bool) -> bool | None:
    if row["change_low"] > 0:
        return up
    return not up if row["change_high"] < 0 else None


def apply_to_file(
    ramp: Ramp,
    choice: Choice,
    dataset_id: str | None,
    run_id: str | None,
) -> None:
    """Draw the upload of a new file and the download of its decisions."""
    columns = " and ".join(ramp.data.columns)
    st.caption(
        "Applies the thresholds at this setting to every row of a file. The file needs "
        f"the column {plain(columns)} and scores, or all features of the model. "
        "Larger files: `fairdash model apply` on the command line."
    )
    sent = st.file_uploader(
        "New file", type=TABLE_FILES, max_upload_size=200, key="new file"
    )
    if sent is None:
        return
    try:
        home = store().home
        frame = read_apart(sent.getvalue(), home, name=sent.name, owner=str(home))
        thresholds, groups = (
            ramp.fitted.thresholds(),
            _groups(frame, ramp, choice, dataset_id),
        )
        done = _decided(frame, thresholds, groups, choice, dataset_id, run_id)
    except ValueError as error:
        problem(f"Thresholds were not applied to {sent.name}", error)
        return
    rate = float(done["decision"].mean())
    words = f"{plural(len(done), 'row')} decided, {percent(rate)} of them 1."
    st.success(words, icon=":material/check:")
    name = f"{Path(sent.name).stem}-decided.csv"
    table_download("Decisions (CSV)", done, name, type="secondary")


def _decided(
    frame: pd.DataFrame,
    thresholds: Thresholds,
    groups: "list[pd.Series[Any]]",
    choice: Choice,
    dataset_id: str | None,
    run_id: str | None,
) -> pd.DataFrame:
    """Return the file with the columns h, decision and, by its features, score."""
    numbers = [str(name) for name in frame if is_numeric_dtype(frame[name])]
    trained = choice.source.own is None
    model = _model(choice.source.trial, run_id) if trained else None
    by_model = [_BY_MODEL] if model is not None else []
    if not by_model and not numbers:
        raise ValueError("It has no column of numbers that could be scores.")
    chosen = st.selectbox("Scores", [*by_model, *numbers], key="new file score")
    added: dict[str, Any] = {}
    if model is not None and chosen == _BY_MODEL:
        scores = pd.Series(PortableModel.of(model).score(frame), name=_BY_MODEL)
        added["score"], kind = scores, _KINDS[0]
    else:
        scores = frame[chosen]
        kinds: dict[str, ScoreType] = {
            one: one for one in _kinds(scores, thresholds.score_type)
        }
        own, scale = choice.source.own, margin_scale(choice.source, dataset_id)
        alike = f"like {own.column}" if own is not None else ""
        if scale is not None:
            kinds = {alike: _KINDS[1], **kinds}
        names = list(kinds)
        told = st.segmented_control(
            "They are",
            names,
            default=names[0],
            required=True,
            format_func=plain,
            key="new file kind",
        )
        kind = kinds[told]
        if scale is not None and told == alike:
            scores = (scores - scale[0]) / scale[1]
    taken = [name for name in (*added, "h", "decision") if name in frame]
    if taken:
        raise ValueError(
            f"It already has a column {taken[0]!r}, which would be added; rename it."
        )
    result = apply_thresholds(thresholds, scores, groups, score_type=kind)
    return frame.assign(**added, h=result["h"], decision=result["decision"])


def _kinds(scores: "pd.Series[Any]", learned: ScoreType) -> tuple[ScoreType, ...]:
    """Return what a column may hold; the reader says which."""
    if learned == "decision":
        return (learned,)
    return _KINDS if scores.min() >= 0 else _KINDS[1:]


def _groups(
    frame: pd.DataFrame, ramp: Ramp, choice: Choice, dataset_id: str | None
) -> "list[pd.Series[Any]]":
    """Return groups of a file made as those that the thresholds were learned for."""
    missing = [name for name in ramp.data.columns if name not in frame]
    if missing:
        raise ValueError(
            f"It has no column {missing[0]!r}, which tells the group. It has "
            f"{list(map(str, frame.columns))[:20]}; rename one of these."
        )
    if choice.source.upload is not None or dataset_id is None:
        return [frame[name] for name in ramp.data.columns]
    labels = group_labels(frame, store().dataset(dataset_id).roles)
    return [labels, *(fill_missing(frame[name]) for name in choice.crossed)]


def _model(trial_key: str, run_id: str | None) -> AuditedModel | None:
    """Return the model of a run if more than its scores was kept."""
    if run_id is None or not trial_key or not store().artifact(trial_key).network():
        return None
    run = store().run(run_id)
    trials = store().snapshot(run_id, curves=False).trials
    found = [trial for trial in trials if trial.key == trial_key]
    if not found:
        return None
    spec = SweepSpec.of_run(run.spec)
    rows = audit_rows_of(store().dataset(run.dataset_id), found[0], spec)
    return read_model(store(), found[0], rows)
