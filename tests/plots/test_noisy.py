"""Figures of noisy groups: what they draw and what they say."""

import numpy as np
import pandas as pd
import pytest

from fairdash import plots


@pytest.fixture
def certificates():
    return pd.DataFrame(
        {
            "label": ["ROAD", "Naive"],
            "noisy": [-0.02, -0.01],
            "true": [np.nan, np.nan],
            "drawn": [-0.03, -0.01],
            "soft": [0.1, -0.01],
            "ball": [0.2, 0.3],
        }
    )


@pytest.fixture
def study():
    return pd.DataFrame(
        {
            "method": ["hinge", "hinge", "noisy_dro"],
            "label": ["Hinge", "Hinge", "DRO"],
            "colour_role": ["noisy_unconstrained"] * 2 + ["noisy_dro"],
            "level": [0.0, 0.2, 0.2],
            "true": [0.02, 0.02, -0.01],
            "true_sd": [0.01, 0.01, 0.0],
            "noisy": [0.02, 0.01, -0.02],
            "noisy_sd": [0.01, 0.01, 0.0],
            "error": [0.2, 0.2, 0.25],
            "error_sd": [0.0, 0.0, 0.01],
        }
    )


def test_every_kind_of_certificate_that_is_known_has_its_marks(certificates):
    figure = plots.plot_certificates(certificates)
    marks = {trace.name: list(trace.x) for trace in figure.data if trace.name}
    assert "true groups" not in marks
    assert marks["exact, TV ball"] == [0.2, 0.3]
    assert marks["20 random draws"] == [-0.03, -0.01]
    assert "Naive: noisy groups −0.010" in plots.describe_certificates(certificates)


def test_the_finding_counts_what_is_safe_and_what_only_passes_draws(certificates):
    words = plots.certificate_finding(certificates)
    assert words == "No model is safe at this radius; 2 of 2 pass 20 random draws"
    safe = certificates.assign(ball=[-0.01, 0.3])
    assert plots.certificate_finding(safe).startswith("1 of 2 models surely keep")


def test_the_confusion_shows_shares_of_the_true_group():
    counts = pd.DataFrame([[90, 10], [5, 45]], index=["a", "b"], columns=["a", "b"])
    figure = plots.plot_confusion(counts)
    assert figure.data[0].z[0][1] == pytest.approx(0.1)
    assert plots.confusion_finding(counts) == "10.0% of a appear as another group"
    assert "10% as b" in plots.describe_confusion(counts)
    other = counts.rename(columns={"a": "x"})
    assert plots.confusion_finding(other) == "2 true groups stand behind 2 noisy"


def test_the_study_has_a_panel_for_each_measure_with_spread(study):
    figure = plots.plot_noise_study(study)
    assert len(figure.data) == 6
    dro = [trace for trace in figure.data if trace.name == "DRO"]
    assert [trace.y[0] for trace in dro] == [-0.01, -0.02, 0.25]
    assert [trace.error_y.array[0] for trace in dro] == [0.0, 0.0, 0.01]
    hinge = figure.data[0]
    assert dro[0].customdata[0] == hinge.customdata[1] == 0.2
    assert 0 < dro[0].x[0] - hinge.x[1] < 0.01  # bars side by side
    assert "<extra>DRO</extra>" in dro[0].hovertemplate
    words = plots.noise_finding(study)
    assert words == "At 20% noise 1 of 2 approaches break the constraint"
    assert "DRO: −0.010 at 20% noise" in plots.describe_noise_study(study)
