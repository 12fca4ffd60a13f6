"""What the rows with the largest weights have in common."""

import pandas as pd
import plotly.graph_objects as go

from fairdash._wording import percent
from fairdash.plots._rows import dots, name_axis, numbers, records
from fairdash.plots._theme import INK, METHODS, OTHER_METHOD, Spec, finish


def plot_traits(table: pd.DataFrame, *, colour_role: str, share: float) -> go.Figure:
    """Share of each trait among all rows and among the top rows.

    Parameters
    ----------
    table : DataFrame of ``fairdash.metrics.traits``
    colour_role : str
    share : float
        How many rows are the top, for the legend.

    Returns
    -------
    Figure: ticks for all rows, dots with Wilson intervals for the top rows
    """
    names = table["trait"].tolist()
    places = [float(i) for i in range(len(names))]
    colour = METHODS.get(colour_role, OTHER_METHOD)[0]
    everybody: Spec = {
        "type": "scatter",
        "mode": "markers",
        "name": "all rows",
        "x": numbers(table["share_all"]),
        "y": places,
        "marker": {
            "symbol": "line-ns",
            "size": 12,
            "line": {"color": INK, "width": 2},
            "color": INK,
        },
        "hovertemplate": "%{x:.1%} of all rows<extra></extra>",
    }
    top = dots(
        table["share_top"], table["ci_low"], table["ci_high"], places,
        colour=colour,
        symbol="circle",
        name=f"rows with the largest {percent(share, 1)} of r",
        hovertemplate="%{x:.1%} of the top rows<extra></extra>",
    )  # fmt: skip
    layout: Spec = {
        "xaxis": {
            "title": "share of rows",
            "tickformat": ".1~%",
            "range": [-0.01, 1.02],
            "showgrid": True,
            "nticks": 6,
        },
        "yaxis": name_axis(names, places, below=0),
    }
    return finish([everybody, top], layout, height=34 * len(names) + 100, legend=True)


def describe_traits(table: pd.DataFrame) -> str:
    """Alt text: the three traits that gain most."""
    parts = [
        f"{row['trait']} {percent(row['share_top'], 0)}, "
        f"not {percent(row['share_all'], 0)}"
        for row in records(table.head(3))
    ]
    return f"Share among the rows with the largest r and among all: {'; '.join(parts)}."
