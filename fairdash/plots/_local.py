"""By subgroup: local DI for up to four models, and subgroups that a search found."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from fairdash._wording import (
    FOUR_FIFTHS,
    NO_SUBGROUPS,
    GapNames,
    between,
    count,
    fitting,
    four_fifths,
    group_label,
    number,
    percent,
    spoken_group,
    wrap,
)
from fairdash.plots._rows import (
    chance_band,
    change_of,
    dashed,
    dots,
    name_axis,
    not_estimable,
    offsets,
    positions,
    records,
    row_height,
    swap,
    undecided,
    upright_line,
)
from fairdash.plots._theme import (
    INK,
    MUTED,
    Picture,
    Spec,
    finish,
    group_colours,
    model_marks,
    text,
    value_axis,
)

MOST_MODELS = 4
LOCAL_DI = GapNames()
_Cells = dict[str, dict[str, tuple[int, float]]]  # by subgroup and group
_SPLIT = (0.76, 0.83)  # where local DI ends and the counts begin
_BELOW, _LINE = 44, 16  # pixels to the names of groups, and of one of them
_STEP = "\u2003\u2003"  # a level of the tree
_FOUND_ROW, _FOUND_AROUND = 44, 104  # pixels of a subgroup, and above and below all


def plot_local_di(
    table: pd.DataFrame,
    values: pd.DataFrame,
    models: pd.DataFrame,
    *,
    groups: tuple[str, ...],
    chance: float = float("nan"),
    changes: pd.DataFrame | None = None,
    upright: bool = False,
    names: GapNames = LOCAL_DI,
    feature: str = "",
) -> Picture:
    """One row per subgroup, one mark per model, row counts by group beside.

    The figure has per model a trace of marks with intervals and a dashed line at its
    global DI, then a bar trace of counts per group.

    Parameters
    ----------
    table : DataFrame
        Of ``fairdash.metrics.gap_table``, with a column "label" that names the model.
        The subgroups of the first model set the rows.
    values : DataFrame
        Of ``fairdash.metrics.value_table``, with the column "label".
    models : DataFrame
        label, colour_role, overall (the gap over all rows), and constant if known: one
        row per model, in the order of drawing; at most four. The last is looked at.
    changes : DataFrame, optional
        Of ``fairdash.metrics.compare`` of the last model with the first.
    upright : bool, default=False
        Subgroups along the x axis, as in the ROAD paper.
    names : GapNames, optional
        Words of the measure; by default those of local DI.
    """
    labels = models["label"].tolist()
    if not 1 <= len(labels) <= MOST_MODELS:
        raise ValueError(f"`models` must have 1 to {MOST_MODELS} rows.")
    by_label = {label: table[table["label"] == label] for label in labels}
    first = by_label[labels[0]]
    subgroups = first["subgroup"].astype(str).tolist()
    places = positions(subgroups)
    below = 0.0 if np.isnan(chance) else 0.8
    rows = name_axis(subgroups, places, below)
    if upright:
        rows |= {"range": rows["range"][::-1], "tickangle": -35, "automargin": True}

    data: list[Spec] = []
    marks = model_marks(models["colour_role"].tolist())
    for row, (colour, symbol), shift in zip(
        records(models), marks, offsets(len(labels)), strict=True
    ):
        label = row["label"]
        one = by_label[label]
        cells = _cells(values, label)
        shown = dict(zip(subgroups, places, strict=True))
        at = [shown[name] + shift for name in one["subgroup"].astype(str)]
        gap = float(row["overall"])
        data.append(
            dots(
                one["gap"], one["ci_low"], one["ci_high"], at,
                colour=colour,
                symbol=symbol,
                name=label,
                text=[_hover(row, cells, names) for row in records(one)],
                hovertemplate="%{text}",
            )
        )  # fmt: skip
        data[-1]["name"] = f"{label} · {names.whole} {number(gap)}"
        line = f"{label}: {names.whole} {number(gap)}<extra></extra>"
        data.append(dashed(gap, rows, colour=colour, name=label))
        data[-1]["hovertemplate"] = line
    rows_of = _cells(values, labels[0])
    counts = {
        group: [rows_of.get(name, {}).get(group, (0, np.nan))[0] for name in subgroups]
        for group in groups
    }
    data += _counts(counts, places, feature, upright=upright)

    overall = models["overall"]
    ends = [table["ci_high"].max(), overall.max(), 1.1 * chance, 0.05]
    top = 1.05 * float(np.nanmax(ends))
    layout = _layout(rows, top, names, upright=upright)
    shapes, notes = _chance(chance, rows, top, upright=upright)
    notes += not_estimable(first, places, upright=upright)
    layout |= {"shapes": shapes, "annotations": notes}
    if not upright:
        notes.append(_group_names(groups, feature))
    bottom = 4 if upright else _BELOW + _LINE * len(groups)
    per_row = row_height(rows, 20 + 4 * len(labels))
    down = round((places[-1] + 1.2 + below) * per_row) + 70 + bottom
    height = 480 if upright else max(down, 240)
    data = [swap(trace, upright=upright) for trace in data]
    return Picture(
        finish(data, layout, height=height, bottom=bottom, legend=True),
        local_finding(
            table,
            label=labels[-1],
            chance=chance,
            changes=changes,
            constant=records(models)[-1].get("constant", 0.0),
        ),
        _describe(table, models, names),
        table,
    )


def plot_ratios(
    table: pd.DataFrame,
    *,
    label: str,
    measure: str,
    colour_role: str,
    reference: str | None = None,
) -> Picture:
    """One row per subgroup: the smallest over the largest value of its groups.

    With a ``reference`` the smallest of the others over that of this group. A line at
    four fifths is the rule of thumb of employment law; it is said of selection rates
    and a comparison for other measures.

    ``table`` has subgroup, n, ratio, ratio_low, ratio_high, estimable and reason, the
    first row of all rows, as `fairdash.results.LocalResult.ratios` has it.
    """
    names = table["subgroup"].astype(str).tolist()
    places = positions(names)
    rows = name_axis(names, places, 0.0)
    ((colour, symbol),) = model_marks([colour_role])
    hover = [
        f"{row['subgroup']}<br>ratio {number(row['ratio'], 2)} "
        f"({_ends(row)})<br>{count(row['n'])} rows"
        for row in records(table)
    ]
    ends = table[["ratio", "ratio_high"]].to_numpy(float)
    reach = 1.02 * max([1.0, *ends[np.isfinite(ends)]])
    marks = dots(
        table["ratio"],
        table["ratio_low"],
        # without an upper end they go on beyond the figure
        table["ratio_high"].replace(np.inf, 2 * reach),
        places,
        colour=colour,
        symbol=symbol,
        name=label,
        text=hover,
        hovertemplate="%{text}<extra></extra>",
    )
    of_whom = "smallest over largest of the groups (fairer →)"
    if reference is not None:
        of_whom = f"smallest of the other groups over {reference} (1: alike)"
    rule = {"yref": "y domain", "y": 1, "yanchor": "bottom", "x": FOUR_FIFTHS}
    layout: Spec = {
        "xaxis": {
            "title": f"{measure}: {of_whom}",
            "range": [0, reach],
            "tickformat": ".1f",
            "showgrid": True,
        },
        "yaxis": rows,
        "shapes": [upright_line(FOUR_FIFTHS, color=INK, width=1.5, dash="dash")],
        "annotations": [
            text("four-fifths rule", INK, **rule),
            *not_estimable(table, places),
        ],
    }
    inside = table[table["estimable"] & (table["subgroup"] != NO_SUBGROUPS)]
    below = int((inside["ratio"] < FOUR_FIFTHS).sum())
    sure = int((inside["ratio_high"] < FOUR_FIFTHS).sum())
    headline = (
        f"Below four fifths in {below} of {len(inside)} subgroups, surely in {sure}"
    )
    if inside.empty:
        headline = "No subgroup is estimable: choose wider ones or a smaller size"
    if set(names) == {NO_SUBGROUPS}:
        whole = float(table["ratio"].iloc[0])
        fifths = four_fifths(whole, float(table["ratio_high"].iloc[0]))
        headline = f"Over all rows the ratio is {number(whole, 2)}, {fifths} 0.8"
        if np.isnan(whole):
            headline = "Over all rows the ratio is undefined"
    height = max(round((places[-1] + 1.2) * row_height(rows, 26)) + 90, 240)
    return Picture(
        finish([marks], layout, height=height),
        headline,
        f"{headline}. Over all rows the ratio of {label} is "
        f"{number(float(table['ratio'].iloc[0]), 2)}.",
        table,
    )


def _ends(row: Spec) -> str:
    low, high = row["ratio_low"], row["ratio_high"]
    return f"{number(low)} or more" if high == np.inf else between(low, high)


def local_finding(
    table: pd.DataFrame,
    *,
    label: str,
    chance: float = float("nan"),
    changes: pd.DataFrame | None = None,
    constant: float = 0.0,
) -> str:
    """Say where the model ``label`` is worst, and what it changed.

    ``table`` is as for `plot_local_di`; ``changes`` are of
    ``fairdash.metrics.compare`` with the reference, if there is one: over several seeds
    the mean of each one's largest gap, which may lie in another subgroup, so that no
    mark of the figure need be as large. ``constant`` is the share of seeds in which the
    model decides alike for everyone.
    """
    if idle := undecided({"label": label, "constant": constant}):
        return idle
    cells = records(table[(table["label"] == label) & table["estimable"]])
    if not cells:
        return "No subgroup is estimable: choose wider ones or a smaller size"
    worst = max(cells, key=lambda cell: float(cell["gap"]))
    widest = number(worst["gap"], 2)
    change = change_of(changes, "worst_1_di")
    if change is not None:
        after, before = number(change["value"], 2), number(change["reference"], 2)
        drawn = table[table["estimable"]].groupby("label")["gap"].max()
        seen = {after, before} <= {number(mark, 2) for mark in drawn}
        if change["clear"]:
            verb = "cuts" if change["difference"] < 0 else "raises"
            what = "the worst gap" if seen else "the mean of each seed's worst gap"
            words = f"{verb} {what} from {before} to {after}"
            return fitting(f"{label} {words}", f"It {words}")
        what = "Worst local gaps" if seen else "Mean of each seed's worst gap"
        return f"{what}: {after} and {before}, the intervals overlap"
    if float(worst["gap"]) <= chance:
        return f"The largest gap, {widest}, is within what chance shows"
    if worst["subgroup"] == NO_SUBGROUPS:
        return f"The overall gap is {widest}"
    return fitting(
        f"The gap is largest in {worst['subgroup']}: {widest}",
        f"Largest gap: {worst['subgroup']}, {widest}",
    )


def _describe(table: pd.DataFrame, models: pd.DataFrame, names: GapNames) -> str:
    """Alt text: the worst subgroup and the gap over all rows of every model."""
    parts = []
    for row in records(models):
        label, overall = row["label"], number(row["overall"])
        cells = records(table[(table["label"] == label) & table["estimable"]])
        if not cells:
            parts.append(f"{label} has no estimable subgroup, {names.whole} {overall}")
            continue
        worst = max(cells, key=lambda cell: float(cell["gap"]))
        interval = between(worst["ci_low"], worst["ci_high"])
        gap = f"{number(worst['gap'])} ({interval})"
        where = f"{label} is worst for {worst['subgroup']}"
        parts.append(f"{where}, {gap}, {names.whole} {overall}")
    first = table[table["label"] == models["label"].iloc[0]]
    what = names.local[0].upper() + names.local[1:]
    return (
        f"{what} of {first['estimable'].sum()} of {len(first)} subgroups with 95% "
        f"intervals: {'; '.join(parts)}."
    )


def _cells(values: pd.DataFrame, label: str) -> _Cells:
    """Return rows and value of a model by subgroup and group."""
    found: _Cells = {}
    for row in records(values[values["label"] == label]):
        cell = int(row["n"]), float(row["value"])
        found.setdefault(str(row["subgroup"]), {})[row["group"]] = cell
    return found


def _hover(row: Spec, cells: _Cells, names: GapNames) -> str:
    if not row["estimable"]:
        return ""
    gap, interval = number(row["gap"]), between(row["ci_low"], row["ci_high"])
    words = f"{row['subgroup']}: {gap} ({interval}), {row['n']:,.0f} rows"
    inside = cells.get(str(row["subgroup"]), {}).items()
    values = ", ".join(f"{group} {number(value)}" for group, (_, value) in inside)
    return f"{words}<br>{names.symbol}: {values}" if values else words


def _counts(
    counts: Mapping[str, list[int]], places: list[float], feature: str, *, upright: bool
) -> list[Spec]:
    return [
        {
            "type": "bar",
            "orientation": "v" if upright else "h",
            "x": counts[name],
            "y": places,
            "xaxis": "x2",
            "width": 0.5,
            "marker": {"color": colour, "line": {"width": 0}},
            "name": group_label(feature, name),
            "showlegend": upright,
            "hovertemplate": f"{group_label(feature, name)}: %{{x:,}} rows"
            "<extra></extra>",
        }
        for name, colour in group_colours(tuple(counts)).items()
    ]


def _layout(rows: Spec, top: float, names: GapNames, *, upright: bool) -> Spec:
    values: Spec = value_axis(
        f"{names.local}: gap in {names.symbol}", ".2f", range=[0, top], showgrid=True
    )
    counts: Spec = value_axis("rows", ",d", nticks=2, tickangle=0, showgrid=False)
    if upright:
        values["domain"], counts["domain"] = [0.32, 1], [0, 0.24]
        values["title"] = names.local
        return {
            "xaxis": {**rows, "anchor": "y2"},
            "yaxis": values,
            "yaxis2": {**counts, "anchor": "x"},
            "barmode": "stack",
        }
    values["domain"], counts["domain"] = [0, _SPLIT[0]], [_SPLIT[1], 1]
    return {
        "xaxis": values,
        "xaxis2": {**counts, "anchor": "y"},
        "yaxis": rows,
        "barmode": "stack",
    }


def _group_names(groups: tuple[str, ...], feature: str) -> Spec:
    """Name the groups beside their colours, under the counts and the axis titles."""
    colours = group_colours(groups).items()
    named = [
        f'{group_label(feature, name)} <span style="color:{colour}">■</span>'
        for name, colour in colours
    ]
    place: Spec = {"xref": "paper", "x": 1, "xanchor": "right", "align": "right"}
    place |= {"yref": "paper", "y": 0, "yanchor": "top", "yshift": -_BELOW}
    return text("<br>".join(named), **place)


def _chance(
    chance: float, rows: Spec, top: float, *, upright: bool
) -> tuple[list[Spec], list[Spec]]:
    if np.isnan(chance):
        return [], []
    words = f"by chance {number(chance)}"
    if upright:
        place: Spec = {
            "x": 1,
            "xref": "x domain",
            "xanchor": "right",
            "yanchor": "bottom",
        }
        note = text(words, y=chance, yref="y", **place)
    else:
        place = {"y": rows["range"][0], "yref": "y", "yanchor": "bottom"}
        inside = chance > top / 2
        side: Spec = {"xanchor": "right" if inside else "left"}
        shift = -4 if inside else 4
        note = text(words, x=chance, xref="x", xshift=shift, **side, **place)
    return [swap(chance_band(chance, xref="x"), upright=upright)], [note]


def plot_found_subgroups(
    tree: pd.DataFrame,
    *,
    groups: tuple[str, ...],
    headline: str,
    rate: str,
    alpha: float = 0.05,
    feature: str = "",
) -> Picture:
    """Draw a tree of subgroups: rates of two groups in each, and the gap beside.

    ``tree`` is of ``fairdash.audits.refinements``, ``rate`` what its rates are; gaps
    that are not listed, or whose adjusted p exceeds ``alpha``, are drawn in grey.
    """
    places = list(tree.index)
    data: list[Spec] = []
    drawn: set[str] = set()
    for group, colour in group_colours(groups).items():
        told = group_label(feature, group)
        for side, off in (("lower", 0.12), ("higher", -0.12)):
            own = tree[tree[side] == group]
            if len(own):
                data.append(
                    dots(
                        own[f"rate_{side}"], own[f"low_{side}"], own[f"high_{side}"],
                        [place + off for place in own.index],
                        colour=colour, symbol="circle", name=told,
                        hover=[
                            f"{told}: {percent(share)} of {count(n)} rows"
                            for share, n in zip(
                                own[f"rate_{side}"], own[f"n_{side}"], strict=True
                            )
                        ],
                    )
                    | {"showlegend": group not in drawn}
                )  # fmt: skip
                drawn.add(group)
    for clear, colour in ((True, INK), (False, MUTED)):
        which = (tree["p_adjusted"] <= alpha) == clear
        some = tree[which]
        if len(some):
            one = dots(
                some["gap"], some["ci_low"], some["ci_high"],
                [p for p, w in zip(places, which, strict=True) if w],
                colour=colour, symbol="diamond", name="gap",
                hover=[_gap_words(row) for row in records(some)],
            )  # fmt: skip
            data.append(one | {"xaxis": "x2", "showlegend": False})
    # names end at the axis: what is deeper ends nearer to it
    deep = tree["level"].max()
    names = [
        wrap("↳ " * (level > 0) + str(name), 20) + _STEP * (deep - level)
        for level, name in zip(tree["level"], tree["subgroup"], strict=True)
    ]
    layout: Spec = {
        "yaxis": {
            "tickvals": places,
            "ticktext": names,
            "range": [places[-1] + 0.6, -0.6],
            "showgrid": False,
            "ticks": "",
        },
        "xaxis": {"title": rate, "domain": [0, 0.47], "tickformat": ".0%", "nticks": 4},
        "xaxis2": value_axis(
            "gap (0 is fair)",
            nticks=3,
            domain=[0.55, 1],
            rangemode="tozero",
            zeroline=True,
            anchor="y",
        ),
    }
    height = _FOUND_AROUND + _FOUND_ROW * len(tree)
    figure = finish(data, layout, height=height, legend=True, top=60)
    alt = "; ".join(
        f"{row['subgroup']} (level {row['level']}): "
        f"{spoken_group(feature, row['lower'])} {percent(row['rate_lower'])}, "
        f"{spoken_group(feature, row['higher'])} {percent(row['rate_higher'])}, "
        f"{_gap_words(row)}"
        for row in records(tree)
    )
    return Picture(figure, headline, f"{headline}. {alt}.", tree)


def _gap_words(row: Spec) -> str:
    if np.isnan(row["p_adjusted"]):
        return f"gap {number(row['gap'])}"
    ends = between(row["ci_low"], row["ci_high"])
    return f"gap {number(row['gap'])} ({ends}), adjusted p {number(row['p_adjusted'])}"
