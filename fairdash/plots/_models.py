"""Models side by side: accuracy, DI and Worst-1-DI with intervals."""

import math

import pandas as pd

from fairdash._deciding import Deciding
from fairdash._escaping import bold, wrap
from fairdash._metric_names import MAIN, PARITY, WORST, metric_title
from fairdash._wording import gap_size, interval, percent
from fairdash.plots._rows import Panel, Series, draw_rows, marks_of, records
from fairdash.plots.theme import Picture, Spec, gap_axis, model_marks, value_axis


def plot_comparison(table: pd.DataFrame) -> Picture:
    """Three panels with one row per model.

    The figure has per model and panel one trace of a mark, its value above.

    Parameters
    ----------
    table : DataFrame
        label, colour_role, what `Deciding.of` takes, and accuracy,
        demographic_parity_difference, worst_1_di, each with ``_low`` and ``_high``:
        rows of ``fairdash.metrics.evaluate``, or of ``summarise_seeds``. The first row
        stands on top.
    """
    series: list[Series] = []
    marks = []
    panels = []
    for panel, metric in enumerate(MAIN):
        title = metric_title(metric)
        share = metric == "accuracy"
        domain = [0.36 * panel, 0.36 * panel + 0.28]
        axis: Spec = {"nticks": 3, "tickangle": 0, "showgrid": True, "domain": domain}
        if share:
            low = table[f"{metric}_low"].min()
            high = table[f"{metric}_high"].max()
            axis = value_axis("", ".2~%", tickvals=_two_ticks(low, high), **axis)
        else:
            largest = float(table[f"{metric}_high"].max())
            axis = gap_axis("", largest, rangemode="tozero", **axis)
        panels.append(Panel(axis, words=bold(wrap(title, 12))))
        words = [_value(row, metric) for row in records(table)]

        # As defaults: the values of this turn of the loop.
        def hover(row: Spec, metric: str = metric, title: str = title) -> str:
            return f"{title} {_value(row, metric)}, {_interval(row, metric)}"

        of_metric = marks_of(table, metric, (f"{metric}_low", f"{metric}_high"), hover)
        of_metric = of_metric.assign(words=words)
        marks.append(of_metric.assign(series=of_metric["row"] + len(series)))
        looks = model_marks(table["colour_role"].tolist())
        for label, (colour, symbol) in zip(table["label"], looks, strict=True):
            series.append(Series(label, colour, symbol, panel=panel))
    figure = draw_rows(
        pd.concat(marks, ignore_index=True),
        table["label"].astype(str).tolist(),
        series,
        panels,
        ticks=[wrap(name, 16) for name in _names(table)],
        least=64,
        around=64,
        top=46,
    )
    headline = "Accuracy and gaps with 95% intervals"
    return Picture(figure, headline, _describe(table), table)


def _two_ticks(low: float, high: float) -> list[float]:
    """Return two round numbers within a span; Plotly may find room for one only."""
    if low == high:
        return [low]
    if not high > low:  # NaN
        return []
    step = 10 ** math.floor(math.log10((high - low) / 2))
    return [step * math.ceil(low / step), step * math.floor(high / step)]


def _describe(table: pd.DataFrame) -> str:
    models = []
    for row in records(table):
        models.append(
            f"{row['label']}: accuracy {_value(row, 'accuracy')}, "
            f"gap {_value(row, PARITY)}, "
            f"largest local gap {_value(row, WORST)} ({_interval(row, WORST)})"
        )
    return f"Models with 95% intervals. {'; '.join(models)}."


def _names(table: pd.DataFrame) -> list[str]:
    """Return the labels of models, with a note on those that do not decide."""
    names = []
    for row in records(table):
        note = Deciding.of(row).mark()
        names.append(f"{row['label']} ({note})" if note else row["label"])
    return names


def _value(row: Spec, metric: str) -> str:
    return percent(row[metric]) if metric == "accuracy" else gap_size(row[metric])


def _interval(row: Spec, metric: str) -> str:
    style = percent if metric == "accuracy" else gap_size
    return interval(row[f"{metric}_low"], row[f"{metric}_high"], style)
