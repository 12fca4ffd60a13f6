"""Noisy groups: the worst case by the share recorded wrongly."""

import pandas as pd

from fairdash._wording import in_points, percent
from fairdash.plots._rows import records, scatter, upright_line
from fairdash.plots.theme import INK, Picture, Spec, fade, finish, text, value_axis


def plot_worst_case(
    table: pd.DataFrame, *, slack: float, share: float, tolerated: float
) -> Picture:
    """Draw how much worse off a group can be, by the share recorded wrongly.

    Parameters
    ----------
    table : DataFrame
        share (from 0, in even steps) and worst, a difference of rates.
    slack : float
        The difference at which the promise breaks.
    share : float
        The share looked at.
    tolerated : float
        The share up to which the promise holds; NaN where it is broken already.
    """
    at = table.iloc[[int((table["share"] - share).abs().argmin())]]
    ring = {"color": INK, "symbol": "circle-open", "size": 14, "line": {"width": 3}}
    data = [
        scatter(
            100 * table["share"],
            100 * table["worst"],
            line={"color": INK, "width": 2.5},
            hover=[
                f"{percent(row['share'])} wrong: {in_points(row['worst'])} points worse"
                for row in records(table)
            ],
        ),
        scatter(
            100 * at["share"],
            100 * at["worst"],
            mode="markers",
            marker=ring,
            hoverinfo="skip",
        ),
    ]
    end = 100 * float(table["share"].max())
    dash: Spec = {"color": fade(INK, 0.6), "width": 1.5, "dash": "dash"}
    level = {"x0": 0, "x1": 1, "xref": "x domain", "y0": 100 * slack, "y1": 100 * slack}
    shapes: list[Spec] = [{"type": "line", "line": dash, **level}]
    allowed = text(
        f"allowed: {in_points(slack)} points",
        x=1,
        xref="x domain",
        y=100 * slack,
        xanchor="right",
        yanchor="bottom",
    )
    notes = [allowed]
    if 0 < tolerated < table["share"].max():
        shapes.append(upright_line(100 * tolerated, **dash))
        holds = text(
            f"holds up to {percent(tolerated)}",
            INK,
            x=100 * tolerated,
            xanchor="left",
            xshift=4,
            y=0,
            yref="y domain",
            yanchor="bottom",
        )
        notes.append(holds)
    ticks: Spec = {"ticksuffix": "%", "range": [0, end], "showgrid": True}
    layout: Spec = {
        "xaxis": value_axis("share of a group recorded wrongly (γ)", **ticks),
        "yaxis": {"title": "worst case, points worse", "rangemode": "tozero"},
        "shapes": shapes,
        "annotations": notes,
    }
    (row,) = records(at)
    headline = (
        f"With {percent(row['share'])} recorded wrongly a group can be "
        f"{in_points(row['worst'])} points worse off"
    )
    return Picture(
        finish(data, layout, height=400),
        headline,
        f"Worst case against the share recorded wrongly. {headline}; "
        f"{in_points(slack)} are allowed.",
        table,
    )
