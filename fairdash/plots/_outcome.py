"""How often the outcome came: by subgroup, and at a score."""

import pandas as pd

from fairdash._wording import (
    fitting,
    group_label,
    percent,
)
from fairdash.plots._rows import (
    Panel,
    Series,
    draw_rows,
    interval_bars,
    marks_of,
    offsets,
    reasons_of,
    records,
    scatter,
)
from fairdash.plots._theme import (
    PAPER,
    Picture,
    Spec,
    fade,
    finish,
    group_colours,
    value_axis,
)

_SYMBOLS = ("circle", "square", "diamond", "triangle-up")


def plot_calibration(
    table: pd.DataFrame,
    *,
    groups: tuple[str, ...],
    feature: str = "",
    outcome: str = "y = 1",
    score: str = "score",
) -> Picture:
    """One line per group over the scores; calibrated by group where lines agree.

    Its figure has a trace of marks with Wilson intervals per group. The headline says
    how many scores have groups whose intervals do not overlap. ``table`` is of
    ``fairdash.metrics.calibration_curve``, ``outcome`` what the share is of, ``score``
    what the scores are.
    """
    bins = list(dict.fromkeys(table["bin"]))
    data: list[Spec] = []
    for i, (name, colour) in enumerate(group_colours(groups).items()):
        cells = table[table["group"] == name]
        shift = 0.12 * (i - (len(groups) - 1) / 2)
        data.append(
            scatter(
                [bins.index(label) + shift for label in cells["bin"]],
                cells["rate"],
                mode="lines+markers",
                name=group_label(feature, name),
                line={"color": fade(colour, 0.55), "width": 1.5},
                marker={
                    "color": colour,
                    "symbol": _SYMBOLS[i % len(_SYMBOLS)],
                    "size": 8,
                    "line": {"color": PAPER, "width": 1},
                },
                error_y=interval_bars(
                    *(cells[name] for name in ("rate", "ci_low", "ci_high")),
                    colour=fade(colour, 0.55),
                    thickness=2,
                ),
                hover=[
                    _rate_hover(cell, group_label(feature, cell["group"]), cell["bin"])
                    for cell in records(cells)
                ],
            )
        )
    layout: Spec = {
        "xaxis": {
            "title": score,
            "tickvals": list(range(len(bins))),
            "ticktext": bins,
            "showgrid": False,
        },
        "yaxis": {
            "title": f"share with {outcome}",
            "tickformat": ".0%",
            "range": [0, 1.02],
            "showgrid": True,
        },
    }
    spoken = [group_label(feature, str(group)) for group in table["group"]]
    named = table.assign(group=spoken)
    apart = _apart(named)
    return Picture(
        figure=finish(data, layout, height=360, legend=True),
        headline=_calibration_headline(apart, len(bins)),
        alt=_calibration_alt(named, score, apart),
        table=table,
        caption=f"Share with {outcome} at each score, by group, with 95% Wilson "
        "intervals. Where lines agree, a score means the same in all groups.",
    )


def _apart(table: pd.DataFrame) -> list[Spec]:
    """Return the scores at which the intervals of two groups do not overlap."""
    found = []
    for label, cells in table.dropna(subset="rate").groupby("bin", sort=False):
        ends = [int(cells["ci_low"].argmax()), int(cells["ci_high"].argmin())]
        more, less = records(cells.iloc[ends])
        if more["ci_low"] > less["ci_high"]:
            found.append({"bin": label, "more": more, "less": less})
    return found


def _calibration_headline(apart: list[Spec], n_bins: int) -> str:
    if not apart:
        return "At every score the groups' intervals overlap: no gap is clear"
    first = max(apart, key=lambda one: one["more"]["rate"] - one["less"]["rate"])
    more, less = first["more"], first["less"]
    rates = f"{percent(more['rate'], 0)} and {percent(less['rate'], 0)}"
    return fitting(
        f"At {first['bin']} it means {rates} for {more['group']} and {less['group']}",
        f"Groups are apart at {len(apart)} of {n_bins} scores, most at {first['bin']}",
    )


def _calibration_alt(table: pd.DataFrame, score: str, apart: list[Spec]) -> str:
    ends = []
    for name, cells in table.dropna(subset="rate").groupby("group", sort=False):
        first, last = records(cells.iloc[[0, -1]])
        rates = f"{percent(first['rate'], 0)} at {first['bin']}"
        ends.append(f"{name} {rates} to {percent(last['rate'], 0)} at {last['bin']}")
    bins = ", ".join(str(one["bin"]) for one in apart) or "none"
    return (
        f"Share with the outcome by {score} and group: {'; '.join(ends)}. Scores at "
        f"which intervals do not overlap: {bins}."
    )


def plot_base_rates(
    table: pd.DataFrame,
    overall: pd.DataFrame,
    *,
    groups: tuple[str, ...],
    outcome: str = "y = 1",
    source: str = "",
    feature: str = "",
) -> Picture:
    """One row per subgroup, one mark per group; dashed: the whole group.

    The headline names the subgroup whose groups are furthest apart. Its figure has per
    group a trace of marks with Wilson intervals and a dashed line. The tables are
    ``cells`` and ``groups`` of ``fairdash.metrics.base_rates``; ``outcome`` says what
    the share is of, ``source`` which rows these are, such as "1,200 rows".
    """
    subgroups = list(dict.fromkeys(table["subgroup"].astype(str)))
    series, marks = [], []
    for i, ((group, colour), aside) in enumerate(
        zip(group_colours(groups).items(), offsets(len(groups)), strict=True)
    ):
        own = table[table["group"] == group]
        total = float(overall.loc[overall["group"] == group, "rate"].item())
        label, share = group_label(feature, group), percent(total, 0)
        series.append(
            Series(
                f"{label} · all rows {share}",
                colour,
                reference=total,
                reference_words=f"{label}, {share} of all rows",
            )
        )
        known = own.assign(rate=own["rate"].where(own["estimable"]))
        ends = "ci_low", "ci_high"
        marks.append(marks_of(known, "rate", ends, _row_hover, series=i, aside=aside))
    axis = value_axis(
        f"share with {outcome}", ".1~%", nticks=8, showgrid=True, rangemode="tozero"
    )
    figure = draw_rows(
        pd.concat(marks, ignore_index=True),
        subgroups,
        series,
        [Panel(axis)],
        reasons=reasons_of(table.drop_duplicates("subgroup")),
        grouped=True,
        least=20 + 4 * len(groups),
        around=110,
        lowest=240,
        legend=True,
    )
    widest = _widest(table)
    return Picture(
        figure=figure,
        headline=_rates_headline(widest),
        alt=_rates_alt(overall, widest),
        table=table,
        caption=f"Share with {outcome} by subgroup, with 95% Wilson intervals. Dashed: "
        f"the whole group. {source}".rstrip(),
    )


def _widest(table: pd.DataFrame) -> Spec | None:
    """Return the subgroup whose rates are furthest apart: its name, min and max.

    And whether the intervals of all its groups overlap.
    """
    ends = table[table["estimable"]].groupby("subgroup", sort=False)
    found = records(
        ends.agg(
            min=("rate", "min"),
            max=("rate", "max"),
            low=("ci_low", "max"),
            high=("ci_high", "min"),
        ).reset_index()
    )
    if not found:
        return None
    widest = max(found, key=lambda row: float(row["max"] - row["min"]))
    return widest | {"overlap": bool(widest["low"] <= widest["high"])}


def _rates_headline(widest: Spec | None) -> str:
    if widest is None:
        return "No subgroup has enough rows of every group"
    apart = f"{percent(widest['min'], 0)} to {percent(widest['max'], 0)}"
    apart += ", intervals overlap" if widest["overlap"] else ""
    return fitting(
        f"Base rates are furthest apart in {widest['subgroup']}: {apart}",
        f"Base rates, {widest['subgroup']}: {apart}",
    )


def _rates_alt(overall: pd.DataFrame, widest: Spec | None) -> str:
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


def _rate_hover(cell: Spec, one: str, other: str) -> str:
    rate = f"{percent(cell['rate'], 1)} of {cell['n']:,} rows"
    interval = f"{percent(cell['ci_low'], 1)}–{percent(cell['ci_high'], 1)}"
    return f"{one}, {other}: {rate} ({interval})"


def _row_hover(row: Spec) -> str:
    return _rate_hover(row, row["subgroup"], row["group"])
