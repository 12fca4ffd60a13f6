"""The effect of a correction: cards, tables, and thresholds to export."""

import streamlit as st

from fairdash import postprocessing
from fairdash._deciding import Deciding
from fairdash._escaping import as_argument, plain
from fairdash._metric_names import PARITY
from fairdash._wording import Kpi, gap_size, headed, interval_note, percent, points
from fairdash.audits import Answer, Drawing, correction_verdict
from fairdash.datasets import Dataset, Subgroups
from fairdash.metrics import catalog, direction_words
from fairdash.postprocessing import trade_off_table
from fairdash.ui.postprocess.correction import RAMP, Choice, Corrected, baselines
from fairdash.ui.widgets import blocks
from fairdash.ui.widgets.pick_measure import pick_measure
from fairdash.ui.widgets.state import store

_HOW_TRADE = """
The **gap** is the largest minus the smallest rate of positive decisions of the groups.
All methods learned on the same rows.
"""
_HOW_LOCAL = """
Gap between the groups' rates of positive decisions inside subgroups, of test rows. The
rules are learned over all rows of a group, not inside subgroups.
"""
_OF_DRAWS = (
    "95% intervals with expected counts. They are as wide as for decisions once drawn, "
    "so more than wide enough for the average."
)
_SCORES_ARE = {
    "margin": "margins from -1 to 1",
    "probability": "probabilities",
    "decision": "decisions 0 and 1",
}
_SCRIPT = """\
# scores: of a trained model, {kind}; calibration rows took no part in training
from {module} import {name}

method = {name}(
{arguments}
)
method.fit(
    scores[calibration], y[calibration], sensitive_features=groups[calibration]{weight}
)
h = method.predict_proba(scores[test], sensitive_features=groups[test])
decision = method.predict(
    scores[test], sensitive_features=groups[test], random_state=0
)
"""
_WEIGHED = ",\n    sample_weight=weight[calibration]"
_COMMAND = """\
fairdash model apply fairdash-thresholds.json NEW_FILE.csv \\
    --score SCORE_COLUMN{groups} --out decided.csv
"""


def post_answer(
    corrected: Corrected, choice: Choice, dataset: Dataset, details: str = ""
) -> Answer:
    """Return what the correction changes."""
    favourable = dataset.roles.positive_is != "unfavourable"
    verdict = correction_verdict(
        corrected.report, feature=corrected.feature, favourable=favourable
    )
    drawing = None
    if choice.method != RAMP:  # the ramp is drawn by the browser
        rules = corrected.fitted.thresholds()
        names = {"groups": tuple(rules.rules), "feature": corrected.feature}
        drawing = Drawing("plot_rules", rules.curves(), names)
    return Answer(
        verdict,
        post_kpis(corrected, favourable=favourable),
        figure=drawing,
        facts=corrected.facts(choice.source, dataset),
        details=f"{corrected.report.details()} {details}".rstrip(),
    )


def post_kpis(corrected: Corrected, *, favourable: bool = True) -> list[Kpi]:
    """Return accuracy and gap with paired changes, who is accepted, what changed."""
    _, after = corrected.report.gaps()
    n_groups = len(corrected.report.changed)
    pointing = direction_words(
        after, corrected.feature, n_groups, favourable=favourable
    )
    accuracy, gap = corrected.report.outcome.to_dict("records")
    accuracy_moved, gap_moved = corrected.report.changes()
    ends = interval_note(gap["low"], gap["high"], gap_size)
    changed = corrected.report.changed
    n, up, down = (float(changed[name].sum()) for name in ("n", "up", "down"))
    share_before, share = corrected.report.accepted
    decides_alike = Deciding.of_share(share, corrected.report.base_rate).alike
    return [
        Kpi(
            "Expected accuracy",
            percent(accuracy["value"]),
            interval_note(accuracy["low"], accuracy["high"], percent),
            delta=points(accuracy_moved.value),
            good=accuracy_moved.good(rise=True),
            help="Share of right decisions on test rows when they are drawn with the "
            "probabilities of its rules. Change: against no correction, paired.",
        ),
        Kpi(
            "Gap, test rows",
            gap_size(gap["value"]),
            " · ".join(filter(None, [ends, pointing])),
            delta=points(gap_moved.value),
            good=None if decides_alike else gap_moved.good(rise=False),
            help="Demographic parity difference: largest minus smallest expected rate "
            "of the groups. Where thresholds make it 0 on the rows they are learned "
            "on, chance remains on test rows.",
        ),
        Kpi(
            "Decided 1",
            percent(share),
            f"was {percent(share_before)}",
            help="Share of positive decisions on test rows. Target rate “As before” "
            "keeps the share of the rows that thresholds are learned on.",
        ),
        Kpi(
            "Changed decisions",
            percent((up + down) / n),
            f"{percent(up / n)} to 1, {percent(down / n)} to 0",
            help="Share of decisions on test rows that are expected to change. Numbers "
            "by group stand under Evidence, By group.",
        ),
    ]


def trade_off(corrected: Corrected, choice: Choice, dataset_id: str) -> None:
    """Draw accuracy and DI of the correction and of other methods."""
    blocks.heading("Other methods", _HOW_TRADE)
    peers = baselines(dataset_id, choice.source, choice.method)
    names = {PARITY: "Gap", f"{PARITY}_low": "Gap low", f"{PARITY}_high": "Gap high"}
    table = trade_off_table(corrected.report, peers, label=choice.correction.label)
    # Without an outcome there is no accuracy: its columns are empty.
    table = table.dropna(axis="columns", how="all")
    blocks.show_table(headed(table, selection_rate="Decided 1", **names))
    st.caption("Test rows, 95% Wilson and Newcombe intervals.")


def inside_subgroups(
    corrected: Corrected, dataset_id: str, subgroups: Subgroups
) -> None:
    """Draw the gap inside every subgroup before and after the correction."""
    labels = store().dataset(dataset_id).label_subgroups(subgroups)
    blocks.heading("Inside subgroups", _HOW_LOCAL)
    table = corrected.report.inside(
        labels.iloc[corrected.data.split.test_rows], min_size=subgroups.min_size
    )
    blocks.show_table(headed(table))


def by_group(corrected: Corrected) -> None:
    """Draw a measure and the changed decisions by group."""
    blocks.heading("By group")
    with blocks.controls(4):
        measure = pick_measure()
    try:
        table = corrected.report.by_measure(measure)
    except ValueError as error:
        st.caption(plain(error))
        return
    table["group"] = [*map(corrected.label, table["group"])]
    blocks.show_table(headed(table))
    measured = f"{catalog.MEASURE_NAMES[measure]} on test rows, on average over draws."
    st.caption(f"{measured} {_OF_DRAWS}")
    columns = ("group", "n", "rate_before", "rate", "up", "down")
    names = {"rate": "Rate after", "up": "To 1", "down": "To 0"}
    changed = headed(corrected.report.changed, columns, **names)
    changed["Group"] = [*map(corrected.label, changed["Group"])]
    whole = st.column_config.NumberColumn(format="%.0f")
    blocks.show_table(changed, columns=dict.fromkeys(("Rows", "To 1", "To 0"), whole))
    st.caption(
        "Rates of positive decisions, and how many decisions are expected to change."
    )


def post_downloads(corrected: Corrected) -> None:
    """Offer thresholds, decisions and the same call in Python and on a command line."""
    fitted = corrected.fitted
    split = corrected.data.split
    with st.popover("Decisions and thresholds", icon=":material/download:"):
        blocks.download(
            "Thresholds (JSON)",
            fitted.thresholds().to_json(),
            "fairdash-thresholds.json",
            icon=":material/data_object:",
            width="content",
        )
        blocks.table_download(
            "Decisions and h of test rows (CSV)",
            # Made on the click: a million rows take seconds.
            lambda: fitted.decisions(split.test).assign(row=corrected.data.row_number),
            "fairdash-decisions.csv",
            width="content",
        )
        # Names of columns are a user's words: they are quoted for Bash.
        groups = "".join(
            f" --group {as_argument(column)}" for column in corrected.data.columns
        )
        script = _SCRIPT.format(
            module=_module_of(fitted),
            name=type(fitted).__name__,
            arguments=_arguments_of(fitted),
            kind=_SCORES_ARE[fitted.score_type],
            weight=_WEIGHED if split.calibration.weight is not None else "",
        )
        st.caption("The same, to copy; Bash applies thresholds to a file of any size")
        st.code(script, language="python", height=220)
        st.code(_COMMAND.format(groups=groups), language="bash")


def _module_of(fitted: postprocessing.PostProcessor) -> str:
    kind = type(fitted)
    handed_on = kind.__name__ in postprocessing.__all__
    return postprocessing.__name__ if handed_on else kind.__module__


def _arguments_of(fitted: postprocessing.PostProcessor) -> str:
    params = fitted.get_params(deep=False)
    return "\n".join(f"    {name}={value!r}," for name, value in params.items())
