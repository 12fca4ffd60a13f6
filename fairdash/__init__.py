"""Explore the fairness trade-offs of classifiers, with uncertainty on every number."""

from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.3.0"

_INSTALLED = Path(__file__).parent / "app"
#: Folder of ``app.py``, ``pages`` and ``sample_data``: the checkout, or what an
#: installed package brings along.
APP_FOLDER = _INSTALLED if _INSTALLED.is_dir() else Path(__file__).parents[1]

_LAZY = {
    "audit": "fairdash.audits",
    "load": "fairdash.audits",
    "show": "fairdash.reports",
}  # names that the package offers, and their room


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
