"""A stranger's text in each format that leaves the program: there it stays text.

Names of columns, values, groups, tables and runs come from files that anybody made.
Each format has a module here, and whoever writes that format calls its function, last
and once. All that is read by people goes through `visible` first: two different texts
never read the same.
"""

from fairdash._escaping.code import as_argument, as_json, as_literal
from fairdash._escaping.figure import Label, as_label, bold, coloured, in_lines, wrap
from fairdash._escaping.markdown import as_markdown
from fairdash._escaping.menu import in_menu
from fairdash._escaping.page import plain
from fairdash._escaping.table import as_cell, as_csv
from fairdash._escaping.visible import as_printed, visible, visible_table

__all__ = [
    "Label",
    "as_argument",
    "as_cell",
    "as_csv",
    "as_json",
    "as_label",
    "as_literal",
    "as_markdown",
    "as_printed",
    "bold",
    "coloured",
    "in_lines",
    "in_menu",
    "plain",
    "visible",
    "visible_table",
    "wrap",
]
