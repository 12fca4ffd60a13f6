"""Scores in, decisions out: fairness for a model that is already trained.

Every method learns, on rows that the model was not trained on, a rule per group: the
probability of a positive decision as a function of the score. Scores are margins
2p - 1 in [-1, 1], or probabilities with ``score_type="probability"``.
"""

from fairdash.postprocessing.baselines import (
    HardtThreshold,
    RejectOption,
    ShiftInference,
)
from fairdash.postprocessing.bounds import (
    ExcessRisk,
    Impossibility,
    excess_risk_bound,
    group_shares,
    impossibility_bound,
)
from fairdash.postprocessing.comparison import (
    BEFORE,
    COVARIANCE,
    CROSSED,
    RAMP,
    FittedBaselines,
    LocalComparison,
    LocalCorrections,
)
from fairdash.postprocessing.covariance import CellScores, CovarianceRamp
from fairdash.postprocessing.inputs import (
    ScoreType,
    cross,
    guess_score_type,
    read_margins,
)
from fairdash.postprocessing.kernels import (
    CovarianceScores,
    SortedScores,
    covariance_threshold,
    ramp_threshold,
)
from fairdash.postprocessing.outcome import (
    LocalRates,
    changed_decisions,
    expected_local_di,
    expected_outcome,
)
from fairdash.postprocessing.ramp import RampPreview, RampThreshold
from fairdash.postprocessing.rows import ScoredRows, SplitScores
from fairdash.postprocessing.rules import Rule, Thresholds, apply_thresholds
from fairdash.postprocessing.target_rate import (
    ByOutcome,
    balanced_rate,
    by_outcome,
    most_accurate_rate,
)

__all__ = [
    "BEFORE",
    "COVARIANCE",
    "CROSSED",
    "RAMP",
    "ByOutcome",
    "CellScores",
    "CovarianceRamp",
    "CovarianceScores",
    "ExcessRisk",
    "FittedBaselines",
    "HardtThreshold",
    "Impossibility",
    "LocalComparison",
    "LocalCorrections",
    "LocalRates",
    "RampPreview",
    "RampThreshold",
    "RejectOption",
    "Rule",
    "ScoreType",
    "ScoredRows",
    "ShiftInference",
    "SortedScores",
    "SplitScores",
    "Thresholds",
    "apply_thresholds",
    "balanced_rate",
    "by_outcome",
    "changed_decisions",
    "covariance_threshold",
    "cross",
    "excess_risk_bound",
    "expected_local_di",
    "expected_outcome",
    "group_shares",
    "guess_score_type",
    "impossibility_bound",
    "most_accurate_rate",
    "ramp_threshold",
    "read_margins",
]
