"""Scores in, decisions out: fairness for a model that is already trained.

Every method learns, on rows that the model was not trained on, a rule per group: the
probability of a positive decision as a function of the score. Scores are margins
2p - 1 in [-1, 1], or probabilities with ``score_type="probability"``.
"""

from fairdash.postprocessing._accurate import (
    ByOutcome,
    by_outcome,
    most_accurate_rate,
)
from fairdash.postprocessing._bounds import (
    ExcessRisk,
    Impossibility,
    excess_risk_bound,
    impossibility_bound,
)
from fairdash.postprocessing._covariance import CovarianceScores, covariance_threshold
from fairdash.postprocessing._covariance_ramp import CovarianceRamp
from fairdash.postprocessing._decide import decide
from fairdash.postprocessing._hardt import HardtThreshold
from fairdash.postprocessing._inputs import (
    ScoreType,
    cross,
    guess_score_type,
    read_margins,
)
from fairdash.postprocessing._local import LocalRates, expected_local_di
from fairdash.postprocessing._outcome import expected_flips, expected_outcome
from fairdash.postprocessing._ramp import RampThreshold
from fairdash.postprocessing._reject import RejectOption
from fairdash.postprocessing._rules import Rule, Thresholds, score_range
from fairdash.postprocessing._shift import ShiftInference
from fairdash.postprocessing._sorted import SortedScores, ramp_threshold
from fairdash.postprocessing._target import balanced_rate

__all__ = [
    "ByOutcome",
    "CovarianceRamp",
    "CovarianceScores",
    "ExcessRisk",
    "HardtThreshold",
    "Impossibility",
    "LocalRates",
    "RampThreshold",
    "RejectOption",
    "Rule",
    "ScoreType",
    "ShiftInference",
    "SortedScores",
    "Thresholds",
    "balanced_rate",
    "by_outcome",
    "covariance_threshold",
    "cross",
    "decide",
    "excess_risk_bound",
    "expected_flips",
    "expected_local_di",
    "expected_outcome",
    "guess_score_type",
    "impossibility_bound",
    "most_accurate_rate",
    "ramp_threshold",
    "read_margins",
    "score_range",
]
