"""Scores in, decisions out: fairness for a model that is already trained.

Every method learns, on rows that the model was not trained on, a rule per group: the
probability of a positive decision as a function of the score. Scores are margins
2p - 1 in [-1, 1], or probabilities with ``score_type="probability"``.
"""

from typing import TYPE_CHECKING

from fairdash._lazy import lazy

__all__ = [
    "GAMMA",
    "Baselines",
    "Correction",
    "Dial",
    "HardtThreshold",
    "PostProcessor",
    "RampPreview",
    "RampThreshold",
    "RejectOption",
    "Report",
    "ScoreType",
    "ScoredRows",
    "SplitScores",
    "Thresholds",
    "apply_thresholds",
    "as_margins",
    "corrections",
    "covariance_threshold",
    "cross",
    "fill_missing",
    "fit_baselines",
    "ramp_threshold",
    "trade_off_table",
]

if TYPE_CHECKING:
    from fairdash.postprocessing.base import PostProcessor, Report
    from fairdash.postprocessing.baselines import HardtThreshold, RejectOption
    from fairdash.postprocessing.catalog import Correction, Dial, corrections
    from fairdash.postprocessing.comparison import (
        Baselines,
        fit_baselines,
        trade_off_table,
    )
    from fairdash.postprocessing.inputs import (
        ScoreType,
        as_margins,
        cross,
        fill_missing,
    )
    from fairdash.postprocessing.kernels import covariance_threshold, ramp_threshold
    from fairdash.postprocessing.ramp import GAMMA, RampPreview, RampThreshold
    from fairdash.postprocessing.rows import ScoredRows, SplitScores
    from fairdash.postprocessing.rules import Thresholds, apply_thresholds
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
