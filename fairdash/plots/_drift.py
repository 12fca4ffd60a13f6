"""Models on several tables: accuracy against a measure, and gaps before and after."""

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from fairdash._wording import fitting, interval, number, percent, plural, points
from fairdash.plots._front import METRICS
from fairdash.plots._rows import (
    Panel,
    Series,
    draw_rows,
    interval_bars,
    marks_of,
    reach,
    reasons_of,
    records,
    scatter,
)
from fairdash.plots._theme import (
    INK,
    MUTED,
    Picture,
    Spec,
    fade,
    finish,
    method_mark,
    value_axis,
)

_QUALITY = {"accuracy": "accuracy", "selection_rate": "selection rate"}
_JOINED = 8  # models whose tables are joined by lines and that have whiskers


def title_of(measure: str) -> str:
    """Return the title of an axis of a measure."""
    return METRICS[measure][0]


def plot_drift(
    table: pd.DataFrame,
    *,
    measure: str,
    tables: Sequence[str],
    against: str,
    kind: str = "Newcombe intervals",
) -> Picture:
    """Draw one mark per model and table, and each method's front on two tables.

    ``table`` has one row per table and model: table, label, method, colour_role, main,
    front (chosen elsewhere, such as on validation rows), status ("" for a model that
    decides on the table; the others are crosses that axes do not reach out for and
    headlines do not count), accuracy (NaN where a table has no outcome: then
    selection_rate is drawn), ``measure``, and both with _low and _high,
    and the change of each from the reference, _change_low and _change_high. The
    reference is the first of ``tables``; ``against`` is the table in detail, and marks
    of others are small. With n_seeds, all are means over seeds. ``kind`` names the
    intervals of the measure.
    """
    y = "accuracy" if table["accuracy"].notna().all() else "selection_rate"
    few = table["label"].nunique() <= _JOINED
    decides = table["status"] == ""
    data: list[Spec] = []
    for method in dict.fromkeys(table["method"]):
        of_method = table[decides & (table["method"] == method)]
        idle = table[~decides & (table["method"] == method)]
        role = table.loc[table["method"] == method, "colour_role"].iloc[0]
        colour, symbol = method_mark(role)
        if len(idle):
            cross = {"symbol": "x-thin-open", "size": 8, "color": fade(colour, 0.5)}
            mark = _marks(idle, measure, y, cross)
            data.append(mark | {"showlegend": False, "legendgroup": method})
        for name in tables:
            rows = of_method[of_method["table"] == name]
            look = _look(name, tables[0], against, colour, symbol)
            mark = _marks(rows, measure, y, look)
            if few and name in (tables[0], against):
                mark |= _bars(rows, measure, y, fade(colour, 0.4))
            mark |= {"name": method, "legendgroup": method}
            data.append(mark | {"showlegend": name == against})
            if name in (tables[0], against) and rows["front"].sum() > 1:
                dash = "dot" if name == tables[0] else "solid"
                front = rows[rows["front"]].sort_values(measure)
                line = {"color": colour, "width": 2, "dash": dash}
                data.append(_link(front, measure, y, method, 2, **line))
        if few:
            ends = of_method[of_method["table"].isin([tables[0], against])]
            data += [
                _link(of_model, measure, y, method, 1, color=fade(colour, 0.35))
                for _, of_model in ends.groupby("label", sort=False)
            ]
    layout: Spec = {
        "xaxis": value_axis(title_of(measure), "~g", showgrid=True),
        "yaxis": {"title": _QUALITY[y], "tickformat": ".1~%", "nticks": 6},
    }
    beyond = 0
    if decides.any() and not decides.all():
        beyond = _hold_axes(layout, table, measure, y, whiskers=few)
    shown = [
        column
        for column in (
            "table",
            "label",
            "status",
            "front",
            "n",
            "n_seeds",
            y,
            f"{y}_low",
            f"{y}_high",
        )
        if column in table
    ]
    shown += [measure, f"{measure}_low", f"{measure}_high"]
    return Picture(
        finish(data, layout, height=420, legend=True),
        _headline(table, measure, y, tables[0], against),
        _description(table, measure, y, tables[0], against),
        table[shown],
        _caption(
            tables,
            against,
            kind,
            few=few,
            fronts=any("dash" in d.get("line", {}) for d in data),
            n_seeds=int(table["n_seeds"].max()) if "n_seeds" in table else 0,
        )
        + _idle_words(int((~decides).sum()), beyond),
    )


def _hold_axes(
    layout: Spec, table: pd.DataFrame, x: str, y: str, *, whiskers: bool
) -> int:
    """Let axes end with the models that decide; return how many crosses lie beyond."""
    decides = table["status"] == ""
    beyond = pd.Series(False, table.index)
    for axis, name in (("xaxis", x), ("yaxis", y)):
        ends = [f"{name}_low", f"{name}_high"] if whiskers else [name]
        held = reach(table.loc[decides, ends])
        layout[axis] |= held
        if held:
            beyond |= ~table[name].between(*held["range"])
    return int(beyond[~decides].sum())


def _idle_words(n: int, beyond: int) -> str:
    if not n:
        return ""
    outside = f", {beyond} of them beyond the axes" if beyond else ""
    return (
        f" Crosses, not counted: {plural(n, 'mark')} of models that decide alike for "
        f"everyone there, or as chance might{outside}."
    )


def _look(name: str, reference: str, against: str, colour: str, symbol: str) -> Spec:
    if name == reference:
        return {"symbol": f"{symbol}-open", "size": 10, "color": colour}
    if name == against:
        return {"symbol": symbol, "size": 10, "color": colour}
    return {"symbol": symbol, "size": 6, "color": fade(colour, 0.4)}


def _marks(rows: pd.DataFrame, x: str, y: str, look: Spec) -> Spec:
    words = [_hover(row, x, y) for row in records(rows)]
    return scatter(rows[x], rows[y], mode="markers", marker=look, hover=words, zorder=3)


def _bars(rows: pd.DataFrame, x: str, y: str, colour: str) -> Spec:
    return {
        error: interval_bars(
            *(rows[f"{name}{end}"] for end in ("", "_low", "_high")),
            colour=colour,
            thickness=1.2,
        )
        for error, name in (("error_x", x), ("error_y", y))
    }


def _link(
    rows: pd.DataFrame, x: str, y: str, method: str, zorder: int, **line: Any
) -> Spec:
    """Return a line through models, or from one table to another."""
    return scatter(
        rows[x],
        rows[y],
        legendgroup=method,
        showlegend=False,
        line={"width": 1.5, **line},
        hoverinfo="skip",
        zorder=zorder,
    )


def _hover(row: Spec, x: str, y: str) -> str:
    ends = interval(row[f"{x}_low"], row[f"{x}_high"])
    quality = interval(row[f"{y}_low"], row[f"{y}_high"], percent)
    lines = [
        f"{row['label']}, {row['table']}",
        f"{title_of(x).split(' (')[0]} {number(row[x])} ({ends})",
        f"{_QUALITY[y]} {percent(row[y])} ({quality})",
        row["status"],
    ]
    return "<br>".join(filter(None, lines))


def _headline(
    table: pd.DataFrame, measure: str, y: str, reference: str, against: str
) -> str:
    """How many models that decide changed by more than their intervals allow."""
    ends = table[table["table"].isin([reference, against])]
    idle = ends.loc[ends["status"] != "", "label"]
    now = ends[(ends["table"] == against) & ~ends["label"].isin(idle)]
    if now.empty:
        return "No model decides on both tables"
    name = title_of(measure).split(" (")[0]
    of = f"of {len(now)} {'that decide' if len(idle) else 'models'}"
    change = now[f"{measure}_change_low"]
    wider = f"larger for {(change > 0).sum()}"
    gap = f"{name} is clearly {wider} {of}"
    if change.isna().all():
        gap, wider = f"{name} is not estimable on both tables", "not estimable"
    if y != "accuracy":
        return fitting(f"{gap} on {against}", gap)
    worse = int((now["accuracy_change_high"] < 0).sum())
    words = f"Accuracy clearly lower for {worse} {of}"
    return fitting(f"{words}, {name} {wider}", words)


def _description(
    table: pd.DataFrame, measure: str, y: str, reference: str, against: str
) -> str:
    rows = table.set_index(["label", "table"])
    said = []
    for label in dict.fromkeys(table["label"]):
        values = " to ".join(
            f"{number(rows.loc[(label, name), measure])} at "
            f"{percent(rows.loc[(label, name), y])}{_status(rows, label, name)}"
            for name in (reference, against)
        )
        said.append(f"{label}: {values}")
    name = title_of(measure).split(" (")[0]
    return (
        f"{_QUALITY[y].capitalize()} against {name} from {reference} to {against}. "
        f"{'; '.join(said[:12])}."
    )


def _status(rows: pd.DataFrame, label: str, name: str) -> str:
    status = str(rows.loc[(label, name), "status"])
    return f" ({status})" if status else ""


def _caption(
    tables: Sequence[str],
    against: str,
    kind: str,
    *,
    few: bool,
    fronts: bool,
    n_seeds: int,
) -> str:
    words = [f"Open: {tables[0]}. Filled: {against}."]
    words += ["Small: the other tables."] if len(tables) > 2 else []
    kinds = f"Wilson of accuracy, of gaps {kind}"
    if n_seeds:
        kinds = f"Student's, over the means of {plural(n_seeds, 'seed')}"
    words += [f"95% intervals: {kinds}{'' if few else ', in the table'}."]
    if fronts:
        words += ["Lines: fronts chosen on validation rows of the training table."]
    return " ".join(words)


def plot_gap_changes(
    table: pd.DataFrame, *, headline: str, caption: str, low: str, high: str
) -> Picture:
    """One row per subgroup: the gap before and after, and its change beside.

    Of ``fairdash.audits.gap_changes``; a gap is the rate of the group ``high`` less
    that of ``low``.
    """
    marks = []
    for i, (when, aside) in enumerate((("before", -0.12), ("after", 0.12))):

        def hover(row: Spec, when: str = when) -> str:
            return _gap(row, when)

        ends = f"{when}_low", f"{when}_high"
        marks.append(marks_of(table, f"gap_{when}", ends, hover, series=i, aside=aside))
    clear = (table["ci_low"] > 0) | (table["ci_high"] < 0)
    for i, only in ((2, clear), (3, ~clear)):
        ends = "ci_low", "ci_high"
        marks.append(marks_of(table, "change", ends, _changed, series=i, only=only))
    gaps = value_axis(f"gap, {high} − {low}", nticks=6, domain=[0, 0.54], zeroline=True)
    changes = value_axis("change", nticks=4, domain=[0.62, 1], zeroline=True)
    figure = draw_rows(
        pd.concat(marks, ignore_index=True),
        table["subgroup"].astype(str).tolist(),
        [
            Series("reference", INK, "circle-open", 10),
            Series("other table", INK, "circle", 10),
            Series("change", INK, "diamond", 10, panel=1, named=False),
            Series("change", MUTED, "diamond", 10, panel=1, named=False),
        ],
        [Panel(gaps), Panel(changes)],
        reasons=reasons_of(table),
        joined=True,
        least=34,
        around=97,
        legend=True,
        top=40,
    )
    said = "; ".join(
        f"{row['subgroup']}: {_changed(row)}"
        for row in records(table[table["estimable"]])
    )
    return Picture(
        figure,
        headline,
        f"{headline}. {said or 'No subgroup is estimable'}.",
        table,
        caption,
    )


def _gap(row: Spec, when: str) -> str:
    if math.isnan(row[f"gap_{when}"]):
        return ""
    ends = interval(row[f"{when}_low"], row[f"{when}_high"])
    return f"{row['subgroup']}: {number(row[f'gap_{when}'])} ({ends})"


def _changed(row: Spec) -> str:
    ends = f"{points(row['ci_low'])} to {points(row['ci_high'])}"
    return f"{points(row['change'])} ({ends})"
