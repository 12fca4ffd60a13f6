"""The Local fairness page: every measure by group, and a search for subgroups."""

from collections.abc import Sequence

import streamlit as st

from fairdash import audits, plots
from fairdash._escaping import plain
from fairdash.audits import FoundSubgroups, Setting, as_subgroups, search_model, trials
from fairdash.datasets import SAMPLES, Dataset, Subgroups
from fairdash.metrics import catalog
from fairdash.sweep import MethodGrid
from fairdash.ui import pages
from fairdash.ui.selection import address, choose
from fairdash.ui.widgets.blocks import (
    draw_picture,
    figure,
    heading,
    problem,
    show_table,
    table_below,
)
from fairdash.ui.widgets.state import store

_OFFERED = 3  # of the subgroups found
_HOW = """
The search tries every combination of up to three conditions on the features, never the
sensitive one. Conditions are quantile bins of numbers, and levels or pairs of levels of
others. It reads training and validation rows. **Test rows confirm**: they test only the
few gaps that the search lists. The whole list errs in at most 5% of tables without any
gap. Intervals hold for all subgroups listed at once.

Your own scores, without a model beside them, have no such parts. All rows are searched,
and each gap is compared with the **largest of all** when groups are shuffled; of
numbers and of rows with weights, when residuals get a random sign.

The list starts with the gap that is largest for sure: its interval begins farthest
from 0. A subgroup whose gap a listed one explains is not listed.
"""


def cuts_section(
    models: Sequence[Setting], data: str, *, measure: str, subgroups: Subgroups
) -> None:
    """Draw the largest gap by many ways to cut subgroups, with chance for each."""
    try:
        with st.spinner("Cutting subgroups in other ways…"):
            answer = audits.gaps.cuts_answer(store(), models, data, subgroups, measure)
    except ValueError as error:
        problem("Subgroups cannot be cut otherwise", error)
        return
    heading("Does it hang on how subgroups are cut?", answer.how)
    st.markdown(f"**{plain(answer.verdict)}**")
    if answer.figure is not None and not answer.figure.table.empty:
        picture = answer.figure.picture(plots)
        draw_picture(picture, key="cuts")
        st.caption(plain(f"{picture.caption} {answer.caption}."))
        table_below(picture.table)


def find_section(
    models: Sequence[Setting], data: str, *, measure: str, subgroups: Subgroups
) -> None:
    """Search all features for subgroups with a gap, and list what it finds."""
    heading("Subgroups found by search", _HOW)
    model = trials.beside_trained(models)[-1]
    try:
        with st.spinner("Searching, then shuffling groups 99 times…"):
            search = search_model(
                store(), model, data, measure, min_size=subgroups.min_size
            )
    except ValueError as error:
        problem("Subgroups cannot be searched", error)
        return
    st.markdown(f"**{plain(search.verdict(audits.gaps.speech_of(store(), data)))}**")
    show_table(search.ranked())
    st.caption(plain(search.caption()))
    _use(search, subgroups, model, remedies=measure not in catalog.NUMBER_MEASURES)


def _use(
    search: FoundSubgroups, subgroups: Subgroups, model: Setting, *, remedies: bool
) -> None:
    listed = search.beyond.head(_OFFERED)
    if listed.empty:
        return
    further = ", or go on with it" if remedies else ""
    st.caption(f"Make one the subgroups of every page{further}:")
    for name, conditions in zip(listed["subgroup"], listed["conditions"], strict=True):
        chosen = as_subgroups(conditions, subgroups)
        road = address(opened=None, subgroups=chosen, form=MethodGrid(method="road"))
        fix = address(opened=None, subgroups=chosen, scores=model.id)
        links = {
            "Train ROAD beside it": (pages.TRAIN, road),
            "Fix in Post-process": (pages.POST_PROCESS, fix),
        }
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                plain(name),
                key=f"use {name}",
                on_click=choose,
                kwargs={"subgroups": chosen},
            )
            # No method here mends a gap of numbers.
            if not remedies:
                continue
            for label, (page, fields) in links.items():
                st.page_link(page.path, label=label, query_params=fields)


def classes_section(model: Setting, data: str) -> None:
    """Draw every class that a column predicts, each against the rest."""
    try:
        audit = audits.gaps.every_class(store(), model, data)
    except ValueError as error:
        problem("The classes cannot be audited", error)
        return
    st.markdown(f"**{plain(audit.verdict)}**")
    st.caption(plain(audit.details))
    for listing in audit.listings():
        heading(listing.title)
        show_table(listing.frame)
        st.caption(plain(listing.note))


def planted(data: str, subgroups: Subgroups, measure: str) -> dict[str, float]:
    """Return the true gaps that a sample plants; none for any other question."""
    if measure != "selection_rate":
        return {}
    record = store().dataset_record(data)
    for sample in SAMPLES.values():
        table = (record.table_name, record.n_rows, subgroups)
        if table == (sample.path.name, sample.n_rows, sample.subgroups):
            truth = sample.truth().subgroups.query("planted")
            return dict(zip(truth["subgroup"], truth["decided"], strict=True))
    return {}


def by_measure(
    models: Sequence[Setting],
    dataset: Dataset,
    data: str,
    measure: str,
    reference: str | None,
) -> None:
    """Draw the table of all measures by group, and beside it the calibration curve.

    The curve is of score columns, and of trained models if calibration is looked at.
    """
    model = audits.trials.beside_trained(models)[-1]
    roles = dataset.roles
    favourable = roles.positive_is != "unfavourable"
    try:
        table = audits.gaps.every_measure(
            store(),
            model,
            data,
            favourable=favourable,
            reference=reference,
            also=measure,
        )
        curve = audits.gaps.calibration_of(store(), model, data)
    except ValueError as error:
        problem(f"{model.label} cannot be audited", error)
        return
    heading(f"Every measure of {model.label} by group")
    groups = dataset.group_names
    feature = roles.group_prefix()
    show_table(audits.gaps.readable_measures(table, groups, feature))
    if measure == "calibration" or model.is_own:
        figure(
            plots.plot_calibration(
                curve,
                groups=groups,
                feature=feature,
                outcome=roles.outcome(),
                score=model.score_name,
            ),
            key="calibration",
        )
