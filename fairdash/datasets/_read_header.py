"""Tell the first row of a table from a title above it and from one more case."""

import re
from itertools import pairwise

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
YEARS = (1900, 2100)
FEWEST_ROWS = 10  # before words that come again below say that there is no header
TITLED_ROWS, TITLED_CELLS = 3, 3  # below a title, alike


def has_title(rows: list[list[str]]) -> bool:
    """Tell whether the first row is one cell above a table of rows all alike."""
    widths = {len(row) for row in rows[1:]}
    alike = len(rows) > TITLED_ROWS and len(widths) == 1
    return alike and len(rows[0]) == 1 and min(widths) >= TITLED_CELLS


def has_header(rows: list[list[str]]) -> bool:
    """Tell whether the first row names columns rather than being one more case.

    It is a case when

    - it holds a number above numbers, and half of its cells come again below them; or
    - it holds a number above every column of numbers, these are not names such as 0, 1,
      2 or years, and of words above other columns one comes again; or
    - each of its cells comes again below it, in ten rows or more.
    """
    if not rows:
        return True
    first, *below = rows
    columns = list(zip(*(row for row in below if len(row) == len(first)), strict=True))
    if len(columns) != len(first) or len(below) < 2:
        return True
    again = [cell in values for cell, values in zip(first, columns, strict=True)]
    if all(again) and len(below) >= FEWEST_ROWS:
        return False
    measured = [
        any(values) and all(NUMBER.fullmatch(value) for value in values if value)
        for values in columns
    ]
    above = [cell for cell, number in zip(first, measured, strict=True) if number]
    if not any(map(NUMBER.fullmatch, above)):
        return True
    if 2 * sum(again) >= len(first):
        return False
    words_again = all(measured) or any(
        cell for cell, number in zip(again, measured, strict=True) if not number
    )
    all_numbers = all(map(NUMBER.fullmatch, above))
    return not (all_numbers and words_again) or _are_names(above)


def _are_names(cells: list[str]) -> bool:
    """Tell whether numbers name columns: they rise one by one, or are years."""
    if not all(cell.isdigit() for cell in cells):
        return False
    numbers = [int(cell) for cell in cells]
    rise = all(after == before + 1 for before, after in pairwise(numbers))
    return rise or all(YEARS[0] <= number <= YEARS[1] for number in numbers)
