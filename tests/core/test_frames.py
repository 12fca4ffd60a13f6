"""Tables of other libraries are read as pandas' own."""

import numpy as np
import pandas as pd
import pytest

import fairdash
from fairdash import _validation
from fairdash._validation import as_frame
from fairdash.datasets import Roles, Subgroups
from fairdash.datasets._dataset import make_dataset

polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
FRAME = pd.DataFrame(
    {
        "sex": ["f", "m"] * 200,
        "age": np.arange(400) % 50 + 20,
        "score": np.linspace(0, 1, 400),
        "paid": ["yes", "no", "no", "yes", "yes"] * 80,
    }
)
MAKERS = {
    "polars": lambda frame: polars.DataFrame(frame.to_dict("list")),
    "arrow": pyarrow.Table.from_pandas,
}


@pytest.fixture(params=MAKERS)
def table(request):
    return MAKERS[request.param](FRAME)


@pytest.mark.parametrize("with_arrow", [True, False])
def test_a_table_becomes_the_same_frame(table, with_arrow, monkeypatch):
    monkeypatch.setattr(_validation, "is_installed", lambda library: with_arrow)
    frame = as_frame("frame", table)
    pd.testing.assert_frame_equal(frame, FRAME, check_dtype=False)


def test_an_audit_of_a_table_is_that_of_pandas(table):
    arguments = {
        "y_true": "paid",
        "scores": "score",
        "pos_label": "yes",
        "sensitive_features": "sex",
        "subgroups": Subgroups(columns=("age",)),
    }
    audit = fairdash.audit(frame=table, **arguments)
    usual = fairdash.audit(frame=FRAME, **arguments)
    assert audit.verdict == usual.verdict
    pd.testing.assert_frame_equal(audit.table, usual.table)


def test_columns_of_a_table_are_crossed(table):
    decided = (FRAME["score"] > 0.4).astype(int)
    columns = table.select(["sex", "paid"])
    audit = fairdash.audit(None, decided, sensitive_features=columns)
    usual = fairdash.audit(None, decided, sensitive_features=FRAME[["sex", "paid"]])
    pd.testing.assert_frame_equal(audit.table, usual.table)


def test_subgroups_are_searched_in_a_table(table):
    decided = (FRAME["score"] > 0.4).astype(int)
    search = {"sensitive_features": FRAME["sex"], "random_state": 0}
    search |= {"n_permutations": 19}
    listed = fairdash.find_subgroups(decided, frame=table, **search)
    usual = fairdash.find_subgroups(decided, frame=FRAME, **search)
    pd.testing.assert_frame_equal(listed, usual)


def test_a_table_becomes_a_data_set(table):
    roles = Roles(
        target="paid", positive="yes", sensitive_feature="sex", features=("age",)
    )
    dataset = make_dataset(table, roles, name="t")
    usual = make_dataset(FRAME, roles, name="t")
    np.testing.assert_array_equal(dataset.y, usual.y)
    assert dataset.group_names == usual.group_names


@pytest.mark.parametrize(
    "value, remedy",
    [
        (polars.DataFrame({"a": [1]}).lazy(), "collect it first"),
        ([1, 2], "got list"),
        (None, "got NoneType"),
    ],
)
def test_what_is_no_table_is_refused(value, remedy):
    with pytest.raises(ValueError, match=rf"`frame` must be a table.*{remedy}"):
        as_frame("frame", value)


@pytest.mark.parametrize("measures", ["selection_rate", ["selection_rate"]])
def test_one_measure_may_be_named_without_a_list(measures):
    decided = (FRAME["score"] > 0.4).astype(int)
    audit = fairdash.audit(
        None, decided, sensitive_features=FRAME["sex"], measures=measures
    )
    assert audit.table.index.tolist() == ["selection_rate"]
