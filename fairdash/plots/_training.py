"""Training as it goes: loss curves."""

import pandas as pd

from fairdash._escaping import Label
from fairdash._wording import listing, number
from fairdash.plots import theme
from fairdash.plots._rows import scatter

_CURVES = {  # column -> name in the legend
    "loss": "training",
    "validation_loss": "validation",
    "adversary_loss": "adversary",
}


def plot_training(
    curves: pd.DataFrame, *, colour_role: str, n_epochs: int
) -> theme.Picture:
    """Training and validation loss, and the adversary's: a line per curve.

    ``curves`` have epoch, loss, validation_loss and, for adversarial methods,
    adversary_loss, with several seeds their means. The axis ends at ``n_epochs``, if
    not before the last epoch of the curves.
    """
    colour = theme.method_mark(colour_role)[0]
    colours = {
        "loss": colour,
        "validation_loss": theme.INK,
        "adversary_loss": theme.MUTED,
    }
    data: list[theme.Spec] = []
    parts = []
    for name, words in _CURVES.items():
        if name not in curves or curves[name].isna().all():
            continue
        measured = curves.dropna(subset=name)  # not every epoch was looked at
        line = scatter(
            measured["epoch"].tolist(),
            measured[name],
            name=words,
            line={"color": colours[name], "width": 2},
            hovertemplate=Label(f"epoch %{{x}}: {words} %{{y:.4f}}<extra></extra>"),
        )
        data.append(line)
        first, last = measured[name].iloc[[0, -1]]
        parts.append(f"{words} loss from {number(first)} to {number(last)}")
    # The axis has its final length from the start, so that curves grow into it.
    end = max(n_epochs, float(curves["epoch"].max()))
    layout: theme.Spec = {
        "xaxis": theme.value_axis("epoch", range=[0, end]),
        "yaxis": {"title": "loss", "nticks": 5},
    }
    return theme.Picture(
        theme.finish(data, layout, height=380, legend=True),
        "Loss by epoch",
        f"Loss by epoch, {curves['epoch'].max():,.0f} epochs: {listing(parts)}.",
        curves,
    )
