"""Sliders through a sweep that everything follows, in the browser.

``st.slider`` sends nothing until it is let go, and a figure that the server draws again
takes some tenths of a second. Here the browser holds the numbers of every setting of a
method: at each step of a drag it writes the numbers of the nearest trained one and
moves a ring over the front and a frame over the map. The server is told on release; a
setting between the trained ones is then trained as the sweep trained the others.

The numbers go as JSON in bytes, made once a sweep: of an object Streamlit would write
the JSON twice at every release.
"""

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from fairdash import plots
from fairdash._wording import Kpi, floor_words, group_label, interval, number
from fairdash.audits import StoredSweep, weights
from fairdash.methods import CATALOG
from fairdash.metrics import gap_table, value_table
from fairdash.sweep import PARITY, Point, position_of, value_at
from fairdash.ui.sweep.controls import Controls, labels, move
from fairdash.ui.widgets.state import live_component, store

_HERE = Path(__file__).parent
_DIGITS = 4


def draw_sliders(
    sweep: StoredSweep, state: Controls, released: Callable[[], None]
) -> None:
    """Draw the sliders and the numbers; ring and frame in the figures follow too.

    ``released`` is called in a callback, with the setting in the address.
    """
    axes = sweep.grid_result.axes(state.method)
    key = f"{sweep.run.id} {state.method} setting"

    def moved() -> None:
        place = st.session_state[key].get("place")
        if place:
            pairs = zip(state.sliders, place, strict=True)
            change = {name: value_at(axes[name], float(v)) for name, v in pairs}
            move(sweep, state.method, change)
            released()

    kept = sweep.once(
        lambda: json.dumps(_sliders(sweep, state)),
        "sliders",
        state.method,
        tuple(state.others.items()),
        state.limit,
        state.axes,
    )
    start = [position_of(axes[name], state.point[name]) for name in state.sliders]
    data = f'{kept[:-1]}, "start": {json.dumps(start)}}}'.encode()
    live_component("live_setting", _HERE)(data=data, key=key, on_place_change=moved)


def _sliders(sweep: StoredSweep, state: Controls) -> dict[str, Any]:
    """Return the numbers of every setting of a method, wherever the sliders stand."""
    axes = sweep.grid_result.axes(state.method)
    known = {param.name: param for param in CATALOG[state.method].params}
    cards = sweep.cards(state.method, state.limit)
    at = {
        place: [position_of(axes[name], row[name]) for name in state.sliders]
        for place, row in _rows(sweep.result.at(state.method, state.others))
    }
    marks = dict(_rows(sweep.result.means[[f"test_{name}" for name in state.axes]]))
    return {
        "sliders": [
            {
                "title": known[name].title,
                "help": known[name].help,
                "values": labels(axes[name]),
                "numbers": axes[name] if known[name].kind == "float" else None,
            }
            for name in state.sliders
        ],
        "cards": [{"label": kpi.label, "help": kpi.help} for kpi in cards[state.place]],
        "settings": [
            {
                "id": str(place),
                "label": sweep.result.labels[place],
                "at": at[place],
                "values": [_card(kpi) for kpi in cards[place]],
                "marks": {
                    "front": _mark(marks[place], state),
                    "map": at[place] if state.has_map else None,
                },
            }
            for place in at
        ],
        "figures": {
            name: f"{sweep.run.id} {figure}".replace(" ", "-")
            for name, figure in (("front", "front"), ("map", "grid"))
        },
    }


def draw_inside(sweep: StoredSweep, state: Controls) -> None:
    """Draw local DI and r of the setting the sliders stand at."""
    theme = st.context.theme.type or "light"
    kept = sweep.once(
        lambda: json.dumps(
            _all_inside(sweep, state.method, state.others, theme)
        ).encode(),
        "inside",
        state.method,
        tuple(state.others.items()),
        theme,
    )
    key = f"{sweep.run.id} {state.method} inside"
    live_component("live_inside", _HERE)(data=kept, key=key)


def _all_inside(
    sweep: StoredSweep, method: str, others: Point, theme: plots.Theme
) -> dict[str, Any]:
    """Return local DI and r of every setting, wherever the sliders stand."""
    tables = sweep.local(method)
    dataset = store().dataset(sweep.run.dataset_id)
    groups, feature = dataset.group_names, dataset.roles.sensitive_feature
    places = [place for place, _ in _rows(sweep.result.at(method, others))]
    gaps = gap_table(tables, "selection_rate")
    shown = gaps[gaps["model"].isin(places)]
    by_place = dict(list(shown.groupby("model")))
    values = value_table(tables, "selection_rate")
    first = values[values["model"] == places[0]].set_index(["subgroup", "group"])["n"]
    chance = {place: sweep.chance(place) for place in places}
    ends = [shown["ci_high"].max(), shown["gap"].max(), 0.05]
    ends += [1.1 * floor for floor in chance.values()]
    ends += sweep.result.means[f"test_{PARITY}"].iloc[places].tolist()
    return {
        "rows": [
            {
                "name": str(row["subgroup"]),
                "counts": [int(first[row["subgroup"], name]) for name in groups],
                "reason": row["reason"],
            }
            for row in by_place[places[0]].to_dict("records")
        ],
        "groups": [group_label(feature, group) for group in groups],
        "colours": plots.group_colours_of(groups, theme),
        "colour": plots.method_colour_of(CATALOG[method].colour_role, theme),
        "top": round(1.05 * max(filter(math.isfinite, ends)), _DIGITS),
        "caption": "Local DI on test rows, 95% intervals. Dashed: the gap over all "
        f"rows. {floor_words('the model shown')}",
        "ratioCaption": "r of the training rows, first seed; mean 1 by group.",
        "settings": {
            str(place): _inside(
                sweep, place, by_place[place], groups, feature, chance[place]
            )
            for place in places
        },
    }


def _inside(
    sweep: StoredSweep,
    place: int,
    cells: pd.DataFrame,
    groups: Sequence[str],
    feature: str,
    chance: float,
) -> dict[str, Any]:
    """Return local DI and r of a setting as the browser draws them."""
    label = sweep.result.labels[place]
    values = cells[["gap", "ci_low", "ci_high"]].round(_DIGITS).to_numpy()
    constant = float(sweep.result.means.iloc[place].get("test_constant", 0.0))
    named = cells.assign(label=label)
    finding = plots.local_finding(named, label=label, chance=chance, constant=constant)
    ratio = weights(sweep.trials_at(place))
    drawn = None
    if ratio is not None:
        drawn = {
            "finding": plots.ratio_finding(ratio, feature),
            "said": plots.describe_ratio_histogram(ratio, feature),
            "top": round(ratio["edges"][-1], _DIGITS),
            "bars": [
                [round(bar, _DIGITS) for bar in ratio["density"][group]]
                for group in groups
            ],
            "ends": [
                interval(ratio["quantiles"][g][0], ratio["quantiles"][g][-1], _short)
                for g in groups
            ],
        }
    return {
        "label": label,
        "chance": _finite(chance),
        "di": _finite(sweep.result.means[f"test_{PARITY}"].iloc[place]),
        "local": [
            row.tolist() if shown else None
            for row, shown in zip(values, cells["estimable"], strict=True)
        ],
        "finding": finding,
        "said": f"Local DI of {label} by subgroup. {finding}.",
        "ratio": drawn,
    }


def _card(kpi: Kpi) -> dict[str, Any]:
    """Return what changes on a card from setting to setting."""
    colours = {True: "good", False: "bad", None: ""}
    return {
        "value": kpi.value,
        "note": kpi.note,
        "delta": kpi.delta,
        "tone": colours[kpi.good],
    }


def _rows(table: pd.DataFrame) -> list[tuple[int, "pd.Series[Any]"]]:
    """Return the rows of a table of settings with their places."""
    return [(int(str(place)), row) for place, row in table.iterrows()]


def _mark(row: "pd.Series[Any]", state: Controls) -> list[float] | None:
    """Return where the front shows a setting."""
    at = [float(row[f"test_{metric}"]) for metric in state.axes]
    return at if all(map(math.isfinite, at)) else None


def _finite(value: float) -> float | None:
    return round(float(value), _DIGITS) if math.isfinite(value) else None


def _short(value: float) -> str:
    return number(value, 1)
