"""Modules loaded at their first use.

A page process reads the catalog, and with it the files of all methods, and must load
neither torch nor fairlearn. Methods import them from here, and load them by training.
"""

from typing import TYPE_CHECKING

from fairdash._lazy import LazyModule

__all__ = ["ensemble", "reductions", "torch"]


if TYPE_CHECKING:
    import torch
    from fairlearn import reductions
    from sklearn import ensemble
else:
    torch = LazyModule("torch")
    reductions = LazyModule("fairlearn.reductions")
    ensemble = LazyModule("sklearn.ensemble")
