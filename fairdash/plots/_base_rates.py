"""Base rates by subgroup and group."""

import pandas as pd

from fairdash._wording import fitting, percent
from fairdash.plots._picture import Picture
from fairdash.plots._rows import (
    dashed,
    dots,
    name_axis,
    not_estimable,
    offsets,
    positions,
    records,
)
from fairdash.plots._theme import Spec, finish, group_colours


def plot_base_rates(
    table: pd.DataFrame,
    overall: pd.DataFrame,
    *,
    groups: tuple[str, ...],
    outcome: str = "y = 1",
    source: str = "",
) -> Picture:
    """One row per subgroup, one mark per group; dashed: the whole group.

    The headline names the subgroup whose groups are furthest apart.

    Parameters
    ----------
    table : DataFrame of ``fairdash.metrics.subgroup_rates``
    overall : DataFrame of ``fairdash.metrics.group_rates``
    groups : tuple of str
        In the fixed order of the data set.
    outcome : str, default="y = 1"
        What the share is of.
    source : str, default=""
        Which rows these are, for the caption, such as "1,200 rows".

    Returns
    -------
    Picture
        Its figure has per group a trace of marks with Wilson intervals and a dashed
        line.
    """
    names = list(dict.fromkeys(table["subgroup"].astype(str)))
    places = positions(names)
    rows = name_axis(names, places, below=0)
    data: list[Spec] = []
    for (name, colour), shift in zip(
        group_colours(groups).items(), offsets(len(groups)), strict=True
    ):
        cells = table[table["group"] == name]
        shown = cells.where(cells["estimable"])
        total = float(overall.loc[overall["group"] == name, "rate"].item())
        data.append(
            dots(
                shown["rate"], shown["ci_low"], shown["ci_high"],
                [place + shift for place in places],
                colour=colour,
                symbol="circle",
                name=name,
                text=[_hover(cell) for cell in records(cells)],
                hovertemplate="%{text}<extra></extra>",
            )
        )  # fmt: skip
        data[-1]["name"] = f"{name} · all rows {percent(total, 0)}"
        line = f"{name}: {percent(total, 0)} of all rows<extra></extra>"
        data.append(dashed(total, rows, colour=colour, name=name, hovertemplate=line))
    layout: Spec = {
        "xaxis": {
            "title": f"share with {outcome}",
            "tickformat": ".1~%",
            "showgrid": True,
            "rangemode": "tozero",
            "nticks": 8,
        },
        "yaxis": rows,
        "annotations": not_estimable(table.drop_duplicates("subgroup"), places),
    }
    per_row = 20 + 4 * len(groups)
    height = max(round((places[-1] + 1.2) * per_row) + 110, 240)
    widest = _widest(table)
    return Picture(
        figure=finish(data, layout, height=height, legend=True),
        headline=_headline(widest),
        alt=_alt(overall, widest),
        table=table,
        caption=f"Share with {outcome} by subgroup, with 95% Wilson intervals. Dashed: "
        f"the whole group. {source}".rstrip(),
    )


def _widest(table: pd.DataFrame) -> Spec | None:
    """Return the subgroup whose rates are furthest apart: its name, min and max."""
    rates = table[table["estimable"]].groupby("subgroup", sort=False)["rate"]
    ends = records(rates.agg(["min", "max"]).reset_index())
    if not ends:
        return None
    return max(ends, key=lambda row: float(row["max"] - row["min"]))


def _headline(widest: Spec | None) -> str:
    if widest is None:
        return "No subgroup has enough rows of every group"
    apart = f"{percent(widest['min'], 0)} to {percent(widest['max'], 0)}"
    return fitting(
        f"Base rates are furthest apart in {widest['subgroup']}: {apart}",
        f"Base rates, {widest['subgroup']}: {apart}",
    )


def _alt(overall: pd.DataFrame, widest: Spec | None) -> str:
    """Return the rate of every group and the subgroup with the widest gap."""
    whole = ", ".join(
        f"{row['group']} {percent(row['rate'], 0)} ({row['n']:,} rows)"
        for row in records(overall)
    )
    start = f"Base rates with 95% intervals by subgroup and group. All rows: {whole}"
    if widest is None:
        return f"{start}. No subgroup is estimable."
    apart = f"{percent(widest['min'], 0)} to {percent(widest['max'], 0)}"
    return f"{start}. The widest gap is in {widest['subgroup']}: {apart}."


def _hover(cell: Spec) -> str:
    rate = f"{percent(cell['rate'], 1)} of {cell['n']:,} rows"
    interval = f"{percent(cell['ci_low'], 1)}–{percent(cell['ci_high'], 1)}"
    return f"{cell['subgroup']}, {cell['group']}: {rate} ({interval})"
