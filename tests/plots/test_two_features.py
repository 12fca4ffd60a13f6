import numpy as np
import pandas as pd

from fairdash.plots import describe_two_features, plot_two_features


def test_each_group_has_its_map_its_rows_and_its_boundaries():
    axis = np.linspace(-1, 1, 5)
    surfaces = np.stack([np.full((5, 5), 0.2), np.full((5, 5), 0.7)])
    points = pd.DataFrame(
        {"x": [0.1, 0.2, 0.3], "y": 0.0, "group": ["a", "a", "b"], "outcome": [0, 1, 1]}
    )
    lines = pd.DataFrame(
        [("a", "decision", 0, -1, 0, 1), ("b", "truncation", 0.5, -1, 0.5, 1)],
        columns=["group", "kind", "x0", "y0", "x1", "y1"],
    )
    figure = plot_two_features(surfaces, points, lines, axis=axis, groups=("a", "b"))
    maps = [trace for trace in figure.data if trace.type == "heatmap"]
    assert [np.unique(m.z).tolist() for m in maps] == [[0.2], [0.7]]
    scatter = [trace for trace in figure.data if trace.type == "scatter"]
    marks = [t for t in scatter if t.mode == "markers"]
    assert [list(t.x) for t in marks] == [[0.1], [0.2], [], [0.3]]
    drawn = [t for t in scatter if t.mode == "lines"]
    assert [(t.line.dash, list(t.x)) for t in drawn] == [
        ("solid", [0, 0, None]),
        ("dash", []),
        ("solid", []),
        ("dash", [0.5, 0.5, None]),
    ]
    assert figure.layout.xaxis.domain[1] < figure.layout.xaxis2.domain[0]


def test_the_alt_text_tells_the_gap():
    assert "0.120 apart" in describe_two_features(0.12, -0.3)
