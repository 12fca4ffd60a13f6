"""Grids of settings into stacks of models into rows of metrics."""

from fairdash.sweep._choice import mean_over_seeds, param_columns, select
from fairdash.sweep._cost import makespan, work
from fairdash.sweep._front import (
    hypervolume,
    is_gain,
    knee,
    pareto_front,
    within,
)
from fairdash.sweep._monitor import summarise_ratio
from fairdash.sweep._plan import Stack, plan
from fairdash.sweep._result import TrialResult
from fairdash.sweep._run import load_dataset, run_sweep, source_file
from fairdash.sweep._score import score
from fairdash.sweep._spec import DataSource, MethodGrid, SweepSpec
from fairdash.sweep._train import train_stack
from fairdash.sweep._trials import Trial, expand, method_seeds, trial_key

__all__ = [
    "DataSource",
    "MethodGrid",
    "Stack",
    "SweepSpec",
    "Trial",
    "TrialResult",
    "expand",
    "hypervolume",
    "is_gain",
    "knee",
    "load_dataset",
    "makespan",
    "mean_over_seeds",
    "method_seeds",
    "param_columns",
    "pareto_front",
    "plan",
    "run_sweep",
    "score",
    "select",
    "source_file",
    "summarise_ratio",
    "train_stack",
    "trial_key",
    "within",
    "work",
]
