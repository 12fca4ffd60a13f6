"""The audit of predictions of more than two classes, on Individual fairness."""

import streamlit as st

from fairdash._wording import group_label
from fairdash.datasets import MOST_GROUPS
from fairdash.metrics import CLASS_MEASURES, ClassGaps, class_gaps
from fairdash.ui.selection import bound_entry
from fairdash.ui.widgets.blocks import controls, kept_upload, problem, show_table
from fairdash.ui.widgets.blocks import verdict as say
from fairdash.ui.widgets.state import store

MOST_VALUES = 100


@st.cache_resource(max_entries=10, show_spinner="Comparing groups class by class…")
def _found(digest: str, true: str, predicted: str, group: str) -> ClassGaps:
    frame = store().table(digest)
    kept = frame[[true, predicted, group]].dropna()
    names = [group_label(group, str(name)) for name in kept[group]]
    return class_gaps(kept[true], kept[predicted], sensitive_features=names)


def many_classes() -> None:
    """Draw the field for a table of predicted classes, and what groups differ in."""
    with st.expander("More than two classes", icon=":material/category:"):
        _many_classes()


def _many_classes() -> None:
    st.caption(
        "A table with the true class, the class predicted and a group of every row, "
        "of two or more classes, such as occupations. Rows without one are excluded."
    )
    try:
        digest = kept_upload("Table of classes", "classes")
    except ValueError as error:
        problem("The file was not loaded", error)
        return
    if digest is None:
        return
    frame = store().table(digest)
    few = [str(name) for name in frame if 1 < frame[name].nunique() <= MOST_VALUES]
    groups = [name for name in few if frame[name].nunique() <= MOST_GROUPS]
    if len(few) < 3 or not groups:
        problem(
            "It has no classes and groups",
            f"It needs three columns of two to {MOST_VALUES} values, of which the "
            f"groups have at most {MOST_GROUPS}.",
        )
        return
    labels = "True class", "Predicted class"
    with controls(3):
        true, predicted = (
            st.selectbox(
                label,
                few,
                **bound_entry("file_columns", label, first, among=few, key=digest),
            )
            for label, first in zip(labels, few, strict=False)
        )
        rest = [name for name in groups if name not in (true, predicted)]
        if not rest:
            problem("No column is left for groups", "Choose other classes.")
            return
        group = st.selectbox(
            "Groups of the table",
            rest,
            **bound_entry(
                "file_columns", "class groups", rest[0], among=rest, key=digest
            ),
        )
    try:
        found = _found(digest, true, predicted, group)
    except ValueError as error:
        problem("The classes were not compared", error)
        return
    say(found.verdict())
    show_table(found.summary.replace({"measure": CLASS_MEASURES}))
    st.caption(
        "value: found; chance: what it stays below in 95% of cases when groups are "
        "shuffled within each class."
    )
    show_table(found.by_class)
    st.caption(
        "Gap in true positive rates of each class; intervals hold for all classes and "
        "pairs of groups at once."
    )
    show_table(found.by_group)
