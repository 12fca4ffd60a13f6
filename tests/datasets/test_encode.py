import numpy as np
import pytest
from cases import examples
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.pandas import column, data_frames, range_indexes
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

from fairdash.datasets import Roles, encode, make_dataset, split
from fairdash.datasets._encode import CategoryEncoding

SCALERS = {"standard": StandardScaler, "minmax": MinMaxScaler}


def encoded(frame, roles, train=None, **options):
    dataset = make_dataset(frame, roles, name="table")
    rows = np.arange(dataset.n_rows) if train is None else train
    return encode(dataset, rows, **options)


@pytest.mark.parametrize("scaling", ["standard", "minmax"])
def test_equals_a_scikit_learn_pipeline(people, roles, scaling):
    dataset = make_dataset(people, roles, name="people")
    train = split(dataset).train
    result = encode(dataset, train, scaling=scaling)
    reference = make_pipeline(
        make_column_transformer(
            ("passthrough", ["age", "income"]),
            (OneHotEncoder(sparse_output=False), ["job"]),
        ),
        SCALERS[scaling](),
    )
    reference.fit(people.iloc[train])
    np.testing.assert_allclose(result.X, reference.transform(people), atol=1e-5)
    names = "age", "income", "job=farm", "job=office", "job=shop"
    assert result.feature_names == names
    assert result.X.dtype == np.float32
    assert result.X.flags.c_contiguous


def test_statistics_come_from_training_rows_only(people, roles):
    train = np.arange(200)
    changed = people.copy()
    changed.loc[200:, "income"] *= 1000
    changed.loc[200:, "job"] = "mine"
    first, second = (encoded(frame, roles, train) for frame in (people, changed))
    assert first.encoder == second.encoder
    np.testing.assert_array_equal(first.X[:200], second.X[:200])


def test_rare_levels_share_one_column_and_new_ones_join_it(people, roles):
    people.loc[:8, "job"] = "mine"
    people.loc[9:18, "job"] = "ship"
    result = encoded(people, roles, scaling="minmax")
    names = list(result.feature_names)
    assert names[2:] == [
        f"job={x}" for x in ("farm", "office", "ship", "shop", "(other)")
    ]
    np.testing.assert_array_equal(result.X[:, -1] == 1, people["job"] == "mine")
    unseen = result.encoder.transform(people.assign(job="circus"))
    np.testing.assert_array_equal(unseen[:, 2:], np.eye(5)[[4] * len(people)])


cells = st.none() | st.sampled_from(["a", "b", "c", "1", "1.0", ""])
tables = data_frames(
    [
        column("text", elements=cells, dtype=object),
        column("number", elements=st.floats(-1e6, 1e6) | st.just(np.nan), dtype=float),
        column("code", elements=st.integers(-3, 3), dtype=int),
    ],
    index=range_indexes(min_size=8, max_size=40),
)


@examples(30)
@given(tables, st.sampled_from(["standard", "minmax"]), st.integers(1, 12))
def test_any_table_gives_finite_numbers_and_one_level_per_category(
    table, scaling, min_level_rows
):
    table = table.assign(y=np.arange(len(table)) % 2, s=np.arange(len(table)) // 2 % 2)
    roles = Roles(
        target="y",
        positive=1,
        sensitive_feature="s",
        features=("text", "number", "code"),
        min_level_rows=min_level_rows,
    )
    dataset = make_dataset(table, roles, name="any")
    train = split(dataset).train
    result = encode(dataset, train, scaling=scaling)
    assert result.X.shape == (len(table), len(result.feature_names))
    assert len(set(result.feature_names)) == len(result.feature_names)
    assert np.isfinite(result.X).all()
    assert (np.ptp(result.X[train], axis=0) > 0).all() or result.X.shape[1] == 0
    np.testing.assert_array_equal(result.encoder.transform(dataset.frame), result.X)
    (category,) = (c for c in result.encoder.columns if isinstance(c, CategoryEncoding))
    one_hot = category.values(dataset.frame["text"])[train]
    np.testing.assert_array_equal(one_hot.sum(axis=1), 1)


def test_tables_that_do_not_fit_the_encoder_raise(people, roles):
    strict = roles.model_copy(update={"missing": "exclude"})
    encoder = encoded(people, strict).encoder
    with pytest.raises(ValueError, match=r"lacks the columns \['age'\]"):
        encoder.transform(people.drop(columns="age"))
    with pytest.raises(ValueError, match=r"'age' held numbers .* \['old'\]"):
        encoder.transform(people.assign(age="old"))
    gap = people.assign(income=people["income"].where(people.index != 6))
    with pytest.raises(ValueError, match=r"'income' is missing in 1 rows, .* \[7\]"):
        encoder.transform(gap)
