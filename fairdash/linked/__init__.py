"""Linked pictures of a sweep, for page and report: one hand, many pictures."""

from fairdash.linked.data import (
    EVERY_PART,
    MEASURES,
    LinkedView,
    linked_data,
    script,
    styles,
)
from fairdash.linked.first import first_answers, first_view, kept_data

__all__ = [
    "EVERY_PART",
    "MEASURES",
    "LinkedView",
    "first_answers",
    "first_view",
    "kept_data",
    "linked_data",
    "script",
    "styles",
]
