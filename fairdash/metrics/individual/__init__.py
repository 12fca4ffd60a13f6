"""Individual fairness: who is alike, and how far they are treated differently."""

from fairdash.metrics.individual.certificates import (
    DIFCertificate,
    LossRatio,
    dif_certificate,
    free_sensitivity,
    loss_ratio,
)
from fairdash.metrics.individual.counterfactual import (
    ctf_score,
    flip_columns,
    prediction_consistency,
    recall_gaps,
    same_prediction,
)
from fairdash.metrics.individual.directions import (
    columns_of,
    comparable_directions,
    explore,
    group_directions,
    ignore_columns,
    pair_tables,
)
from fairdash.metrics.individual.fair_metric import FairMetric, fair_distance
from fairdash.metrics.individual.worst_case import (
    FreeRange,
    WorstCase,
    output_distance,
    worst_case,
)

__all__ = [
    "DIFCertificate",
    "FairMetric",
    "FreeRange",
    "LossRatio",
    "WorstCase",
    "columns_of",
    "comparable_directions",
    "ctf_score",
    "dif_certificate",
    "explore",
    "fair_distance",
    "flip_columns",
    "free_sensitivity",
    "group_directions",
    "ignore_columns",
    "loss_ratio",
    "output_distance",
    "pair_tables",
    "prediction_consistency",
    "recall_gaps",
    "same_prediction",
    "worst_case",
]
