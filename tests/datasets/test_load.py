"""A large table keeps text as codes, and nothing else about it changes."""

import numpy as np
import pandas as pd
import pytest
from toys import people

from fairdash.datasets import (
    Subgroups,
    check_table,
    encode,
    guess_roles,
    load_table,
    make_dataset,
    split,
)
from fairdash.datasets._columns import infer_kind


@pytest.fixture
def path(tmp_path):
    """Applicants as Parquet, with a free text, a date, and cells that are missing."""
    frame = people()
    frame["remark"] = [f"note {i}" for i in range(len(frame))]
    frame["applied"] = [f"2024-0{1 + i % 9}-01" for i in range(len(frame))]
    frame.loc[::7, "branch"] = None
    frame.to_parquet(tmp_path / "table.parquet")
    return tmp_path / "table.parquet"


@pytest.fixture
def compact(path, monkeypatch):
    """The same table, loaded as a large one is."""
    monkeypatch.setattr("fairdash.datasets.reading.parquet.LARGE", 0)
    monkeypatch.setattr("fairdash.datasets.reading.parquet.MOST_LEVELS", 50)
    return load_table(path, compact=True)


def test_a_large_table_keeps_its_values_in_fewer_bytes(path, compact):
    plain = load_table(path)
    kinds = {name: str(plain[name].dtype) for name in plain}
    text = {name for name in plain if kinds[name] == "str"}
    assert "remark" in text
    for name in plain:
        few = name in text and name != "remark"
        expected = "category" if few else kinds[name]
        if expected == "int64":
            expected = "int8"
        assert str(compact[name].dtype) == expected
    pd.testing.assert_frame_equal(
        compact.astype(dict.fromkeys(text, "str")), plain, check_dtype=False
    )


def test_roles_checks_and_features_do_not_depend_on_how_text_is_kept(path, compact):
    plain = load_table(path)
    roles = guess_roles(plain)
    assert guess_roles(compact) == roles
    assert [infer_kind(compact[name]) for name in compact] == [
        infer_kind(plain[name]) for name in plain
    ]
    pd.testing.assert_frame_equal(
        check_table(compact, roles), check_table(plain, roles)
    )
    one, two = (make_dataset(f, roles, name="x", key="k") for f in (plain, compact))
    assert one.key == two.key
    np.testing.assert_array_equal(one.y, two.y)
    np.testing.assert_array_equal(one.group, two.group)
    rows = split(one).train
    np.testing.assert_array_equal(encode(one, rows).X, encode(two, rows).X)
    subgroups = Subgroups(columns=("branch", "age"))
    assert list(subgroups.label(one.frame)) == list(subgroups.label(two.frame))
