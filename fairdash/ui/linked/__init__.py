"""Linked pictures of a sweep: one hand, many pictures, drawn in the browser."""

from fairdash.ui.linked.component import draw_linked

__all__ = ["draw_linked"]
