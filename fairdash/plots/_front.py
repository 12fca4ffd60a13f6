"""The front of a sweep: what accuracy costs in fairness, method by method."""

import math
from collections.abc import Callable
from typing import NamedTuple

import pandas as pd

from fairdash._escaping import in_lines
from fairdash._metric_names import (
    ACCURACY,
    METRIC_NAMES,
    ODDS,
    OPPORTUNITY,
    PARITY,
    WORST,
)
from fairdash._wording import floor_words, gap_size, limit_words, number, percent
from fairdash.plots import theme
from fairdash.plots._rows import chance_alone, records, scatter, upright_line


class Axis(NamedTuple):
    """Style of a metric along an axis: how it is written, and where it is fairer."""

    style: Callable[[float], str]
    fairer: str = ""

    def title(self, name: str, unit: str = "") -> str:
        """Return the name with its unit and the direction of fairer models."""
        return f"{name}{unit} ({self.fairer})" if self.fairer else f"{name}{unit}"


_GAP = Axis(gap_size, "← fairer")
METRICS = {
    ACCURACY: Axis(percent),
    WORST: _GAP,
    PARITY: _GAP,
    "worst_2_di": _GAP,
    "worst_3_di": _GAP,
    ODDS: _GAP,
    OPPORTUNITY: _GAP,
    "demographic_parity_ratio": Axis(number, "fairer →"),
    "balanced_accuracy": Axis(percent),
    "auc": Axis(number),
    "log_loss": Axis(number),
}


def metric_words(metric: str, value: float) -> str:
    """Return a value as the screen writes that metric: 65.1%, 14.4 pt or 0.144."""
    return METRICS[metric].style(value)


def plot_front(
    models: pd.DataFrame,
    *,
    axes: tuple[str, str] = (WORST, ACCURACY),
    limit: float = 0.05,
    limited: str = PARITY,
    n_seeds: int = 1,
    chance: float = float("nan"),
    own: pd.DataFrame | None = None,
) -> theme.Picture:
    """Draw one mark per model, and the front of each method as steps.

    Its figure has first one trace of marks per method, in order of appearance and with
    the rows of ``models`` that decide in their order; then fronts and own models.

    Parameters
    ----------
    models : DataFrame
        One row per setting: label, method (as on screen), colour_role, x, y, within and
        within_test (keeps the limit on validation and on test rows), constant (does not
        decide, so it is not drawn), alike (of these: accepts all or none, or nearly
        so), guessing_test (not clearly better than guessing on test rows), front (lies
        on its method's front), line (a corner of the line drawn); and, if known, quiet
        (not beyond chance from the plain model).
    axes : pair of str
        Metrics along x and y, see `METRICS`.
    limit : float
        On the gap ``limited``: a line where that is across, and in words.
    n_seeds : int
        Seeds whose mean is drawn.
    own : DataFrame, optional
        One row per model of the reader's own: label, colour_role, x, y.
    """
    gap = METRIC_NAMES[limited]
    the_limit = f"the {limit_words(limit, gap)}"
    # Sweeps of earlier versions do not have these columns.
    defaults = dict.fromkeys(("quiet", "alike", "guessing_test"), False)
    for name in defaults:
        if name not in models:
            models = models.assign(**{name: False})
    drawn = models[~models["constant"].astype(bool)]
    # Marks of all methods come before any line, as promised above.
    methods = list(dict.fromkeys(drawn["method"]))
    data: list[theme.Spec] = []
    for method in methods:
        data.append(_marks(drawn[drawn["method"] == method], axes, the_limit))
    for method in methods:
        of_method = drawn[(drawn["method"] == method) & drawn["line"]]
        if len(of_method):
            data.append(_line(of_method.sort_values("x")))
    own_models = models.iloc[:0] if own is None else own
    own_models = own_models.assign(
        method=own_models["label"], within=True, front=True, **defaults
    )
    for i in range(len(own_models)):
        data.append(_marks(own_models.iloc[[i]], axes, the_limit))
    across = drawn["x"].tolist()
    if axes[0] == limited:
        across.append(limit)
    widest = max((x for x in across if math.isfinite(x)), default=math.nan)
    layout: theme.Spec = {
        "xaxis": _axis(axes[0], widest) | {"showgrid": True},
        "yaxis": _axis(axes[1], drawn["y"].max()),
    }
    layout |= chance_alone(chance, chance, xanchor="right", xshift=-4)
    if axes[0] == limited:
        layout |= _limit_line(limit)
    table = models.drop(columns=["colour_role", "line", "quiet"])
    if len(own_models):
        rows = own_models[["label", "x", "y"]].assign(method="own scores")
        table = pd.concat([table, rows], ignore_index=True)
    return theme.Picture(
        theme.finish(data, layout, height=420, legend=True),
        _headline(models, limit, gap),
        _description(models, axes, own_models, the_limit),
        table,
        _caption(models, n_seeds, chance, the_limit),
    )


def _limit_line(limit: float) -> theme.Spec:
    """Return the shapes and the note of a limit on the gap along x."""
    colour = theme.fade(theme.INK, 0.6)
    line = upright_line(limit, color=colour, width=1.5, dash="dash")
    note = theme.text(
        f"limit {gap_size(limit)}",
        theme.INK,
        x=limit,
        xanchor="left",
        xshift=4,
        y=0,
        yref="y domain",
        yanchor="bottom",
    )
    return {"shapes": [line | {"layer": "below"}], "annotations": [note]}


def _headline(models: pd.DataFrame, limit: float, gap: str) -> str:
    if models["constant"].all():
        return "No setting decides on these rows"
    within = int(models["within"].sum())
    on_test = int(models["within_test"].sum())
    return (
        f"{within} of {len(models)} keep the {gap} within {gap_size(limit)} on "
        f"validation, {on_test} on test rows"
    )


def _description(
    models: pd.DataFrame,
    axes: tuple[str, str],
    own_models: pd.DataFrame,
    the_limit: str,
) -> str:
    parts = []
    for method in dict.fromkeys(models["method"]):
        of_method = models[(models["method"] == method) & models["front"]]
        if not len(of_method):
            parts.append(f"{method}: no model within {the_limit}")
            continue
        ends = of_method.sort_values("x").iloc[[0, -1]]
        values = " to ".join(
            f"{metric_words(axes[0], end['x'])} at {metric_words(axes[1], end['y'])}"
            for end in records(ends)
        )
        parts.append(f"{method}: {values}")
    parts += [", ".join(_values(row, axes)) for row in records(own_models)]
    across, up = (METRICS[metric].title(METRIC_NAMES[metric]) for metric in axes)
    names = f"{up} against {across}"
    return f"Fronts of {names}. {'; '.join(parts)}."


def _caption(models: pd.DataFrame, n_seeds: int, chance: float, the_limit: str) -> str:
    drawn = f"Means of {n_seeds} seeds" if n_seeds > 1 else "One seed"
    words = f"{drawn}, on test rows. Filled: fronts. Open: over {the_limit}."
    if models["quiet"].any():
        words += " Pale: not beyond chance from the plain model."
    if math.isfinite(chance):
        words += f" {floor_words(models['label'].iloc[0])}"
    idle = models[models["constant"].astype(bool)]
    uniform = idle["alike"].astype(bool)
    for reason, n in (
        ("accept all or none, or nearly so", int(uniform.sum())),
        ("are not clearly better than guessing", int((~uniform).sum())),
    ):
        if n:
            words += f" Not drawn, because they {reason}: {n}."
    on_test = models[~models["constant"].astype(bool)]["guessing_test"].astype(bool)
    if on_test.any():
        words += f" Not clearly better than guessing on test rows: {on_test.sum()}."
    return words


def _marks(
    of_method: pd.DataFrame, axes: tuple[str, str], the_limit: str
) -> theme.Spec:
    colour, symbol = _mark(of_method)
    rows = records(of_method)
    sizes = [10 if row["front"] else 7 for row in rows]
    shades = [_shade(colour, row) for row in rows]
    return scatter(
        of_method["x"],
        of_method["y"],
        mode="markers",
        name=rows[0]["method"],
        legendgroup=rows[0]["method"],
        hover=[_hover(row, axes, the_limit) for row in rows],
        zorder=3,
        marker={
            "size": sizes,
            "color": shades,
            "symbol": [symbol + "-open" * (not row["within"]) for row in rows],
            "opacity": 1,
        },
        # A click selects a mark; by default Plotly would then fade all others.
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
    )


def _shade(colour: str, row: theme.Spec) -> str:
    if row["quiet"]:
        return theme.fade(colour, 0.25)
    if row["front"]:
        return colour
    return theme.fade(colour, 0.5)


def _line(front: pd.DataFrame) -> theme.Spec:
    colour, _ = _mark(front)
    return scatter(
        front["x"],
        front["y"],
        legendgroup=front["method"].iloc[0],
        showlegend=False,
        # Steps: between two models of a front nothing better is known.
        line={"color": colour, "width": 2, "shape": "hv"},
        hoverinfo="skip",
        zorder=2,
    )


def _mark(of_method: pd.DataFrame) -> tuple[str, str]:
    return theme.method_mark(of_method["colour_role"].iloc[0])


def _axis(metric: str, largest: float) -> theme.Spec:
    axis = METRICS[metric]
    name = METRIC_NAMES[metric]
    if axis.style is gap_size:
        return theme.gap_axis(axis.title(name, ", points"), float(largest))
    title = axis.title(name)
    if axis.style is not percent:
        return theme.value_axis(title, "~g")
    around = {"clipmin": -0.02, "clipmax": 1.02}  # no share is beyond these
    return theme.value_axis(title, ".1~%", autorangeoptions=around)


def _hover(row: theme.Spec, axes: tuple[str, str], the_limit: str) -> str:
    notes = [] if row["within"] else [f"over {the_limit}"]
    if row["quiet"]:
        notes.append("not beyond chance from the plain model")
    if row["guessing_test"]:
        notes.append("not clearly better than guessing")
    return in_lines(*_values(row, axes), *notes)


def _values(row: theme.Spec, axes: tuple[str, str]) -> list[str]:
    values = [
        f"{METRIC_NAMES[metric]} {metric_words(metric, row[axis])}"
        for metric, axis in zip(axes, "xy", strict=True)
    ]
    return [row["label"], *values]
