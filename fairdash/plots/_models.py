"""Models side by side: accuracy, DI and Worst-1-DI with intervals."""

import numpy as np
import pandas as pd

from fairdash._wording import between, fitting, number, percent, wrap
from fairdash.plots._rows import (
    Panel,
    Series,
    change_of,
    draw_rows,
    marks_of,
    records,
    undecided,
)
from fairdash.plots._theme import (
    Picture,
    Spec,
    model_marks,
    value_axis,
)

PANELS = {
    "accuracy": "Accuracy",
    "demographic_parity_difference": "DI",
    "worst_1_di": "Worst-1-DI",
}


def plot_comparison(
    table: pd.DataFrame,
    *,
    label: str | None = None,
    changes: pd.DataFrame | None = None,
    chance: float = float("nan"),
) -> Picture:
    """Three panels with one row per model.

    The figure has per model and panel one trace of a mark, its value above.

    Parameters
    ----------
    table : DataFrame
        label, colour_role, constant (1 for a model that decides alike for everyone),
        and accuracy, demographic_parity_difference, worst_1_di, each with ``_low`` and
        ``_high``: rows of ``fairdash.metrics.evaluate``, or of ``summarise_seeds``. The
        first row stands on top.
    label : str, optional
        The model that the headline is about; else it is about all of them.
    changes : DataFrame, optional
        Of ``fairdash.metrics.compare`` of that model with the reference.
    """
    series: list[Series] = []
    marks, panels = [], []
    for panel, (metric, title) in enumerate(PANELS.items()):
        share = metric == "accuracy"
        domain = [0.36 * panel, 0.36 * panel + 0.28]
        axis: Spec = {"tickangle": 0, "showgrid": True, "domain": domain}
        axis |= {"rangemode": "normal" if share else "tozero"}
        ticks = ".1~%" if share else "~g"
        axis = value_axis("", ticks, nticks=3, **axis)
        panels.append(Panel(axis, words=f"<b>{title}</b>"))
        words = [percent(v, 1) if share else number(v) for v in table[metric]]

        def hover(row: Spec, metric: str = metric, title: str = title) -> str:
            share = metric == "accuracy"
            value = percent(row[metric], 1) if share else number(row[metric])
            return f"{title} {value}, {_interval(row, metric)}"

        own = marks_of(table, metric, (f"{metric}_low", f"{metric}_high"), hover)
        own = own.assign(words=words)
        marks.append(own.assign(series=own["row"] + len(series)))
        series += [
            Series(row["label"], colour, symbol, panel=panel)
            for row, (colour, symbol) in zip(
                records(table), model_marks(table["colour_role"].tolist()), strict=True
            )
        ]
    figure = draw_rows(
        pd.concat(marks, ignore_index=True),
        table["label"].astype(str).tolist(),
        series,
        panels,
        ticks=[wrap(name, 16) for name in _names(table)],
        least=64,
        around=48,
    )
    if label is None:
        headline = _of_all(table)
    else:
        (one,) = records(table[table["label"] == label])
        headline = _of_one(one, changes, chance)
    return Picture(figure, headline, _describe(table), table)


def _describe(table: pd.DataFrame) -> str:
    """Alt text: the three numbers of every model."""
    models = "; ".join(
        f"{row['label']}: accuracy {percent(row['accuracy'], 1)}, "
        f"DI {number(row['demographic_parity_difference'])}, "
        f"Worst-1-DI {number(row['worst_1_di'])} "
        f"({between(row['worst_1_di_low'], row['worst_1_di_high'])})"
        for row in records(table)
    )
    return f"Models with 95% intervals. {models}."


def _names(table: pd.DataFrame) -> list[str]:
    """Return the labels, those of models that do not decide marked."""
    return [
        f"{row['label']} (constant)" if row.get("constant", 0) > 0.5 else row["label"]
        for row in records(table)
    ]


def _of_one(row: Spec, changes: pd.DataFrame | None, chance: float) -> str:
    """Say what a model came to: its change from the reference, else beside chance."""
    worst = row["worst_1_di"]
    if idle := undecided(row):
        return idle
    if changes is not None:
        return _comparison(row["label"], changes)
    if np.isnan(worst):
        return "No subgroup is estimable: choose wider ones or a smaller size"
    if worst <= chance:
        return f"The largest gap, {number(worst)}, is within what chance shows"
    return f"The largest gap, {number(worst)}, is above what chance shows"


def _of_all(table: pd.DataFrame) -> str:
    """Say whether the intervals of Worst-1-DI of all models that decide overlap."""
    if len(table) == 1:
        return f"{table['label'].iloc[0]} alone"
    able = [row for row in records(table) if row.get("constant", 0) <= 0.5]
    known = [row for row in able if not np.isnan(row["worst_1_di"])]
    if len(known) < 2:
        return "Fewer than two models decide and can be compared"
    least = max(row["worst_1_di_low"] for row in known)
    if not least > min(row["worst_1_di_high"] for row in known):
        return "On the worst local gap all intervals overlap"
    best = min(known, key=lambda row: float(row["worst_1_di"]))
    return fitting(f"The smallest worst local gap is that of {best['label']}")


def _comparison(label: str, changes: pd.DataFrame) -> str:
    """Say what ``label`` changes against the reference in Worst-1-DI and accuracy."""
    worst = change_of(changes, "worst_1_di")
    accuracy = change_of(changes, "accuracy")
    if worst is None or accuracy is None:
        return "Worst-1-DI is not estimable with these subgroups"
    if not worst["clear"]:
        start = "Worst-1-DI: the intervals overlap"
    else:
        verb = "cuts" if worst["difference"] < 0 else "raises"
        amount = number(abs(worst["difference"]), 2)
        start = fitting(f"{label} {verb} Worst-1-DI by {amount}", most=40)
    points = number(100 * abs(accuracy["difference"]), 1)
    if not accuracy["clear"]:
        end = "accuracy intervals overlap"
    else:
        end = (
            f"accuracy {'falls' if accuracy['difference'] < 0 else 'rises'} {points} pt"
        )
    return fitting(f"{start}; {end}")


def _interval(row: Spec, metric: str) -> str:
    low, high = row[f"{metric}_low"], row[f"{metric}_high"]
    if metric == "accuracy":
        return f"{percent(low, 1)}–{percent(high, 1)}"
    return between(low, high)
