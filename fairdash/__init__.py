"""Explore the fairness trade-offs of classifiers, with uncertainty on every number."""

__version__ = "0.1.0"
