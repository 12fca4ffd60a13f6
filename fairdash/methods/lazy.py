"""Modules loaded at their first use.

A page process reads the catalog, and with it the files of all methods, and must load
neither torch nor fairlearn: who trains finds them here.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["ensemble", "reductions", "thresholds", "torch"]


class LazyModule(ModuleType):
    """A module that is imported when an attribute of it is first asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what tools ask of any module is no use
            raise AttributeError(name)
        loaded = import_module(self.__name__)
        self.__dict__.update(vars(loaded))  # from now on without this detour
        return getattr(loaded, name)


if TYPE_CHECKING:
    import torch
    from fairlearn import postprocessing as thresholds
    from fairlearn import reductions
    from sklearn import ensemble
else:
    torch = LazyModule("torch")
    reductions = LazyModule("fairlearn.reductions")
    thresholds = LazyModule("fairlearn.postprocessing")
    ensemble = LazyModule("sklearn.ensemble")
