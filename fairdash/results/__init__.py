"""What a run or a sweep found, over seeds and settings, read from the store.

Everything is computed from stored scores under the subgroups asked for, so a change of
subgroups never retrains. What was computed once is kept, by names of contents: a key of
a trial, an id of a data set.
"""

from fairdash.results.choices import (
    by_interest,
    model_in_question,
    models_of,
    notable,
    opened_on,
    shown_settings,
)
from fairdash.results.constraints import (
    CONSTRAINTS,
    Truncation,
    constraint_of,
    truncation,
    violations,
)
from fairdash.results.cost import ExpectedCost, expected_cost, n_workers
from fairdash.results.evaluation import (
    chance_worst,
    metrics_by_setting,
    paired_changes,
    readable,
)
from fairdash.results.local import LocalResult, local_result
from fairdash.results.models import (
    Comparison,
    Setting,
    beside_plain,
    known_models,
    missing_seeds,
    on_shared_seeds,
    reference_of,
    same_model,
    settings,
    share_seed,
    single_values,
    told_apart,
)
from fairdash.results.outcomes import Outcome, outcome
from fairdash.results.rates import base_rate_kpis, base_rates, not_estimable
from fairdash.results.rows import (
    Rows,
    part_sizes,
    rows_of,
    rows_trained_on,
    rows_used,
    trained_on,
)
from fairdash.results.runs import methods_of, run_table
from fairdash.results.sweeps import (
    RatioByTau,
    StoredSweep,
    agreement_words,
    both_parts,
    certified_words,
    finished_sweep,
    is_sweep,
    joining_runs,
    models_in_training,
    nearest_limits,
    sweep_grid,
)
from fairdash.results.training import (
    curves,
    main_trials,
    runtime,
    seconds_left,
    series,
    usual_seconds,
    weights,
)
from fairdash.results.weighting import (
    EVERYBODY,
    TopRows,
    Weighted,
    find_top_rows,
    weight_kpis,
    weighted_models,
)

__all__ = [
    "CONSTRAINTS",
    "EVERYBODY",
    "Comparison",
    "ExpectedCost",
    "LocalResult",
    "Outcome",
    "RatioByTau",
    "Rows",
    "Setting",
    "StoredSweep",
    "TopRows",
    "Truncation",
    "Weighted",
    "agreement_words",
    "base_rate_kpis",
    "base_rates",
    "beside_plain",
    "both_parts",
    "by_interest",
    "certified_words",
    "chance_worst",
    "constraint_of",
    "curves",
    "expected_cost",
    "find_top_rows",
    "finished_sweep",
    "is_sweep",
    "joining_runs",
    "known_models",
    "local_result",
    "main_trials",
    "methods_of",
    "metrics_by_setting",
    "missing_seeds",
    "model_in_question",
    "models_in_training",
    "models_of",
    "n_workers",
    "nearest_limits",
    "not_estimable",
    "notable",
    "on_shared_seeds",
    "opened_on",
    "outcome",
    "paired_changes",
    "part_sizes",
    "readable",
    "reference_of",
    "rows_of",
    "rows_trained_on",
    "rows_used",
    "run_table",
    "runtime",
    "same_model",
    "seconds_left",
    "series",
    "settings",
    "share_seed",
    "shown_settings",
    "single_values",
    "sweep_grid",
    "told_apart",
    "trained_on",
    "truncation",
    "usual_seconds",
    "violations",
    "weight_kpis",
    "weighted_models",
    "weights",
]
