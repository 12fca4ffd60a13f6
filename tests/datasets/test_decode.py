import numpy as np
import pandas as pd
import pytest

from fairdash.datasets import Roles, decode, encode, load_sample, make_dataset, split


def test_a_sample_comes_back_as_it_was():
    dataset = load_sample("loans")
    encoded = encode(dataset, split(dataset).train)
    back = decode(encoded.encoder, encoded.X, like=dataset.frame)
    for name in dataset.roles.features:
        if back[name].dtype == float:
            np.testing.assert_allclose(
                back[name], dataset.frame[name], rtol=1e-5, atol=1e-6
            )
        else:
            assert (back[name] == dataset.frame[name].astype(str)).all()


def test_missing_cells_and_constant_levels_come_back():
    frame = pd.DataFrame(
        {
            "age": [30.0, np.nan, 50.0, 40.0] * 20,
            "branch": ["a", "b", None, "a"] * 20,
            "same": ["x"] * 80,
            "group": ["f", "m"] * 40,
            "y": [0, 1, 1, 0] * 20,
        }
    )
    roles = Roles(
        target="y",
        positive="1",
        sensitive_feature="group",
        features=("age", "branch", "same"),
    )
    dataset = make_dataset(frame, roles, name="t")
    encoded = encode(dataset, np.arange(80))
    back = decode(encoded.encoder, encoded.X, like=dataset.frame)
    np.testing.assert_array_equal(back["age"], frame["age"])
    assert back["branch"].isna().tolist() == frame["branch"].isna().tolist()
    assert back["branch"].dropna().tolist() == frame["branch"].dropna().tolist()
    assert set(back["same"]) == {"x"}


def test_rows_between_become_valid_ones():
    dataset = load_sample("loans")
    encoded = encode(dataset, split(dataset).train)
    moved = encoded.X + np.random.default_rng(0).normal(size=encoded.X.shape)
    back = decode(encoded.encoder, moved, like=dataset.frame)
    age = dataset.frame["age"]
    assert back["age"].between(age.min(), age.max()).all()
    assert (back["age"] % 1 == 0).all()
    assert set(back["sector"]) <= set(dataset.frame["sector"])
    encoded.encoder.transform(back)


def test_rows_of_another_width_are_refused():
    dataset = load_sample("loans")
    encoder = encode(dataset, split(dataset).train).encoder
    with pytest.raises(ValueError, match="X must be"):
        decode(encoder, np.zeros((2, 3)), like=dataset.frame)
