"""The common positive rate to aim for without outcomes."""

from collections.abc import Sequence

from scipy.optimize import brentq

from fairdash.postprocessing._sorted import SortedScores


def balanced_rate(groups: Sequence[SortedScores], gamma: float) -> float:
    r"""Rate at which corrections of the groups cancel; needs no outcome.

    The root of :math:`\sum_k W_k (t_k(\rho) + \gamma/2)` with group weights
    :math:`W_k`: the middles of the ramps are 0 on average.

    Parameters
    ----------
    groups : sequence of SortedScores
    gamma : float

    Returns
    -------
    float in [0, 1]
    """

    def balance(rate: float) -> float:
        return sum(
            group.total * (group.threshold(gamma, rate) + gamma / 2) for group in groups
        )

    # thresholds fall as the rate grows, so the balance does
    if balance(0.0) <= 0:
        return 0.0
    if balance(1.0) >= 0:
        return 1.0
    return float(brentq(balance, 0.0, 1.0, xtol=1e-13))
