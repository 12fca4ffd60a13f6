import numpy as np
import pytest

from fairdash.postprocessing import SortedScores
from fairdash.ui.results.scored import KNOTS, summarise


@pytest.mark.parametrize("kind", ["smooth", "piled up", "few values"])
def test_the_summary_gives_rates_within_a_thousandth(kind):
    rng = np.random.default_rng(0)
    margins = np.clip(rng.normal(-0.3, 0.5, 20_000), -1, 1)
    if kind == "piled up":
        margins = np.tanh(8 * margins)
    if kind == "few values":
        margins = margins.round(1)
    scores = SortedScores(margins)
    sent = summarise("a", scores)
    assert len(sent["score"]) <= KNOTS + 1
    assert sum(sent["bins"]) == pytest.approx(1, abs=1e-4)

    def mean_h(t, gamma):
        """As the browser computes it, linear between knots."""
        x = np.array([t, t + gamma])
        at = np.array(sent["score"])
        mass = np.interp(x, at, sent["mass"], left=0)
        moment = np.interp(x, at, sent["moment"], left=0)
        inside = moment[1] - moment[0] - t * (mass[1] - mass[0])
        return 1 - mass[1] + inside / gamma

    for gamma in (0.05, 0.3, 1.0):
        starts = np.linspace(-0.9, 0.8, 21) + 0.013
        errors = [abs(mean_h(t, gamma) - scores.mean_h(t, gamma)) for t in starts]
        assert max(errors) < (1e-3 if kind == "few values" else 1e-4)
