import numpy as np
import pandas as pd

from fairdash.datasets._alike import mark_split, mark_values
from fairdash.datasets._columns import label_codes


def renames(column, other):
    """Tell, pair of values by pair of values, whether two columns split rows alike."""
    if (column.isna() != other.isna()).any():
        return False
    pairs = set(zip(*(label_codes(x)[0] for x in (column, other)), strict=True))
    known = [pair for pair in pairs if -1 not in pair]
    sides = [set(side) for side in zip(*known, strict=True)]
    return all(len(side) == len(known) for side in sides)


def test_two_columns_have_one_mark_exactly_if_they_say_the_same():
    rng = np.random.default_rng(0)
    n, first = 60, rng.integers(0, 3, 60)
    columns = {
        "a": first,
        "floats": first.astype(float),
        "words": np.array(["no", "yes", "maybe"])[first],
        "last row": np.where(np.arange(n) == n - 1, (first + 1) % 3, first),
        "gap": np.where(first == 1, np.nan, first),
        "other gap": np.where(first == 2, np.nan, first),
        "merged": first > 0,
        "merged number": (first > 0).astype(int),
        "mixed": np.array([0, "0", 1], dtype=object)[first],
        "zeros": np.where(first == 1, -0.0, np.where(first == 2, 0.0, 1.0)),
        "wild": rng.normal(size=n),
    }
    frame = pd.DataFrame(columns | {f"{name} again": x for name, x in columns.items()})
    for name in frame:
        for other in frame:
            pair = frame[name], frame[other]
            split, values = (
                {mark(x) for x in pair} for mark in (mark_split, mark_values)
            )
            assert (len(split) == 1) == renames(*pair), (name, other)
            assert (len(values) == 1) == pair[0].equals(pair[1]), (name, other)
