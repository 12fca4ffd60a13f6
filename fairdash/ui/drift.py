"""The Drift page: stored models on a table they were not trained on."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import streamlit as st

from fairdash.audits import Answer, Setting, drift, drifts
from fairdash.datasets import SAMPLES, Dataset, Sample, Subgroups
from fairdash.ui.selection import SharedFields, choose, with_entry
from fairdash.ui.widgets.blocks import empty, heading, kept_upload, more, show_table
from fairdash.ui.widgets.pick_measure import pick_measure
from fairdash.ui.widgets.pick_models import pick_seed_of, subgroup_form
from fairdash.ui.widgets.pick_rule import decided, pick_rule
from fairdash.ui.widgets.state import BY_KEY, store
from fairdash.ui.widgets.tray import pinned

_ROLE = "drift"


class DriftQuestion(NamedTuple):
    """The question of the reader: a model, a measure and another table."""

    model: Setting
    measure: str  # as `fairdash.audits.drift` asks for it
    subgroups: Subgroups
    seed: int | None
    table: str | None  # digest of the other table


def pick_drift(model: Setting, dataset: Dataset, dataset_id: str) -> DriftQuestion:
    """Draw the controls and return what they ask."""
    start = store().dataset_record(dataset_id).subgroups
    with st.container(horizontal=True, vertical_alignment="bottom"):
        column_measures: list[str] = []
        if model.is_own:
            column_measures = drifts.column_measures(store(), model, dataset_id)
        measure = pick_measure(only=column_measures)
        with more("Other table", icon=":material/table_view:"):
            table = kept_upload("Rows of another time or place", _ROLE)
            words = dataset.roles.test_rows_words()
            seed = pick_seed_of(model, help=words).split
        subgroups = subgroup_form(dataset, start)
        # A column of predictions has decided already: there is no rule to choose.
        if not column_measures:
            pick_rule()
            (model,) = decided([model])
    return DriftQuestion(model, measure, subgroups, seed, table)


def ask_for_table(dataset_id: str) -> None:
    """Say what is missing and how to get it."""
    name = store().dataset_record(dataset_id).table_name
    remedies = {}
    for sample in SAMPLES.values():
        if sample.path.name == name and sample.later:
            remedies["Open the drifted sample"] = partial(_open_sample, sample)
    empty(
        "No other table yet",
        "Upload rows of another time or place under “Other table”, with the same "
        "columns; the outcome may be absent.",
        remedies,
    )


def _open_sample(sample: Sample) -> None:
    assert sample.later is not None, "only samples with a companion are offered"
    digest = store().add_table(sample.later.read_bytes(), sample.later.name)
    choose(files=with_entry(SharedFields.here().files, _ROLE, digest))
    st.rerun()


def compare(
    question: DriftQuestion, models: Sequence[Setting], data: str, run: str | None
) -> drifts.DriftResult:
    """Hold the models to the table asked for.

    Raises ValueErrors as `fairdash.audits.drift`.
    """
    return _compared(
        question,
        decided(pinned(models, run)),
        data,
        _table_name(question),
        store().dataset_record(data).name,
    )


def compare_column(question: DriftQuestion, data: str) -> Answer:
    """Hold a column of predictions to that of the table asked for.

    Raises ValueErrors as `fairdash.audits.drifts.column_drift`.
    """
    assert question.table is not None, "the page asks for a table first"
    return drifts.column_drift(
        store(),
        question.model,
        data,
        other=(_table_name(question), store().table(question.table)),
        measure=question.measure,
        subgroups=question.subgroups,
    )


def _table_name(question: DriftQuestion) -> str:
    """Return the name of the other table's file as words, without its suffix."""
    names = [table.name for table in store().tables() if table.sha256 == question.table]
    return names[0].split(".")[0].replace("_", " ")


@st.cache_resource(
    max_entries=8, show_spinner="Scoring the other table…", hash_funcs=BY_KEY
)
def _compared(
    question: DriftQuestion,
    models: Sequence[Setting],
    data: str,
    table_name: str,
    data_name: str,
) -> drifts.DriftResult:
    # Names are in the key of the cache too: a renamed data set is written anew.
    assert question.table is not None, "the page asks for a table first"
    return drift(
        store(),
        models,
        data,
        main=question.model,
        subgroups=question.subgroups,
        measure=question.measure,
        seed=question.seed,
        other=(table_name, store().table(question.table)),
    )


def show_shifts(result: drifts.DriftResult) -> None:
    """Draw the shift of every column."""
    shifts = result.shift_answer().table
    assert shifts is not None, "every comparison has columns"
    heading(shifts.title, shifts.how)
    bar = st.column_config.ProgressColumn(format="%.3f", min_value=0, max_value=1)
    show_table(shifts.frame, columns={"Shift": bar})
