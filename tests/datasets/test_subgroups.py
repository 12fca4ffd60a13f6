import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.pandas import column, data_frames, range_indexes

from fairdash.datasets import Subgroups

DATA = Path(os.environ.get("FAIRDASH_DATA", ""))
real_data = pytest.mark.skipif(
    "FAIRDASH_DATA" not in os.environ, reason="FAIRDASH_DATA names no data folder"
)


def labels(frame, **options):
    return Subgroups(**options).label(frame)


def test_values_come_first_then_bins_in_order_of_size():
    frame = pd.DataFrame(
        {
            "age": [18, 24, 25, 34, 35, 44, 30, 20, 40],
            "sex": ["Women", "Men", "Women", "Men", "Women", "Men"] + ["Men"] * 3,
        }
    )
    result = labels(frame, columns=("age", "sex"))
    ages = ("18–24", "25–34", "35–44")
    crossed = [f"{sex} {age}" for sex in ("Men", "Women") for age in ages]
    assert result.dtype == pd.CategoricalDtype(crossed, ordered=True)
    assert result[[0, 3]].tolist() == ["Women 18–24", "Men 25–34"]


def test_a_sparse_last_bin_is_open():
    age = pd.Series([*range(25, 35), *range(45, 55)] * 20 + [61, 72, 83], name="age")
    result = labels(age.to_frame(), columns=("age",))
    assert result.cat.categories.tolist() == ["age 25–34", "age 45+"]
    assert (result.iloc[-3:] == "age 45+").all()
    young = labels(pd.DataFrame({"age": np.arange(0.5, 14)}), columns=("age",))
    assert young.cat.categories.tolist() == ["age 0–5", "age 5–15"]


def test_ages_in_decades_are_cut_in_several_bins():
    age = np.random.default_rng(0).uniform(2.0, 6.2, 900).round(1)
    decades = labels(pd.DataFrame({"age": age}), columns=("age",))
    assert 5 <= len(decades.cat.categories) <= 8


names = st.sampled_from(["a", "b", "a b", "b c", "c", "1", "no"]) | st.none()
tables = data_frames(
    [
        column("text", elements=names, dtype=object),
        column("more", elements=names, dtype=object),
        column("age", elements=st.integers(-90, 120), dtype=int),
        column("amount", elements=st.floats(-1e9, 1e9) | st.just(np.nan), dtype=float),
    ],
    index=range_indexes(min_size=1, max_size=60),
)


@examples(40)
@given(
    tables,
    st.permutations(["text", "more", "age", "amount"]),
    st.integers(1, 4),
    st.none() | st.floats(0.01, 1e6),
)
def test_every_row_with_values_is_in_exactly_one_subgroup(table, order, n, width):
    columns = tuple(order[:n])
    widths = {} if width is None or "amount" not in columns else {"amount": width}
    result = labels(table, columns=columns, widths=widths)
    np.testing.assert_array_equal(
        result.notna(), table[list(columns)].notna().all(axis=1)
    )
    assert set(result.dropna()) == set(result.cat.categories)
    for name in {"text", "more"} & set(columns):
        values = table[name].groupby(result, observed=True)
        assert all(len(set(rows)) == 1 for _, rows in values)


def test_edges_as_in_the_paper_are_multiples_of_ten_closed_on_the_right():
    """The public code of ROAD cuts at 20, 30, ..., each the last age of its bin."""
    frame = pd.DataFrame({"age": [18, 20, 21, 30, 31, 70, 71, 18.0]})
    result = labels(frame, columns=("age",), widths={"age": 10}, edges="paper")
    ages = ("11–20", "11–20", "21–30", "21–30", "31–40", "61–70", "71–80", "11–20")
    assert result.tolist() == [f"age {name}" for name in ages]
    frame = pd.DataFrame({"score": [0.5, 1.0, 1.5, 2.0]})
    result = labels(frame, columns=("score",), widths={"score": 1}, edges="paper")
    assert result.tolist() == [*("score 0–1", "score 0–1", "score 1–2", "score 1–2")]


@settings(deadline=None)
@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=60),
    st.lists(st.integers(-40, 40), min_size=1, max_size=4, unique=True),
)
def test_cut_points_put_rows_where_numpy_does(values, points):
    cuts = tuple(float(point) for point in sorted(points))
    frame = pd.DataFrame({"x": values})
    label = Subgroups(columns=("x",), cuts={"x": cuts}).label(frame)
    wanted = np.digitize(values, cuts)
    seen = np.unique(wanted)
    assert label.cat.codes.tolist() == np.searchsorted(seen, wanted).tolist()
