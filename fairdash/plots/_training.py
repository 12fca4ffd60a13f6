"""Training as it goes: loss curves and the histogram of the weights r."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit

from fairdash._wording import (
    between,
    fitting,
    group_label,
    listing,
    number,
)
from fairdash.plots._rows import band, scatter, stairs, upright_line
from fairdash.plots._theme import (
    INK,
    MUTED,
    Picture,
    Spec,
    fade,
    finish,
    group_colours,
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


def sparkline(values: Sequence[float]) -> str:
    """Return numbers, evenly spaced, as a small line in SVG: lowest at the bottom."""
    low, high = min(values), max(values)
    spread, last = (high - low) or 1.0, max(1, len(values) - 1)
    points = " ".join(
        f"{100 * at / last:.1f},{28 - 26 * (value - low) / spread:.1f}"
        for at, value in enumerate(values)
    )
    return (
        '<svg viewBox="0 0 100 30" preserveAspectRatio="none" aria-hidden="true" '
        'style="display: block; width: 100%; height: 36px; opacity: .7"><polyline '
        'fill="none" stroke="currentColor" stroke-width="1.5" vector-effect='
        f'"non-scaling-stroke" points="{points}"/></svg>'
    )


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


def plot_ratio_histogram(
    ratio: Mapping[str, Any], *, groups: tuple[str, ...], feature: str = ""
) -> Picture:
    """Density of r among the training rows of every group; each group has mean 1.

    The figure has one stepped line per group. ``ratio`` has "edges" of the bins and, by
    group, "density" and "quantiles" at 5, 25, 50, 75 and 95 %, as of
    ``fairdash.sweep.summarise_ratio``; ``feature`` is the column of the groups.
    """
    edges = np.asarray(ratio["edges"], dtype=np.float64)
    colours = group_colours(groups)
    data: list[Spec] = []
    for name in groups:
        density = np.asarray(ratio["density"][name], dtype=np.float64)
        low, *_, high = ratio["quantiles"][name]
        data.append(
            stairs(
                edges,
                density,
                name=f"{group_label(feature, name)} · "
                f"5–95% of rows {between(low, high, 1)}",
                line={"color": colours[name], "width": 2},
                fill="tozeroy",
                fillcolor=fade(colours[name], 0.1),
            )
        )
    layout: Spec = {
        "xaxis": {"title": "weight r", "range": [0, edges[-1]], "nticks": 6},
        "yaxis": {"title": "density", "rangemode": "tozero", "nticks": 4},
        "shapes": [upright_line(1, color=MUTED, width=1.5, dash="dot")],
    }
    quantiles = pd.DataFrame(
        ratio["quantiles"], index=["5%", "25%", "50%", "75%", "95%"]
    )
    return Picture(
        finish(data, layout, height=380, legend=True),
        ratio_finding(ratio, feature),
        describe_ratio_histogram(ratio, feature),
        quantiles.T.rename_axis("Group").reset_index(),
    )


def ratio_finding(ratio: Mapping[str, Any], feature: str = "") -> str:
    """Say which group's weights spread widest; ``feature`` is the groups' column."""
    width = {name: q[-1] - q[0] for name, q in ratio["quantiles"].items()}
    name = max(width, key=lambda group: width[group])
    low, *_, high = ratio["quantiles"][name]
    if high - low < 0.05:
        return "All weights are close to 1"
    return fitting(
        f"Weights spread widest among {group_label(feature, name)} rows: "
        f"90% in {between(low, high, 1)}",
        f"Widest spread of weights: 90% in {between(low, high, 1)}",
    )


def describe_ratio_histogram(ratio: Mapping[str, Any], feature: str = "") -> str:
    """Alt text: where most weights of each group lie."""
    parts = [
        f"{group_label(feature, name)} median {number(q[2], 2)}, "
        f"90% in {between(q[0], q[-1], 2)}"
        for name, q in ratio["quantiles"].items()
    ]
    return f"Density of the weights r of the training rows by group: {listing(parts)}."


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
