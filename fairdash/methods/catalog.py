"""The catalog: every method with its parameters, described without loading torch.

Forms, the command line, sweeps, the documentation's table and the estimator checks are
made from these entries. A new method is one file, with its entry, and one line here.
"""

from fairdash.methods.adversarial import fad, road, zhang
from fairdash.methods.classical import linear, multicalibration, plain, reductions
from fairdash.methods.individual import sensei
from fairdash.methods.log_loss import fair_log_loss
from fairdash.methods.noisy_groups import dro, estimators, ideal, soft_method
from fairdash.methods.own import plugged

#: By when a method acts; of a method that is not named here see `family_of`.
FAMILIES = {
    "No correction": (
        zhang.UNCONSTRAINED,
        linear.LOGISTIC,
        plain.GRADIENT_BOOSTING,
        plain.FOREST,
        plain.NEIGHBOURS,
        zhang.WIDE_NETWORK,
        estimators.UNCONSTRAINED,
    ),
    "In training": (
        road.METHOD,
        zhang.METHOD,
        fad.FAD_METHOD,
        fad.CUMA_METHOD,
        road.BOLTZMANN,
        fair_log_loss.METHOD,
        reductions.EXPONENTIATED,
        reductions.GRID,
        linear.REWEIGHING,
        linear.COVARIANCE,
    ),
    "After training": (reductions.HARDT, multicalibration.METHOD),
    "Certified for wrong groups": (
        estimators.NAIVE,
        dro.METHOD,
        soft_method.METHOD,
        ideal.METHOD,
    ),
    "For people who are alike": (
        sensei.SENSEI,
        sensei.SENSR,
        sensei.CLP_METHOD,
    ),
}
_FIRST = "In training"
CATALOG = {method.key: method for methods in FAMILIES.values() for method in methods}
CATALOG |= plugged(CATALOG)


def family_of(key: str) -> str:
    """Return the family of a method, "In training" of one that was added since."""
    named = (
        family
        for family, methods in FAMILIES.items()
        if any(method.key == key for method in methods)
    )
    return next(named, _FIRST)
