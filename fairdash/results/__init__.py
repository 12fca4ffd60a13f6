"""What a run or a sweep found, over seeds and settings, read from the store.

Everything is computed from stored scores under the subgroups asked for, so a change of
subgroups never retrains. What was computed once is kept, by names of contents: a key of
a trial, an id of a data set.
"""

from typing import TYPE_CHECKING

from fairdash._lazy import lazy

if TYPE_CHECKING:
    from fairdash.results.answer import Answer, Drawing, Listing
    from fairdash.results.choices import (
        by_interest,
        certified_words,
        model_in_question,
        models_of,
        nearest_limits,
        opened_on,
        own_points,
        shown_settings,
        sweep_verdict,
        thresholds_words,
        with_gaps,
    )
    from fairdash.results.constraints import (
        CONSTRAINTS,
        constraint_of,
        truncation,
        violations,
    )
    from fairdash.results.evaluation import (
        DI_HELP,
        metrics_by_setting,
        one_of_seeds,
        readable,
    )
    from fairdash.results.folds import cross_validated, folds_in_training
    from fairdash.results.local import LocalResult, gap_names, not_estimable
    from fairdash.results.measured import (
        calibration_of,
        every_measure,
        every_model,
        local_by_measure,
        readable_measures,
        speech_of,
    )
    from fairdash.results.models import (
        Setting,
        beside_plain,
        known_models,
        known_models_of,
        missing_seeds,
        on_shared_seeds,
        reference_of,
        same_model,
        settings,
        single_values,
        trained_as,
    )
    from fairdash.results.outcomes import outcome, side_by_side
    from fairdash.results.rates import (
        base_rate_kpis,
        base_rate_ratios,
        base_rates,
        first_measure,
        promised_of_scores,
        promised_subgroups,
    )
    from fairdash.results.rows import (
        ALL_ROWS,
        OWN_NOTE,
        Inside,
        Tested,
        beside_trained,
        callable_models,
        decided_part,
        is_own,
        on_all_rows,
        own_model,
        own_models,
        own_scores,
        part_sizes,
        rows_of,
        rows_used,
        score_name,
        score_of_key,
        split_seed,
        tested,
        trained_on,
    )
    from fairdash.results.sweeps import (
        StoredSweep,
        both_parts,
        finished_sweep,
        is_sweep,
        joining_runs,
        models_in_training,
    )
    from fairdash.results.training import (
        ExpectedCost,
        curves,
        expected_cost,
        main_trials,
        methods_of,
        run_table,
        runtime,
        seconds_left,
        series,
        trained_elsewhere,
        weights,
        why_failed,
    )
    from fairdash.results.weighting import (
        EVERYBODY,
        Weighted,
        find_top_rows,
        instead_words,
        weighted_models,
        weights_verdict,
    )
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
