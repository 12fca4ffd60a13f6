"""Grids of settings into stacks of models into rows of metrics."""

from typing import TYPE_CHECKING

from fairdash._lazy import lazy

if TYPE_CHECKING:
    from fairdash.sweep._ablation import (
        ABLATIONS,
        ablations_of,
        compare_values,
        front_area,
        least_gap,
        with_ablation,
    )
    from fairdash.sweep._candidates import (
        THRESHOLDS,
        Candidate,
        Part,
        Thresholds,
        candidate_table,
    )
    from fairdash.sweep._certified import CertifiedChoice, choose_certified
    from fairdash.sweep._front import (
        decides,
        hypervolume,
        is_gain,
        knee,
        pareto_front,
        select,
        within,
    )
    from fairdash.sweep._grids import (
        PAPER,
        PUBLISHED,
        QUICK,
        SCALINGS,
        SEARCHED_RATES,
        GridAxes,
        Published,
        as_published,
        grid_spec,
        published_for,
        shared_params,
        spaced,
        swept_methods,
    )
    from fairdash.sweep._plan import (
        ENCODED_ALIKE,
        FOLD,
        INITIALISATION,
        RESULTS_VERSION,
        Stack,
        Trial,
        expand,
        makespan,
        n_initialisations,
        plan,
        trained_grids,
        trial_key,
        work,
    )
    from fairdash.sweep._result import AXES, PARITY, Judge, SweepResult
    from fairdash.sweep._script import python_script
    from fairdash.sweep._seeds import (
        mean_over_seeds,
        param_columns,
        rank_agreement,
        variance_components,
    )
    from fairdash.sweep._spec import (
        BASELINE,
        TAU,
        WEIGHT,
        DataSource,
        MethodGrid,
        Point,
        Scalar,
        SweepSpec,
        model_label,
        position_of,
        unsupported_methods,
        value_at,
    )
    from fairdash.sweep._train import (
        TrialResult,
        decisions,
        load_dataset,
        run_sweep,
        score,
        source_file,
        summarise_ratio,
        train_stack,
    )
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
