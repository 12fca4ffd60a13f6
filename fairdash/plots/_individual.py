"""Figures of individual fairness: pairs of people, what consistency costs."""

import pandas as pd

from fairdash._wording import fitting, percent, wrap
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

_MARK = 10.0
_MOST_CHANGES, _WIDE = 10, 44  # differences under the pointer, letters a line
_OF_PAIRS = {
    "similar": ("a person", "the most similar other person"),
    "changed": ("as they are", "only this changed"),
    "invented": ("a person", "invented look-alike"),
}


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


def plot_pairs(table: pd.DataFrame, *, kind: str, share: float, n: int) -> Picture:
    """Draw pairs of people who are alike, one row a pair, on the scale of P(1).

    Parameters
    ----------
    table : DataFrame
        A row for each pair: ``pair`` in words, ``before`` and ``after`` (P(1) of both),
        ``decision_changed``, and ``changes``, a list of what differs.
    kind : {"similar", "changed", "invented"}
        Who the second of a pair is.
    share, n : float, int
        Share of pairs decided otherwise among all people looked at, and how many.
    """
    first, second = _OF_PAIRS[kind]
    marks = [
        marks_of(table, column, None, _pair_hover, series=i)
        for i, column in enumerate(("before", "after"))
    ]
    axis = value_axis("P(1), decided 1 above .5", ".0%", nticks=6, range=[-0.02, 1.02])
    figure = draw_rows(
        pd.concat(marks, ignore_index=True),
        table["pair"].astype(str).tolist(),
        [Series(first, INK, "circle", 10), Series(second, GROUPS[1], "diamond", 11)],
        [Panel(axis | {"showgrid": True}, limit=0.5)],
        ticks=[wrap(str(pair), _WIDE) for pair in table["pair"]],
        joined=True,
        least=38,
        around=90,
        lowest=220,
        legend=True,
    )
    whom = {
        "similar": "have a most similar person who is decided otherwise",
        "changed": "are decided otherwise when only this changes",
        "invented": "have an invented look-alike who is decided otherwise",
    }[kind]
    listed = "; ".join(
        f"{row['pair']}, {percent(row['before'], 0)} and {percent(row['after'], 0)}"
        for row in records(table)
    )
    headline = f"{percent(share, 1)} of {n:,} people {whom}"
    return Picture(figure, headline, f"P(1) of pairs. {headline}. {listed}.", table)


def _pair_hover(row: Spec) -> str:
    differences = [str(change) for change in row["changes"][:_MOST_CHANGES]]
    ends = f"P(1) {percent(row['before'], 1)} and {percent(row['after'], 1)}"
    return "<br>".join([ends, *differences])
