"""Spread of the weights of rows: a density a group, quantiles by subgroup.

Both stand on one logarithmic axis of r. With several steps, epochs or values of τ, a
slider below moves through them in the browser, and *Play* runs through all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fairdash._escaping import Label
from fairdash._wording import ROWS, Noun, count, group_label, listing, number, shortened
from fairdash.plots import theme
from fairdash.plots._rows import UNDER_POINTER, name_axis, offsets, records, scatter

MOST_ROWS = 12  # subgroups that are drawn, the largest
_SPANNED = (1e-3, 1e2)  # of r; what lies beyond stands at the ends
_QUANTILES = ("q05", "q25", "q50", "q75", "q95")
_TICKS = (0.001, 0.01, 0.1, 1, 10, 100)
_MORE_TICKS = sorted(round(tick * times, 6) for tick in _TICKS for times in (1, 2, 5))
_FEWEST_TICKS = 3  # of an axis
_DENSITY = 120  # pixels
_MOST_ON_A_LINE = 4  # densities: more cannot be told apart, so each has its own line
_LINE = 24  # pixels of such a line
_ROW = 15  # pixels of a group in a subgroup
_CONTROLS = 74  # pixels of the slider and its axis
_FRAME = 450  # milliseconds of a step while it plays


def plot_weight_spread(
    table: pd.DataFrame,
    *,
    density: pd.DataFrame,
    groups: Sequence[str],
    feature: str = "",
    step_name: str = "epoch",
    step: float | None = None,
    beside: pd.DataFrame | None = None,
    beside_words: str = "",
    noun: Noun = ROWS,
) -> theme.Picture:
    """Density of weights by group; below, quantiles by subgroup and group.

    A row has a thin line from the 5 % to the 95 % quantile, a thick one from 25 % to
    75 %, and the median as a dot. The first row is of all rows, or people: ``noun``.
    More than four densities stand one above the other, each with its name.

    Parameters
    ----------
    table, density : DataFrame
        Those of `fairdash.metrics.weight_spread.WeightSpread`, of the same steps.
    step : float, optional
        The step shown first, by default the last.
    step_name : str
        What steps are called, such as "epoch" or "τ".
    beside : DataFrame, optional
        A density of one step, drawn as a dashed line that stays; ``beside_words`` say
        what it is.
    """
    steps = list(dict.fromkeys(table["step"]))
    first_step = (
        steps[-1] if step is None else min(steps, key=lambda at: abs(at - step))
    )
    rows, n_left_out = _rows(table)
    labels = [name or f"All {noun.several}" for name in rows]
    axis = name_axis(labels, list(range(len(rows))), 0)
    colours = theme.group_colours(groups)
    named = {group: group_label(feature, group) for group in groups}
    lines = _Lines.of(groups, density)

    def traces(at: float) -> list[theme.Spec]:
        at_step = table[table["step"] == at]
        bins = density[density["step"] == at]
        data = []
        for group, shift in zip(groups, offsets(len(groups)), strict=True):
            quantiles = (
                at_step[at_step["group"] == group].set_index("subgroup").reindex(rows)
            )
            spread = bins[bins["group"] == group]
            colour = colours[group]
            name = named[group]
            data += [_density(spread, colour, name, lines.place(group), noun)]
            data += _bars(quantiles, colour, name, shift, noun)
        return data

    data = traces(first_step)
    if beside is not None:
        data += [
            _outline(
                beside[beside["group"] == group], colours[group], lines.place(group)
            )
            for group in groups
        ]
    frames = [{"name": _name(at), "data": traces(at)} for at in steps]
    height = lines.height + (_ROW * len(groups) + 8) * len(rows) + 70
    layout = _layout(axis, height, lines.height, [table, density])
    layout["xaxis"]["title"] = f"weight r of a {noun.one}"
    layout["yaxis2"] |= lines.axis(named, noun)
    if len(steps) > 1:
        layout |= _controls(steps, steps.index(first_step), step_name)
        height += _CONTROLS
    at_step = table[table["step"] == first_step]
    return theme.Picture(
        theme.finish(
            data,
            layout,
            height=height,
            legend=not lines.many,
            bottom=_CONTROLS if len(steps) > 1 else 4,
            frames=frames if len(steps) > 1 else (),
        ),
        _headline(at_step, noun),
        _describe(at_step, groups, named, f"{step_name} {_name(first_step)}", noun),
        at_step.drop(columns="step"),
        _caption(n_left_out, beside_words, step_name, noun),
    )


def _rows(table: pd.DataFrame) -> tuple[list[str], int]:
    """Return the subgroups drawn, all rows ("") first, and how many are left out."""
    total = table[table["step"] == table["step"].iloc[0]]
    sizes = total.groupby("subgroup", sort=False)["n"].sum()
    largest = sizes.drop("").nlargest(MOST_ROWS).index
    names = [name for name in sizes.index if name == "" or name in largest]
    return names, len(sizes) - len(names)


@dataclass(frozen=True)
class _Lines:
    """Where densities stand: all on one line, or each on one of its own.

    Attributes
    ----------
    groups : tuple of str
    most : float
        The largest share of a bin, at any step.
    """

    groups: tuple[str, ...]
    most: float

    @classmethod
    def of(cls, groups: Sequence[str], density: pd.DataFrame) -> "_Lines":
        return cls(tuple(groups), max(float(density["share"].max()), 0.01))

    @property
    def many(self) -> bool:
        return len(self.groups) > _MOST_ON_A_LINE

    @property
    def height(self) -> int:
        """Pixels of all densities."""
        return _LINE * len(self.groups) if self.many else _DENSITY

    def place(self, group: str) -> tuple[float, float]:
        """Return the ground of a group's density, and how high a share of 1 is."""
        if not self.many:
            return 0.0, 100.0
        # It may reach into the line above it, which is mostly empty.
        return float(self._ground(group)), 1.6 / self.most

    def _ground(self, group: str) -> int:
        return len(self.groups) - 1 - self.groups.index(group)

    def axis(self, named: dict[str, str], noun: Noun) -> theme.Spec:
        """Return the ticks and the title of the axis."""
        if not self.many:
            return {"title": f"% of {noun.several}", "nticks": 3, "rangemode": "tozero"}
        short = shortened(named)
        return {
            "tickvals": [self._ground(group) for group in self.groups],
            "ticktext": [short[group] for group in self.groups],
            "range": [0, len(self.groups) + 0.7],
            "showgrid": True,
        }


def _density(
    spread: pd.DataFrame,
    colour: str,
    name: str,
    place: tuple[float, float],
    noun: Noun,
) -> theme.Spec:
    ground, scale = place
    centres = np.sqrt(spread["low"] * spread["high"])  # on a logarithmic axis
    hover = [
        f"{name}: r {number(row['low'])} to {number(row['high'])}, "
        f"{100 * row['share']:.1f}% of its {noun.several}"
        for row in records(spread)
    ]
    return scatter(
        centres,
        ground + scale * spread["share"],
        name=name,
        legendgroup=name,
        showlegend=True,
        yaxis="y2",
        fill="toself" if ground else "tozeroy",
        fillcolor=theme.fade(colour, 0.16),
        line={"color": colour, "width": 2, "shape": "hvh"},
        hovertext=hover,
        hovertemplate=UNDER_POINTER,
    )


def _outline(
    spread: pd.DataFrame, colour: str, place: tuple[float, float]
) -> theme.Spec:
    ground, scale = place
    centres = np.sqrt(spread["low"] * spread["high"])
    line = {"color": colour, "width": 1.5, "dash": "dot", "shape": "hvh"}
    return scatter(
        centres,
        ground + scale * spread["share"],
        yaxis="y2",
        line=line,
        hoverinfo="skip",
    )


def _bars(
    quantiles: pd.DataFrame, colour: str, name: str, shift: float, noun: Noun
) -> list[theme.Spec]:
    at = [float(place) + shift for place in range(len(quantiles))]
    within = quantiles[list(_QUANTILES)].clip(*_SPANNED)
    hover = [
        _hover(str(subgroup), name, row, noun) for subgroup, row in quantiles.iterrows()
    ]
    marker = {
        "color": colour,
        "size": 8,
        "line": {"color": theme.PAPER, "width": 1},
    }
    shared: theme.Spec = {"legendgroup": name, "showlegend": False}
    thin = {"color": theme.fade(colour, 0.7), "width": 1.5}
    thick = {"color": theme.fade(colour, 0.5), "width": 6}
    return [
        _strokes(within["q05"], within["q95"], at, line=thin, **shared),
        _strokes(within["q25"], within["q75"], at, line=thick, **shared),
        scatter(
            within["q50"],
            at,
            mode="markers",
            marker=marker,
            hovertext=hover,
            hovertemplate=UNDER_POINTER,
            **shared,
        ),
    ]


def _strokes(
    low: "pd.Series[float]", high: "pd.Series[float]", at: list[float], **look: Any
) -> theme.Spec:
    """Return one trace of lines from low to high, parted by undefined points."""
    x: list[float | None] = []
    y: list[float | None] = []
    for start, end, place in zip(low, high, at, strict=True):
        if np.isfinite(start):
            x += [float(start), float(end), None]
            y += [place, place, None]
    return scatter(x, y, hoverinfo="skip", **look)


def _hover(subgroup: str, name: str, row: "pd.Series[float]", noun: Noun) -> str:
    of = subgroup or f"All {noun.several}"
    if not np.isfinite(row["q50"]):
        return f"{of}, {name}: no {noun.several}"
    return (
        f"{of}, {name}, {count(int(row['n']))} {noun.several}: median r "
        f"{number(row['q50'])}, half of them {number(row['q25'])} to "
        f"{number(row['q75'])}, nine in ten {number(row['q05'])} to "
        f"{number(row['q95'])}"
    )


def _layout(
    rows: theme.Spec, height: int, density_height: int, tables: Sequence[pd.DataFrame]
) -> theme.Spec:
    share = density_height / height
    table, density = tables
    lowest, highest = _ends(table, density)
    ticks = [tick for tick in _TICKS if lowest <= tick <= highest]
    if len(ticks) < _FEWEST_TICKS:
        ticks = [tick for tick in _MORE_TICKS if lowest <= tick <= highest]
    # At r = 1 every row weighs the same.
    equal: theme.Spec = {
        "type": "line",
        "x0": 1,
        "x1": 1,
        "y0": 0,
        "y1": 1,
        "yref": "paper",
        "line": {"color": theme.MUTED, "width": 1, "dash": "dot"},
    }
    return {
        "xaxis": {
            "type": "log",
            "range": [float(np.log10(lowest)), float(np.log10(highest))],
            "tickvals": ticks,
            "ticktext": [f"{tick:g}" for tick in ticks],
            "anchor": "y",
            "showgrid": True,
        },
        "yaxis": rows | {"domain": [0, 1 - share - 0.03]},
        "yaxis2": {
            "domain": [1 - share, 1],
            "anchor": "x",
        },
        "shapes": [equal],
    }


def _ends(table: pd.DataFrame, density: pd.DataFrame) -> tuple[float, float]:
    """Return the decades around all that is drawn at any step."""
    # Bins with hardly a row would stretch the axis for nothing that can be seen.
    visible = density[density["share"] > 0.002]
    lowest = min(table["q05"].min(), visible["low"].min(), 0.5)
    highest = max(table["q95"].max(), visible["high"].max(), 2)
    low, high = np.clip([lowest * 0.9, highest * 1.1], *_SPANNED)
    return float(low), float(high)


def _controls(steps: Sequence[float], active: int, step_name: str) -> theme.Spec:
    """Return the slider through the steps and the buttons that play them."""
    # Without a transition: a frame follows the slider at once.
    at_once = {"mode": "immediate", "transition": {"duration": 0}}
    jump = {**at_once, "frame": {"duration": 0, "redraw": False}}
    play = {**at_once, "frame": {"duration": _FRAME, "redraw": False}}
    names = [_name(step) for step in steps]
    place: theme.Spec = {"yanchor": "top", "y": 0, "xanchor": "left"}
    pad = {"t": 44, "b": 0, "l": 0, "r": 0}
    font = {"size": 12, "color": theme.TEXT}
    slider: theme.Spec = {
        **place,
        "x": 0.36,
        "len": 0.64,
        "pad": pad,
        "active": active,
        "currentvalue": {
            "prefix": Label(f"{step_name} "),
            "font": {**font, "size": 13},
        },
        "font": {**font, "size": 10},
        "bgcolor": theme.GRID,
        "activebgcolor": theme.MUTED,
        "bordercolor": theme.GRID,
        "tickcolor": theme.MUTED,
        "ticklen": 3,
        "minorticklen": 0,
        "steps": [
            {"label": name, "method": "animate", "args": [[name], jump]}
            for name in names
        ],
    }
    buttons: theme.Spec = {
        **place,
        "type": "buttons",
        "direction": "right",
        "showactive": False,
        "x": 0,
        "pad": {**pad, "t": 56},
        "font": font,
        "bgcolor": theme.PAPER,
        "bordercolor": theme.MUTED,
        "buttons": [
            {"label": Label("▶"), "method": "animate", "args": [names, play]},
            {"label": Label("❚❚"), "method": "animate", "args": [[None], jump]},
        ],
    }
    return {"sliders": [slider], "updatemenus": [buttons]}


def _name(step: float) -> str:
    return f"{step:.4g}"


def _headline(table: pd.DataFrame, noun: Noun) -> str:
    several = noun.several
    everyone = table[table["subgroup"] == ""]
    with np.errstate(divide="ignore"):
        factors = everyone["q95"] / everyone["q05"]
    factor = float(factors.max())
    if not np.isfinite(factor):
        return f"Some {several} have no weight"
    if factor < 1.1:
        return f"All {several} weigh nearly the same"
    return f"The weights of nine in ten {several} span a factor of {number(factor, 1)}"


def _describe(
    table: pd.DataFrame,
    groups: Sequence[str],
    named: dict[str, str],
    step: str,
    noun: Noun,
) -> str:
    everyone = {row["group"]: row for row in records(table[table["subgroup"] == ""])}
    parts = [
        f"{named[group]} median {number(everyone[group]['q50'], 2)}, nine in ten "
        f"{number(everyone[group]['q05'], 2)} to {number(everyone[group]['q95'], 2)}"
        for group in groups
    ]
    n_subgroups = table["subgroup"].nunique() - 1
    return (
        f"Density of the weights of {noun.several} by group at {step}, and their "
        f"quantiles in {n_subgroups} subgroups: {listing(parts)}."
    )


def _caption(n_left_out: int, beside_words: str, step_name: str, noun: Noun) -> str:
    words = (
        f"At each {step_name}, thin lines hold 5 to 95% of {noun.several}, thick lines "
        f"25 to 75%; dots are medians. Training {noun.several}, logarithmic axis."
    )
    if beside_words:
        words += f" Dotted: {beside_words}."
    if n_left_out:
        words += f" The {MOST_ROWS} largest subgroups; {n_left_out} more in the table."
    return words
