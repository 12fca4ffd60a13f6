"""Models side by side: accuracy, DI and Worst-1-DI with intervals."""

import pandas as pd

from fairdash._wording import between, number, percent, wrap
from fairdash.plots._rows import (
    Panel,
    Series,
    draw_rows,
    marks_of,
    records,
)
from fairdash.plots.theme import (
    Picture,
    Spec,
    model_marks,
    value_axis,
)

PANELS = {
    "accuracy": "Accuracy",
    "demographic_parity_difference": "Gap",
    "worst_1_di": "Largest local gap",
}


def plot_comparison(table: pd.DataFrame) -> Picture:
    """Three panels with one row per model.

    The figure has per model and panel one trace of a mark, its value above.

    Parameters
    ----------
    table : DataFrame
        label, colour_role, constant (1 for a model that decides alike for everyone),
        and accuracy, demographic_parity_difference, worst_1_di, each with ``_low`` and
        ``_high``: rows of ``fairdash.metrics.evaluate``, or of ``summarise_seeds``. The
        first row stands on top.
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
    headline = "Accuracy and gaps with 95% intervals"
    return Picture(figure, headline, _describe(table), table)


def _describe(table: pd.DataFrame) -> str:
    """Alt text: the three numbers of every model."""
    models = "; ".join(
        f"{row['label']}: accuracy {percent(row['accuracy'], 1)}, "
        f"gap {number(row['demographic_parity_difference'])}, "
        f"largest local gap {number(row['worst_1_di'])} "
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


def _interval(row: Spec, metric: str) -> str:
    low, high = row[f"{metric}_low"], row[f"{metric}_high"]
    if metric == "accuracy":
        return f"{percent(low, 1)}–{percent(high, 1)}"
    return between(low, high)
