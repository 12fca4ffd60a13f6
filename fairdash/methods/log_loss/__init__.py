"""Fair log-loss: the robust predictor under a constraint on its probabilities."""

from fairdash.methods.log_loss.fair_log_loss import FairLogLoss, FairLogLossCV
from fairdash.methods.log_loss.multipliers import fair_log_loss_multiplier
from fairdash.methods.log_loss.truncation import TruncatedLogistic

__all__ = [
    "FairLogLoss",
    "FairLogLossCV",
    "TruncatedLogistic",
    "fair_log_loss_multiplier",
]
