"""Loss curves."""

import numpy as np
import pytest

from fairdash.plots import plot_training


def named(figure):
    return {trace.name: trace for trace in figure.data}


def test_every_curve_is_a_line_with_its_name_at_the_end(curves):
    figure = plot_training(curves, colour_role="road", n_epochs=100).figure
    assert list(named(figure)) == ["training", "validation", "adversary"]
    assert named(figure)["validation"].y == tuple(curves["validation_loss"])
    assert named(figure)["adversary"].yaxis == "y2"
    assert tuple(figure.layout.xaxis.range) == (0, 100)
    ends = {note.text: note.y for note in figure.layout.annotations}
    assert ends["training"] == curves["loss"].iloc[-1]


def test_without_an_adversary_there_is_one_panel(curves):
    plain = curves.drop(columns="adversary_loss")
    figure = plot_training(plain, colour_role="unconstrained", n_epochs=60).figure
    assert list(named(figure)) == ["training", "validation"]
    assert "yaxis2" not in figure.layout.to_plotly_json()


def test_a_method_without_epochs_of_its_own_has_its_whole_curve_on_the_axis(curves):
    figure = plot_training(curves, colour_role="hinge", n_epochs=1).figure
    assert tuple(figure.layout.xaxis.range) == (0, curves["epoch"].max())


def test_seeds_give_a_band_of_one_standard_deviation(curves):
    spread = curves.assign(loss_sd=0.01, validation_loss_sd=np.nan)
    figure = plot_training(spread, colour_role="road", n_epochs=60).figure
    band = named(figure)["training ± 1 sd"]
    assert band.y[0] == pytest.approx(curves["loss"].iloc[0] + 0.01)
    assert band.y[-1] == pytest.approx(curves["loss"].iloc[0] - 0.01)
    assert "validation ± 1 sd" not in named(figure)


def test_alt_texts_give_the_last_losses(curves):
    alt = plot_training(curves, colour_role="road", n_epochs=60).alt
    assert alt.startswith("Loss by epoch, after 60 epochs: training loss from 0.698 to")
