"""What Drift says: fronts per table, change by subgroup, shifts of columns."""

from collections.abc import Sequence

import streamlit as st

from fairdash import plots
from fairdash.audits import DriftResult, drift
from fairdash.datasets import Subgroups
from fairdash.results import Setting, by_interest
from fairdash.ui.drift.form import Question, other_table, pick_against
from fairdash.ui.selection import selection
from fairdash.ui.widgets.blocks import decimals, figure, heading
from fairdash.ui.widgets.downloads import table_download
from fairdash.ui.widgets.state import store

_FRONTS = """
One mark per model and table. **Open** marks are the reference, held-out rows of the
table the models were trained on; **filled** ones the other table. Down and to the right
is worse. A line joins the two marks of a model, or the models of a method's front.

Models keep the encoding of their training rows: a new category is one they do not know.
"""
_GAPS = """
Left, the gap between the two groups that are farthest apart on the reference, inside
every subgroup: **open** there, **filled** on the other table. Right, the change; where
its interval excludes 0 it is black. Intervals of changes hold for all subgroups at
once.
"""
_DRIVERS = """
The change of the gap over all rows is exactly the sum of these. **By its gap**: the
rates inside the subgroup changed. **By its size**: more or fewer of a group are in it,
and it differs from the group as a whole. Intervals by a bootstrap, each by itself.
"""
_SHIFTS = """
Of a number the Kolmogorov-Smirnov distance (**KS**), of a category the total variation
distance (**TV**): 0 is alike, 1 has nothing in common. 95% of tables without any shift
stay below **by chance**. The adjusted p is of the KS or the chi-square test, by Holm
over the columns. **Unseen**: rows whose value no training row has; of a number, outside
the range of training rows.
"""


def compare(
    question: Question, models: Sequence[Setting], data: str, run: str | None
) -> DriftResult:
    """Hold the models to the tables asked for.

    Raises
    ------
    ValueError
        As `fairdash.audits.drift`.
    """
    ordered = by_interest(store(), models, run)
    keys = tuple(trial.key for model in ordered for trial in model.trials)
    return _compared(
        data,
        keys,
        question.model.id,
        question.subgroups.model_dump_json(),
        question.measure,
        question.seed,
        question.table,
        question.parts,
        selection().against,
        question.model,
        ordered,
    )


@st.cache_resource(max_entries=8, show_spinner="Scoring the other table…")
def _compared(
    data: str,
    keys: tuple[str, ...],
    main: str,
    subgroups: str,
    measure: str,
    seed: int,
    table: str | None,
    parts: str | None,
    against: str | None,
    _model: Setting,
    _models: Sequence[Setting],
) -> DriftResult:
    return drift(
        store(),
        _models,
        data,
        main=_model,
        subgroups=Subgroups.model_validate_json(subgroups),
        measure=measure,
        seed=seed,
        other=None if table is None else other_table(table),
        parts=parts,
        against=against,
    )


def show_points(found: DriftResult) -> None:
    """Draw accuracy against the measure, per table, and the numbers of each table."""
    figure(
        plots.plot_drift(
            found.points,
            measure=found.measure,
            tables=[table.name for table in found.tables],
            against=found.table.name,
        ),
        caption=". ".join(found.excluded),
        how=_FRONTS,
        key="drift",
        control=lambda: pick_against([table.name for table in found.tables[1:]]),
    )


def show_changes(found: DriftResult) -> None:
    """Draw the gaps by subgroup before and after, and what drives the whole."""
    figure(
        plots.plot_gap_changes(
            found.changes,
            headline=found.gap_headline(),
            caption=found.gap_caption(),
            low=found.low,
            high=found.high,
        ),
        how=_GAPS,
        key="gap changes",
    )
    heading(found.driver_headline(), _DRIVERS)
    table = found.driver_table()
    one = st.column_config.NumberColumn(format="%.1f")
    st.dataframe(
        table,
        hide_index=True,
        placeholder="–",
        column_config={str(name): one for name in table.select_dtypes("float")},
    )


def show_shifts(found: DriftResult) -> None:
    """Draw the shift of every column, and every table in numbers."""
    heading(found.shift_headline(), _SHIFTS)
    shifts = found.shift_table()
    tenth = st.column_config.NumberColumn(format="%.1f")
    shares = {str(name): tenth for name in shifts if str(name).endswith("(%)")}
    bar = st.column_config.ProgressColumn(format="%.3f", min_value=0, max_value=1)
    st.dataframe(
        shifts,
        hide_index=True,
        placeholder="–",
        column_config={**decimals(shifts), **shares, "Shift": bar},
    )
    heading(f"{found.label} on every table")
    tables = found.table_of_tables()
    st.dataframe(
        tables, hide_index=True, placeholder="–", column_config=decimals(tables)
    )
    table_download(
        "Download",
        found.points,
        "fairdash-drift.csv",
        icon=":material/download:",
        type="secondary",
    )
