"""Linked pictures of a sweep: one hand, many pictures, drawn in the browser."""

from fairdash.ui.linked.component import (
    MEASURES,
    draw_linked,
    linked_data,
    script,
    styles,
)

__all__ = ["MEASURES", "draw_linked", "linked_data", "script", "styles"]
