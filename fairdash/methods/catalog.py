"""The catalog: every method with its parameters, described without loading torch.

Forms, the command line, sweeps, the documentation's table and the estimator checks are
made from these entries. A new method is one file, with its entry, and one line here.
"""

from fairdash.methods.adversarial import fad, road, zhang
from fairdash.methods.classical import (
    hardt,
    linear,
    multicalibration,
    plain,
    reductions,
    rule_list,
)
from fairdash.methods.individual import sensei
from fairdash.methods.log_loss import fair_log_loss
from fairdash.methods.noisy_groups import dro, estimators, ideal, soft_method
from fairdash.methods.own import plugged

METHODS = (
    zhang.UNCONSTRAINED,
    linear.LOGISTIC,
    plain.GRADIENT_BOOSTING,
    plain.FOREST,
    estimators.UNCONSTRAINED,
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
    hardt.HARDT,
    rule_list.METHOD,
    multicalibration.METHOD,
    estimators.NAIVE,
    dro.METHOD,
    soft_method.METHOD,
    ideal.METHOD,
    sensei.SENSEI,
    sensei.SENSR,
    sensei.CLP_METHOD,
)
CATALOG = {method.key: method for method in METHODS}
CATALOG |= plugged(CATALOG)
