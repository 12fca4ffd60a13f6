"""Rules by group: the chance of a positive decision at each score."""

from typing import Any

import pandas as pd

from fairdash._wording import group_label
from fairdash.plots import theme
from fairdash.plots._rows import scatter


def plot_rules(
    table: pd.DataFrame, *, groups: tuple[str, ...], feature: str = ""
) -> theme.Picture:
    """Chance of a positive decision by score: a line per group.

    ``table`` is of `fairdash.postprocessing.Thresholds.curves`.
    """
    data: list[theme.Spec] = []
    starts = []
    for name, colour in theme.group_colours(groups).items():
        curve = table[table["group"] == name]
        label = group_label(feature, name)
        line: dict[str, Any] = {"color": colour, "width": 2}
        at = zip(curve["score"], curve["probability"], strict=True)
        hover = [f"{label}: {chance:.0%} at {score:.2f}" for score, chance in at]
        data.append(
            scatter(
                curve["score"],
                curve["probability"],
                name=label,
                line=line,
                hover=hover,
            )
        )
        starts.append(f"{label} from {_start(curve):.2f}")
    layout: theme.Spec = {
        "xaxis": theme.value_axis("score 2p − 1", range=[-1, 1]),
        "yaxis": theme.value_axis("chance of deciding 1", ".0%", range=[0, 1.02]),
    }
    return theme.Picture(
        theme.finish(data, layout, height=340, legend=True),
        "Chance of deciding 1 by score and group",
        f"Chance of deciding 1 by score. More than even: {'; '.join(starts)}.",
        table,
        "At a jump the higher chance counts. Groups with another start are decided by "
        "another threshold.",
    )


def _start(curve: pd.DataFrame) -> float:
    """Return the lowest score that is more likely decided 1 than 0, 1 for none."""
    likely = curve[curve["probability"] > 0.5]
    return float(likely["score"].min()) if len(likely) else 1.0
