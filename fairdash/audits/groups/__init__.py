"""Gaps between groups, over all rows and inside subgroups, by any measure."""
