"""What post-processing does: accuracy against DI."""

import pandas as pd

from fairdash._wording import between, number, percent
from fairdash.plots._rows import interval_bars, records, scatter
from fairdash.plots._theme import INK, Picture, Spec, fade, finish, value_axis

_MARKS = (  # of methods, as they come
    ("#000005", "square-open"),
    ("#000009", "square"),
    ("#000006", "triangle-up"),
    ("#000007", "diamond"),
)
_ORDER = ["accuracy", "demographic_parity_difference"]


def plot_trade_off(table: pd.DataFrame, *, rows: str) -> Picture:
    """One mark per method, the ramp as a line over its tolerances.

    The figure is of one trace for the line, one for the ring, one per method.
    ``table`` is of `fairdash.postprocessing.trade_off_table`, ``rows`` says which rows
    it is of, such as "test".
    """
    line, chosen, methods = (
        table[table["kind"] == kind] for kind in ("curve", "setting", "method")
    )
    data: list[Spec] = [
        {
            **_points(line, INK, "circle", 6),
            "mode": "lines+markers",
            "name": "Ramp",
            "line": {"color": INK, "width": 2},
            "text": [f"tolerance {number(v, 2)}" for v in line["tolerance"]],
        },
        {
            **_points(chosen, INK, "circle-open", 16, intervals=True),
            "name": "Ramp, this setting",
            "text": ["this setting"],
        },
    ]
    for place, label in enumerate(methods["label"]):
        own = methods[methods["label"] == label]
        mark = _points(own, *_MARKS[place % len(_MARKS)], 11, intervals=True)
        data.append({**mark, "name": label, "text": [label]})
    layout: Spec = {
        "xaxis": value_axis("gap (← fairer)", "~g", showgrid=True, rangemode="tozero"),
        "yaxis": {"title": "expected accuracy", "tickformat": ".1%", "nticks": 6},
    }
    return Picture(
        finish(data, layout, height=430, legend=True),
        f"Accuracy against the gap, {rows} rows",
        _trade_off_alt(table, rows),
        table.drop(columns="kind").dropna(axis="columns", how="all"),
        f"{rows.capitalize()} rows, 95% Wilson and Newcombe intervals. Line: the ramp "
        "over tolerances.",
    )


def _trade_off_alt(table: pd.DataFrame, rows: str) -> str:
    listed = "; ".join(
        f"{row['label']}: accuracy {percent(row['accuracy'], 1)}, "
        f"gap {number(row['demographic_parity_difference'])} ("
        + between(
            row["demographic_parity_difference_low"],
            row["demographic_parity_difference_high"],
        )
        + ")"
        for row in records(table[table["kind"] != "curve"])
    )
    return f"Accuracy against the gap on {rows} rows with 95% intervals. {listed}."


def _points(
    table: pd.DataFrame, colour: str, symbol: str, size: int, *, intervals: bool = False
) -> Spec:
    spec: Spec = scatter(
        table["demographic_parity_difference"],
        table["accuracy"],
        mode="markers",
        cliponaxis=False,
        marker={
            "color": colour,
            "symbol": symbol,
            "size": size,
            "line": {"width": 2},
        },
        hovertemplate="%{text}: %{y:.1%} accurate, gap %{x:.3f}<extra></extra>",
    )
    if intervals:
        for axis, name in zip("yx", _ORDER, strict=True):
            ends = (table[f"{name}{end}"] for end in ("", "_low", "_high"))
            spec[f"error_{axis}"] = interval_bars(*ends, colour=fade(colour, 0.45))
    return spec
