"""Grids of settings into stacks of models into rows of metrics."""

from typing import TYPE_CHECKING

from fairdash._lazy import lazy

if TYPE_CHECKING:
    from fairdash.sweep._candidates import Part, candidate_table
    from fairdash.sweep._certified import CertifiedChoice, choose_certified
    from fairdash.sweep._front import decides, pareto_front, select
    from fairdash.sweep._grids import (
        PAPER,
        QUICK,
        GridAxes,
        grid_spec,
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
        plan,
        trial_key,
        work,
    )
    from fairdash.sweep._result import AXES, PARITY, SweepResult
    from fairdash.sweep._script import python_script
    from fairdash.sweep._seeds import mean_over_seeds
    from fairdash.sweep._spec import (
        BASELINE,
        TAU,
        WEIGHT,
        DataSource,
        MethodGrid,
        Scalar,
        SweepSpec,
        model_label,
        unsupported_methods,
    )
    from fairdash.sweep._train import (
        TrialResult,
        decisions,
        load_dataset,
        run_sweep,
        score,
        source_file,
        train_stack,
    )
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
