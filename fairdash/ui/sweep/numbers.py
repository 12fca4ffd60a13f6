"""The numbers of the settings of a sweep, and the search for one."""

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from fairdash._wording import Kpi, change, interval, number, percent, points
from fairdash.methods import CATALOG
from fairdash.results import PARITY, Sweep
from fairdash.store import RunRecord
from fairdash.sweep import BASELINE, param_columns
from fairdash.ui.sweep.controls import Controls
from fairdash.ui.sweep.point import choose
from fairdash.ui.widgets.blocks import more

_WORST = "worst_1_di"
_METRICS: tuple[tuple[str, str, Callable[[float], str]], ...] = (
    ("accuracy", "Accuracy", percent),
    (PARITY, "DI", number),
    (_WORST, "Worst-1-DI", number),
)
_FEW = 3  # seeds below which no change is called clear
_RULES = {"limits": "Most accurate", "knee": "Knee of the front"}


def setting_kpis(sweep: Sweep, method: str, limit: float) -> dict[int, list[Kpi]]:
    """Return the cards of every setting of a method, by its place.

    Accuracy, DI and Worst-1-DI on test rows, with the mean paired change from the
    unconstrained model over the seeds both have; it is coloured when over at least
    three seeds it is more than twice its standard error. And whether the limit holds.
    """
    mine = sweep.means[sweep.means["method"] == method]
    changes = _paired_changes(sweep, method)
    cards: dict[int, list[Kpi]] = {}
    for order, (place, row) in enumerate(mine.iterrows()):
        kpis = []
        for metric, label, style in _METRICS:
            name, share = f"test_{metric}", metric == "accuracy"
            delta, good = "", None
            if changes is not None:
                mean, error, n_seeds = (
                    changes[name][part].iloc[order] for part in ("mean", "sem", "count")
                )
                delta = points(mean) if share else change(mean)
                if abs(mean) > 2 * (error if n_seeds >= _FEW else inf):
                    good = bool((mean > 0) == share)
            value = style(row[name])
            kpis.append(Kpi(label, value, _spread(row, name), delta=delta, good=good))
        judged = float(row[f"validation_{PARITY}"])
        kept = "yes" if judged <= limit else "no"
        kpis.append(
            Kpi(
                "Within the limit",
                kept,
                f"DI {number(judged)} on validation",
                help=f"Whether DI on validation rows is at most {limit:g}.",
            )
        )
        cards[int(str(place))] = kpis
    return cards


def find_model(sweep: Sweep, asked: Controls, run: RunRecord) -> None:
    """Find a model on validation rows, and show what test rows say beside them."""
    with more("Find a model", icon=":material/search:"):
        rule = st.segmented_control(
            "Chosen on validation rows",
            list(_RULES),
            format_func=_RULES.__getitem__,
            default="limits",
            required=True,
            key=f"{run.id} rule",
        )
        if rule == "knee":
            st.caption(
                f"Where the front of {CATALOG[asked.method].label} bends most: beyond "
                "it a little more of one costs much of the other."
            )
            place = sweep.knee(asked.method, asked.axes, asked.limit)
            none = f"The front within DI {asked.limit:g} does not bend."
        else:
            di = st.number_input("DI at most", 0.0, 1.0, asked.limit, 0.01)
            worst = st.number_input("Worst-1-DI at most", 0.0, 1.0, 0.15, 0.01)
            place = sweep.best({PARITY: di, _WORST: worst})
            none = _nearest_limits(sweep, di)
        if place is None:
            st.markdown(none)
            return
        st.markdown(_both_parts(sweep, place))
        st.button("Show it", on_click=choose, args=(sweep, run, place))


def _nearest_limits(sweep: Sweep, di: float) -> str:
    """Return what no setting keeps, and how low a limit may be."""
    mine = sweep.means[sweep.means["method"].isin(sweep.methods)]
    gaps = mine[f"validation_{PARITY}"]
    fair = mine[gaps <= di]
    if fair.empty:
        least = number(gaps.min())
        return f"No setting keeps this DI on validation rows; the least is {least}."
    least = number(fair[f"validation_{_WORST}"].min())
    both = "No setting keeps both on validation rows"
    return f"{both}; with this DI Worst-1-DI is {least} or more."


def _paired_changes(sweep: Sweep, method: str) -> pd.DataFrame | None:
    """Return mean, standard error and seeds of the change of every setting, in order.

    None for the unconstrained model itself, and where it was not trained.
    """
    names = [f"test_{metric}" for metric, _, _ in _METRICS]
    plain = sweep.rows[sweep.rows["method"] == BASELINE].drop_duplicates("seed")
    if method == BASELINE or plain.empty:
        return None
    mine = sweep.rows[sweep.rows["method"] == method]
    before = plain.set_index("seed")[names].reindex(mine["seed"])
    apart = mine[names] - before.to_numpy()
    params = [mine[name] for name in param_columns(sweep.rows)]
    groups = apart.groupby(params, sort=False, dropna=False)
    return groups.agg(["mean", "sem", "count"])


def _spread(row: "pd.Series[Any]", name: str) -> str:
    spread = row[f"{name}_sd"]
    if np.isnan(spread):
        return "one seed"
    share = name.endswith("_accuracy")
    return f"± {100 * spread:.1f}" if share else f"± {number(spread)}"


def _both_parts(sweep: Sweep, place: int) -> str:
    """Return a table of what validation and test rows say of a setting."""
    row = sweep.means.iloc[place]
    lines = [f"**{sweep.models[place].label}**", "", "| | validation | test |"]
    lines += ["|---|---|---|"]
    for metric, label, style in _METRICS:
        parts = []
        for name in (f"validation_{metric}", f"test_{metric}"):
            spread = _spread(row, name)
            if np.isnan(row[f"{name}_sd"]):
                spread = f"({interval(row[f'{name}_low'], row[f'{name}_high'], style)})"
            parts.append(f"{style(row[name])} {spread}")
        lines.append(f"| {label} | {' | '.join(parts)} |")
    return "\n".join(lines)
