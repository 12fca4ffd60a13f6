"""One row a thing, marks with intervals on it: the figure that most pages show.

What a user named is a value in its table.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fairdash._escaping import Label, bold, wrap
from fairdash._wording import number
from fairdash.plots.theme import BAND, INK, MUTED, PAPER, VEIL, Spec, fade, finish, text

UNDER_POINTER = Label("%{hovertext}<extra></extra>")  # and nothing beside it
_TEXT_UNDER_POINTER = Label("%{text}<extra></extra>")
_GAP = 0.6  # of a row, between "Men 65+" and "Women 18–24"


def scatter(
    x: Any, y: Any, *, mode: str = "lines", hover: list[str] | None = None, **more: Any
) -> Spec:
    """Return a trace of lines or marks; lists as they are, columns as plain numbers.

    ``hover`` says for each mark what it shows under the pointer.
    """
    if not isinstance(x, list):
        x = numbers(x)
    if not isinstance(y, list):
        y = numbers(y)
    if hover is not None:
        more |= {"text": hover, "hovertemplate": _TEXT_UNDER_POINTER}
    return {"type": "scatter", "mode": mode, "x": x, "y": y, **more}


def strokes(x: list[Any], y: list[Any], name: str, hover: list[str]) -> Spec:
    """Return upright strokes, quieter than marks: where a truth lies."""
    look = {"symbol": "line-ns-open", "size": 18, "color": INK, "line": {"width": 2}}
    more = {"name": name, "marker": look, "showlegend": True}
    return scatter(x, y, mode="markers", hover=hover, **more)


def interval_bars(at: Any, low: Any, high: Any, *, colour: str, thickness: int) -> Spec:
    """Return bars around marks from ``low`` to ``high``."""
    up = numbers(high - at)
    down = numbers(at - low)
    look: Spec = {"color": colour, "thickness": thickness, "width": 0}
    return {"type": "data", "symmetric": False, "array": up, "arrayminus": down, **look}


def upright_line(at: float, **line: Any) -> Spec:
    """Return the shape of a line from the bottom of a figure to its top."""
    ends = {"x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "y domain"}
    return {"type": "line", "line": line, **ends}


def chance_band(chance: float, **more: Any) -> Spec:
    """Return the grey shape of what chance alone shows, from 0 on along x."""
    look: Spec = {"type": "rect", "fillcolor": BAND, "line": {"width": 0}}
    edge = {"x0": 0, "x1": chance, "y0": 0, "y1": 1, "yref": "y domain"}
    return {**look, **edge, "layer": "below", **more}


def chance_alone(chance: float, at: float, **place: Any) -> Spec:
    """Return the shapes and the note of what chance alone shows, "" if it is NaN."""
    if np.isnan(chance):
        return {}
    note = text("chance alone", x=at, y=0, yref="y domain", yanchor="bottom", **place)
    return {"shapes": [chance_band(chance)], "annotations": [note]}


def positions(names: Sequence[str]) -> list[float]:
    """Return the place of each row, with a gap where the first words change."""
    heads = [name.partition(" ")[0] for name in names]
    separated = len(set(heads)) <= len(names) / 2
    place = 0.0
    places = []
    for i, head in enumerate(heads):
        if i > 0:
            place += 1
        if i > 0 and separated and head != heads[i - 1]:
            place += _GAP
        places.append(place)
    return places


def offsets(count: int) -> list[float]:
    """Return the shifts of ``count`` marks that share a row."""
    if count == 1:
        return [0.0]
    step = min(0.34, 0.72 / count)
    return [step * (i - (count - 1) / 2) for i in range(count)]


@dataclass(frozen=True)
class Series:
    """Marks of one kind: one trace of a figure of rows, and its line over all rows.

    Attributes
    ----------
    panel : int
        Index of the panel that it is in.
    reference : float
        Value over all rows, a dashed line; NaN draws none. ``reference_words`` say
        what it is.
    named : bool
        Whether the legend names it.
    """

    name: str
    colour: str
    symbol: str = "circle"
    size: int = 9
    panel: int = 0
    reference: float = float("nan")
    reference_words: str = ""
    named: bool = True


@dataclass(frozen=True)
class Panel:
    """One axis of values.

    Attributes
    ----------
    axis : dict
        The axis, as Plotly takes it.
    chance : float
        Value up to which chance alone reaches, a grey band; NaN draws none.
        ``style`` writes it.
    limit : float
        Value of a dashed line that matters by itself, such as 0; NaN draws none.
    words : str
        Written above the panel.
    """

    axis: Spec
    chance: float = float("nan")
    limit: float = float("nan")
    words: str = ""
    style: Callable[[float], str] = number


def marks_of(
    table: pd.DataFrame,
    value: str,
    ends: tuple[str, str] | None,
    hover: Callable[[Spec], str],
    *,
    series: int = 0,
    aside: float = 0.0,
    only: "pd.Series[bool] | None" = None,
    rows: Sequence[int] | None = None,
) -> pd.DataFrame:
    """Return the marks of one series, one for each row of ``table``.

    ``value`` and the ``ends`` of its interval, if it has one, are columns. A mark
    stands on the row of the figure with the index of its row in ``table``, unless
    ``rows`` has others; ``only`` says which rows have a mark.
    """
    at = np.arange(len(table)) if rows is None else np.asarray(rows, np.int64)
    if only is not None:
        table = table[only]
        at = at[only.to_numpy(bool)]
    columns = [value, *(ends or (value, value))]
    numbers_of = table[columns].to_numpy(np.float64).reshape(-1, 3)
    marks = pd.DataFrame(numbers_of, columns=["value", "low", "high"])
    # As objects: a column of strings would keep the characters of a `Label`, and not
    # what it is.
    hovers = pd.Series([hover(row) for row in records(table)], dtype=object)
    return marks.assign(row=at, series=series, aside=aside, hover=hovers)


def draw_rows(
    marks: pd.DataFrame,
    labels: Sequence[str],
    series: Sequence[Series],
    panels: Sequence[Panel],
    *,
    reasons: Sequence[str] = (),
    ticks: Sequence[str] | None = None,
    emphasised: str = "",
    grouped: bool = False,
    joined: bool = False,
    extra: Callable[[list[float]], list[Spec]] = lambda _places: [],
    layout: Mapping[str, Any] | None = None,
    least: int = 26,
    around: int = 90,
    lowest: int = 0,
    **look: Any,
) -> go.Figure:
    """Draw one row a thing, on each row marks with intervals.

    Parameters
    ----------
    marks : DataFrame
        One row per mark: row and series (indices into ``labels`` and ``series``),
        value, low, high (NaN without an interval), aside (part of a row by which it
        stands lower), hover; and if needed words (drawn above it) and fill (its colour
        inside, where that is not that of its series).
    labels : sequence of str
        Names of the rows, from top to bottom; ``ticks`` are these in lines. The one
        that is ``emphasised`` is bold.
    reasons : sequence of str
        For each row why it has no estimate, "" if it has one.
    grouped : bool
        Whether a gap stands where the first words of labels change.
    joined : bool
        Whether a line joins the marks of a row in the first panel.
    extra : callable
        Takes the places of rows; returns traces for axes in ``layout``.
    least, around, lowest : int
        Pixels of a row, above and below all, and of the figure at least.
    look : dict
        For `fairdash.plots.theme.finish`.
    """
    places = positions(labels) if grouped else [float(i) for i in range(len(labels))]
    below = 0.8 if any(np.isfinite(panel.chance) for panel in panels) else 0.0
    rows = name_axis(labels, places, below)
    if ticks is not None:
        rows["ticktext"] = list(ticks)
    if emphasised in labels:
        index = list(labels).index(emphasised)
        rows["ticktext"][index] = bold(rows["ticktext"][index])
    across = [_across(i) for i in range(len(panels))]
    at = np.array([places[row] for row in marks["row"]]) + marks["aside"].to_numpy()
    data = _joins(marks, at, series) if joined else []
    for i, kind in enumerate(series):
        of_series = (marks["series"] == i).to_numpy()
        data += _trace(marks[of_series], at[of_series], kind, across[kind.panel])
        if np.isfinite(kind.reference):
            data.append(_reference(kind, rows, across[kind.panel]))
    data += extra(places)

    whole: Spec = {"yaxis": rows, "shapes": [], "annotations": []}
    for panel, axis in zip(panels, across, strict=True):
        look_of_axis = panel.axis
        if len(panels) > 1:
            look_of_axis = {**look_of_axis, "anchor": "y"}
        whole[f"xaxis{axis[1:]}"] = look_of_axis
        shapes, notes = _panel_notes(panel, axis, rows)
        whole["shapes"] += shapes
        whole["annotations"] += notes
    whole["annotations"] += not_estimable(reasons, places)
    height = round((rows["range"][0] + 0.6) * row_height(rows, least)) + around
    # A caller adds notes, and keys to axes; all else of a layout replaces.
    for name, part in (layout or {}).items():
        if name == "annotations":
            whole[name] = [*whole[name], *part]
        elif "axis" in name:
            whole[name] = {**whole.get(name, {}), **part}
        else:
            whole[name] = part
    return finish(data, whole, height=max(height, lowest), **look)


def _across(panel: int) -> str:
    # Plotly's first axis has no number.
    return f"x{panel + 1}" if panel else "x"


def _trace(marks: pd.DataFrame, at: Any, kind: Series, axis: str) -> list[Spec]:
    trace = dots(
        marks["value"],
        marks["low"],
        marks["high"],
        at.tolist(),
        colour=kind.colour,
        symbol=kind.symbol,
        name=kind.name,
        hover=marks["hover"].tolist(),
        showlegend=kind.named,
        xaxis=axis,
    )
    trace["marker"]["size"] = kind.size
    if "open" in kind.symbol or kind.symbol.startswith("line"):
        trace["marker"]["line"] = {"color": kind.colour, "width": 2}
    if "words" in marks:
        words = {"text": marks["words"].tolist(), "textposition": "top center"}
        trace |= {"mode": "markers+text", "textfont": {"color": INK, "size": 12}}
        trace |= words | {"hovertext": marks["hover"].tolist()}
        trace["hovertemplate"] = UNDER_POINTER
    if "fill" in marks:
        return [_filled(trace, marks["fill"].tolist(), kind), _key(trace)]
    return [trace]


def _filled(trace: Spec, fill: list[str], kind: Series) -> Spec:
    """Return marks with a fill of their own, in an edge of the colour of the series."""
    edge = {"color": kind.colour, "width": 2}
    marker = {**trace["marker"], "color": fill, "size": kind.size + 2, "line": edge}
    return {**trace, "marker": marker, "showlegend": False}


def _key(trace: Spec) -> Spec:
    """Return the legend's entry of a series, which would show the first mark's fill."""
    names = ("type", "mode", "name", "legendgroup", "marker", "xaxis", "showlegend")
    return {name: trace[name] for name in names} | {"x": [None], "y": [None]}


def _joins(marks: pd.DataFrame, at: Any, series: Sequence[Series]) -> list[Spec]:
    """Return one trace of the lines between the marks of each row, parted by None."""
    first = np.array([series[i].panel == 0 for i in marks["series"]], bool)
    joined = marks.assign(at=at)[first & marks["value"].notna()]
    x: list[float | None] = []
    y: list[float | None] = []
    for _, of_row in joined.groupby("row"):
        x += [*of_row["value"], None]
        y += [*of_row["at"], None]
    line = {"color": fade(MUTED, 0.45), "width": 2}
    return [scatter(x, y, line=line, hoverinfo="skip", showlegend=False)]


def _reference(kind: Series, rows: Spec, axis: str) -> Spec:
    return scatter(
        [kind.reference, kind.reference],
        rows["range"],
        line={"color": kind.colour, "width": 1.5, "dash": "dash"},
        legendgroup=kind.name,
        showlegend=False,
        hover=[kind.reference_words] * 2,
        xaxis=axis,
    )


def _panel_notes(panel: Panel, axis: str, rows: Spec) -> tuple[list[Spec], list[Spec]]:
    shapes: list[Spec] = []
    notes: list[Spec] = []
    if np.isfinite(panel.chance):
        shapes.append(chance_band(panel.chance, xref=axis))
        words = f"by chance {panel.style(panel.chance)}"
        # On the side of the band's end where there is more room.
        place: Spec = {"xanchor": "left", "xshift": 4}
        if panel.chance > panel.axis["range"][1] / 2:
            place = {"xanchor": "right", "xshift": -4}
        place |= {"x": panel.chance, "xref": axis, "y": rows["range"][0], "yref": "y"}
        notes.append(text(words, yanchor="bottom", **place))
    if np.isfinite(panel.limit):
        line = {"color": fade(INK, 0.6), "width": 1.5, "dash": "dash"}
        shapes.append(upright_line(panel.limit, **line) | {"layer": "below"})
        shapes[-1]["xref"] = axis
    if panel.words:
        above: Spec = {"xref": f"{axis} domain", "x": 0, "yshift": 6}
        above |= {"yref": "y domain", "y": 1, "yanchor": "bottom"}
        notes.append(text(panel.words, INK, **above))
    return shapes, notes


def name_axis(labels: Sequence[str], places: Sequence[float], below: float) -> Spec:
    """Return the axis of rows, first row on top; ``below`` leaves room for a note."""
    width = 20 if max(map(len, labels), default=0) <= 40 else 26
    return {
        "tickvals": list(places),
        "ticktext": [wrap(label, width) for label in labels],
        "range": [max(places, default=0) + 0.6 + below, -0.6],
        "showgrid": False,
        "ticks": "",
        "ticklabelstandoff": 8,  # a mark at 0 reaches to the left of the axis
    }


def row_height(axis: Spec, least: int) -> int:
    """Return the height of a row in which the longest name of `name_axis` has room."""
    lines = [label.count("<br>") + 1 for label in axis["ticktext"]]
    return max(least, 15 * max(lines, default=1) + 6)


def dots(
    value: "pd.Series[Any]",
    low: "pd.Series[Any]",
    high: "pd.Series[Any]",
    places: Sequence[float],
    *,
    colour: str,
    symbol: str,
    name: str,
    **more: Any,
) -> Spec:
    """Return markers with intervals; undefined values leave their row empty."""
    return scatter(
        value,
        list(places),
        mode="markers",
        name=name,
        legendgroup=name,
        cliponaxis=False,  # a mark at 0 stays whole
        marker={
            "color": colour,
            "symbol": symbol,
            "size": 9,
            "line": {"color": PAPER, "width": 1},
        },
        error_x=interval_bars(value, low, high, colour=fade(colour, 0.55), thickness=2),
        **more,
    )


def not_estimable(reasons: Sequence[str], places: Sequence[float]) -> list[Spec]:
    """Say in each row without an estimate why it has none."""
    place: Spec = {"xref": "x domain", "x": 0, "xanchor": "left", "xshift": 6}
    place |= {"yref": "y", "yanchor": "middle"}
    return [
        text(f"not estimable: {reason}", bgcolor=VEIL, **place) | {"y": at}
        for reason, at in zip(reasons, places, strict=False)
        if reason
    ]


def reasons_of(table: pd.DataFrame) -> list[str]:
    """Return for each row of a table why it is not estimable, "" if it is."""
    return table["reason"].astype(str).where(~table["estimable"], "").tolist()


def records(table: pd.DataFrame) -> list[Spec]:
    """Return the rows of a table as plain dicts."""
    rows = []
    for row in table.to_dict("records"):
        rows.append({str(key): cell for key, cell in row.items()})
    return rows


def numbers(values: "pd.Series[Any]") -> list[float | None]:
    """Return plain numbers, None where undefined."""
    array = np.asarray(values, dtype=np.float64)
    return [None if np.isnan(value) else float(value) for value in array]
