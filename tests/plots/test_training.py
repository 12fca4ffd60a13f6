"""Loss curves."""

from fairdash.plots import plot_training


def named(figure):
    return {trace.name: trace for trace in figure.data}


def test_every_curve_is_a_line_the_adversarys_below(curves):
    picture = plot_training(curves, colour_role="road", n_epochs=100)
    figure = picture.figure
    assert list(named(figure)) == ["training", "validation", "adversary"]
    assert named(figure)["validation"].y == tuple(curves["validation_loss"])
    assert tuple(figure.layout.xaxis.range) == (0, 100)
    assert "training loss from 0.698 to" in picture.alt
    plain = curves.drop(columns="adversary_loss")
    figure = plot_training(plain, colour_role="hinge", n_epochs=1).figure
    assert tuple(figure.layout.xaxis.range) == (0, curves["epoch"].max())
