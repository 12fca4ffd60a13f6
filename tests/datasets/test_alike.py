import numpy as np
import pandas as pd
import pytest

from fairdash.datasets import _alike
from fairdash.datasets._alike import Alike, mark_split, mark_values
from fairdash.datasets._columns import label_codes


def renames(column, other):
    """Tell, pair of values by pair of values, whether two columns split rows alike."""
    if (column.isna() != other.isna()).any():
        return False
    pairs = set(zip(*(label_codes(one)[0] for one in (column, other)), strict=True))
    known = [pair for pair in pairs if -1 not in pair]
    sides = [set(side) for side in zip(*known, strict=True)]
    return all(len(side) == len(known) for side in sides)


def columns_of_few_values(seed, n=60):
    """Return columns of which many are equal, renamed, or differ in one row."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 3, n)
    made = {
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
    names = [*made, *(f"{name} again" for name in made)]
    values = [*made.values()] * 2
    order = rng.permutation(len(names))
    return pd.DataFrame({names[i]: values[i] for i in order})


@pytest.mark.parametrize("rows", [60, 7])
@pytest.mark.parametrize(
    ("mark", "alike"), [(mark_values, pd.Series.equals), (mark_split, renames)]
)
def test_the_first_column_that_says_the_same_is_found(monkeypatch, rows, mark, alike):
    monkeypatch.setattr(_alike, "PROBED_ROWS", rows)
    for seed in range(5):
        frame = columns_of_few_values(seed)
        seen = Alike(frame, mark)
        names = list(frame)
        for place, name in enumerate(names):
            before = (x for x in names[:place] if alike(frame[x], frame[name]))
            assert seen.first(name) == next(before, None), name
            seen.keep(name)
