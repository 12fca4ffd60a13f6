"""Explore the fairness trade-offs of classifiers, with uncertainty on every number."""

from pathlib import Path

__version__ = "0.1.0"

_INSTALLED = Path(__file__).parent / "app"
#: Folder of ``app.py``, ``pages`` and ``sample_data``: the checkout, or what an
#: installed package brings along.
APP_FOLDER = _INSTALLED if _INSTALLED.is_dir() else Path(__file__).parents[1]
