"""By subgroup: gaps of up to four models."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd

from fairdash._escaping import coloured, in_lines
from fairdash._wording import ROWS, Noun, gap_size, group_label, interval, number
from fairdash.plots import theme
from fairdash.plots._rows import (
    UNDER_POINTER,
    Panel,
    Series,
    draw_rows,
    marks_of,
    offsets,
    reasons_of,
    records,
    strokes,
)

MOST_MODELS = 4
_LOWEST = 240  # pixels
_PLANTED = "planted gap (truth)"
_SPLIT = (0.76, 0.83)  # where gaps end and the counts begin
_BELOW = 44  # pixels to the names of groups
_LINE = 16  # pixels of one of them


def plot_local_di(
    table: pd.DataFrame,
    values: pd.DataFrame,
    models: pd.DataFrame,
    *,
    groups: tuple[str, ...],
    chance: float = float("nan"),
    symbol: str = "P(ŷ = 1)",
    feature: str = "",
    truth: Mapping[str, float] = MappingProxyType({}),
    points: bool = True,
    said: str = "",
    worse_off: pd.DataFrame | None = None,
    noun: Noun = ROWS,
) -> theme.Picture:
    """One row per subgroup, one mark per model, row counts by group beside.

    The figure has per model a trace of marks with intervals and a dashed line at its
    gap over all rows, then a bar trace of counts per group. Of two groups a mark is
    filled with the colour of the one that is worse off, and hollow where that is not
    clear; its edge has the colour of the model.

    Parameters
    ----------
    table : DataFrame
        Of ``fairdash.metrics.views.gap_table``, with a column "label" that names the
        model. The subgroups of the first model set the rows.
    values : DataFrame
        Of ``fairdash.metrics.views.value_table``, with the column "label".
    models : DataFrame
        label, colour_role, overall (the gap over all rows), and constant if known: one
        row per model, in the order of drawing; at most four. The last is looked at.
    symbol : str
        What is compared between groups.
    truth : mapping, optional
        The true gap in people's decisions in planted subgroups of a sample, a quiet
        mark in their rows.
    points : bool
        Whether gaps are of shares, and so in percentage points.
    said : str
        The subgroup that the verdict names; its name is bold.
    worse_off : DataFrame, optional
        label, subgroup, group: who is worse off where that is clear. With three and
        more groups a gap has no one direction, and models keep their fill.
    noun : Noun
        What is counted: rows, or the people that rows of counts stand for.
    """
    style = gap_size if points else number
    labels = models["label"].tolist()
    if not 1 <= len(labels) <= MOST_MODELS:
        raise ValueError(f"`models` must have 1 to {MOST_MODELS} rows.")
    first = table[table["label"] == labels[0]]
    subgroups = first["subgroup"].astype(str).tolist()
    rows = {name: row for row, name in enumerate(subgroups)}
    fills = _fills(worse_off, groups)
    colours = theme.model_marks(models["colour_role"].tolist())
    series = []
    marks = []
    for i, (model, (colour, mark), aside) in enumerate(
        zip(records(models), colours, offsets(len(labels)), strict=True)
    ):
        label = model["label"]
        overall = float(model["overall"])
        words = f"all rows {style(overall)}"
        series.append(
            Series(
                f"{label} · {words}",
                colour,
                mark,
                reference=overall,
                reference_words=f"{label}: {words}",
            )
        )
        of_model = table[table["label"] == label]
        marks.append(
            marks_of(
                of_model,
                "gap",
                ("ci_low", "ci_high"),
                _hover(values[values["label"] == label], groups, symbol, style, noun),
                series=i,
                aside=aside,
                rows=[rows[name] for name in of_model["subgroup"].astype(str)],
            )
        )
        if fills is not None:
            places = of_model["subgroup"].astype(str)
            fill = [fills.get((label, place), theme.PAPER) for place in places]
            marks[-1]["fill"] = fill
    # The axis has room for all that is drawn on it.
    planted = [gap for name, gap in truth.items() if name in subgroups]
    ends = [
        table["ci_high"].max(),
        models["overall"].max(),
        1.1 * chance,
        *planted,
    ]
    top = 1.05 * max((float(end) for end in ends if np.isfinite(end)), default=0.0)
    counts = values[values["label"] == labels[0]]

    def more_traces(places: list[float]) -> list[theme.Spec]:
        place_of = dict(zip(subgroups, places, strict=True))
        traces = _counts(counts, place_of, groups, feature, noun)
        traces += _true_gaps(place_of, truth)
        if fills is not None:
            traces += _fill_keys(groups, feature)
        return traces

    title = f"gap in {symbol}"
    across = theme.Spec(showgrid=True, range=[0, top])
    across |= {"domain": [0, _SPLIT[0]]}
    if points:
        axis = theme.gap_axis(f"{title}, points", top, **across)
    else:
        axis = theme.value_axis(title, ",.3~r", **across)

    figure = draw_rows(
        pd.concat(marks, ignore_index=True),
        subgroups,
        series,
        [Panel(axis, chance, style=style)],
        reasons=reasons_of(first),
        emphasised=said,
        grouped=True,
        extra=more_traces,
        layout=_beside(groups, feature, noun),
        least=20 + 4 * len(labels),
        around=70 + _BELOW + _LINE * len(groups),
        lowest=_LOWEST,
        bottom=_BELOW + _LINE * len(groups),
        legend=True,
    )
    return theme.Picture(
        figure,
        f"Gaps by subgroup of {labels[-1]}",
        _describe(table, models, style),
        table,
    )


def _describe(
    table: pd.DataFrame, models: pd.DataFrame, style: Callable[[float], str]
) -> str:
    parts = []
    for row in records(models):
        estimable = table[(table["label"] == row["label"]) & table["estimable"]]
        worst = "no estimable subgroup"
        if len(estimable):
            cell = estimable.loc[estimable["gap"].idxmax()]
            ends = interval(cell["ci_low"], cell["ci_high"], style)
            worst = f"worst for {cell['subgroup']}, {style(cell['gap'])} ({ends})"
        parts.append(f"{row['label']}: {worst}, over all rows {style(row['overall'])}")
    return f"Gaps of subgroups with 95% intervals. {'; '.join(parts)}."


def _fills(
    worse_off: pd.DataFrame | None, groups: tuple[str, ...]
) -> dict[tuple[str, str], str] | None:
    """Return by model and subgroup the colour of the group that is worse off."""
    if worse_off is None or len(groups) != 2:
        return None
    colours = theme.group_colours(groups)
    fills = {}
    for row in records(worse_off):
        fills[str(row["label"]), str(row["subgroup"])] = colours[row["group"]]
    return fills


def _fill_keys(groups: tuple[str, ...], feature: str) -> list[theme.Spec]:
    """Return the legend's entries of the fills: marks that stand nowhere."""
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "x": [None],
            "y": [None],
            "marker": {"color": colour, "size": 10, "symbol": "square"},
            "name": f"filled: {group_label(feature, group)} worse off",
            "showlegend": True,
        }
        for group, colour in theme.group_colours(groups).items()
    ]


def _hover(
    cells: pd.DataFrame,
    groups: tuple[str, ...],
    symbol: str,
    style: Callable[[float], str],
    noun: Noun,
) -> Callable[[theme.Spec], str]:
    values = cells.set_index(["subgroup", "group"])["value"]

    def hover(row: theme.Spec) -> str:
        if not row["estimable"]:
            return ""
        of_subgroup = values.loc[row["subgroup"]]
        of_groups = ", ".join(
            f"{group} {number(of_subgroup[group])}" for group in groups
        )
        ends = interval(row["ci_low"], row["ci_high"], style)
        gap = f"{style(row['gap'])} ({ends}), {noun.counted(round(row['n']))}"
        if len(groups) > 2:
            gap += f"; lowest {of_subgroup.idxmin()}, highest {of_subgroup.idxmax()}"
        return in_lines(f"{row['subgroup']}: {gap}", f"{symbol}: {of_groups}")

    return hover


def _true_gaps(
    places: dict[str, float], truth: Mapping[str, float]
) -> list[theme.Spec]:
    drawn = {name: gap for name, gap in truth.items() if name in places}
    if not drawn:
        return []
    hover = [f"true gap {gap_size(gap)}" for gap in drawn.values()]
    at = [places[name] for name in drawn]
    return [strokes([*drawn.values()], at, _PLANTED, hover)]


def _counts(
    cells: pd.DataFrame,
    places: dict[str, float],
    groups: tuple[str, ...],
    feature: str,
    noun: Noun,
) -> list[theme.Spec]:
    bars = []
    for group, colour in theme.group_colours(groups).items():
        of_group = cells[cells["group"] == group]
        label = group_label(feature, group)
        bars.append(
            {
                "type": "bar",
                "orientation": "h",
                "x": of_group["n"].tolist(),
                "y": [places[name] for name in of_group["subgroup"].astype(str)],
                "xaxis": "x2",
                "width": 0.5,
                "marker": {"color": colour, "line": {"width": 0}},
                "name": label,
                "showlegend": False,
                "hovertext": [f"{label}: {noun.counted(n)}" for n in of_group["n"]],
                "hovertemplate": UNDER_POINTER,
            }
        )
    return bars


def _beside(groups: tuple[str, ...], feature: str, noun: Noun) -> theme.Spec:
    axis = theme.value_axis(noun.several, ",d", nticks=2, tickangle=0, showgrid=False)
    named = [
        coloured(group_label(feature, name), "■", colour)
        for name, colour in theme.group_colours(groups).items()
    ]
    place: theme.Spec = {"xref": "paper", "x": 1, "xanchor": "right", "align": "right"}
    place |= {"yref": "paper", "y": 0, "yanchor": "top", "yshift": -_BELOW}
    return {
        "xaxis2": axis | {"domain": [_SPLIT[1], 1], "anchor": "y"},
        "barmode": "stack",
        "annotations": [theme.text(in_lines(*named), **place)],
    }
