"""The Drift page: stored models on tables they were not trained on."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from fairdash._escaping import plain
from fairdash.audits import (
    DriftResult,
    Setting,
    by_interest,
    columns_of_parts,
    drift,
    drift_over_seeds,
)
from fairdash.datasets import SAMPLES, Dataset, Sample, Subgroups
from fairdash.ui.selection import (
    OF_DATA,
    Fields,
    bound,
    choose,
    entry,
    selection,
    with_entry,
)
from fairdash.ui.widgets.answers import show_answer
from fairdash.ui.widgets.blocks import (
    empty,
    heading,
    kept_upload,
    more,
    problem,
    show_table,
)
from fairdash.ui.widgets.pick_measure import pick_measure
from fairdash.ui.widgets.pick_models import (
    pick_seed_of,
    subgroup_form,
)
from fairdash.ui.widgets.state import BY_KEY, store

_ROLE = "drift"
_WHOLE = ""
_TURN = "drift uploads taken away"
_OTHER = "drift other table"
_ASKED = "drift other table asked for"


@dataclass(frozen=True)
class DriftFields(Fields):
    """What the address says beside what every page knows."""

    # The column that divides the table; the table in detail.
    parts: str | None = field(default=None, metadata=OF_DATA)
    against: str | None = field(default=None, metadata=OF_DATA)
    # False for means over seeds.
    single: bool | None = None


class Question(NamedTuple):
    """What the reader asks."""

    model: Setting
    measure: str  # as `fairdash.audits.drift` asks for it
    subgroups: Subgroups
    seed: int
    table: str | None  # digest of the other table
    parts: str | None  # column that divides it, or without one the data set's own table


def pick_drift(model: Setting, dataset: Dataset, dataset_id: str) -> Question:
    """Draw the controls and return what they ask."""
    start = store().dataset_record(dataset_id).subgroups
    with st.container(horizontal=True, vertical_alignment="bottom"):
        measure = pick_measure()
        if st.session_state.pop(_ASKED, False):
            st.session_state[_OTHER] = True  # opens it
        with more(
            "Other table",
            icon=":material/table_view:",
            key=_OTHER,
            on_change="rerun",
        ):
            table = _pick_table(dataset_id)
            parts = _pick_parts(dataset, table)
        subgroups = subgroup_form(dataset, start)
        words = "Each seed has models and test rows of its own."
        seed = pick_seed_of(model, help=words).seed
    return Question(model, measure, subgroups, seed, table, parts)


def ask_for_table(dataset_id: str) -> None:
    """Say what is missing and how to get it."""
    sample = _sample_of(dataset_id)
    remedies = {"Choose the other table": _open_other}
    if sample is not None:
        remedies = {"Open the drifted sample": lambda: _open_sample(sample)} | remedies
    empty(
        "No other table yet",
        "The models were tested on rows of the table they were trained on. Upload rows "
        "of another time or place under “Other table”, with the same columns (the "
        "outcome may be absent), or divide this table there by a column such as a year "
        "or a region.",
        remedies,
    )


def other_table(digest: str) -> tuple[str, pd.DataFrame]:
    """Return the name and the rows of an uploaded table."""
    names = {table.sha256: table.name for table in store().tables()}
    return names[digest].split(".")[0].replace("_", " "), store().table(digest)


def forget_table() -> None:
    """Go back to before another table, or parts, were chosen, to choose again."""
    _take_away()
    choose(parts=None)
    _open_other()


def _pick_table(dataset_id: str) -> str | None:
    """Draw the field for a table; return its digest, None without one."""
    try:
        turn = st.session_state.get(_TURN, 0)
        digest = kept_upload("Rows of another time or place", _ROLE, turn=turn)
    except ValueError as error:
        problem("The file was not loaded", error)
        return None
    sample = _sample_of(dataset_id)
    if digest is None and sample is not None:
        st.button("Use the drifted sample", on_click=_keep_sample, args=(sample,))
    if digest is not None and entry(selection().files, _ROLE):
        st.button("Take it away", on_click=_take_away)
    return digest


def _pick_parts(dataset: Dataset, table: str | None) -> str | None:
    """Draw the choice of a column that divides the table."""
    frame = dataset.frame if table is None else store().table(table)
    if table is None and dataset.roles.keep and dataset.table_key:
        frame = store().table(dataset.table_key)
    columns = [_WHOLE, *columns_of_parts(frame, dataset.roles)]
    parts: str = st.selectbox(
        "In parts by",
        columns,
        format_func=lambda name: name or "No column",
        help="Each value is a table of its own. Of the training table only rows that "
        "no model was trained on are used: test rows, and rows outside a filter.",
        **bound("parts", _WHOLE, among=columns, meant=lambda name: name or None),
    )
    return parts or None


def pick_against(names: Sequence[str]) -> None:
    """Draw the choice of the table in detail, where there are several."""
    if len(names) > 1:
        st.segmented_control(
            "Compare the reference with",
            names,
            required=True,
            format_func=plain,
            **bound("against", names[-1], among=names),
        )


def _sample_of(dataset_id: str) -> Sample | None:
    """Return the sample that a data set is, where it has a drifted companion."""
    name = store().dataset_record(dataset_id).table_name
    found = (one for one in SAMPLES.values() if one.path.name == name and one.later)
    return next(found, None)


def _open_other() -> None:
    """Open the controls of the other table, as a click on them does."""
    st.session_state[_ASKED] = True
    st.rerun()


def _open_sample(sample: Sample) -> None:
    _keep_sample(sample)
    st.rerun()


def _keep_sample(sample: Sample) -> None:
    if sample.later is not None:
        path = sample.later
        digest = store().add_table(path.read_bytes(), path.name)
        choose(files=with_entry(selection().files, _ROLE, digest))


def _take_away() -> None:
    st.session_state[_TURN] = st.session_state.get(_TURN, 0) + 1
    choose(files=with_entry(selection().files, _ROLE, None), against=None)


def compare(
    question: Question, models: Sequence[Setting], data: str, run: str | None
) -> DriftResult:
    """Hold the models to the tables asked for.

    Raises ValueErrors as `fairdash.audits.drift`.
    """
    ordered = by_interest(store(), models, run)
    record = store().dataset_record(data)
    names = [table.name for table in store().tables() if table.sha256 == question.table]
    said = record.name, record.roles.spoken_outcome(), *names
    return _compared(question, ordered, data, DriftFields.here().against, said)


def means(
    question: Question, models: Sequence[Setting], data: str, run: str | None
) -> pd.DataFrame | None:
    """Return the means over the seeds of the model, if the reader asks for them."""
    if DriftFields.here().single is not False or len(question.model.seeds) < 2:
        return None
    return _over_seeds(question, by_interest(store(), models, run), data)


@st.cache_resource(
    max_entries=8,
    show_spinner="Scoring the models of all seeds…",
    hash_funcs=BY_KEY,
)
def _over_seeds(
    question: Question, models: Sequence[Setting], data: str
) -> pd.DataFrame:
    return drift_over_seeds(store(), models, data, **_asked(question))


@st.cache_resource(
    max_entries=8,
    show_spinner="Scoring the other table…",
    hash_funcs=BY_KEY,
)
def _compared(
    question: Question,
    models: Sequence[Setting],
    data: str,
    against: str | None,
    said: tuple[str, ...],
) -> DriftResult:
    """Return the comparison; it calls tables and outcome what they are called now."""
    asked = _asked(question) | {"seed": question.seed, "against": against}
    return drift(store(), models, data, **asked)


def _asked(question: Question) -> dict[str, Any]:
    """Return what one seed and the means over seeds are both asked."""
    return {
        "main": question.model,
        "subgroups": question.subgroups,
        "measure": question.measure,
        "other": None if question.table is None else other_table(question.table),
        "parts": question.parts,
    }


def pick_tables(found: DriftResult, seeds: Sequence[int]) -> None:
    """Draw the choice of the table in detail, and of one seed or means over seeds."""
    pick_against([table.name for table in found.tables[1:]])
    if len(seeds) > 1:
        st.toggle(
            f"Means over {len(seeds)} seeds",
            help="The models of all seeds, with intervals over seeds: what split and "
            "training make of them. The evidence is of one seed.",
            **bound(
                "single",
                False,
                shown=lambda single: single is False,
                meant=lambda asked: False if asked else None,
            ),
        )


def show_gaps(found: DriftResult) -> None:
    """Draw the gaps by subgroup before and after."""
    show_answer(found.gap_answer(), "gap changes")


def show_shifts(found: DriftResult) -> None:
    """Draw the shift of every column."""
    shifts = found.shift_answer().table
    assert shifts is not None, "every comparison has columns"
    heading(shifts.title, shifts.how)
    tenth = st.column_config.NumberColumn(format="%.1f")
    shares = {str(name): tenth for name in shifts.frame if str(name).endswith("(%)")}
    bar = st.column_config.ProgressColumn(format="%.3f", min_value=0, max_value=1)
    show_table(shifts.frame, columns={**shares, "Shift": bar})
