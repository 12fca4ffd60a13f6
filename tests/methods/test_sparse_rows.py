"""Rows split in dense and sparse columns against the products they stand for."""

import numpy as np
import torch
from cases import examples
from hypothesis import given
from hypothesis import strategies as st

from fairdash.methods import ROAD
from fairdash.methods.network.sparse import SparseRows, find_sparse
from fairdash.methods.network.stacked import affine, gradients


def one_hot_rows(n_rows=200, n_levels=40, n_numbers=3, seed=0):
    """Return numbers beside standardised one-hot columns of one category."""
    random = np.random.default_rng(seed)
    levels = np.eye(n_levels)[random.integers(n_levels, size=n_rows)]
    levels = (levels - levels.mean(0)) / np.maximum(levels.std(0), 0.01)
    X = np.column_stack([random.normal(size=(n_rows, n_numbers)), levels])
    return torch.tensor(X, dtype=torch.float64)


def test_columns_at_one_value_in_most_rows_are_found():
    X = one_hot_rows()
    columns = find_sparse(X)
    assert columns.dense.tolist() == [0, 1, 2]
    for j in range(3, X.shape[1]):
        assert (X[:, j] == columns.common[j]).sum() >= 0.75 * len(X)
    assert columns.common[:3].tolist() == [0, 0, 0]


@examples(40)
@given(
    n_rows=st.integers(1, 30),
    n_outputs=st.integers(1, 5),
    n_models=st.integers(1, 4),
    seed=st.integers(0, 100),
)
def test_products_equal_the_dense_ones(n_rows, n_outputs, n_models, seed):
    generator = torch.Generator().manual_seed(seed)
    X = one_hot_rows(seed=seed)
    columns = find_sparse(X)
    rows = X[torch.randperm(len(X), generator=generator)[:n_rows]]

    def draw(*shape):
        return torch.randn(n_models, *shape, generator=generator, dtype=X.dtype)

    weight = draw(X.shape[1], n_outputs)
    bias = draw(1, n_outputs)
    delta = draw(n_rows, n_outputs)
    split = SparseRows(rows, columns, n_models)
    assert split.shape == rows.shape
    out = torch.empty_like(delta)
    affine(split, weight, bias, out=out)
    torch.testing.assert_close(out, rows @ weight + bias)
    into = torch.empty_like(weight)
    into_bias = torch.empty_like(bias)
    gradients(split, delta, weight=into, bias=into_bias)
    torch.testing.assert_close(into, rows.T @ delta)
    torch.testing.assert_close(into_bias, delta.sum(1, keepdim=True))


def test_training_on_sparse_columns_is_training_on_dense_ones(monkeypatch):
    X = one_hot_rows(300).numpy().astype(np.float32)
    random = np.random.default_rng(1)
    y, group = random.integers(2, size=(2, len(X)))
    model = ROAD(n_epochs=2, batch_size=64, device="cpu", random_state=0)
    points = [{"fairness_weight": 0.5}, {"fairness_weight": 2.0}]
    sparse = model.fit_many(points, X, y, sensitive_features=group)
    monkeypatch.setattr("fairdash.methods.network.stacked.find_sparse", lambda _: None)
    dense = model.fit_many(points, X, y, sensitive_features=group)
    for ours, theirs in zip(sparse, dense, strict=True):
        for a, b in zip(ours.network_.weights, theirs.network_.weights, strict=True):
            np.testing.assert_allclose(a, b, atol=2e-5)
        np.testing.assert_allclose(ours.ratio_, theirs.ratio_, rtol=2e-3)
