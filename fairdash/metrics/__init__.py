"""Numbers out: quality, group and local fairness, their uncertainty.

Predictions ``y_pred`` are 0/1, ``scores`` are probabilities of the positive outcome,
and the leading axis of either counts models. What is undefined is NaN, never 0.
"""

from fairdash.metrics._base_rates import BaseRates, base_rates
from fairdash.metrics._compare import compare
from fairdash.metrics._decisions import decision_status
from fairdash.metrics._evaluate import evaluate
from fairdash.metrics._expected import expected_violations
from fairdash.metrics._group import (
    demographic_parity_difference,
    demographic_parity_ratio,
    equal_opportunity_difference,
    equalized_odds_difference,
    group_rates,
)
from fairdash.metrics._intervals import (
    gap_interval,
    newcombe_interval,
    wilson_interval,
)
from fairdash.metrics._local import (
    LocalCells,
    local_cells,
    local_di,
    subgroup_rates,
    worst_k_di,
)
from fairdash.metrics._measures import MEASURES, SCORE_MEASURES, measure_by_group
from fairdash.metrics._noise import NoiseFloor, noise_floor
from fairdash.metrics._seeds import mean_local_di, summarise_seeds
from fairdash.metrics._traits import top_rows, traits
from fairdash.metrics._weights import (
    Correlation,
    effective_rows,
    ratio_by_subgroup,
    ratio_correlation,
    ratio_quantiles,
)
from fairdash.metrics.individual import (
    DIFCertificate,
    FairMetric,
    FreeRange,
    LossRatio,
    WorstCase,
    columns_of,
    comparable_directions,
    ctf_score,
    dif_certificate,
    explore,
    fair_distance,
    flip_columns,
    free_sensitivity,
    group_directions,
    ignore_columns,
    loss_ratio,
    output_distance,
    pair_tables,
    prediction_consistency,
    recall_gaps,
    same_prediction,
    worst_case,
)

__all__ = [
    "MEASURES",
    "SCORE_MEASURES",
    "BaseRates",
    "Correlation",
    "DIFCertificate",
    "FairMetric",
    "FreeRange",
    "LocalCells",
    "LossRatio",
    "NoiseFloor",
    "WorstCase",
    "base_rates",
    "columns_of",
    "comparable_directions",
    "compare",
    "ctf_score",
    "decision_status",
    "demographic_parity_difference",
    "demographic_parity_ratio",
    "dif_certificate",
    "effective_rows",
    "equal_opportunity_difference",
    "equalized_odds_difference",
    "evaluate",
    "expected_violations",
    "explore",
    "fair_distance",
    "flip_columns",
    "free_sensitivity",
    "gap_interval",
    "group_directions",
    "group_rates",
    "ignore_columns",
    "local_cells",
    "local_di",
    "loss_ratio",
    "mean_local_di",
    "measure_by_group",
    "newcombe_interval",
    "noise_floor",
    "output_distance",
    "pair_tables",
    "prediction_consistency",
    "ratio_by_subgroup",
    "ratio_correlation",
    "ratio_quantiles",
    "recall_gaps",
    "same_prediction",
    "subgroup_rates",
    "summarise_seeds",
    "top_rows",
    "traits",
    "wilson_interval",
    "worst_case",
    "worst_k_di",
]
