"""Grids of settings into stacks of models into rows of metrics."""

from typing import TYPE_CHECKING

from fairdash._lazy import lazy

__all__ = [
    "AXES",
    "BASELINE",
    "DRAWN",
    "PARITY",
    "RESULTS_VERSION",
    "CertifiedChoice",
    "DataSource",
    "MethodComparison",
    "MethodGrid",
    "Part",
    "SweepResult",
    "SweepSpec",
    "Trial",
    "TrialResult",
    "benchmark_specs",
    "candidate_table",
    "choose_certified",
    "compare_methods",
    "decides",
    "decisions",
    "expand",
    "grids",
    "load_dataset",
    "long_table",
    "mean_over_seeds",
    "model_label",
    "pareto_front",
    "planning",
    "python_script",
    "run_sweep",
    "score",
    "select",
    "source_file",
    "train_stack",
    "unsupported_methods",
]

if TYPE_CHECKING:
    from fairdash._metric_names import PARITY
    from fairdash.sweep import grids, planning
    from fairdash.sweep._benchmark import benchmark_specs, long_table
    from fairdash.sweep._candidates import Part, candidate_table
    from fairdash.sweep._certified import CertifiedChoice, choose_certified
    from fairdash.sweep._comparison import MethodComparison, compare_methods
    from fairdash.sweep._front import decides, pareto_front, select
    from fairdash.sweep._result import AXES, SweepResult
    from fairdash.sweep._script import python_script
    from fairdash.sweep._seeds import DRAWN, mean_over_seeds
    from fairdash.sweep._spec import (
        BASELINE,
        DataSource,
        MethodGrid,
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
    from fairdash.sweep.planning import RESULTS_VERSION, Trial, expand
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
