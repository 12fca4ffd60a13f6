"""Training as it goes: loss curves."""

import pandas as pd

from fairdash._wording import listing, number
from fairdash.plots._rows import scatter
from fairdash.plots._theme import (
    INK,
    MUTED,
    Picture,
    Spec,
    finish,
    method_mark,
    value_axis,
)

# column -> (name in the legend, which panel)
_CURVES = {
    "loss": ("training", 0),
    "validation_loss": ("validation", 0),
    "adversary_loss": ("adversary", 1),
}
_PANELS = ("model loss", "adversary loss")


def plot_training(curves: pd.DataFrame, *, colour_role: str, n_epochs: int) -> Picture:
    """Training and validation loss, and the adversary's below.

    The figure has a line per curve. ``curves`` have epoch, loss, validation_loss and,
    for adversarial methods, adversary_loss, with several seeds their means. The axis
    ends at ``n_epochs``, if not before the last epoch of the curves.
    """
    own = method_mark(colour_role)[0]
    colours = {"loss": own, "validation_loss": INK, "adversary_loss": MUTED}
    drawn = [name for name in _CURVES if name in curves and curves[name].notna().any()]
    two = "adversary_loss" in drawn
    data: list[Spec] = []
    parts = []
    for name in drawn:
        words, panel = _CURVES[name]
        axis = {"yaxis": f"y{panel + 1}" if panel else "y"}
        seen = curves.dropna(subset=name)  # not every epoch was looked at
        mean = seen[name]
        line = scatter(
            seen["epoch"].tolist(),
            mean,
            name=words,
            line={"color": colours[name], "width": 2},
            hovertemplate=f"epoch %{{x}}: {words} %{{y:.4f}}<extra></extra>",
        )
        data.append(line | axis)
        first, last = mean.iloc[[0, -1]]
        parts.append(f"{words} loss from {number(first)} to {number(last)}")
    end = max(n_epochs, float(curves["epoch"].max()))
    layout: Spec = {
        "xaxis": value_axis("epoch", range=[0, end], anchor="y2" if two else "y")
    }
    for panel, domain in enumerate([[0.44, 1], [0, 0.34]] if two else [[0, 1]]):
        name = f"yaxis{panel + 1}" if panel else "yaxis"
        layout[name] = {"domain": domain, "title": _PANELS[panel], "nticks": 5}
    return Picture(
        finish(data, layout, height=380, legend=True),
        "Loss by epoch",
        f"Loss by epoch, {curves['epoch'].max():,.0f} epochs: {listing(parts)}.",
        curves,
    )
