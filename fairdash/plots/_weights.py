"""Weights of the training rows: where they lie, how they grew, who has them."""

from typing import Protocol

import numpy as np
import pandas as pd

from fairdash._wording import (
    between,
    fitting,
    group_label,
    number,
    percent,
    plural,
)
from fairdash.plots._rows import (
    Panel,
    Series,
    band,
    dots,
    draw_rows,
    interval_bars,
    marks_of,
    numbers,
    records,
    scatter,
)
from fairdash.plots._theme import (
    INK,
    MUTED,
    Picture,
    Spec,
    fade,
    finish,
    group_colours,
    method_mark,
    text,
    value_axis,
)

_LARGEST = 26  # diameter of the largest subgroup's dot, in pixels
_GUTTER = 0.08  # between panels


class Related(Protocol):
    """What the figure asks of a ``fairdash.metrics.Correlation``."""

    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def slope(self) -> float: ...
    @property
    def intercept(self) -> float: ...


def plot_ratio_against_di(
    table: pd.DataFrame,
    *,
    colour_role: str,
    related: Related,
    reference: str = "the unconstrained model",
) -> Picture:
    """Mean weight against local DI, one dot per estimable subgroup, area by rows.

    The figure has the dots, then the line if there is one. ``table`` is of
    ``fairdash.metrics.ratio_by_subgroup``, ``reference`` whose local DI it is; the line
    is that of ``related``, none where its slope is NaN.
    """
    shown = table[table["estimable"]]
    colour = method_mark(colour_role)[0]
    names = shown["subgroup"].astype(str).tolist()
    spec = dots(
        shown["local_di"], shown["ci_low"], shown["ci_high"], [],
        colour=colour,
        symbol="circle",
        name="subgroups",
        hover=[_hover(cell) for cell in records(shown)],
    )  # fmt: skip
    spec["y"] = numbers(shown["mean_ratio"])
    ends = (shown[name] for name in ("mean_ratio", "ratio_low", "ratio_high"))
    spec["error_x"] = spec["error_x"] | {"color": fade(colour, 0.25)}
    spec["error_y"] = interval_bars(*ends, colour=fade(colour, 0.55), thickness=2)
    area = np.sqrt(shown["n"] / max(shown["n"].max(), 1))
    spec["marker"] = spec["marker"] | {"size": (_LARGEST * area).clip(8).tolist()}
    data = [spec]
    if not np.isnan(related.slope):
        x = [float(shown["local_di"].min()), float(shown["local_di"].max())]
        data.append(
            scatter(
                x,
                [related.intercept + related.slope * value for value in x],
                line={"color": INK, "width": 1.5},
                hoverinfo="skip",
            )
        )
    one: Spec = {"type": "line", "x0": 0, "x1": 1, "y0": 1, "y1": 1}
    one |= {"xref": "x domain", "line": {"color": MUTED, "width": 1, "dash": "dot"}}
    layout: Spec = {
        "xaxis": value_axis(f"local DI of {reference}", ".2f", rangemode="tozero"),
        "yaxis": {"title": "mean weight r", "nticks": 6},
        "shapes": [one],
        "annotations": _extremes(shown, names),
    }
    return Picture(
        finish(data, layout, height=380, top=20),
        _correlation(related.low, related.high),
        _describe_related(table, related),
        table,
        "One dot per subgroup of the training rows, area by rows, 95% intervals on "
        "both axes; line: least squares.",
    )


def _describe_related(table: pd.DataFrame, related: Related) -> str:
    """Alt text: the correlation and the subgroup with the largest mean weight."""
    shown = table[table["estimable"]]
    start = f"Mean weight against local DI of {len(shown)} subgroups: correlation "
    start += f"{number(related.value, 2)} ({between(related.low, related.high, 2)})"
    if shown.empty:
        return f"{start}."
    top = max(records(shown), key=lambda cell: float(cell["mean_ratio"]))
    where = f"largest mean weight {number(top['mean_ratio'], 2)} for {top['subgroup']}"
    return f"{start}; {where}, whose local DI is {number(top['local_di'])}."


def plot_ratio_by_epoch(
    table: pd.DataFrame, *, groups: tuple[str, ...], feature: str = ""
) -> Picture:
    """Median of r by epoch with bands of 50 % and 90 % of the rows, a panel per group.

    The figure has per group the wide band, the narrow band and the median. ``table`` is
    of ``fairdash.metrics.ratio_quantiles``.
    """
    data: list[Spec] = []
    layout: Spec = {"yaxis": {"title": "weight r", "rangemode": "tozero", "nticks": 6}}
    layout["annotations"] = []
    width = (1 - _GUTTER * (len(groups) - 1)) / len(groups)
    for panel, (name, colour) in enumerate(group_colours(groups).items()):
        axis = f"x{panel + 1}" if panel else "x"
        left = panel * (width + _GUTTER)
        rows, label = table[table["group"] == name], group_label(feature, name)
        for low, high, opacity in (("q05", "q95", 0.2), ("q25", "q75", 0.4)):
            ends, look = (rows[low], rows[high]), fade(colour, opacity)
            data.append(band(rows["epoch"].tolist(), *ends, look, xaxis=axis))
        data.append(
            scatter(
                rows["epoch"].tolist(),
                rows["q50"],
                name=label,
                xaxis=axis,
                line={"color": colour, "width": 2},
                hover=[
                    f"{label}, epoch {epoch}: median {number(median, 2)}"
                    for epoch, median in zip(rows["epoch"], rows["q50"], strict=True)
                ],
            )
        )
        layout[f"xaxis{axis[1:]}"] = value_axis(
            "epoch", nticks=3, domain=[left, left + width], anchor="y"
        )
        place: Spec = {
            "xref": f"{axis} domain",
            "yref": "y domain",
            "yanchor": "bottom",
        }
        layout["annotations"].append(
            text(f"<b>{label}</b>", colour, x=0, y=1, yshift=4, **place)
        )
    return Picture(
        finish(data, layout, height=380),
        _spread(table, feature),
        _describe_epochs(table, feature),
        table,
        "Median with 50% and 90% bands of r by epoch.",
    )


def _describe_epochs(table: pd.DataFrame, feature: str) -> str:
    """Alt text: where 90 % of the weights of each group end."""
    last = table[table["epoch"] == table["epoch"].max()]
    parts = [
        f"{group_label(feature, row['group'])} {between(row['q05'], row['q95'], 2)}"
        for row in records(last)
    ]
    epoch = f"At epoch {table['epoch'].max():,} 90% of the weights lie in"
    return f"Weights r by epoch and group. {epoch} {', '.join(parts)}."


def plot_traits(
    table: pd.DataFrame, *, colour_role: str, share: float, n_rows: int
) -> Picture:
    """Share of each trait among all rows and among the top rows.

    The figure has ticks for all rows, dots with Wilson intervals for the top rows.
    ``table`` is of ``fairdash.metrics.traits``; the top is ``share`` of the rows,
    ``n_rows`` of them.
    """
    everybody = marks_of(
        table,
        "share_all",
        None,
        lambda row: f"{percent(row['share_all'], 1)} of all rows",
    )
    top = marks_of(
        table,
        "share_top",
        ("ci_low", "ci_high"),
        lambda row: f"{percent(row['share_top'], 1)} of the top rows",
        series=1,
    )
    series = [
        Series("all rows", INK, "line-ns", 12),
        Series(
            f"rows with the largest {percent(share, 1)} of r",
            method_mark(colour_role)[0],
        ),
    ]
    axis = value_axis("share of rows", ".1~%", range=[-0.01, 1.02], showgrid=True)
    figure = draw_rows(
        pd.concat([everybody, top], ignore_index=True),
        table["trait"].astype(str).tolist(),
        series,
        [Panel(axis)],
        least=34,
        around=93,
        legend=True,
    )
    return Picture(
        figure,
        _traits(table),
        _describe_traits(table),
        table,
        f"{plural(n_rows, 'row')} with the largest r; 95% Wilson intervals hold for "
        "all values at once.",
    )


def _describe_traits(table: pd.DataFrame) -> str:
    """Alt text: the three traits that gain most."""
    parts = [
        f"{row['trait']} {percent(row['share_top'], 0)}, "
        f"not {percent(row['share_all'], 0)}"
        for row in records(table.head(3))
    ]
    return f"Share among the rows with the largest r and among all: {'; '.join(parts)}."


def _correlation(low: float, high: float) -> str:
    """Say whether weights went where the gaps are, beyond the interval."""
    if np.isnan(low) or np.isnan(high):
        return "Too few subgroups to relate weights and gaps"
    if low > 0:
        return "Larger weights lie where the gaps are larger"
    if high < 0:
        return "Larger weights lie where the gaps are smaller"
    return "No clear link of weights and gaps: the interval covers 0"


def _spread(table: pd.DataFrame, feature: str) -> str:
    """Say which group ends with the wider spread of r."""
    last = records(table[table["epoch"] == table["epoch"].max()])
    widest = max(last, key=lambda row: float(row["q95"] - row["q05"]))
    if widest["q95"] - widest["q05"] < 0.05:
        return "All weights are close to 1"
    ends = between(widest["q05"], widest["q95"], 1)
    return fitting(
        f"{group_label(feature, widest['group'])} rows end with the widest spread: "
        f"90% in {ends}",
        f"The widest spread of weights: 90% in {ends}",
    )


def _traits(table: pd.DataFrame) -> str:
    """Say which trait the top rows have more often, beyond its interval."""
    clear = [row for row in records(table) if row["ci_low"] > row["share_all"]]
    if not clear:
        return "The top rows are like all rows, within their intervals"
    top = clear[0]
    shares = f"{percent(top['share_top'], 0)} against {percent(top['share_all'], 0)}"
    return fitting(f"Top rows: {top['trait']}, {shares}", f"Top rows differ: {shares}")


def _hover(cell: Spec) -> str:
    weight = f"mean r {number(cell['mean_ratio'], 2)}"
    return f"{cell['subgroup']}: {weight}, local DI {number(cell['local_di'])}"


def _extremes(shown: pd.DataFrame, names: list[str]) -> list[Spec]:
    """Name the dots with the largest and the smallest mean weight."""
    if not names:
        return []
    order = np.argsort(shown["mean_ratio"].to_numpy())
    place: Spec = {"xref": "x", "yref": "y", "xanchor": "left", "xshift": 10}
    notes = []
    for i, shift in ((order[-1], 14), (order[0], -14)):
        at = {"x": float(shown["local_di"].iloc[i])}
        at["y"] = float(shown["mean_ratio"].iloc[i])
        notes.append(text(names[i], INK, yshift=shift, **at, **place))
    return notes[: len(names)]
