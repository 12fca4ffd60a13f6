"""Loss curves."""

import numpy as np
import pytest

from fairdash.plots import plot_training


def named(figure):
    return {trace.name: trace for trace in figure.data}


def test_every_curve_is_a_line_the_adversarys_below(curves):
    picture = plot_training(curves, colour_role="road", n_epochs=100)
    figure = picture.figure
    assert list(named(figure)) == ["training", "validation", "adversary"]
    assert named(figure)["validation"].y == tuple(curves["validation_loss"])
    assert named(figure)["adversary"].yaxis == "y2"
    assert tuple(figure.layout.xaxis.range) == (0, 100)
    assert "training loss from 0.698 to" in picture.alt
    plain = curves.drop(columns="adversary_loss")
    figure = plot_training(plain, colour_role="hinge", n_epochs=1).figure
    assert "yaxis2" not in figure.layout.to_plotly_json()
    assert tuple(figure.layout.xaxis.range) == (0, curves["epoch"].max())


def test_seeds_give_a_band_of_one_standard_deviation(curves):
    spread = curves.assign(loss_sd=0.01, validation_loss_sd=np.nan)
    figure = plot_training(spread, colour_role="road", n_epochs=60).figure
    band = named(figure)["training ± 1 sd"]
    assert band.y[0] == pytest.approx(curves["loss"].iloc[0] + 0.01)
    assert "validation ± 1 sd" not in named(figure)
