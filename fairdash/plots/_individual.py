"""Figures of individual fairness: sensitive directions, what consistency costs."""

import pandas as pd

from fairdash._wording import fitting, percent
from fairdash.plots._rows import (
    Panel,
    Series,
    draw_rows,
    marks_of,
    reach,
    records,
    scatter,
    whiskers,
)
from fairdash.plots._theme import (
    GROUPS,
    INK,
    MUTED,
    Picture,
    Spec,
    fade,
    finish,
    model_marks,
    value_axis,
)

_ROW, _LONGEST = 40, 34
_LEARNED = ("predicts", "pairs", "learned")  # how their names begin
_MARK = 10.0


def plot_consistency(table: pd.DataFrame) -> Picture:
    """Balanced accuracy against consistency, a line for each method (Figure 2).

    The figure is of a trace for each method; where its models differ in weight alone
    they are joined in its order, larger marks for larger weights; bars are a standard
    deviation over seeds or, with one seed, the interval across. Models that do not
    decide are crosses that stretch no axis. Then the ring of the chosen model.

    Parameters
    ----------
    table : DataFrame
        A row for each model: ``label``, ``method`` (its name on screen),
        ``colour_role``, ``n_seeds``, ``consistency`` with ``_low``, ``_high`` and
        ``_sd``, ``balanced_accuracy`` with ``_sd``, ``chosen``, and
        ``fairness_weight``, NaN where a method has none, and ``constant``, above 0
        where a model decides alike for everyone, or as chance might, on some seed.
    """
    decides = table["constant"] == 0
    able = table[decides]
    data = [_method(rows) for _, rows in able.groupby("method", sort=False)]
    if len(idle := table[~decides]):
        mark = {"symbol": "x-thin-open", "size": _MARK, "color": MUTED}
        data.append(
            scatter(
                idle["consistency"],
                idle["balanced_accuracy"],
                mode="markers",
                name="constant or as chance",
                marker=mark,
                hover=[_marked(row) for row in records(idle)],
            )
        )
    ring = table[table["chosen"]]
    data.append(
        scatter(
            ring["consistency"],
            ring["balanced_accuracy"],
            mode="markers",
            marker={"color": INK, "symbol": "circle-open", "size": 22},
            hoverinfo="skip",
            showlegend=False,
        )
    )
    layout: Spec = {
        "xaxis": value_axis("consistency (fairer →)", ".1~%", nticks=5, showgrid=True),
        "yaxis": {"title": "balanced accuracy", "tickformat": ".1~%", "nticks": 6},
    }
    across = [f"consistency{end}" for end in ("", "_low", "_high")]
    accuracy, spread = able["balanced_accuracy"], able["balanced_accuracy_sd"].fillna(0)
    layout["xaxis"] |= reach(able[across])
    layout["yaxis"] |= reach([accuracy - spread, accuracy + spread])
    drawn = finish(data, layout, height=400, top=56, legend=True)
    return Picture(drawn, _most_consistent(table), _consistency_in_words(table), table)


def _method(rows: pd.DataFrame) -> Spec:
    """Return the models of one method, joined if they differ in weight alone."""
    ordered = rows.sort_values("fairness_weight", kind="stable")
    ((colour, symbol),) = model_marks([str(ordered["colour_role"].iloc[0])])
    weight = ordered["fairness_weight"]
    weighed = len(ordered) > 1 and weight.is_unique and bool(weight.notna().all())
    several = ordered["n_seeds"] > 1
    spread = ordered["consistency_sd"].where(several)
    above = spread.fillna(ordered["consistency_high"] - ordered["consistency"])
    below = spread.fillna(ordered["consistency"] - ordered["consistency_low"])
    bars = fade(colour, 0.45)
    return scatter(
        ordered["consistency"],
        ordered["balanced_accuracy"],
        mode="lines+markers" if weighed else "markers",
        name=str(ordered["method"].iloc[0]),
        line={"color": fade(colour, 0.5), "width": 1.5},
        marker={
            "color": colour,
            "symbol": symbol,
            "size": _sizes(len(ordered)) if weighed else _MARK,
        },
        error_x=whiskers(above, below, colour=bars),
        error_y=whiskers(
            ordered["balanced_accuracy_sd"].where(several).fillna(0), colour=bars
        ),
        text=[_marked(row) for row in records(ordered)],
        hovertemplate="%{text}<br>consistency %{x:.1%}<br>"
        "balanced accuracy %{y:.1%}<extra></extra>",
    )


def _sizes(n: int) -> list[float]:
    """Return the sizes of marks, from small to large weights."""
    return [_MARK - 3 + 6 * i / (n - 1) for i in range(n)]


def _marked(row: Spec) -> str:
    """Return the name of a model, and that it is of no use if it is."""
    idle = row["constant"] > 0
    of_no_use = " (decides alike for everyone, or as chance might)" * idle
    return f"{row['label']}{of_no_use}"


def _consistency_in_words(table: pd.DataFrame) -> str:
    """Alt text: consistency and balanced accuracy of every model."""
    listed = "; ".join(
        f"{_marked(row)}: consistency {percent(row['consistency'], 1)}, balanced "
        f"accuracy {percent(row['balanced_accuracy'], 1)}"
        for row in records(table)
    )
    return f"Balanced accuracy against consistency. {listed}."


def _most_consistent(table: pd.DataFrame) -> str:
    """Say which model treats most people alike, or that no interval stands apart."""
    known = table.dropna(subset=["consistency"])
    if known.empty:
        return "Consistency cannot be estimated on these rows"
    deciding = known[known["constant"] == 0]
    ranked = (known if deciding.empty else deciding).sort_values("consistency")
    *others, best = records(ranked)
    share = percent(float(best["consistency"]), 1)
    if len(known) == 1:
        return f"{share} of people keep their prediction"
    if others and best["consistency_low"] <= max(r["consistency_high"] for r in others):
        least = percent(float(others[0]["consistency"]), 1)
        return f"Consistency is {least} to {share}; the best two intervals overlap"
    return fitting(
        f"Most consistent: {_marked(best)}, {share} keep their prediction",
        f"Most consistent: {best['label']}, {share} keep their prediction",
        f"The most consistent model keeps {share} of predictions",
    )


def plot_fair_metric(table: pd.DataFrame) -> Picture:
    """Draw the share of the features' variance along each direction that is free.

    ``table`` is of ``fairdash.metrics.FairMetric.table``.
    """
    learned = table["direction"].astype(str).str.startswith(_LEARNED)
    marks = pd.concat(
        [
            marks_of(table, "variance", None, _direction_hover, series=i, only=only)
            for i, only in enumerate((learned, ~learned))
        ],
        ignore_index=True,
    )
    words = [percent(float(share), 1) for share in marks["value"]]
    axis = value_axis(
        "share of the variance of all features",
        ".1~%",
        nticks=5,
        rangemode="tozero",
        showgrid=True,
    )
    drawn = draw_rows(
        marks.assign(words=words),
        [_short(str(name)) for name in table["direction"]],
        [Series("learned", GROUPS[0]), Series("columns", MUTED)],
        [Panel(axis)],
        least=_ROW,
        lowest=190,
        right=52,
    )
    share = percent(float(table["variance"].sum()), 0)
    listed = "; ".join(
        f"{row['direction']}: {percent(row['variance'], 1)} of the variance, mostly "
        f"{row['columns']}"
        for row in records(table)
    )
    return Picture(
        drawn,
        f"Sensitive directions hold {share} of the features' variance",
        f"Sensitive directions. {listed}.",
        table,
    )


def _direction_hover(row: Spec) -> str:
    share = percent(row["variance"], 1)
    return f"{share} of the variance<br>{row['columns']}"


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
