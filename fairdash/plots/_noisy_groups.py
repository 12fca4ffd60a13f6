"""Noisy groups: who is mistaken for whom, what is certain of a model, a study."""

import math
from collections.abc import Collection
from dataclasses import replace

import pandas as pd

from fairdash._wording import count, fitting, number, percent, plural, wrap
from fairdash.plots._rows import numbers, records, scatter, whiskers
from fairdash.plots._theme import (
    BELOW_BUTTONS,
    INK,
    MUTED,
    Picture,
    Spec,
    fade,
    finish,
    model_marks,
    text,
    value_axis,
)

# column, name, symbol, colour
_CHECKS = (
    ("noisy", "noisy groups", "circle-open", MUTED),
    ("true", "true groups", "diamond", INK),
    ("drawn", "20 random draws", "line-ns-open", MUTED),
    ("ball", "exact, TV ball", "square", "#000006"),
    ("soft", "exact, soft", "triangle-up-open", "#000008"),
)
_LEVEL = "share of wrong groups"
# columns of the study; where both rates are compared they stand apart
_PANELS = {
    "true": "violation, true groups",
    "tpr": "violation of the true positive rate, true groups",
    "fpr": "violation of the false positive rate, true groups",
    "noisy": "violation, noisy groups",
    "own": "violation of its own robust constraint (DRO: 20 draws)",
    "worst": "exact worst case within the noise (TV ball)",
    "error": "error",
}
# what the study says of the columns drawn: in the description, and in the headline
_JUDGED = {
    "true": ("Largest violation on true groups", "the constraint"),
    "noisy": ("Largest violation on noisy groups", "the constraint on noisy groups"),
    "own": ("Violation of its own robust constraint", "the robust constraint"),
}
_BESIDE = 0.012  # of the width, between the bars of two methods at the same level


def plot_certificates(table: pd.DataFrame) -> Picture:
    """One row per model: violations found, and how large they can be.

    Parameters
    ----------
    table : DataFrame
        label, and largest violations ``noisy``, ``true``, ``drawn``, ``soft`` and
        ``ball``, NaN where unknown; ``kept``, whether the ball's is at most 0 on every
        split; ``status``, "" for a model that decides. The others are grey, named as
        what they are, do not stretch the axis and are not counted.
    """
    places = list(range(len(table)))
    kinds = [column for column, *_ in _CHECKS]
    low, high = table[kinds].min(axis=1), table[kinds].max(axis=1)
    decides = table["status"] == ""
    data: list[Spec] = [
        scatter(
            [x for a, b in zip(low, high, strict=True) for x in (a, b, None)],
            [y for place in places for y in (place, place, None)],
            line={"color": fade(MUTED, 0.4), "width": 1},
            hoverinfo="skip",
            showlegend=False,
        )
    ]
    for column, name, symbol, colour in _CHECKS:
        if table[column].notna().any():
            data.append(
                scatter(
                    table[column],
                    places,
                    mode="markers",
                    name=name,
                    cliponaxis=False,
                    hover=[
                        f"{row['label']}<br>{name}: {number(row[column])}"
                        for row in records(table)
                    ],
                    marker={
                        "color": colour,
                        "symbol": symbol,
                        "size": 11,
                        "opacity": [1 if one else 0.35 for one in decides],
                        "line": {"width": 2, "color": colour},
                    },
                )
            )
    layout: Spec = {
        "xaxis": {
            "title": "largest violation (0 or less: kept)",
            "showgrid": True,
            "nticks": 7,
            **(_range(table.loc[decides, kinds]) if decides.any() else {}),
        },
        "yaxis": {
            "tickvals": places,
            "ticktext": [
                wrap(str(label), 26) + (f"<br><i>{status}</i>" if status else "")
                for label, status in zip(table["label"], table["status"], strict=True)
            ],
            "range": [len(places) - 0.5, -0.5],
            "showgrid": False,
        },
        "shapes": [_zero_line("x")],
    }
    height = 150 + BELOW_BUTTONS + 34 * max(len(places), 3)
    figure = finish(data, layout, height=height, top=56 + BELOW_BUTTONS, legend=True)
    rows = [
        f"{row['label']}{' (' + row['status'] + ')' if row['status'] else ''}: "
        + ", ".join(
            f"{name} {number(row[column])}"
            for column, name, *_ in _CHECKS
            if not math.isnan(row[column])
        )
        for row in records(table)
    ]
    alt = f"Largest violation by model. {'; '.join(rows)}."
    return Picture(figure, _certificate_headline(table), alt, table)


def _certificate_headline(table: pd.DataFrame) -> str:
    """How many models are certain to keep the constraint, of those that decide."""
    known = table[(table["status"] == "") & table["ball"].notna()]
    kept, n = int(known["kept"].sum()), len(known)
    if not n:
        return "No model here decides: all accept alike, or as chance might"
    if kept:
        models = "the one model" if n == 1 else f"{kept} of {n} models"
        keeps = "keeps" if n == 1 or kept == 1 else "keep"
        sentence = f"{models} surely {keeps} the constraint at this radius"
        return sentence[0].upper() + sentence[1:]
    if known["drawn"].isna().all():
        return "No model is safe at this radius"
    passed = int((known["drawn"] <= 0).sum())
    return fitting(
        f"No model is safe at this radius; {passed} of {n} pass 20 random draws",
        "No model is safe at this radius",
    )


def _range(values: pd.DataFrame) -> Spec:
    """Return the axis of what models that decide show, with room for the marks."""
    shown = [0.0, *(x for x in values.to_numpy(float).ravel() if not math.isnan(x))]
    low, high = min(shown), max(shown)
    room = 0.06 * (high - low or 1)
    return {"range": [low - room, high + room]}


def plot_choice(table: pd.DataFrame, headline: str) -> Picture:
    """One row per method and rule of choice: what was kept of the settings.

    ``table`` and ``headline`` are of `fairdash.audits.Choices`; on test rows.
    """
    drawn = plot_certificates(table)
    errors = ", ".join(
        f"{row['label']} {percent(row['error'])}" for row in records(table)
    )
    return replace(drawn, headline=headline, alt=f"{drawn.alt} Errors: {errors}.")


def plot_confusion(counts: pd.DataFrame) -> Picture:
    """Rows by true group (down) and noisy group (across), as shares of the true group.

    ``counts`` have true groups in rows, noisy groups in columns; they are rows, or
    shares that are assumed.
    """
    shares = counts.div(counts.sum(axis=1), axis=0)
    total = float(counts.to_numpy().sum())
    assumed = total <= 1 + 1e-9

    def size(value: float) -> str:
        return f"{percent(value, 1)} of all" if assumed else count(int(value))

    notes = [
        text(
            f"{percent(float(shares.loc[true, noisy]), 0)}<br>"
            f"{size(counts.loc[true, noisy])}",
            colour=INK,
            x=noisy,
            y=true,
        )
        for true in counts.index
        for noisy in counts.columns
    ]
    data: list[Spec] = [
        {
            "type": "heatmap",
            "x": list(map(str, counts.columns)),
            "y": list(map(str, counts.index)),
            "z": [numbers(shares.loc[true]) for true in counts.index],
            "colorscale": [[0, fade("#000005", 0.05)], [1, fade("#000005", 0.5)]],
            "zmin": 0,
            "zmax": 1,
            "showscale": False,
            "xgap": 2,
            "ygap": 2,
            "hoverinfo": "skip",
        }
    ]
    layout: Spec = {
        "xaxis": {
            "title": "recorded as (noisy group Ĝ)",
            "type": "category",
            "tickvals": list(map(str, counts.columns)),
            "ticktext": [
                wrap(str(name), max(10, 28 // len(counts.columns)))
                for name in counts.columns
            ],
            "tickangle": 0,
        },
        "yaxis": {
            "title": "true group (G)",
            "type": "category",
            "tickvals": list(map(str, counts.index)),
            "ticktext": [wrap(str(name), 12) for name in counts.index],
            "autorange": "reversed",
            "showgrid": False,
        },
        "annotations": notes,
    }
    rows = [
        f"{true}: "
        + ", ".join(
            f"{percent(float(shares.loc[true, noisy]), 0)} as {noisy}"
            for noisy in counts.columns
        )
        for true in counts.index
    ]
    return Picture(
        finish(data, layout, height=130 + 62 * len(counts)),
        _confusion_headline(shares),
        f"How true groups appear among noisy ones. {'; '.join(rows)}.",
        counts.rename_axis("true group").reset_index(),
        "Shares implied by the noise assumed."
        if assumed
        else f"{count(round(total))} rows with both groups.",
    )


def _confusion_headline(shares: pd.DataFrame) -> str:
    """Whose rows are most often given to another group."""
    if set(shares.index) != set(shares.columns):
        return f"{len(shares)} true groups stand behind {len(shares.columns)} noisy"
    wrong = {str(name): 1 - float(shares.loc[name, name]) for name in shares.index}
    worst = max(wrong, key=wrong.__getitem__)
    return fitting(
        f"{percent(wrong[worst], 1)} of {worst} appear as another group",
        f"Up to {percent(wrong[worst], 1)} of a group appear as another",
    )


def plot_noise_study(table: pd.DataFrame, only: Collection[str] = ()) -> Picture:
    """Violations and error against the noise.

    Parameters
    ----------
    table : DataFrame
        method, label, colour_role, level and, with ``_sd`` over seeds, ``true``,
        ``noisy`` and ``error``; ``n_seeds``, and ``decide``, how many of them decide.
        With ``tpr`` and ``fpr`` the violations on true groups are drawn apart; ``own``
        and ``worst`` are of robust constraints.
    only : collection of str, optional
        The columns to draw, of those that the table has.
    """
    panels = [name for name in _PANELS if name in table and (name in only or not only)]
    if "tpr" in panels:
        panels.remove("true")
    n = len(panels)
    axes = [str(i) if i > 1 else "" for i in range(1, n + 1)]
    methods = list(dict.fromkeys(table["method"]))
    roles = [
        str(table.loc[table["method"] == name, "colour_role"].iloc[0])
        for name in methods
    ]
    data: list[Spec] = []
    step = _BESIDE * float(table["level"].max() - table["level"].min())
    marks = zip(methods, model_marks(roles), strict=True)
    for i, (name, (colour, symbol)) in enumerate(marks):
        part = table[table["method"] == name].sort_values("level")
        label, levels = str(part["label"].iloc[0]), part["level"].tolist()
        shift = step * (i - (len(methods) - 1) / 2)
        for axis, column in zip(axes, panels, strict=True):
            data.append(
                scatter(
                    part["level"] + shift,
                    part[column],
                    mode="lines+markers",
                    name=label,
                    legendgroup=name,
                    showlegend=axis == "",
                    customdata=levels,
                    xaxis=f"x{axis}",
                    yaxis=f"y{axis}",
                    line={"color": colour, "width": 2},
                    marker={"color": colour, "symbol": symbol, "size": 9},
                    error_y=whiskers(
                        part[f"{column}_sd"].fillna(0.0),
                        colour=fade(colour, 0.55),
                        thickness=2,
                    ),
                    hovertemplate="%{y:.3f} at %{customdata:.0%}"
                    f"<extra>{label}</extra>",
                )
            )
    layout: Spec = {
        "shapes": [
            _zero_line("y", axis)
            for axis, column in zip(axes, panels, strict=True)
            if column != "error"
        ],
        "annotations": [],
    }
    for i, (axis, column) in enumerate(zip(axes, panels, strict=True)):
        top = 1 - i / n
        layout[f"xaxis{axis}"] = value_axis(
            _LEVEL if i == n - 1 else "",
            ".1~%",
            anchor=f"y{axis}",
            showticklabels=i == n - 1,
        )
        layout[f"yaxis{axis}"] = {
            "anchor": f"x{axis}",
            "domain": [top - 0.84 / n, top - 0.15 / n],
            "nticks": 5,
            "tickformat": ".1~%" if column == "error" else "",
        }
        layout["annotations"].append(
            text(
                _PANELS[column],
                xref="paper",
                yref=f"y{axis} domain",
                x=0,
                y=1,
                xanchor="left",
                yanchor="bottom",
            )
        )
    lines = []
    judged = next((name for name in ("noisy", "own") if name in panels), "true")
    if not {"true", "tpr"}.isdisjoint(panels):
        judged = "true"
    known = table[table[judged].notna()]
    for name in dict.fromkeys(known["label"]):
        ends = records(known[known["label"] == name].sort_values("level"))
        first, last = ends[0], ends[-1]
        lines.append(
            f"{name}: {number(first[judged])} at {percent(first['level'], 0)} noise, "
            f"{number(last[judged])} at {percent(last['level'], 0)}; error "
            f"{percent(first['error'], 1)} to {percent(last['error'], 1)}"
        )
    seeds = plural(int(table["n_seeds"].max()), "seed")
    return Picture(
        finish(data, layout, height=20 + 200 * n, top=44, legend=True),
        _study_headline(known, judged),
        f"{_JUDGED[judged][0]} against noise. {'; '.join(lines)}.",
        table,
        f"Largest violation and error on test rows, mean ± sd of {seeds}.",
    )


def _study_headline(table: pd.DataFrame, judged: str) -> str:
    """How many approaches break the constraint that is drawn at the most noise.

    Of rates that stand apart it is the larger mean, as the paper counts.
    """
    worst = table[table["level"] == table["level"].max()]
    able = worst[worst["decide"] == worst["n_seeds"]]
    apart = judged == "true" and "tpr" in able
    found = able[["tpr", "fpr"]].max(axis=1) if apart else able[judged]
    broken, n, what = int((found > 0).sum()), len(able), _JUDGED[judged][1]
    at = percent(float(table["level"].max()), 0)
    if not n:
        return f"At {at} noise no approach decides: each treats all alike"
    if n == 1:
        breaks = "breaks" if broken else "keeps"
        return f"At {at} noise the one approach {breaks} {what} on average"
    few = "none" if not broken else "all" if broken == n else f"{broken}"
    return fitting(
        f"At {at} noise {few} of {n} approaches break {what} on average",
        f"At {at} noise {few} of {n} approaches break {what}",
    )


def _zero_line(axis: str, number: str = "") -> Spec:
    """Return the line at 0, beyond which a constraint is broken."""
    along, other = (axis, "y") if axis == "x" else (axis, "x")
    return {
        "type": "line",
        f"{along}ref": f"{along}{number}",
        f"{other}ref": f"{other}{number} domain",
        f"{along}0": 0,
        f"{along}1": 0,
        f"{other}0": 0,
        f"{other}1": 1,
        "line": {"color": fade(INK, 0.6), "width": 1.5, "dash": "dash"},
        "layer": "below",
    }
