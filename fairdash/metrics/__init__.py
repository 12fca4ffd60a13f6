"""Numbers out: quality, group and local fairness, their uncertainty.

Predictions ``y_pred`` are 0/1, ``scores`` are probabilities of the positive outcome,
and the leading axis of either counts models. What is undefined is NaN, never 0.
"""

from typing import TYPE_CHECKING

from fairdash._lazy import lazy

__all__ = [
    "MEASURES",
    "N_DIRECTIONS",
    "TOO_FEW",
    "BothWays",
    "Drawn",
    "FairMetric",
    "Finding",
    "GroupMeasure",
    "LocalMeasure",
    "Measure",
    "Measured",
    "Speech",
    "WeightSpread",
    "accuracy_change",
    "as_probabilities",
    "both_ways",
    "calibration_curve",
    "catalog",
    "chances",
    "choose_finding",
    "clause",
    "comparable_directions",
    "compare",
    "counting",
    "decision_status",
    "demographic_parity_difference",
    "direction_words",
    "equalized_odds_difference",
    "evaluate",
    "expected_local_di",
    "expected_measure",
    "fair_distance",
    "flip_columns",
    "gap_change",
    "gap_ends",
    "group_directions",
    "ignore_columns",
    "intervals",
    "local_cells",
    "local_di",
    "measure_by_group",
    "measure_gaps",
    "noise_floor",
    "prediction_consistency",
    "sentence",
    "summarise_seeds",
    "turned_gaps",
    "turned_words",
    "variance",
    "views",
    "weight_spread",
    "weights",
    "worse_off",
    "worst_k_di",
]

if TYPE_CHECKING:
    from fairdash.metrics.comparable import N_DIRECTIONS, comparable_directions
    from fairdash.metrics.group import (
        catalog,
        counting,
        intervals,
        variance,
        views,
        weight_spread,
        weights,
    )
    from fairdash.metrics.group.catalog import MEASURES, Measure
    from fairdash.metrics.group.cell_values import TOO_FEW
    from fairdash.metrics.group.chance import compare
    from fairdash.metrics.group.change import accuracy_change, gap_change
    from fairdash.metrics.group.directions import (
        BothWays,
        both_ways,
        direction_words,
        turned_gaps,
        turned_words,
        worse_off,
    )
    from fairdash.metrics.group.drawn import Drawn, chances
    from fairdash.metrics.group.evaluate import (
        decision_status,
        evaluate,
        summarise_seeds,
    )
    from fairdash.metrics.group.finding import (
        Finding,
        Speech,
        choose_finding,
        clause,
        gap_ends,
        sentence,
    )
    from fairdash.metrics.group.group_measure import GroupMeasure
    from fairdash.metrics.group.local import (
        expected_local_di,
        local_di,
        noise_floor,
        worst_k_di,
    )
    from fairdash.metrics.group.local_cells import local_cells
    from fairdash.metrics.group.local_measures import LocalMeasure
    from fairdash.metrics.group.measured import Measured
    from fairdash.metrics.group.measures import (
        as_probabilities,
        calibration_curve,
        expected_measure,
        measure_by_group,
        measure_gaps,
    )
    from fairdash.metrics.group.rates import (
        demographic_parity_difference,
        equalized_odds_difference,
    )
    from fairdash.metrics.group.weight_spread import WeightSpread
    from fairdash.metrics.individual import (
        FairMetric,
        fair_distance,
        flip_columns,
        group_directions,
        ignore_columns,
        prediction_consistency,
    )
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
