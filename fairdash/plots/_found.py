"""Subgroups that a search found: both groups' rates, and the gap with its interval."""

import pandas as pd

from fairdash._wording import between, count, number, percent, wrap
from fairdash.plots._picture import Picture
from fairdash.plots._rows import dots, records, scatter
from fairdash.plots._theme import INK, MUTED, PAPER, Spec, fade, finish, group_colours

_ROW, _AROUND = 52, 104  # pixels of a subgroup, and above and below all


def plot_found_subgroups(
    table: pd.DataFrame,
    *,
    groups: tuple[str, ...],
    headline: str,
    rate: str,
    alpha: float = 0.05,
) -> Picture:
    """One row per subgroup: a dumbbell of two rates, and the gap beside.

    Parameters
    ----------
    table : DataFrame
        Of ``fairdash.audits.find_subgroups``.
    groups : tuple of str
        In the fixed order of the data set.
    headline : str
    rate : str
        What the rates are, for the axis.
    alpha : float, default=0.05
        Gaps whose adjusted p exceeds it are drawn in grey.
    """
    places = list(range(len(table)))
    rates = table["rate_lower"], table["rate_higher"]
    data: list[Spec] = []
    for place, low, high in zip(places, *rates, strict=True):
        line = {"color": fade(MUTED, 0.5), "width": 3}
        data.append(
            scatter(
                [low, high], [place, place], line=line, hoverinfo="skip",
                showlegend=False,
            )
        )  # fmt: skip
    for group, colour in group_colours(groups).items():
        x, y, words = [], [], []
        for place, row in zip(places, records(table), strict=True):
            for side in ("lower", "higher"):
                if row[side] == group:
                    share, n = row[f"rate_{side}"], row[f"n_{side}"]
                    x.append(share)
                    y.append(place)
                    words.append(f"{group}: {percent(share)} of {count(n)} rows")
        if x:
            marker = {"color": colour, "size": 11, "line": {"color": PAPER, "width": 1}}
            data.append(
                scatter(
                    x, y, mode="markers", name=group, marker=marker, text=words,
                    hovertemplate="%{text}<extra></extra>", cliponaxis=False,
                )
            )  # fmt: skip
    for clear, colour in ((True, INK), (False, MUTED)):
        which = (table["p_adjusted"] <= alpha) == clear
        some = table[which]
        if len(some):
            one = dots(
                some["gap"], some["ci_low"], some["ci_high"],
                [p for p, w in zip(places, which, strict=True) if w],
                colour=colour, symbol="diamond", name="gap",
                text=[_gap(row) for row in records(some)],
                hovertemplate="%{text}<extra></extra>",
            )  # fmt: skip
            data.append(one | {"xaxis": "x2", "showlegend": False})
    names = [wrap(str(name), 26) for name in table["subgroup"]]
    layout: Spec = {
        "yaxis": {
            "tickvals": places,
            "ticktext": names,
            "range": [places[-1] + 0.6, -0.6],
            "showgrid": False,
            "ticks": "",
        },
        "xaxis": {"title": rate, "domain": [0, 0.47], "tickformat": ".0%", "nticks": 4},
        "xaxis2": {
            "title": "gap (0 is fair)",
            "domain": [0.55, 1],
            "rangemode": "tozero",
            "zeroline": True,
            "nticks": 5,
            "anchor": "y",
        },
    }
    height = _AROUND + _ROW * len(table)
    figure = finish(data, layout, height=height, legend=True, top=60)
    alt = "; ".join(
        f"{row['subgroup']}: {row['lower']} {percent(row['rate_lower'])}, "
        f"{row['higher']} {percent(row['rate_higher'])}, {_gap(row)}"
        for row in records(table)
    )
    return Picture(figure, headline, f"{headline}. {alt}.", table)


def _gap(row: Spec) -> str:
    ends = between(row["ci_low"], row["ci_high"])
    return f"gap {number(row['gap'])} ({ends}), adjusted p {number(row['p_adjusted'])}"
