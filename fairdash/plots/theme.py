"""One look for all figures: neutral ink, faint grid, constant roles for colour.

Colours are tokens, not values: the browser swaps them for the colours of
``.streamlit/config.toml`` in the reader's theme, so figures need not know the theme.
``resolve`` does the same for files. Streamlit overrides what a template says of
margins, fonts and axis titles, so ``finish`` sets these on the figure itself.
"""

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import plotly.graph_objects as go
import plotly.io as pio
from plotly.offline import get_plotlyjs

from fairdash._escaping import as_label
from fairdash.plots._axes import with_span

Spec = dict[str, Any]  # a piece of a Plotly figure, as plain JSON
Theme = Literal["light", "dark"]

GROUPS = ("#000001", "#000002", "#000003", "#000004")
_MARKS = tomllib.loads(Path(__file__).with_name("marks.toml").read_text("utf-8"))
METHODS = {role: tuple(mark) for role, mark in _MARKS["methods"].items()}
OTHER_METHOD = tuple(_MARKS["other"])
REPEATS = _MARKS["repeats"]
MUTED = "#000036"
INK = "#000037"
PAPER = "#000038"
GRID = "#00003626"
TEXT = "#000037c6"  # ink at 78 %: Streamlit's own axis text is 3.7:1 on white
BAND = "#00003620"
VEIL = "#000038b0"  # behind words that lines may cross

# Colours of each theme in the order of the tokens, as in `.streamlit/config.toml`.
CATEGORICAL = {
    "light": "0072B2 C15500 8C5A3C 4C6A92 6B7280 A94F84 8A6D00 00805D 7A5195 1E7B8C",
    "dark": "56B4E9 E69F00 D3A27F 8FB0DA A3AEB8 E79AC4 E3D64A 2BB58C B79AD6 6CC3D1",
}
SEQUENTIAL = {
    "light": "F3F7F7 DDEAEA C3DADB A5C8CA 84B3B8 629CA4 45838D 306A76 20515E 133945",
    "dark": "172126 1C2F37 214049 28525D 326773 3F7F8C 5399A5 72B3BC 9DCDD2 D0E7E9",
}
NEUTRAL = {"light": "808495 262730 FFFFFF", "dark": "E6EAF1 FAFAFA 0D1215"}

CONFIG: Spec = {
    "displaylogo": False,
    "modeBarButtonsToRemove": [
        "zoom2d",
        "pan2d",
        "zoomIn2d",
        "zoomOut2d",
        "autoScale2d",
        "resetScale2d",
        "select2d",
        "lasso2d",
    ],
    "toImageButtonOptions": {"format": "svg", "filename": "fairdash"},
}

_TITLE = {"standoff": 6, "font": {"size": 13, "color": TEXT}}
_AXIS: Spec = {
    "fixedrange": True,
    "zeroline": False,
    "automargin": True,
    "gridcolor": GRID,
    "tickfont": {"size": 12, "color": TEXT},
    "title": _TITLE,
}
_LAYOUT: Spec = {
    "font": {"family": "Source Sans, sans-serif", "size": 13},
    "paper_bgcolor": PAPER,
    "plot_bgcolor": PAPER,
    "dragmode": False,  # a finger on the figure scrolls the page
    "hovermode": "closest",
    "hoverlabel": {
        "align": "left",
        "bgcolor": PAPER,
        "bordercolor": GRID,
        "font": {"size": 13, "color": INK},
    },
    "barcornerradius": 2,
    "showlegend": False,
}
_LEGEND: Spec = {
    "orientation": "h",
    "x": 0,
    "xanchor": "left",
    "y": 1,
    "yanchor": "bottom",
    "bgcolor": "rgba(0,0,0,0)",
    "font": {"size": 13, "color": TEXT},
    "itemsizing": "constant",
    "title": {"text": ""},
    "maxheight": 0.7,
}


# In pixels, wherever they stand in a figure; the width of a bar is not.
_LENGTHS = {"size", "height", "standoff", "l", "r", "t", "b"}


_FADES = (0.55, 0.3)  # of the second four groups, and of the third


def fade(token: str, opacity: float) -> str:
    """Return ``token`` with an opacity as two more hex digits; the swap keeps them.

    Fading twice multiplies: the fifth group is a faded first one, and its intervals
    are fainter still.
    """
    colour = token[:7]
    before = token[7:]
    share = int(before, 16) / 255 if before else 1.0
    return f"{colour}{round(share * opacity * 255):02x}"


def group_colours(groups: Sequence[str]) -> dict[str, str]:
    """Return the colour of every group; the order is fixed for a data set.

    Twelve can be told apart, beyond them a picture has to name its groups otherwise.
    """
    cycle = [*GROUPS, *(fade(token, share) for share in _FADES for token in GROUPS)]
    return {name: cycle[i % len(cycle)] for i, name in enumerate(groups)}


def group_colours_of(groups: Sequence[str], theme: Theme) -> list[str]:
    """Return the colours of groups in a theme, for what draws itself in a browser."""
    return [_colour(token, theme) for token in group_colours(groups).values()]


def method_mark(role: str) -> tuple[str, str]:
    """Return colour and symbol of a method, by its colour role."""
    return METHODS.get(role, OTHER_METHOD)


def model_marks(roles: Sequence[str]) -> list[tuple[str, str]]:
    """Return colour and symbol of every model, by the colour role of its method."""
    marks = []
    for i, role in enumerate(roles):
        colour, symbol = method_mark(role)
        # Further models of a method keep its colour and differ in their symbol.
        earlier = list(roles[:i]).count(role)
        if earlier:
            symbol = REPEATS[(earlier - 1) % len(REPEATS)]
        marks.append((colour, symbol))
    return marks


def model_chips(roles: Sequence[str], theme: Theme) -> list[tuple[str, str]]:
    """Return colour in a theme and a character of the mark's shape of every model."""
    return [
        (_colour(colour, theme), _MARKS["glyphs"].get(symbol, "◈"))
        for colour, symbol in model_marks(roles)
    ]


def text(words: str, colour: str = TEXT, **place: Any) -> Spec:
    """Return an annotation without an arrow."""
    font = {"size": 12, "color": colour}
    return {"text": words, "showarrow": False, "font": font, **place}


def value_axis(
    title: str, tickformat: str = "", *, nticks: int = 6, **more: Any
) -> Spec:
    """Return an axis: its title, and the format and the number of its ticks."""
    ticks = {"tickformat": tickformat} if tickformat else {}
    return {"title": title, "nticks": nticks, **ticks, **more}


def gap_axis(title: str, largest: float, *, nticks: int = 6, **more: Any) -> Spec:
    """Return an axis of gaps of shares up to ``largest``, its ticks in points.

    Where ``largest`` is NaN there are no gaps and no ticks. D3 has no number format for
    points, so that ticks are written here.
    """
    if not math.isfinite(largest):
        return {"title": title, "tickvals": [], **more}
    # The smallest of 1, 2 and 5 times a power of ten with few enough ticks.
    least = max(largest, 1e-4) / (nticks - 1)
    size = 10 ** math.floor(math.log10(least))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= least)
    at = [step * i for i in range(nticks + 1)]
    words = [f"{100 * value:g}" for value in at]
    return {"title": title, "tickvals": at, "ticktext": words, **more}


def finish(
    data: Sequence[Spec],
    layout: Mapping[str, Any],
    *,
    height: int,
    right: int = 14,
    top: int = 30,
    bottom: int = 4,
    legend: bool = False,
    frames: Sequence[Spec] = (),
) -> go.Figure:
    """Return the figure of plain ``data`` and ``layout`` in the look of the house.

    Names in it stay text. ``frames`` are those that a slider in ``layout`` moves
    through. Built from one dict, which takes about 3 ms; graph objects
    built piece by piece take ten times as long.
    """
    # Streamlit's template overrides margins, fonts and titles of axes, so all of these
    # are set on the figure.
    whole: Spec = {**_LAYOUT, "height": height, **layout}
    whole["margin"] = {"l": 4, "r": right, "t": top, "b": bottom, "pad": 4}
    if legend:
        whole |= {"showlegend": True, "legend": _LEGEND}
    for name in {"xaxis", "yaxis", *layout}:
        if name.startswith(("xaxis", "yaxis")):
            axis = dict(layout.get(name, {}))
            axis = with_span(name, axis, data, layout.get("shapes", ()))
            title = {**_TITLE, "text": axis.pop("title", "")}
            whole[name] = {"showgrid": name[0] == "y", **_AXIS, **axis, "title": title}
    figure = {"data": list(data), "layout": whole, "frames": list(frames)}
    return go.Figure(as_label(figure))


def resolve(figure: go.Figure, theme: Theme = "light") -> go.Figure:
    """Return a copy of ``figure`` with real colours, for use outside Streamlit."""
    # In the text of the figure: tokens stand in colours, gradients and annotations.
    document = figure_json(figure)
    for token, colour in palette(theme).items():
        document = document.replace(token, colour)
    return pio.from_json(document)


def figure_json(figure: go.Figure) -> str:
    """Return a figure for use outside Streamlit, in the tokens of `palette`."""
    # An app in this process makes Streamlit's template, full of tokens, the default.
    plain = go.Figure(figure).update_layout(template="none", font_color=INK)
    document: str = plain.to_json()
    return document


def enlarged(figure: go.Figure, scale: float) -> go.Figure:
    """Return a copy with type, marks, lines and height times ``scale``, for a room."""
    return go.Figure(_times(figure.to_plotly_json(), scale))


def _times(part: Any, scale: float, inside: str = "") -> Any:
    if isinstance(part, dict):
        return {name: _times(value, scale, name) for name, value in part.items()}
    if isinstance(part, list | tuple):
        return [_times(entry, scale, inside) for entry in part]
    if inside in _LENGTHS and isinstance(part, int | float):
        return part * scale
    return part


def plotly_script() -> str:
    """Return plotly.js, of the version that figures are made for."""
    script: str = get_plotlyjs()
    return script


def palette(theme: Theme) -> dict[str, str]:
    """Return the colour of every token in a theme, as Streamlit swaps them."""
    values = " ".join([CATEGORICAL[theme], SEQUENTIAL[theme], NEUTRAL[theme]]).split()
    tokens = [*(f"#{i:06d}" for i in range(1, 21)), MUTED, INK, PAPER]
    return dict(zip(tokens, (f"#{value}" for value in values), strict=True))


def _colour(token: str, theme: Theme) -> str:
    return f"#{CATEGORICAL[theme].split()[int(token[1:7]) - 1]}{token[7:]}"


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure, its headline, its description and its numbers: they cannot disagree.

    Attributes
    ----------
    headline : str
        What the figure shows, one sentence of at most 70 characters; a fact that is
        computed from ``table``.
    alt : str
        The same for a reader who does not see the figure.
    table : DataFrame
        The numbers drawn.
    caption : str
        Statistic, kind of interval, rows, seeds, meaning of dashes.
    """

    figure: Any
    headline: str
    alt: str
    table: pd.DataFrame
    caption: str = ""
