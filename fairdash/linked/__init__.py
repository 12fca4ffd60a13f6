"""Linked pictures of a sweep, for page and report: one hand, many pictures."""

from fairdash.linked.data import EVERY_PART, MEASURES, linked_data, script, styles

__all__ = ["EVERY_PART", "MEASURES", "linked_data", "script", "styles"]
