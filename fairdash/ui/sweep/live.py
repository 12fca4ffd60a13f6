"""What the browser is told of every setting, so that all follows the hand."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from fairdash import plots
from fairdash._wording import interval, number
from fairdash.methods import CATALOG
from fairdash.results import PARITY, TAU, WEIGHT, Setting, Sweep, weights
from fairdash.store import RunRecord
from fairdash.ui.sweep.controls import Controls
from fairdash.ui.sweep.inside import chance_of, local_tables
from fairdash.ui.sweep.live_setting import (
    LiveSetting,
    Slider,
    live_inside,
    live_setting,
)
from fairdash.ui.sweep.numbers import setting_kpis
from fairdash.ui.sweep.point import labels, move
from fairdash.ui.widgets.state import store

_DIGITS = 4


def draw_sliders(sweep: Sweep, asked: Controls, run: RunRecord) -> None:
    """Draw the sliders and the numbers; ring and frame in the figures follow too."""
    axes = sweep.axes(asked.method)
    known = {param.name: param for param in CATALOG[asked.method].params}
    settings = sweep.at(asked.method, asked.others)
    kpis = setting_kpis(sweep, asked.method, asked.limit)
    x, y = (settings[f"test_{metric}"] for metric in asked.axes)
    cells: list[tuple[float, float] | None] = [None] * len(settings)
    if asked.has_map:
        ranks = settings[[WEIGHT, TAU]].rank(method="dense") - 1
        cells = list(zip(ranks[WEIGHT], ranks[TAU], strict=True))
    front = zip(x, y, strict=True)

    def moved(at: Sequence[int]) -> None:
        pairs = zip(asked.sliders, at, strict=True)
        change = {name: axes[name][i] for name, i in pairs}
        move(sweep, run, asked.method, change)

    live_setting(
        [
            LiveSetting(
                at,
                kpis[place],
                {"front": None if asked.single else point, "map": cell},
            )
            for (place, at), point, cell in zip(
                _places(sweep, asked), front, cells, strict=True
            )
        ],
        [
            Slider(known[name].title, known[name].help, labels(axes[name]))
            for name in asked.sliders
        ],
        start=[axes[name].index(asked.point[name]) for name in asked.sliders],
        figures={"front": f"{run.id} front", "map": f"{run.id} grid"},
        key=f"{run.id} {asked.method} setting",
        moved=moved,
    )


def draw_inside(sweep: Sweep, asked: Controls, run: RunRecord) -> None:
    """Draw local DI and r of the setting the sliders stand at."""
    theme = st.context.theme.type or "light"
    tables = local_tables(run, asked.method)
    groups = store().dataset(run.dataset_id).group_names
    chance = chance_of(sweep, run)
    places = _places(sweep, asked)
    by_place = dict(list(tables.groupby("model")))
    first = by_place[places[0][0]]
    shown = tables[tables["model"].isin([place for place, _ in places])]
    ends = [shown["ci_high"].max(), 1.1 * chance, 0.05]
    live_inside(
        {
            "rows": [
                {
                    "name": str(row["subgroup"]),
                    "counts": [int(row[f"n_{name}"]) for name in groups],
                    "reason": row["reason"],
                }
                for row in first.to_dict("records")
            ],
            "groups": list(groups),
            "colours": plots.group_colours_of(groups, theme),
            "colour": plots.method_colour_of(CATALOG[asked.method].colour_role, theme),
            "chance": None if np.isnan(chance) else round(chance, _DIGITS),
            "top": round(1.05 * float(np.nanmax(ends)), _DIGITS),
            "caption": "Local DI on test rows, 95% intervals. Dashed: the gap over all "
            "rows. Grey: what a fair model shows by chance.",
            "ratioCaption": "r of the training rows, first seed; mean 1 by group.",
            "settings": {
                ",".join(map(str, at)): _setting(
                    sweep.models[place],
                    by_place[place],
                    float(sweep.means[f"test_{PARITY}"].iloc[place]),
                    chance,
                    groups,
                )
                for place, at in places
            },
        },
        key=f"{run.id} {asked.method} inside",
    )


def _places(sweep: Sweep, asked: Controls) -> list[tuple[int, list[int]]]:
    """Return the place of every setting that sliders reach, and where they stand."""
    axes = sweep.axes(asked.method)
    settings = sweep.at(asked.method, asked.others)
    return [
        (int(str(place)), [axes[name].index(row[name]) for name in asked.sliders])
        for place, row in settings.iterrows()
    ]


def _setting(
    model: Setting,
    cells: pd.DataFrame,
    di: float,
    chance: float,
    groups: Sequence[str],
) -> dict[str, Any]:
    """Return local DI and r of a setting as the browser draws them."""
    values = cells[["local_di", "ci_low", "ci_high"]].round(_DIGITS).to_numpy()
    finding = plots.local_finding(cells, label=model.label, chance=chance)
    ratio = weights(model.trials)
    drawn = None
    if ratio is not None:
        drawn = {
            "finding": plots.ratio_finding(ratio),
            "said": plots.describe_ratio_histogram(ratio),
            "top": round(ratio["edges"][-1], _DIGITS),
            "bars": [np.round(ratio["density"][g], _DIGITS).tolist() for g in groups],
            "ends": [
                interval(ratio["quantiles"][g][0], ratio["quantiles"][g][-1], _short)
                for g in groups
            ],
        }
    return {
        "label": model.label,
        "di": round(di, _DIGITS) if np.isfinite(di) else None,
        "local": [
            row.tolist() if shown else None
            for row, shown in zip(values, cells["estimable"], strict=True)
        ],
        "finding": finding,
        "said": f"Local DI of {model.label} by subgroup. {finding}.",
        "ratio": drawn,
    }


def _short(value: float) -> str:
    return number(value, 1)
