"""Explore the fairness trade-offs of classifiers, with uncertainty on every number."""

from pathlib import Path
from typing import TYPE_CHECKING

from fairdash._lazy import lazy

__version__ = "0.4.0"

__all__ = [
    "BROAD",
    "CLP",
    "CUMA",
    "FAD",
    "ROAD",
    "AdversarialDebiasing",
    "FairLogLoss",
    "FairMetric",
    "HardtThreshold",
    "RampThreshold",
    "Roles",
    "SenSR",
    "SenSeI",
    "Subgroups",
    "SweepSpec",
    "audit",
    "choose_certified",
    "find_subgroups",
    "load",
    "local_di",
    "measure_by_group",
    "read_table",
    "run_sweep",
    "show",
    "worst_counterparts",
]

_INSTALLED = Path(__file__).parent / "app"
#: Folder of ``app.py``, ``pages`` and ``sample_data``: the checkout, or what an
#: installed package brings along.
APP_FOLDER = _INSTALLED if _INSTALLED.is_dir() else Path(__file__).parents[1]

if TYPE_CHECKING:
    from fairdash import audits, datasets, methods, metrics, postprocessing, sweep
    from fairdash.audits import audit, find_subgroups, load, worst_counterparts
    from fairdash.datasets import Roles, Subgroups, read_table
    from fairdash.methods import (
        BROAD,
        CLP,
        CUMA,
        FAD,
        ROAD,
        AdversarialDebiasing,
        FairLogLoss,
        SenSeI,
        SenSR,
    )
    from fairdash.metrics import FairMetric, local_di, measure_by_group
    from fairdash.postprocessing import HardtThreshold, RampThreshold
    from fairdash.reports import show
    from fairdash.sweep import SweepSpec, choose_certified, run_sweep
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
