"""Gaps between groups, over all rows and inside subgroups, by any measure."""

from typing import TYPE_CHECKING

from fairdash._lazy import lazy

__all__ = [
    "GAP_HELP",
    "BaseRates",
    "LocalResult",
    "base_rate_kpis",
    "base_rates",
    "base_rates_answer",
    "calibration_of",
    "cuts_answer",
    "every_class",
    "every_measure",
    "local_by_measure",
    "metrics_by_setting",
    "named_metrics",
    "not_estimable",
    "opening_measure",
    "other_measures",
    "outcome",
    "over_cuts",
    "predicts_classes",
    "readable",
    "readable_measures",
    "reversal_words",
    "speech_of",
]

if TYPE_CHECKING:
    from fairdash.audits.gaps.by_subgroup import local_by_measure, named_metrics
    from fairdash.audits.gaps.classes import every_class, predicts_classes
    from fairdash.audits.gaps.cuts import cuts_answer, over_cuts
    from fairdash.audits.gaps.evaluation import GAP_HELP, metrics_by_setting, readable
    from fairdash.audits.gaps.every_measure import every_measure, readable_measures
    from fairdash.audits.gaps.local import LocalResult, not_estimable
    from fairdash.audits.gaps.measured import (
        calibration_of,
        opening_measure,
        other_measures,
        speech_of,
    )
    from fairdash.audits.gaps.outcomes import outcome
    from fairdash.audits.gaps.rates import (
        BaseRates,
        base_rate_kpis,
        base_rates,
        base_rates_answer,
    )
    from fairdash.audits.gaps.reversal import reversal_words
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
