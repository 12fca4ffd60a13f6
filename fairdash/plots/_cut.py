"""A number as the outcome: how its values lie, and from where on it is positive."""

import numpy as np
import pandas as pd

from fairdash._wording import count, fitting, percent
from fairdash.plots._picture import Picture
from fairdash.plots._rows import upright_line
from fairdash.plots._theme import GROUPS, INK, MUTED, Spec, fade, finish

_BINS = 30


def plot_cut(
    values: "pd.Series[float]", positive: "pd.Series[bool]", *, cut: str, at: float
) -> Picture:
    """Histogram of a number, the rows that count as 1 in colour.

    Parameters
    ----------
    values : Series
        Missing ones are not drawn.
    positive : Series of bool
        Whether each row counts as 1.
    cut : str
        In words: "> 9.2".
    at : float
        Where the line stands.

    Returns
    -------
    Picture: the rows that count as 0, those that count as 1, in the same bins
    """
    known = values.notna().to_numpy()
    x = values.to_numpy(float, na_value=np.nan)[known]
    one = positive.to_numpy(bool)[known]
    edges = np.histogram_bin_edges(x, _BINS)
    middle = (edges[:-1] + edges[1:]) / 2
    table = pd.DataFrame({"from": edges[:-1], "to": edges[1:]})
    data: list[Spec] = []
    for label, rows, colour in (("0", ~one, fade(MUTED, 0.6)), ("1", one, GROUPS[0])):
        table[f"rows of {label}"] = np.histogram(x[rows], edges)[0]
        data.append(
            {
                "type": "bar",
                "x": middle.tolist(),
                "y": table[f"rows of {label}"].tolist(),
                "name": label,
                "marker": {"color": colour},
                "hovertemplate": f"%{{y}} rows of {label} near %{{x}}<extra></extra>",
            }
        )
    layout: Spec = {
        "barmode": "stack",
        "bargap": 0.05,
        "xaxis": {"nticks": 5},
        "yaxis": {"visible": False},
        "shapes": [upright_line(at, color=INK, width=2)],
    }
    share = percent(float(one.mean()) if len(one) else float("nan"))
    headline = fitting(f"{share} of {count(len(one))} rows are {cut}", most=60)
    return Picture(
        finish(data, layout, height=130, top=8),
        headline,
        f"Histogram of the outcome. {headline} and count as 1.",
        table,
    )
