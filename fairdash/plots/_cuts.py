"""The largest gap of models by every way to cut subgroups, each with its chance."""

import numpy as np
import pandas as pd

from fairdash._wording import gap_size, interval, number
from fairdash.plots._rows import Panel, Series, draw_rows, marks_of, offsets, records
from fairdash.plots.theme import MUTED, Picture, Spec, gap_axis, model_marks, value_axis


def plot_cuts(table: pd.DataFrame, *, points: bool = True) -> Picture:
    """One row per cut, a mark per model; a stroke where chance alone ends.

    ``table`` is of `fairdash.audits.gaps.over_cuts`, ``points`` says whether gaps are
    of shares.
    """
    style = gap_size if points else number
    cuts = list(dict.fromkeys(table["cut"]))
    models = table.drop_duplicates("model")
    looks = model_marks(models["colour_role"].tolist())

    def words(row: Spec) -> str:
        ends = interval(row["low"], row["high"], style)
        chance = f"by chance up to {style(row['chance'])}"
        return (
            f"{row['model']}, {row['cut']}, {row['n_subgroups']} subgroups: largest "
            f"gap {style(row['gap'])} ({ends or 'no interval'}), {chance}"
        )

    marks: list[pd.DataFrame] = []
    series: list[Series] = []
    shifts = offsets(len(models))
    for name, (colour, symbol), aside in zip(
        models["model"], looks, shifts, strict=True
    ):
        of_model = table[table["model"] == name]
        rows = [cuts.index(cut) for cut in of_model["cut"]]
        position: Spec = {"rows": rows, "aside": aside}
        # Strokes first, so that marks lie on top. The legend names them once.
        stroke = Series("by chance", MUTED, "line-ns-open", 12, named=not marks)
        for column, ends, look in (
            ("chance", None, stroke),
            ("gap", ("low", "high"), Series(str(name), colour, symbol)),
        ):
            index = len(series)
            series.append(look)
            marks.append(
                marks_of(of_model, column, ends, words, series=index, **position)
            )
    largest = float(np.nanmax(table[["high", "chance", "gap"]].to_numpy(np.float64)))
    title = "largest gap inside a subgroup"
    if points:
        axis = gap_axis(f"{title}, points", largest, rangemode="tozero")
    else:
        axis = value_axis(title, rangemode="tozero")
    figure = draw_rows(
        pd.concat(marks),
        cuts,
        series,
        [Panel(axis | {"showgrid": True})],
        legend=True,
        top=40,
    )
    described = "; ".join(words(row) for row in records(table))
    return Picture(
        figure,
        _headline(table),
        f"Largest gap by {len(cuts)} ways to cut subgroups. {described}.",
        table.drop(columns="colour_role"),
        "Largest gap among the subgroups of each cut, 95% intervals, mean over seeds; "
        "strokes: what a fair model stays below in 95% of cases.",
    )


def _headline(table: pd.DataFrame) -> str:
    last = table[table["model"] == table["model"].iloc[-1]]
    beyond = int((last["gap"] > last["chance"]).sum())
    return f"Beyond chance by {beyond} of {len(last)} cuts"
