"""Training as it goes: loss curves."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit

from fairdash._wording import listing, number
from fairdash.plots._rows import band, scatter
from fairdash.plots._theme import (
    INK,
    MUTED,
    Picture,
    Spec,
    fade,
    finish,
    method_mark,
    text,
    value_axis,
)

# column -> (name beside its end, which panel)
_CURVES = {
    "loss": ("training", 0),
    "validation_loss": ("validation", 0),
    "adversary_loss": ("adversary", 1),
}
_PANELS = ("model loss", "adversary loss")
_SMOOTH = 5  # epochs
_CHOSEN = 3.5  # standard errors, since the lowest mean is chosen among many
_ROUNDING = 1e-9


def plot_training(curves: pd.DataFrame, *, colour_role: str, n_epochs: int) -> Picture:
    """Training and validation loss, and the adversary's below.

    The figure has per curve a line, preceded by a band of one standard deviation if
    there is one. ``curves`` have epoch, loss, validation_loss and, for adversarial
    methods, adversary_loss; with several seeds their mean and ``<column>_sd`` as
    ``summarise_seeds`` gives them. The axis ends at ``n_epochs``, if not before the
    last epoch of the curves.
    """
    own = method_mark(colour_role)[0]
    colours = {"loss": own, "validation_loss": INK, "adversary_loss": MUTED}
    drawn = [name for name in _CURVES if name in curves and curves[name].notna().any()]
    two = "adversary_loss" in drawn
    data: list[Spec] = []
    ends: list[Spec] = []
    for name in drawn:
        words, panel = _CURVES[name]
        axis = {"yaxis": f"y{panel + 1}" if panel else "y"}
        spread = curves.get(f"{name}_sd")
        if spread is not None and spread.notna().any():
            data.append(_band(curves, name, colours[name], words) | axis)
        data.append(_line(curves, name, colours[name], words) | axis)
        last = curves[["epoch", name]].dropna().iloc[-1]
        ends.append({"y": last[name], "words": words, "colour": colours[name], **axis})
    domains = [[0.44, 1], [0, 0.34]] if two else [[0, 1]]
    layout: Spec = {
        "xaxis": value_axis(
            "epoch",
            range=[0, max(n_epochs, float(curves["epoch"].max()))],
            anchor="y2" if two else "y",
        ),
        "annotations": _direct_labels(ends, curves),
    }
    for panel, domain in enumerate(domains):
        name = f"yaxis{panel + 1}" if panel else "yaxis"
        layout[name] = {"domain": domain, "title": _PANELS[panel], "nticks": 5}
    figure = finish(data, layout, height=380, right=70, top=14)
    return Picture(figure, training_finding(curves), _describe_curves(curves), curves)


def training_finding(curves: pd.DataFrame) -> str:
    """Say whether the validation loss still falls, by more than its noise.

    It does if the least-squares slope over the last third of the epochs, at least ten
    of them, is below 0 by a two-sided 5 % t-test; it rises again if the mean of the
    last five epochs lies above the lowest mean of five by more than 3.5 standard errors
    of that difference, from the scatter around means of five. Of losses that are level
    but for noise at most 5 % are said to do either.
    """
    known = curves[["epoch", "validation_loss"]].dropna()
    loss = known["validation_loss"].to_numpy(float)
    if len(known) < 2 * _SMOOTH:
        return "The first epochs"
    last = max(2 * _SMOOTH, len(known) // 3)
    if _falls(known["epoch"].to_numpy(float)[-last:], loss[-last:]):
        return "Validation loss still falls"
    smooth = known["validation_loss"].rolling(_SMOOTH, center=True).mean().to_numpy()
    scatter = float(np.nanstd(loss - smooth)) * np.sqrt(_SMOOTH / (_SMOOTH - 1))
    lowest = int(np.nanargmin(smooth))
    rise = loss[-_SMOOTH:].mean() - smooth[lowest]
    if rise > _CHOSEN * scatter * np.sqrt(2 / _SMOOTH) + _ROUNDING:
        epoch = known["epoch"].iloc[lowest]
        return f"Validation loss is lowest at epoch {epoch:,.0f} and rises again"
    return "Validation loss no longer falls"


def _falls(epoch: NDArray[np.float64], loss: NDArray[np.float64]) -> bool:
    centred = epoch - epoch.mean()
    slope = float(centred @ loss / (centred @ centred))
    rest = loss - loss.mean() - slope * centred
    freedom = len(loss) - 2
    error = float(np.sqrt(rest @ rest / freedom / (centred @ centred)))
    span = float(epoch[-1] - epoch[0])
    return bool(-slope > stdtrit(freedom, 0.975) * error + _ROUNDING / span)


def _describe_curves(curves: pd.DataFrame) -> str:
    """Alt text: the last value of every curve."""
    parts = []
    for name, (words, _) in _CURVES.items():
        if name in curves and curves[name].notna().any():
            first, last = curves[name].dropna().iloc[[0, -1]]
            parts.append(f"{words} loss from {number(first)} to {number(last)}")
    epochs = f"after {curves['epoch'].max():,.0f} epochs"
    return f"Loss by epoch, {epochs}: {listing(parts)}."


def _line(curves: pd.DataFrame, name: str, colour: str, words: str) -> Spec:
    return scatter(
        curves["epoch"].tolist(),
        curves[name],
        name=words,
        connectgaps=True,  # not every epoch was looked at
        line={"color": colour, "width": 2},
        hovertemplate=f"epoch %{{x}}: {words} %{{y:.4f}}<extra></extra>",
    )


def _band(curves: pd.DataFrame, name: str, colour: str, words: str) -> Spec:
    known = curves[["epoch", name, f"{name}_sd"]].dropna()
    mean, spread = known[name], known[f"{name}_sd"]
    ends, look = (mean - spread, mean + spread), fade(colour, 0.15)
    return band(known["epoch"].tolist(), *ends, look, name=f"{words} ± 1 sd")


def _direct_labels(ends: list[Spec], curves: pd.DataFrame) -> list[Spec]:
    """Name curves at their last point; two in one panel step aside."""
    x = float(curves["epoch"].max())
    upper = [end for end in ends if end["yaxis"] == "y"]
    ranked = sorted(upper, key=lambda end: end["y"])
    aside = dict(zip((end["words"] for end in ranked), (-8, 8), strict=False))
    place: Spec = {"x": x, "xanchor": "left", "xshift": 5, "xref": "x"}
    return [
        text(
            end["words"], end["colour"], y=end["y"], yref=end["yaxis"],
            yshift=aside.get(end["words"], 0) if len(upper) > 1 else 0, **place,
        )
        for end in ends
    ]  # fmt: skip
